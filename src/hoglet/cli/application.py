"""The command line around its commands: options, wrong uses, expected errors, exit codes."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, cast, override

import typer
from typer.core import TyperGroup

from hoglet import __version__
from hoglet.cli.command_table import CommandTable
from hoglet.cli.error_handling import (
    exit_code,
    print_error,
    print_hint,
    unusable_paths_named,
    usage_errors_in_one_line,
)
from hoglet.cli.old_spellings import modern_spelling
from hoglet.kit.errors import HogletError


def command_line(table: CommandTable) -> typer.Typer:
    """``hoglet`` with the commands of a table."""

    class Commands(_Commands):
        def __init__(self, **options: Any) -> None:
            super().__init__(table, **options)

    app = typer.Typer(
        name="hoglet",
        cls=Commands,
        help="A small server for hog functions and query endpoints.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    return app


class _Commands(TyperGroup):
    def __init__(self, table: CommandTable, **options: Any) -> None:
        super().__init__(**options)
        self._table = table
        self.commands = cast("Any", table)  # read only

    @override
    def list_commands(self, ctx: Any) -> list[str]:
        return [*self._table]

    @override
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if ctx.meta.get(_LISTS) and cmd_name in self._table:
            return self._table.listed(cmd_name)
        return super().get_command(ctx, cmd_name)

    @override
    def format_help(self, ctx: Any, formatter: Any) -> None:
        ctx.meta[_LISTS] = True
        super().format_help(ctx, formatter)

    @override
    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        ctx.meta[_LISTS] = True
        return super().shell_complete(ctx, incomplete)

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words, ctx.meta[_HINT] = modern_spelling(args)
        ctx.meta[_CALLED] = _called(self, words)
        return super().parse_args(ctx, words)

    @override
    def make_context(self, *args: Any, **more: Any) -> Any:
        with _errors_printed(), usage_errors_in_one_line():
            return super().make_context(*args, **more)

    @override
    def invoke(self, ctx: Any) -> Any:
        with _errors_printed(ctx.meta[_HINT]), usage_errors_in_one_line(ctx.meta[_CALLED]):
            return super().invoke(ctx)


_HINT, _CALLED, _LISTS = "hoglet.hint", "hoglet.called", "hoglet.lists"


def _called(command: Any, words: Sequence[str]) -> str:
    """The longest command that ``words`` begin with: ``hoglet functions logs``."""
    path = ["hoglet"]
    for word in words:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        path.append(word)
    return " ".join(path)


@contextmanager
def _errors_printed(hint: str = "") -> Generator[None]:
    """Exit with a line on stderr for expected errors; a hint begins that line."""
    try:
        with unusable_paths_named():
            yield
    except HogletError as error:
        print_error(f"{hint} {error.detail}".strip())
        hint = ""
        raise typer.Exit(exit_code(error)) from error
    finally:
        if hint:
            print_hint(hint)


def _print_version(value: bool) -> None:
    if value:
        print(__version__)
        raise typer.Exit


def options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """A small server for hog functions and query endpoints."""
