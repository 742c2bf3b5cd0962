"""Output of commands: tables (not truncated in pipes), or JSON with ``--json``."""

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

_PIPE_WIDTH = 400  # nothing is cut for a script that reads the table


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def print_json(value: Any) -> None:
    """A value as indented JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


_PICTURES = (
    {code: chr(0x2400 + code) for code in range(0x20)}
    | {0x7F: "\u2421"}
    | dict.fromkeys(range(0x80, 0xA0), "\ufffd")
)


def visible(text: str) -> str:
    r"""Untrusted text with control characters made visible, so that no terminal obeys them.

    Anyone with the capture token can choose event names. Line breaks and tabs are kept.

    Example:
        >>> visible("red: \x1b[31m")
        'red: ␛[31m'
    """
    return text.translate(_PICTURES | {0x0A: "\n", 0x09: "\t"})


def cell(value: Any, characters: int = 120) -> str:
    """A value in one line of a table; nothing for null."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[:characters].replace("\n", " ")


def wide_console() -> Console:
    """A console that does not truncate lines when its output is piped."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of plain texts under their columns' names."""
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(Text(visible(column)))
    for row in rows:
        table.add_row(*(Text(visible(text)) for text in row))
    wide_console().print(table)
