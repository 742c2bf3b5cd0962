"""``hoglet demo``: real departures through capture, functions and endpoints."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def demo(
    once: Annotated[bool, typer.Option(help="Stop after the summary.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of the server; a temporary one by default.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the server; 0: a free one.")] = 0,
    limit: Annotated[
        int | None, typer.Option(help="Only the first departures, for a quick run.", min=1)
    ] = None,
) -> None:
    """Run the demo on 336,776 real departures; every figure is checked against the CSV.

    Exits with 0 when all figures are equal, with 1 when one differs.
    """
    from hoglet.demo.run import run_demo

    complete = run_demo(
        data_dir=data_dir, port=port, once=once, limit=limit, console=Console(highlight=False)
    )
    raise typer.Exit(0 if complete else 1)
