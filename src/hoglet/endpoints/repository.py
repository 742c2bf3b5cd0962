"""Statements on the tables of endpoints.

Functions use the caller's session, and are scoped by project or by an id that was looked up by
project.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.endpoints.tables import (
    AsyncRunRow,
    EndpointAliasRow,
    EndpointRow,
    EndpointVersionRow,
    MaterializationRow,
)

_MAX_NUMBER = 2**31 - 1

type Names = Mapping[str, int]
"""Versions by alias: ``{"prod": 2}``."""


class FoundEndpoint(msgspec.Struct, frozen=True):
    """An endpoint with one of its versions, and its materialization if enabled."""

    endpoint: EndpointRow
    version: EndpointVersionRow
    materialization: MaterializationRow | None


class ListFilters(msgspec.Struct, frozen=True):
    """Selects endpoints; ``limit`` None means all."""

    is_active: bool | None = None
    created_by_id: int | None = None
    limit: int | None = None
    offset: int = 0


async def find_endpoint(
    session: AsyncSession, project_id: int, name: str, *, lock: bool = False
) -> EndpointRow | None:
    """The live endpoint with this name; ``lock`` locks it until the transaction ends."""
    statement = select(EndpointRow).where(
        EndpointRow.project_id == project_id, EndpointRow.live_name == name
    )
    return await session.scalar(statement.with_for_update() if lock else statement)


async def find_version(
    session: AsyncSession, endpoint: EndpointRow, number: int | None = None
) -> FoundEndpoint | None:
    """A version of an endpoint, the current one if ``number`` is None."""
    requested = endpoint.current_version if number is None else number
    if not 0 < requested <= _MAX_NUMBER:
        return None
    row = (
        await session.execute(
            _with_materialization().where(
                EndpointVersionRow.endpoint_id == endpoint.id,
                EndpointVersionRow.number == requested,
            )
        )
    ).first()
    return None if row is None else FoundEndpoint(endpoint, row[0], row[1])


async def find_version_by_endpoint(
    session: AsyncSession, endpoint_id: UUID, number: int
) -> FoundEndpoint | None:
    """A version of a live endpoint, by the endpoint's id."""
    endpoint = await session.get(EndpointRow, endpoint_id)
    if endpoint is None or endpoint.live_name is None:
        return None
    return await find_version(session, endpoint, number)


async def list_endpoints(
    session: AsyncSession, project_id: int, filters: ListFilters
) -> tuple[int, list[FoundEndpoint]]:
    """The total count and a page: newest first, each with its current version."""
    conditions = [EndpointRow.project_id == project_id, EndpointRow.live_name.is_not(None)]
    if filters.is_active is not None:
        conditions.append(EndpointRow.is_active == filters.is_active)
    if filters.created_by_id is not None:
        conditions.append(EndpointRow.created_by_id == filters.created_by_id)
    count = await session.scalar(select(func.count()).select_from(EndpointRow).where(*conditions))
    rows = await session.execute(
        select(EndpointRow, EndpointVersionRow, MaterializationRow)
        .join(
            EndpointVersionRow,
            (EndpointVersionRow.endpoint_id == EndpointRow.id)
            & (EndpointVersionRow.number == EndpointRow.current_version),
        )
        .outerjoin(MaterializationRow, MaterializationRow.version_id == EndpointVersionRow.id)
        .where(*conditions)
        .order_by(EndpointRow.created_at.desc(), EndpointRow.id.desc())
        .limit(filters.limit)
        .offset(filters.offset)
    )
    return count or 0, [FoundEndpoint(row[0], row[1], row[2]) for row in rows]


async def list_versions(
    session: AsyncSession, endpoint: EndpointRow, *, limit: int | None = None, offset: int = 0
) -> list[FoundEndpoint]:
    """Versions of an endpoint, newest first."""
    rows = await session.execute(
        _with_materialization()
        .where(EndpointVersionRow.endpoint_id == endpoint.id)
        .order_by(EndpointVersionRow.number.desc())
        .limit(limit)
        .offset(offset)
    )
    return [FoundEndpoint(endpoint, row[0], row[1]) for row in rows]


async def materializations_of(
    session: AsyncSession, endpoint_id: UUID
) -> Sequence[MaterializationRow]:
    """All enabled materializations of an endpoint's versions, locked."""
    rows = await session.scalars(
        select(MaterializationRow)
        .where(MaterializationRow.endpoint_id == endpoint_id)
        .order_by(MaterializationRow.version_id)
        .with_for_update()
    )
    return rows.all()


async def get_materialization(session: AsyncSession, version_id: UUID) -> MaterializationRow | None:
    """The materialization of a version as it is now, locked until the transaction ends."""
    return await session.get(MaterializationRow, version_id, with_for_update=True)


async def materializations_in(
    session: AsyncSession, project_id: int, *, lock: bool = False
) -> list[tuple[MaterializationRow, EndpointVersionRow, EndpointRow]]:
    """All enabled materializations of a project, each with its version and endpoint.

    ``lock`` locks the materializations until the transaction ends.
    """
    statement = (
        select(MaterializationRow, EndpointVersionRow, EndpointRow)
        .join(EndpointVersionRow, EndpointVersionRow.id == MaterializationRow.version_id)
        .join(EndpointRow, EndpointRow.id == MaterializationRow.endpoint_id)
        .where(MaterializationRow.project_id == project_id)
        .order_by(MaterializationRow.version_id)
    )
    rows = await session.execute(
        statement.with_for_update(of=MaterializationRow) if lock else statement
    )
    return [(row[0], row[1], row[2]) for row in rows]


