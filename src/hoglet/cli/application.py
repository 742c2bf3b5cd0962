"""The command line itself, without commands: options, wrong uses, expected errors, exit codes."""

from typing import Annotated, Any, override

import typer
from typer.core import TyperGroup

from hoglet import __version__
from hoglet.cli.old_spellings import modern_spelling
from hoglet.cli.refusals import exit_code, print_error, usage_errors_in_one_line
from hoglet.kit.errors import HogletError


def command_line() -> typer.Typer:
    """A new ``hoglet`` to mount commands on."""
    app = typer.Typer(
        name="hoglet",
        cls=_Commands,
        help="A small server for hog functions and query endpoints.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    return app


class _Commands(TyperGroup):
    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, modern_spelling(args))

    @override
    def make_context(self, *args: Any, **more: Any) -> Any:
        with usage_errors_in_one_line():
            return super().make_context(*args, **more)

    @override
    def invoke(self, ctx: Any) -> Any:
        try:
            with usage_errors_in_one_line():
                return super().invoke(ctx)
        except HogletError as error:
            print_error(error)
            raise typer.Exit(exit_code(error)) from error


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
