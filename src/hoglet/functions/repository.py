"""Statements on hog functions."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Select, func, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions import types
from hoglet.functions.json_types import FunctionFilters
from hoglet.functions.tables import HogFunctionRow, IntegrationRow


class FunctionFilter(NamedTuple):
    """Selects functions; None and empty mean no restriction."""

    types: Sequence[str] = ()
    enabled: bool | None = None
    id: UUID | None = None
    created_by: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class FunctionSummary(NamedTuple):
    """The columns for filtering and searching."""

    id: UUID
    name: str | None
    description: str
    filters: FunctionFilters


async def find(
    session: AsyncSession,
    project_id: int,
    function_id: UUID,
    *,
    deleted: bool | None = False,
    lock: bool = False,
) -> HogFunctionRow | None:
    """A function of this project.

    ``deleted=None`` includes deleted ones; ``lock`` locks it until the transaction ends.
    """
    statement = select(HogFunctionRow).where(
        HogFunctionRow.id == function_id, HogFunctionRow.project_id == project_id
    )
    if deleted is not None:
        statement = statement.where(HogFunctionRow.deleted.is_(deleted))
    return await session.scalar(statement.with_for_update(key_share=True) if lock else statement)


async def find_anywhere(session: AsyncSession, function_id: UUID) -> HogFunctionRow | None:
    """The live function with this id in any project; for public routes without a project."""
    return await session.scalar(
        select(HogFunctionRow).where(
            HogFunctionRow.id == function_id, HogFunctionRow.deleted.is_(False)
        )
    )


async def count(session: AsyncSession, project_id: int, filters: FunctionFilter) -> int:
    """Number of functions in a list."""
    statement = _matching(select(func.count()).select_from(HogFunctionRow), project_id, filters)
    return await session.scalar(statement) or 0


async def page(
    session: AsyncSession,
    project_id: int,
    filters: FunctionFilter,
    *,
    limit: int | None,
    offset: int,
) -> list[HogFunctionRow]:
    """A page of a list in its standard order."""
    statement = _matching(select(HogFunctionRow), project_id, filters).order_by(*_order())
    return list(await session.scalars(statement.limit(limit).offset(offset)))


async def summaries(
    session: AsyncSession, project_id: int, filters: FunctionFilter
) -> list[FunctionSummary]:
    """All rows of a list in its standard order, with the columns for filtering."""
    columns: Any = select(
        HogFunctionRow.id,
        HogFunctionRow.name,
        HogFunctionRow.description,
        HogFunctionRow.filters,
    )
    statement = _matching(columns, project_id, filters).order_by(*_order())
    return [FunctionSummary(*row) for row in await session.execute(statement)]


async def by_ids(
    session: AsyncSession, project_id: int, ids: Sequence[UUID], *, lock: bool = False
) -> list[HogFunctionRow]:
    """Live functions in the order of ``ids``; unknown ids are omitted.

    ``lock`` locks them until the transaction ends.
    """
    statement = select(HogFunctionRow).where(
        HogFunctionRow.project_id == project_id,
        HogFunctionRow.deleted.is_(False),
        HogFunctionRow.id.in_(ids),
    )
    if lock:
        statement = statement.order_by(HogFunctionRow.id).with_for_update(key_share=True)
    by_id = {row.id: row for row in await session.scalars(statement)}
    return [by_id[item] for item in ids if item in by_id]


async def live_of_type(session: AsyncSession, project_id: int, kind: str) -> list[HogFunctionRow]:
    """All live functions of a type in their standard order."""
    return await page(session, project_id, FunctionFilter(types=[kind]), limit=None, offset=0)


async def enabled(
    session: AsyncSession, project_id: int, kinds: Collection[str]
) -> list[HogFunctionRow]:
    """The enabled live functions of some types, and those disabled by the watcher."""
    statement = (
        select(HogFunctionRow)
        .where(
            HogFunctionRow.project_id == project_id,
            HogFunctionRow.deleted.is_(False),
            HogFunctionRow.type.in_(kinds),
            HogFunctionRow.enabled.is_(True) | HogFunctionRow.state.in_((3, 12)),
        )
        .order_by(*_order())
    )
    return list(await session.scalars(statement))


class WaitingFunction(NamedTuple):
    """A destination for events with certain names only."""

    id: UUID
    events: frozenset[str]
    created_at: datetime


async def waiting(session: AsyncSession, project_id: int) -> list[WaitingFunction]:
    """The destinations of :func:`enabled` that have event names."""
    statement = select(HogFunctionRow.id, HogFunctionRow.matcher, HogFunctionRow.created_at).where(
        HogFunctionRow.project_id == project_id,
        HogFunctionRow.type == types.DESTINATION,
        HogFunctionRow.deleted.is_(False),
        HogFunctionRow.enabled.is_(True) | HogFunctionRow.state.in_((3, 12)),
    )
    return [
        WaitingFunction(identity, frozenset(names), created_at)
        for identity, matcher, created_at in await session.execute(statement)
        if (names := matcher.get("events")) is not None
    ]


async def highest_order(
    session: AsyncSession, project_id: int, kind: str, *, without: UUID | None = None
) -> int:
    """The highest execution order of live functions of a type, except one; 0 without any."""
    statement = select(func.max(HogFunctionRow.execution_order)).where(
        HogFunctionRow.project_id == project_id,
        HogFunctionRow.type == kind,
        HogFunctionRow.deleted.is_(False),
        HogFunctionRow.id != without,
    )
    return await session.scalar(statement) or 0


async def count_enabled(
    session: AsyncSession, project_id: int, kind: str, *, without: UUID | None
) -> int:
    """Number of enabled live functions of a type, except one."""
    statement = (
        select(func.count())
        .select_from(HogFunctionRow)
        .where(
            HogFunctionRow.project_id == project_id,
            HogFunctionRow.type == kind,
            HogFunctionRow.deleted.is_(False),
            HogFunctionRow.enabled.is_(True),
            HogFunctionRow.id != without,
        )
    )
    return await session.scalar(statement) or 0


async def count_by_template(session: AsyncSession, project_id: int | None) -> dict[str, int]:
    """Number of enabled live functions by template id; without a project, of all projects."""
    statement = (
        select(HogFunctionRow.template_id, func.count())
        .where(
            HogFunctionRow.template_id.is_not(None),
            HogFunctionRow.deleted.is_(False),
            HogFunctionRow.enabled.is_(True),
        )
        .group_by(HogFunctionRow.template_id)
    )
    if project_id is not None:
        statement = statement.where(HogFunctionRow.project_id == project_id)
    return {str(template): functions for template, functions in await session.execute(statement)}


async def version_stamp(session: AsyncSession, project_id: int) -> str:
    """A text that changes whenever a function or integration of the project changes.

    Ids of integrations are never reused, so a deletion followed by a creation is noticed too.
    """
    functions = (
        select(func.count(), func.sum(HogFunctionRow.version))
        .where(HogFunctionRow.project_id == project_id)
        .subquery()
    )
    integrations = (
        select(func.count(), func.max(IntegrationRow.id), func.sum(IntegrationRow.version))
        .where(IntegrationRow.project_id == project_id)
        .subquery()
    )
    statement = select(functions, integrations).join_from(functions, integrations, true())
    return ".".join(str(number or 0) for number in (await session.execute(statement)).one())


async def touch(session: AsyncSession, ids: Sequence[UUID]) -> None:
    """Increment the versions of functions whose executable form changed."""
    statement = update(HogFunctionRow).where(HogFunctionRow.id.in_(ids))
    await session.execute(statement.values(version=HogFunctionRow.version + 1))


async def all_live(session: AsyncSession, project_id: int) -> list[HogFunctionRow]:
    """All live functions of a project."""
    statement = select(HogFunctionRow).where(
        HogFunctionRow.project_id == project_id, HogFunctionRow.deleted.is_(False)
    )
    return list(await session.scalars(statement))


async def with_secrets(session: AsyncSession) -> list[HogFunctionRow]:
    """All functions of all projects with secrets, including deleted ones; locked for update."""
    statement = select(HogFunctionRow).where(
        HogFunctionRow.secrets.is_not(None)
        | HogFunctionRow.mapping_secrets.is_not(None)
        | HogFunctionRow.draft.is_not(None)
    )
    return list(await session.scalars(statement.with_for_update()))


async def encrypted_texts(session: AsyncSession) -> list[str]:
    """The encrypted secrets of all functions of all projects, including deleted ones."""
    columns = (HogFunctionRow.secrets, HogFunctionRow.mapping_secrets, HogFunctionRow.draft)
    rows = await session.execute(select(*columns))
    return [text for row in rows for text in row if text]


def _matching(statement: Select[Any], project_id: int, filters: FunctionFilter) -> Select[Any]:
    statement = statement.where(
        HogFunctionRow.project_id == project_id,
        HogFunctionRow.deleted.is_(False),
        HogFunctionRow.type != types.WAREHOUSE_SOURCE_WEBHOOK,
    )
    if filters.types:
        statement = statement.where(HogFunctionRow.type.in_(filters.types))
    for name in ("enabled", "id", "created_by", "created_at", "updated_at"):
        value = getattr(filters, name)
        if value is not None:
            statement = statement.where(getattr(HogFunctionRow, name) == value)
    return statement


def _order() -> tuple[Any, ...]:
    """``execution_order`` ascending, nulls last, then the latest change first."""
    return (
        HogFunctionRow.execution_order.is_(None),
        HogFunctionRow.execution_order,
        HogFunctionRow.updated_at.desc(),
        HogFunctionRow.id.desc(),
    )
