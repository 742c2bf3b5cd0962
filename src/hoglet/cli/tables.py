"""Tables on the terminal, and uncut in pipes."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPE_WIDTH = 400  # nothing is cut for a script that reads the table


def wide_console() -> Console:
    """A console that cuts nothing when its output is read by a program."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of plain texts under their columns' names."""
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(Text(column))
    for row in rows:
        table.add_row(*map(Text, row))
    wide_console().print(table)
