"""Inserts the rows of a query into a table of the embedded engine: all of them or none.

The engine does not report a disk that fills up (see ``disk_space``), and a kill leaves the blocks
written so far. So the rows go into a scratch table first. When all of them are known to be on disk,
its parts are attached to the table, as hard links. Scratch tables left by a killed server are
dropped at the next start, before its parts are checked.
"""

from uuid import uuid4

import structlog
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from hoglet.warehouse.disk_space import DiskChecks
from hoglet.warehouse.port import STARTUP, InsertSelect, Warehouse

log = structlog.get_logger()

_PREFIX = "hoglet_scratch_"


def insert_whole(client: Client, disk: DiskChecks, insert: InsertSelect) -> None:
    """Insert the rows of a query into an unpartitioned table, all of them or none.

    Args:
        client: a connection to the embedded engine.
        disk: its disk checks.
        insert: the table and the query; others may insert into the table at the same time.

    Raises:
        WarehouseDown: the disk is full; nothing was inserted. A retry succeeds once there is space.
        ClickHouseError: the engine refused the query; nothing was inserted.
    """
    table, scratch = insert.table, f"{_PREFIX}{uuid4().hex}"
    try:
        with disk.statement():
            client.command(f"CREATE TABLE {scratch} AS {table}")
            client.command(insert.statement(scratch), parameters=dict(insert.params))
        with disk.insert(client, table):
            client.command(f"ALTER TABLE {table} ATTACH PARTITION tuple() FROM {scratch}")
    finally:
        _drop(client, scratch)


def _drop(client: Client, scratch: str) -> None:
    try:
        client.command(f"DROP TABLE IF EXISTS {scratch} SYNC")
    except ClickHouseError:  # no space even for that; the next start drops it
        log.warning("a scratch table is left", action="scratch_left", table=scratch, exc_info=True)


async def drop_scratch_tables(warehouse: Warehouse) -> None:
    """Drop the scratch tables of a killed server."""
    tables = await warehouse.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() "
        "AND startsWith(name, {prefix:String})",
        {"prefix": _PREFIX},
        budget=STARTUP,
    )
    for (name,) in tables.rows:
        await warehouse.drop_table(name)
