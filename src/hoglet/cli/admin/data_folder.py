"""Shared by admin commands: access to the database of a data folder."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hoglet.kit.errors import HogletError

if TYPE_CHECKING:  # SQLAlchemy is not needed to print help, nor by the other commands
    from sqlalchemy.ext.asyncio import AsyncSession

    from hoglet.settings import Settings
    from hoglet.store.database import Database

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Folder for all data. [default: hoglet-data]")
]

_DATABASE = "hoglet.db"


class NoData(HogletError):
    """There is no database at the expected location."""

    code = "no_data"
    blame = "operator"


def in_transaction[T](data_dir: Path | None, work: "Callable[[AsyncSession], Awaitable[T]]") -> T:
    """Run ``work`` in one transaction on the data folder's (or the configured) database.

    Raises:
        NoData: there is no database.
        StartupFault: it cannot be used.
    """

    async def whole(database: "Database") -> T:
        async with database.write() as session:
            return await work(session)

    return with_database(data_dir, whole)


def with_database[T](data_dir: Path | None, work: "Callable[[Database], Awaitable[T]]") -> T:
    """Run ``work`` with the data folder's (or the configured) database.

    Raises:
        NoData: there is no database.
        StartupFault: it cannot be used.
    """
    import asyncio

    from hoglet.app.startup.errors import data_faults
    from hoglet.settings import load_settings

    settings = load_settings(data_dir=data_dir)
    check_is_there(settings)
    with data_faults(settings):
        return asyncio.run(_opened(settings.resolved_database_url(), work))


def check_is_there(settings: "Settings") -> None:
    """Reject a data folder on which no server was started.

    Raises:
        NoData: there is no database.
    """
    if not has_database(settings):
        raise NoData(
            f"There is no database at {settings.data_dir / _DATABASE}. "
            "Start the server once, or specify --data-dir."
        )


def has_database(settings: "Settings") -> bool:
    """Whether the data folder has a database, or another database is configured."""
    return settings.database_url is not None or (settings.data_dir / _DATABASE).exists()


async def _opened[T](url: str, work: "Callable[[Database], Awaitable[T]]") -> T:
    from hoglet.store.database import Database

    database = Database(url)
    try:
        return await work(database)
    finally:
        await database.close()
