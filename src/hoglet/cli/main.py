"""All commands.

``hoglet <noun> <verb>``, nouns in the plural. Commands call a server; those of ``hoglet admin``
open a data folder. Exit codes: 0 success, 1 differences or a failure, 2 wrong usage or no server.
"""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hoglet.cli import (
    backup,
    cohorts,
    events,
    integrations,
    mcp,
    query,
    status,
    tokens,
)
from hoglet.cli.admin.database import database_app
from hoglet.cli.admin.functions import admin_functions_app
from hoglet.cli.admin.keys import keys_app, projects_app
from hoglet.cli.admin.queues import queues_app
from hoglet.cli.admin.secrets import secrets_app
from hoglet.cli.admin.warehouse import warehouse_app
from hoglet.cli.application import command_line
from hoglet.cli.endpoints.commands import endpoints_app
from hoglet.cli.error_handling import BadUsage
from hoglet.cli.functions.commands import functions_app
from hoglet.cli.hog.commands import hog_app
from hoglet.cli.project import dev, init, pull, sync, tests
from hoglet.cli.server import login
from hoglet.cli.server.connection import ServerCommand
from hoglet.cli.server.serve import serve

app = command_line()
app.command("serve")(serve)


@app.command("demo")
def demo(
    once: Annotated[bool, typer.Option(help="Stop after the summary.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of the server; a temporary one by default.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the server; 0 for a free port.")] = 0,
    limit: Annotated[
        int | None, typer.Option(help="Only the first departures, for a quick run.", min=1)
    ] = None,
) -> None:
    """Run the demo on 336,776 real departures; every figure is checked against the CSV.

    Exits with 0 when all figures are equal, with 1 when one differs.
    """
    from hoglet.demo.run import run_demo

    if data_dir is not None:
        _make_folder(data_dir)
    complete = run_demo(
        data_dir=data_dir, port=port, once=once, limit=limit, console=Console(highlight=False)
    )
    raise typer.Exit(0 if complete else 1)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadUsage(
            f"{path} cannot be used ({error.strerror}): choose another --data-dir."
        ) from None


app.command("login")(login.login)
app.command("logout")(login.logout)
app.command("query", cls=ServerCommand)(query.query)
app.command("status", cls=ServerCommand)(status.status)
app.command("mcp", cls=ServerCommand)(mcp.mcp)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.command("init")(init.init)
app.command("dev")(dev.dev)
app.command("test")(tests.run_tests)
app.command("pull", cls=ServerCommand)(pull.pull)
app.command("diff", cls=ServerCommand)(sync.diff)
app.command("push", cls=ServerCommand)(sync.push)
app.add_typer(login.profiles_app, name="profiles")
app.add_typer(functions_app, name="functions")
app.add_typer(endpoints_app, name="endpoints")
app.add_typer(tokens.tokens_app, name="tokens")
app.add_typer(events.events_app, name="events")
app.add_typer(cohorts.cohorts_app, name="cohorts")
app.add_typer(integrations.integrations_app, name="integrations")
app.add_typer(hog_app, name="hog")
app.add_typer(keys_app, name="keys", hidden=True)  # as hoglet admin keys
app.add_typer(projects_app, name="projects", hidden=True)  # as hoglet admin projects

admin_app = typer.Typer(
    help="Manage a data folder without a server: keys, projects, queues, secrets, databases.",
    no_args_is_help=True,
)
app.add_typer(admin_app, name="admin")
admin_app.add_typer(keys_app, name="keys")
admin_app.add_typer(projects_app, name="projects")
admin_app.add_typer(queues_app, name="queues")
admin_app.add_typer(secrets_app, name="secrets")
admin_app.add_typer(database_app, name="database")
admin_app.add_typer(admin_functions_app, name="functions")
admin_app.add_typer(warehouse_app, name="warehouse")
