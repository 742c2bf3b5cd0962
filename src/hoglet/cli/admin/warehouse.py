"""``hoglet admin warehouse``: which warehouse belongs to a database; works on the data folder."""

import typer

from hoglet.cli.admin.data_folder import DataDir, in_transaction

warehouse_app = typer.Typer(help="The warehouse of a data folder.", no_args_is_help=True)


@warehouse_app.command("adopt")
def adopt(data_dir: DataDir = None) -> None:
    """Let the next start accept the configured warehouse with its events."""
    from hoglet.app.startup.warehouse_identity import forget_warehouse

    in_transaction(data_dir, forget_warehouse)
    print("The next start accepts the configured warehouse.")
