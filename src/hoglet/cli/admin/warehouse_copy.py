"""``hoglet admin warehouse copy``: moves the warehouse of a data folder to a ClickHouse server."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hoglet.cli.admin.data_folder import DataDir, NoData, check_is_there
from hoglet.cli.error_handling import BadUsage

if TYPE_CHECKING:  # the engine and SQLAlchemy are not needed to print help
    from hoglet.settings import Settings
    from hoglet.warehouse import Retention
    from hoglet.warehouse.table_copy import RowsCopied

TargetUrl = Annotated[
    str, typer.Argument(help="An empty database, e.g. clickhouse://hoglet:password@ch:8123/hoglet.")
]


def copy(target: TargetUrl, data_dir: DataDir = None) -> None:
    """Copy the warehouse of a stopped server from its data folder to a ClickHouse server.

    Start the server afterwards with HOGLET_WAREHOUSE_URL and the same database: the folder of the
    former warehouse is kept and no longer used.
    """
    from hoglet.app.startup.errors import data_faults
    from hoglet.settings import load_settings

    settings = load_settings(data_dir=data_dir)
    if not target.startswith(("clickhouse://", "clickhouses://")):
        raise BadUsage(
            "The target must be a URL such as clickhouse://user:password@host:8123/name."
        )
    check_is_there(settings)
    source = f"chdb://{_folder(settings)}"
    with _stopped(settings), _advancing() as advance, data_faults(settings):
        copied = _copy(settings, source, target, advance)
    print(f"Copied {sum(copied.values()):,} rows of {sum(map(bool, copied.values()))} tables.")
    print("Start the server with HOGLET_WAREHOUSE_URL set to this URL.")


def _folder(settings: "Settings") -> Path:
    given = settings.resolved_warehouse_url()
    embedded = given.startswith("chdb")
    folder = Path(given.partition("://")[2]) if embedded else settings.data_dir / "warehouse"
    if not folder.is_dir():
        raise NoData(f"There is no warehouse at {folder}; specify --data-dir.")
    return folder.absolute()


@contextmanager
def _stopped(settings: "Settings") -> Generator[None]:
    """Hold the data folder of a server that has finished its work.

    A group whose server was killed may be in the warehouse in part. The copy does not know the
    names of its blocks, so it would take them again.
    """
    from hoglet.app.startup.data_folder import DataFolderLock
    from hoglet.app.startup.server_file import read_server_file

    lock = DataFolderLock(settings.data_dir)
    lock.acquire()
    try:
        if read_server_file(settings.data_dir) is not None:
            raise NoData(
                "The last server on this data folder was killed: start it and stop it with SIGTERM "
                "first, so that it finishes what it was storing."
            )
        yield
    finally:
        lock.release()


@contextmanager
def _advancing() -> "Generator[RowsCopied]":
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,} rows"))
    with Progress(*columns, transient=True, disable=not os.isatty(2)) as progress:
        task = progress.add_task("copy", total=None)
        yield lambda name, rows: progress.update(task, description=name, advance=rows)


def _copy(settings: "Settings", source: str, target: str, advance: "RowsCopied") -> dict[str, int]:
    import asyncio

    from hoglet.app.services.container import retention_of
    from hoglet.warehouse.table_copy import copy_tables

    asyncio.run(_migrate(source, None))
    asyncio.run(_migrate(target, retention_of(settings)))
    copied = copy_tables(source, target, advance)
    asyncio.run(_record(settings, target))
    return copied


async def _migrate(url: str, retention: "Retention | None") -> None:
    from hoglet.warehouse import open_warehouse

    warehouse = await open_warehouse(url, retention=retention)
    await warehouse.close()


async def _record(settings: "Settings", target: str) -> None:
    from hoglet.app.startup.warehouse_identity import record_copy
    from hoglet.kit.clock import SystemClock
    from hoglet.store.database import Database
    from hoglet.warehouse import ClickHouseWarehouse

    database, copied = Database(settings.resolved_database_url()), ClickHouseWarehouse(target)
    try:
        async with database.write() as session:
            await record_copy(session, copied, SystemClock())
    finally:
        await copied.close()
        await database.close()
