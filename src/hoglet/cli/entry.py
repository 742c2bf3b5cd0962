"""The installed command; imports little, so that Ctrl-C during imports prints no traceback.

A server starts without the other commands, whose packages would stay in its memory.
"""

import sys

from hoglet.cli.exit_codes import guarded, ignore_incomplete_objects

SERVE = "serve"


def main() -> None:
    """Run the command line."""
    guarded(_serve if sys.argv[1:2] == [SERVE] else _command_line)


def _command_line() -> None:
    ignore_incomplete_objects()
    from hoglet.cli.main import app

    app()


def _serve() -> None:
    from hoglet.cli.application import command_line
    from hoglet.cli.server.serve import serve

    app = command_line()
    app.command(SERVE)(serve)
    app()