async def lock_materialization(
    session: AsyncSession, version_id: UUID
) -> tuple[MaterializationRow, EndpointVersionRow] | None:
    """A materialization and its version; both cannot change until the transaction ends.

    The endpoint is locked first, as updates of it do, so that neither waits for the other.
    """
    await session.execute(
        select(EndpointRow.id)
        .join(EndpointVersionRow, EndpointVersionRow.endpoint_id == EndpointRow.id)
        .where(EndpointVersionRow.id == version_id)
        .with_for_update(of=EndpointRow)
    )
    row = await get_materialization(session, version_id)
    version = await session.get(EndpointVersionRow, version_id)
    return None if row is None or version is None else (row, version)


async def built_tables(
    session: AsyncSession, project_id: int
) -> list[tuple[str, int, MaterializationRow]]:
    """Name and number of every version of the project with a readable table."""
    rows = await session.execute(
        select(EndpointRow.name, EndpointVersionRow.number, MaterializationRow)
        .join(EndpointVersionRow, EndpointVersionRow.id == MaterializationRow.version_id)
        .join(EndpointRow, EndpointRow.id == MaterializationRow.endpoint_id)
        .where(
            MaterializationRow.project_id == project_id,
            MaterializationRow.table_name.is_not(None),
        )
    )
    return [(row[0], row[1], row[2]) for row in rows]


async def all_materializations(session: AsyncSession) -> Sequence[MaterializationRow]:
    """Every enabled materialization of every project."""
    return (await session.scalars(select(MaterializationRow))).all()


async def unused_materializations(
    session: AsyncSession, before: datetime
) -> list[tuple[MaterializationRow, EndpointVersionRow]]:
    """Materializations enabled and last run before a time; never-run ones are excluded."""
    rows = await session.execute(
        select(MaterializationRow, EndpointVersionRow)
        .join(EndpointVersionRow, EndpointVersionRow.id == MaterializationRow.version_id)
        .where(
            MaterializationRow.enabled_at <= before,
            EndpointVersionRow.last_executed_at <= before,
        )
        .order_by(MaterializationRow.version_id)
        .with_for_update(of=MaterializationRow)
    )
    return [(row[0], row[1]) for row in rows]


async def note_executions(
    session: AsyncSession, executions: Iterable[tuple[UUID, UUID, datetime]]
) -> None:
    """Update ``last_executed_at`` of endpoints and versions: ``(endpoint, version, at)``."""
    for endpoint_id, version_id, at in executions:
        await session.execute(
            update(EndpointRow).where(EndpointRow.id == endpoint_id).values(last_executed_at=at)
        )
        await session.execute(
            update(EndpointVersionRow)
            .where(EndpointVersionRow.id == version_id)
            .values(last_executed_at=at)
        )


async def last_executions(
    session: AsyncSession, project_id: int, names: Sequence[str], since: datetime
) -> list[tuple[str, datetime]]:
    """Name and time of the last run, for live endpoints that ran since then."""
    rows = await session.execute(
        select(EndpointRow.live_name, EndpointRow.last_executed_at)
        .where(
            EndpointRow.project_id == project_id,
            EndpointRow.live_name.in_(names),
            EndpointRow.last_executed_at >= since,
        )
        .order_by(EndpointRow.live_name)
    )
    return [(row[0] or "", row[1] or since) for row in rows]


async def find_run(
    session: AsyncSession, endpoint_id: UUID, query_id: str, now: datetime, *, lock: bool = False
) -> AsyncRunRow | None:
    """A background run that has not expired; ``lock`` locks it until the transaction ends."""
    if "\x00" in query_id:  # PostgreSQL rejects NUL, and no id contains it
        return None
    row = await session.get(AsyncRunRow, (endpoint_id, query_id), with_for_update=lock)
    return row if row is not None and row.expires_at > now else None


async def delete_run(session: AsyncSession, endpoint_id: UUID, query_id: str) -> None:
    """Delete a background run, so that its id can be reused."""
    await session.execute(
        delete(AsyncRunRow).where(
            AsyncRunRow.endpoint_id == endpoint_id, AsyncRunRow.query_id == query_id
        )
    )


async def delete_expired_runs(session: AsyncSession, now: datetime) -> None:
    """Delete expired background runs."""
    await session.execute(delete(AsyncRunRow).where(AsyncRunRow.expires_at <= now))


def _with_materialization() -> Select[EndpointVersionRow, MaterializationRow]:
    return select(EndpointVersionRow, MaterializationRow).outerjoin(
        MaterializationRow, MaterializationRow.version_id == EndpointVersionRow.id
    )


async def alias_names(session: AsyncSession, endpoint_ids: Sequence[UUID]) -> Mapping[UUID, Names]:
    """``{endpoint id: {"prod": 2}}`` of endpoints that have aliases."""
    rows = await session.scalars(
        select(EndpointAliasRow)
        .where(EndpointAliasRow.endpoint_id.in_(endpoint_ids))
        .order_by(EndpointAliasRow.alias)
    )
    names_by_endpoint: dict[UUID, dict[str, int]] = {}
    for row in rows:
        names_by_endpoint.setdefault(row.endpoint_id, {})[row.alias] = row.version
    return names_by_endpoint
