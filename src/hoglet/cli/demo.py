"""``hoglet demo``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hoglet.cli.error_handling import BadUsage


def demo(
    once: Annotated[bool, typer.Option(help="Stop after the summary.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of the server; a temporary one by default.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the server; 0 for a free port.")] = 0,
    limit: Annotated[
        int | None, typer.Option(help="Only the first departures, for a quick run.", min=1)
    ] = None,
) -> None:
    """Run the demo on 336,776 real departures; every figure is checked against the CSV.

    Exits with 0 when all figures are equal, with 1 when one differs.
    """
    from hoglet.demo.run import run_demo

    if data_dir is not None:
        _make_folder(data_dir)
    complete = run_demo(
        data_dir=data_dir, port=port, once=once, limit=limit, console=Console(highlight=False)
    )
    raise typer.Exit(0 if complete else 1)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadUsage(
            f"{path} cannot be used ({error.strerror}): choose another --data-dir."
        ) from None
