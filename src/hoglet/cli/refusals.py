"""How expected errors end a command."""

import contextlib
from collections.abc import Generator

import typer
from rich.console import Console
from rich.text import Text

from hoglet.kit.errors import HogletError


def print_error(error: HogletError) -> None:
    """One sentence on stderr."""
    Console(stderr=True).print(Text(error.detail, style="red"), soft_wrap=True)


@contextlib.contextmanager
def exit_with_two() -> Generator[None]:
    """Let expected errors exit with 2, in commands whose 1 means that something differs."""
    try:
        yield
    except HogletError as error:
        print_error(error)
        raise typer.Exit(2) from None
