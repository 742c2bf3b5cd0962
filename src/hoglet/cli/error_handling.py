"""Maps expected errors to one sentence on stderr and an exit code.

0 done, 1 something differs or failed, 2 wrong use or no server answers.
"""

import contextlib
import os
from collections.abc import Generator
from http import HTTPStatus
from typing import Any, cast

import typer

from hoglet.kit.errors import HogletError

FAILED = 1
WRONG_USE = 2

_WRONG_USE_CODES = frozenset(
    {
        "api_unreachable",
        "bad_config",
        "bad_key",
        "bad_profile",
        "bad_project_file",
        "bad_setting",
        "bad_test_file",
        "bad_usage",
        "invalid_input",
        "keys_configured",
        "no_data",
        "startup_fault",
        "unreadable_file",
    }
)
_WRONG_KEY = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


_USAGE_ERROR = cast("type[Exception]", typer.BadParameter.__mro__[2])
"""``ClickException``, which typer does not export."""


class BadUsage(HogletError):
    """An argument or option is invalid."""

    code = "bad_usage"
    blame = "operator"


def exit_code(error: HogletError) -> int:
    """1 for operations that failed, 2 for those that could not be attempted."""
    status: int | None = getattr(error, "status", None)
    is_wrong_use = error.error_code in _WRONG_USE_CODES or status in _WRONG_KEY
    return WRONG_USE if is_wrong_use else FAILED


def print_error(text: str) -> None:
    """Print an error on stderr."""
    _print(text, "red")


def print_hint(text: str) -> None:
    """Print a hint on stderr."""
    _print(text, "yellow")


def _print(text: str, style: str) -> None:
    from rich.console import Console  # imported here, so that servers do not load it
    from rich.text import Text

    Console(stderr=True).print(Text(text, style=style), soft_wrap=True)


@contextlib.contextmanager
def usage_errors_in_one_line(command: str = "hoglet") -> Generator[None]:
    """Make wrong commands, options and arguments a sentence that names the help.

    Args:
        command: what was called, for errors that do not say it.

    Raises:
        BadUsage: with the sentence.
    """
    try:
        yield
    except _USAGE_ERROR as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
            raise
        context: Any = getattr(error, "ctx", None)
        called = command if context is None else str(context.command_path)
        message = str(cast("Any", error).format_message()).replace("Value error, ", "")
        end = "" if message.endswith(("?", ".")) else "."
        raise BadUsage(f"{message}{end} See {called} -h.") from None


@contextlib.contextmanager
def unusable_paths_named() -> Generator[None]:
    """Make a path that the system refuses a sentence, wherever a command comes across it.

    Such as names that are too long, or folders in which a part of the path is a file.

    Raises:
        BadUsage: with the sentence.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        path = os.fsdecode(error.filename) if error.filename != "" else '""'
        raise BadUsage(f"{path} cannot be used: {error.strerror}.") from error


@contextlib.contextmanager
def exit_with_two() -> Generator[None]:
    """Exit with 2 for expected errors, in commands whose 1 means a difference."""
    try:
        yield
    except HogletError as error:
        raise BadUsage(error.detail) from None
