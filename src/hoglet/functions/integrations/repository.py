"""Statements on integrations."""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.tables import IntegrationRow
from hoglet.kit.json import JsonObject

_ID_DIGITS = 9  # ids stay below 2**31


def read_id(text: str) -> int | None:
    """The integration id in a path; None if it is not valid."""
    is_id = text.isascii() and text.isdecimal() and len(text) <= _ID_DIGITS
    return int(text) if is_id else None


async def find(
    session: AsyncSession, project_id: int, integration_id: int, *, lock: bool = False
) -> IntegrationRow | None:
    """An integration of the project; ``lock`` locks it until the transaction ends."""
    statement = select(IntegrationRow).where(
        IntegrationRow.id == integration_id, IntegrationRow.project_id == project_id
    )
    return await session.scalar(statement.with_for_update() if lock else statement)


async def count(session: AsyncSession, project_id: int, kind: str | None) -> int:
    """Number of integrations in a list."""
    statement = select(func.count()).select_from(IntegrationRow)
    return await session.scalar(statement.where(*_listed(project_id, kind))) or 0


async def page(
    session: AsyncSession, project_id: int, kind: str | None, *, limit: int | None, offset: int
) -> Sequence[IntegrationRow]:
    """One page of a list, oldest first."""
    statement = select(IntegrationRow).where(*_listed(project_id, kind))
    ordered = statement.order_by(IntegrationRow.id).limit(limit).offset(offset)
    return (await session.scalars(ordered)).all()


async def by_ids(
    session: AsyncSession, project_id: int, ids: Collection[int]
) -> dict[int, IntegrationRow]:
    """Integrations of the project with these ids."""
    statement = select(IntegrationRow).where(
        IntegrationRow.project_id == project_id, IntegrationRow.id.in_(ids)
    )
    return {row.id: row for row in await session.scalars(statement)}


async def by_placeholders(
    session: AsyncSession, project_id: int, placeholders: Collection[str]
) -> Sequence[IntegrationRow]:
    """Integrations of the project with these placeholders."""
    statement = select(IntegrationRow).where(
        IntegrationRow.project_id == project_id, IntegrationRow.placeholder.in_(placeholders)
    )
    return (await session.scalars(statement)).all()


async def every(session: AsyncSession) -> Sequence[IntegrationRow]:
    """All integrations of all projects, locked for update."""
    return (await session.scalars(select(IntegrationRow).with_for_update())).all()


async def encrypted_texts(session: AsyncSession) -> list[str]:
    """The encrypted secrets of all integrations of all projects."""
    return [text for text in await session.scalars(select(IntegrationRow.secrets)) if text]


def _listed(project_id: int, kind: str | None) -> list[ColumnElement[bool]]:
    conditions = [IntegrationRow.project_id == project_id]
    return (
        conditions
        if kind is None
        else [*conditions, IntegrationRow.kind == kind.replace("\x00", "")]
    )


def seen_by_programs(row: IntegrationRow) -> JsonObject:
    """``{"team": {...}, "access_token": "hoglet-integration-…"}``."""
    return {**row.config, "access_token": row.placeholder}
