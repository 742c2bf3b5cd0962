"""Opens the spool logs, which hold accepted events until they are stored."""

from collections.abc import Callable
from contextlib import AsyncExitStack

from sqlalchemy import select

from hoglet.app.startup.errors import StartupFault
from hoglet.app.startup.tables import WarehouseIdentityRow
from hoglet.settings import Settings
from hoglet.spool import NamedLog, SpoolUnavailable, rows
from hoglet.spool.address import nats_address
from hoglet.spool.positions import create_partitions
from hoglet.store.database import Database

# An entry is a request and its metadata: the project, the time, the client's address.
_ENVELOPE_BYTES = 64 * 1024


async def open_spool_logs(
    database: Database,
    settings: Settings,
    stack: AsyncExitStack,
    on_lost_commits: Callable[[], None],
) -> list[NamedLog]:
    """The logs, closed by ``stack``; captured events are written to the first; all are consumed.

    SQLite has no logs; its spool consists of jobs. With NATS, PostgreSQL's log is consumed too,
    because it may hold events accepted before NATS was configured.

    Raises:
        StartupFault: NATS is unreachable.
        SpoolRefused: NATS, or its stream, cannot be the spool.
    """
    if database.is_sqlite:
        return []
    logs = [NamedLog(rows.NAME, rows.RowLog(database, on_lost_commits))]
    if settings.spool_url is not None:
        logs.insert(0, await _open_nats(database, settings, settings.spool_url, stack))
    for each in logs:
        await create_partitions(database, each.name, settings.partitions)
    return logs


async def _open_nats(
    database: Database, settings: Settings, url: str, stack: AsyncExitStack
) -> NamedLog:
    from hoglet.spool.jetstream import open_jetstream  # an extra

    async with database.read() as session:
        warehouse = await session.scalar(select(WarehouseIdentityRow.warehouse_id))
    address = nats_address(url)
    try:
        opened = await open_jetstream(
            address,
            payload_bytes=settings.request_body_bytes + _ENVELOPE_BYTES,
            owner=None if warehouse is None else str(warehouse),
        )
    except SpoolUnavailable as error:
        raise StartupFault(
            f"{error.detail.rstrip('.')}: check HOGLET_SPOOL_URL and that NATS is running."
        ) from None
    stack.push_async_callback(opened.close)
    return NamedLog(opened.facts.identity, opened, address.keep_seconds)
