"""Commands that are imported when they are called; a page of help needs only their table."""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast, override

import typer
from typer.core import TyperCommand


class CommandEntry(NamedTuple):
    """A command or a group of commands.

    Args:
        path: of the function or the ``typer.Typer``: ``hoglet.cli.query:query``.
        help: the first paragraph of its own help.
        calls_server: whether it is a function with the options of a connection.
        is_hidden: whether the help leaves it out.
    """

    path: str
    help: str
    calls_server: bool = False
    is_hidden: bool = False


class CommandTable(Mapping[str, Any]):
    """Commands by name; reading one imports it, its name alone imports nothing."""

    def __init__(self, entries: Mapping[str, CommandEntry]) -> None:
        self.entries = entries
        self._imported: dict[str, Any] = {}

    @override
    def __getitem__(self, name: str) -> Any:
        if name not in self._imported:
            self._imported[name] = _imported(name, self.entries[name])
        return self._imported[name]

    @override
    def __contains__(self, name: object) -> bool:
        return name in self.entries

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    @override
    def __len__(self) -> int:
        return len(self.entries)

    def listed(self, name: str) -> Any:
        """A command with the name and the help, which cannot be called."""
        entry = self.entries[name]
        return TyperCommand(name, help=entry.help, hidden=entry.is_hidden)


def _imported(name: str, entry: CommandEntry) -> Any:
    module, _, attribute = entry.path.partition(":")
    target = getattr(importlib.import_module(module), attribute)
    parent = typer.Typer(callback=_nothing)  # with a callback it stays a group of one command
    if isinstance(target, typer.Typer):
        parent.add_typer(target, name=name, hidden=entry.is_hidden)
    elif entry.calls_server:
        from hoglet.cli.server.connection import ServerCommand

        parent.command(name, cls=ServerCommand)(target)
    else:
        parent.command(name)(target)
    return cast("Any", typer.main.get_command(parent)).commands[name]


def _nothing() -> None:
    """Makes a ``typer.Typer`` a group."""
