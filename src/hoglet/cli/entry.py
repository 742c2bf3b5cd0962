"""The installed command. It imports little: Ctrl-C while commands are imported is no traceback."""

from hoglet.cli.guard import guarded


def main() -> None:
    """Run the command line."""
    guarded(_command_line)


def _command_line() -> None:
    from hoglet.cli.main import app

    app()
