"""Statements on background queries."""

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.definitions.tables import PropertyDefinitionRow
from hoglet.endpoints.repository import built_tables, materializations_in
from hoglet.endpoints.tables import EndpointVersionRow, MaterializationRow
from hoglet.queries.tables import QueryRunRow
from hoglet.queries.worker.suggestion import PropertyName


async def find_run(
    session: AsyncSession, project_id: int, query_id: str, now: datetime, *, lock: bool = False
) -> QueryRunRow | None:
    """The run with this id, unless it has expired; ``lock`` locks it for the transaction."""
    if "\x00" in query_id:  # PostgreSQL rejects NUL, and no id contains it
        return None
    row = await session.get(QueryRunRow, (project_id, query_id), with_for_update=lock)
    return None if row is None or row.expires_at <= now else row


async def delete_run(session: AsyncSession, project_id: int, query_id: str) -> None:
    """Delete the run with this id, so that the id can be reused."""
    await session.execute(
        delete(QueryRunRow).where(
            QueryRunRow.project_id == project_id, QueryRunRow.query_id == query_id
        )
    )


async def delete_expired_runs(session: AsyncSession, now: datetime) -> None:
    """Delete expired runs."""
    await session.execute(delete(QueryRunRow).where(QueryRunRow.expires_at <= now))


async def builds(
    session: AsyncSession, project_id: int
) -> list[tuple[str, EndpointVersionRow, MaterializationRow]]:
    """Name in FROM, version and table of every readable materialized endpoint."""
    ready = {
        row.version_id: f"{name}_v{number}"
        for name, number, row in await built_tables(session, project_id)
    }
    rows = await materializations_in(session, project_id)
    return [
        (ready[build.version_id], version, build)
        for build, version, _ in rows
        if build.version_id in ready
    ]


async def property_names(session: AsyncSession, project_id: int) -> list[PropertyName]:
    """Kind, name and type of every property that is not hidden, by name."""
    row = PropertyDefinitionRow
    rows = await session.execute(
        select(row.kind, row.name, row.property_type)
        .where(row.project_id == project_id, ~row.is_deleted, ~row.hidden)
        .order_by(row.name, row.kind)
    )
    return [(kind, name, type_) for kind, name, type_ in rows]


async def typed_properties(session: AsyncSession, project_id: int) -> list[PropertyDefinitionRow]:
    """The properties whose values may fail to convert to their type."""
    row = PropertyDefinitionRow
    rows = await session.scalars(
        select(row).where(
            row.project_id == project_id, ~row.is_deleted, row.property_type != "String"
        )
    )
    return list(rows)
