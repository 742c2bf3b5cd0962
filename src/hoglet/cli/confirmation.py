"""Confirmation before deleting, and before work on everything."""

import sys

import typer

from hoglet.cli.error_handling import BadUsage


def confirm(lines: list[str], *, yes: bool) -> None:
    """Show what would be deleted and ask for confirmation; no effect if nothing would be.

    Raises:
        BadUsage: there is no terminal to ask at, and no ``--yes``.
        typer.Exit: with 1; the answer was no.
    """
    if not lines or yes:
        return
    if not sys.stdin.isatty():
        listed = ", ".join(lines)
        raise BadUsage(f"To be deleted: {listed}. Without a terminal, this requires --yes.")
    for line in lines:
        print(f"to be deleted: {line}")
    _ask("Delete them?")


def confirm_extent(sentence: str, narrower: str, *, yes: bool) -> None:
    """Ask for confirmation of work on more than the caller may have meant.

    Args:
        sentence: what would be done, ``All stored events would be …``.
        narrower: the options that limit it, ``--start and --end``.
        yes: do not ask.

    Raises:
        BadUsage: there is no terminal to ask at, and no ``--yes``.
        typer.Exit: with 1; the answer was no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise BadUsage(
            f"{sentence} Limit it with {narrower}, or confirm with --yes, since there is no "
            "terminal."
        )
    print(f"{sentence} Use {narrower} to limit it.")
    _ask("Continue?")


def _ask(question: str) -> None:
    if not typer.confirm(question):
        raise typer.Exit(1)
