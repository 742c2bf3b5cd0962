"""``hoglet admin``: commands that open a data folder."""

import typer

from hoglet.cli.admin.database import database_app
from hoglet.cli.admin.functions import admin_functions_app
from hoglet.cli.admin.keys import keys_app, projects_app
from hoglet.cli.admin.queues import queues_app
from hoglet.cli.admin.secrets import secrets_app
from hoglet.cli.admin.warehouse import warehouse_app

admin_app = typer.Typer(
    help="Manage a data folder without a server: keys, projects, queues, secrets, databases.",
    no_args_is_help=True,
)
admin_app.add_typer(keys_app, name="keys")
admin_app.add_typer(projects_app, name="projects")
admin_app.add_typer(queues_app, name="queues")
admin_app.add_typer(secrets_app, name="secrets")
admin_app.add_typer(database_app, name="database")
admin_app.add_typer(admin_functions_app, name="functions")
admin_app.add_typer(warehouse_app, name="warehouse")
