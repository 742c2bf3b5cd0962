"""``hoglet admin database``: moves the metadata of a data folder to PostgreSQL."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hoglet.cli.admin.data_folder import DataDir, NoData
from hoglet.cli.error_handling import BadUsage

if TYPE_CHECKING:  # SQLAlchemy is not needed to print help
    from hoglet.store.table_copy import RowsCopied

database_app = typer.Typer(help="The metadata database of a data folder.", no_args_is_help=True)

TargetUrl = Annotated[
    str,
    typer.Argument(help="An empty database, e.g. postgresql+psycopg://hoglet@db:5432/hoglet."),
]


@database_app.command("copy")
def copy(target: TargetUrl, data_dir: DataDir = None) -> None:
    """Copy the metadata of a stopped server from SQLite to an empty PostgreSQL database.

    Start the server afterwards with HOGLET_DATABASE_URL and the same data folder: its warehouse
    and its encryption keys stay there. The SQLite file is kept and no longer used.
    """
    from rich.progress import BarColumn, Progress, TextColumn

    from hoglet.app.startup.data_folder import DataFolderLock
    from hoglet.settings import load_settings

    settings = load_settings(data_dir=data_dir)
    if not target.startswith("postgresql+psycopg://"):
        raise BadUsage("The target must be a URL such as postgresql+psycopg://user@host:5432/name.")
    if not (settings.data_dir / "hoglet.db").exists():
        raise NoData(f"There is no database at {settings.data_dir}/hoglet.db; specify --data-dir.")
    lock = DataFolderLock(settings.data_dir)
    lock.acquire()
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,} rows"))
    try:
        with Progress(*columns, transient=True, disable=not os.isatty(2)) as progress:
            task = progress.add_task("copy", total=None)
            file = settings.data_dir.absolute() / "hoglet.db"
            copied = _copy(
                file,
                target,
                lambda name, rows: progress.update(task, description=name, advance=rows),
            )
    finally:
        lock.release()
    print(f"Copied {sum(copied.values()):,} rows of {sum(map(bool, copied.values()))} tables.")
    print("Start the server with HOGLET_DATABASE_URL set to this URL and the same data folder.")


def _copy(file: Path, target_url: str, advance: "RowsCopied") -> dict[str, int]:
    import asyncio

    from sqlalchemy.exc import OperationalError, ProgrammingError

    from hoglet.migrations import migrate
    from hoglet.migrations.metadata import load_all_tables
    from hoglet.store.table_copy import copy_tables

    load_all_tables()
    source_url = f"sqlite:///{file}"
    try:
        migrate(source_url)
        migrate(target_url)
        asyncio.run(_release_leases(file))
        return copy_tables(source_url, target_url, advance)
    except (OperationalError, ProgrammingError) as error:
        raise NoData(f"The database cannot be used: {error.orig}") from error


async def _release_leases(file: Path) -> None:
    """Release the leases of the stopped server, which would otherwise have to expire first."""
    from hoglet.kit.clock import SystemClock
    from hoglet.queue.sql import SqlQueue
    from hoglet.store.database import Database

    database = Database(f"sqlite+aiosqlite:///{file}")
    try:
        await SqlQueue(database, SystemClock(), owner="server").reclaim()
    finally:
        await database.close()
