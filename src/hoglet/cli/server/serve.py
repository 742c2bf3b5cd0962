"""``hoglet serve``, in a module that imports none of the other commands."""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from hoglet.cli.error_handling import exit_with_two
from hoglet.kit.optional_packages import without


def serve(
    port: Annotated[int | None, typer.Option(help="Port to listen on. [default: 8000]")] = None,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder for all data. [default: hoglet-data]")
    ] = None,
    roles: Annotated[
        str | None,
        typer.Option(help="Comma-separated: api, pipeline, executor, console. [default: all]"),
    ] = None,
) -> None:
    """Start the server; Ctrl-C or SIGTERM shuts it down gracefully.

    Everything else is a setting: see docs/reference/settings.md (HOGLET_* variables).
    """
    with importing_server():
        import uvloop

        from hoglet.app import event_loop
        from hoglet.app.run import run_server
        from hoglet.settings import load_settings

    with exit_with_two():
        settings = load_settings(port=port, host=host, data_dir=data_dir, roles=roles)
        event_loop.run(run_server(settings), uvloop.new_event_loop)


@contextmanager
def importing_server() -> Generator[None]:
    """Disable garbage collection during the block, and exempt the imported objects from later runs.

    structlog would load rich, for tracebacks of its own.
    """
    gc.disable()
    try:
        with without("rich"):
            yield
    finally:
        gc.freeze()
        gc.enable()
