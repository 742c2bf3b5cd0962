"""Confirmation before deleting."""

import sys

import typer

from hoglet.cli.refusals import BadUsage


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
    if not typer.confirm("Delete them?"):
        raise typer.Exit(1)
