"""The installed command; imports little, so that Ctrl-C during imports prints no traceback."""

import sys

from hoglet.cli.exit_codes import guarded, ignore_incomplete_objects


def main() -> None:
    """Run the command line."""
    guarded(_command_line)


def _command_line() -> None:
    if sys.argv[1:2] != ["serve"]:
        ignore_incomplete_objects()
    from hoglet.cli.main import app

    app()
