"""The installed command; imports little, so that Ctrl-C during imports prints no traceback."""

import sys

from hoglet.cli.exit_codes import guarded, keep_interrupts


def main() -> None:
    """Run the command line."""
    guarded(_command_line)


def _command_line() -> None:
    keep_interrupts(ignore_incomplete_objects=sys.argv[1:2] != ["serve"])
    from hoglet.cli.main import app

    app()
