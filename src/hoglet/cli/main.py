"""The entry point: mounts the command groups."""

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from hoglet import __version__
from hoglet.cli import (
    demo,
    endpoints,
    events,
    functions,
    hog,
    integrations,
    keys,
    logs,
    queues,
    secrets,
    serve,
    status,
    warehouse,
)
from hoglet.cli.refusals import print_error
from hoglet.cli.server_address import warn_of_old_spelling
from hoglet.kit.errors import HogletError


class _Commands(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        warn_of_old_spelling(args)
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="hoglet",
    cls=_Commands,
    help="A small server for hog functions and query endpoints.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("serve")(serve.serve)
app.command("demo")(demo.demo)
app.command("logs")(logs.logs)
app.command("status")(status.status)
app.add_typer(endpoints.endpoints_app, name="endpoints")
app.add_typer(events.events_app, name="events")
app.add_typer(functions.functions_app, name="functions")
app.add_typer(hog.hog_app, name="hog")
app.add_typer(integrations.integrations_app, name="integrations")
app.add_typer(secrets.secrets_app, name="secrets")
app.add_typer(keys.key_app, name="key")
app.add_typer(keys.project_app, name="project")
app.add_typer(queues.queue_app, name="queue")
app.add_typer(warehouse.warehouse_app, name="warehouse")


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


def main() -> None:
    """Run the command line; expected errors print one sentence and exit with 1, settings with 2.

    Commands whose 1 means that something differs exit with 2 for both.
    """
    try:
        app()
    except HogletError as error:
        print_error(error)
        sys.exit(2 if error.error_code == "bad_setting" else 1)


if __name__ == "__main__":
    main()
