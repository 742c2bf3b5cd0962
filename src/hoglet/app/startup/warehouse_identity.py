"""Ties a database to one warehouse, so that no server uses another by mistake.

Two servers on one PostgreSQL with a chDB folder each would split the events between them and both
return wrong results. An emptied or replaced folder would return fewer events than were accepted.
Both are refused at startup.

Source: docs/adr/0019-warehouse-identity.md.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

from sqlalchemy import delete, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.tables import ProjectRow
from hoglet.app.startup.errors import StartupFault
from hoglet.app.startup.tables import WarehouseIdentityRow
from hoglet.kit.clock import Clock
from hoglet.pipeline.tables import WarehouseCheckpointRow
from hoglet.settings import Settings
from hoglet.store.database import Database
from hoglet.warehouse import Warehouse
from hoglet.warehouse.identity import store_warehouse_identity, warehouse_identity

_IN_MEMORY = "chdb://:memory:"

# Arbitrary constants that nothing else in the database locks.
_CLAIM_LOCK = 7_226_312
_WRITER_LOCK = 7_226_313
_ADVICE = "or run `hoglet admin warehouse adopt` to accept this one with its events."


def is_durable(settings: Settings) -> bool:
    """Whether the warehouse is still there at the next start."""
    return not settings.resolved_warehouse_url().startswith(_IN_MEMORY)


async def claim_warehouse(
    database: Database, warehouse: Warehouse, settings: Settings, clock: Clock
) -> None:
    """Record the warehouse in the database at the first start; compare it at later ones.

    Idempotency: after a crash between its two writes, the next start finishes the claim.

    Raises:
        StartupFault: the database belongs to another warehouse.
    """
    if not is_durable(settings):
        return
    url = settings.resolved_warehouse_url()
    async with database.write() as session:
        # Two concurrent first starts: one records, the other compares.
        await database.serialize(session, _CLAIM_LOCK)
        stored = await warehouse_identity(warehouse)
        recorded = await session.scalar(select(WarehouseIdentityRow.warehouse_id))
        if recorded is None:
            stored = stored or await store_warehouse_identity(warehouse, uuid4())
            await _record(session, stored, clock)
        elif stored is None and await _may_replace(database, session):
            await forget_warehouse(session)
            await _record(session, await store_warehouse_identity(warehouse, uuid4()), clock)
        elif stored != recorded:
            raise StartupFault(_refusal(url, is_new=stored is None))


async def _may_replace(database: Database, session: AsyncSession) -> bool:
    """Whether the recorded warehouse may be replaced: no events, and no other server uses it.

    On PostgreSQL another server may be about to store the first event in it.
    """
    has_events = await session.scalar(select(ProjectRow.id).where(ProjectRow.ingested_event))
    return database.is_sqlite and not has_events


async def forget_warehouse(session: AsyncSession) -> None:
    """Let the next start accept any warehouse."""
    await session.execute(delete(WarehouseIdentityRow))
    await session.execute(delete(WarehouseCheckpointRow))


async def record_copy(session: AsyncSession, copy: Warehouse, clock: Clock) -> None:
    """Give a complete copy of the warehouse an id of its own, and let the database belong to it.

    The warehouse that it was copied from is refused from now on.
    """
    identity = await store_warehouse_identity(copy, uuid4())
    await session.execute(delete(WarehouseIdentityRow))
    await _record(session, identity, clock)


@asynccontextmanager
async def embedded_writer(database: Database, settings: Settings) -> AsyncGenerator[None]:
    """Ensure that a single server writes the embedded warehouse of a shared PostgreSQL.

    A copied folder has the same identity, so a lock in the database distinguishes two writers.
    PostgreSQL releases it when the connection ends, even if the server is killed.

    Raises:
        StartupFault: another server is writing, or a pooler would take the lock away.
    """
    is_embedded = settings.resolved_warehouse_url().startswith("chdb")
    if database.is_sqlite or not is_embedded:
        yield
        return
    async with database.engine.connect() as connection:
        if database.is_pooled:
            raise StartupFault(
                "HOGLET_DATABASE_URL leads to a connection pooler, and a server with an embedded "
                "warehouse holds a lock in PostgreSQL as long as it runs: connect it to PostgreSQL "
                "directly, or use a ClickHouse server (HOGLET_WAREHOUSE_URL)."
            )
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        taken = await connection.scalar(text(f"SELECT pg_try_advisory_lock({_WRITER_LOCK})"))
        if not taken:
            raise StartupFault(
                "Another server on this database writes its embedded warehouse: stop "
                "that one, start this one with --roles executor, or use the same "
                "ClickHouse server for both (HOGLET_WAREHOUSE_URL)."
            )
        yield


async def _record(session: AsyncSession, identity: UUID, clock: Clock) -> None:
    await session.execute(
        insert(WarehouseIdentityRow).values(warehouse_id=identity, recorded_at=clock.now())
    )


def _refusal(url: str, *, is_new: bool) -> str:
    location = url.removeprefix("chdb://") if url.startswith("chdb") else "of HOGLET_WAREHOUSE_URL"
    kind = "is empty" if is_new else "is not the one"
    return (
        f"The warehouse {location} {kind}, but this database belongs to another: restore the "
        f"folder from a backup, set the HOGLET_WAREHOUSE_URL that was used before, {_ADVICE}"
    )
