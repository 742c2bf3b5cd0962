"""Statements on actions."""

from collections.abc import Collection

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.json_types import ActionStep
from hoglet.functions.tables import ActionRow

_ID_DIGITS = 9  # ids stay below 2**31


async def find(
    session: AsyncSession, project_id: int, action_id: int, *, lock: bool = False
) -> ActionRow | None:
    """An action of the project that is not deleted; ``lock`` locks it for the transaction."""
    statement = select(ActionRow).where(
        ActionRow.id == action_id,
        ActionRow.project_id == project_id,
        ActionRow.deleted.is_(False),
    )
    return await session.scalar(statement.with_for_update() if lock else statement)


async def count(session: AsyncSession, project_id: int) -> int:
    """Number of actions in the project."""
    statement = (
        select(func.count())
        .select_from(ActionRow)
        .where(ActionRow.project_id == project_id, ActionRow.deleted.is_(False))
    )
    return await session.scalar(statement) or 0


async def page(
    session: AsyncSession, project_id: int, *, limit: int | None, offset: int
) -> list[ActionRow]:
    """One page of actions, oldest first."""
    statement = (
        select(ActionRow)
        .where(ActionRow.project_id == project_id, ActionRow.deleted.is_(False))
        .order_by(ActionRow.id)
    )
    return list(await session.scalars(statement.limit(limit).offset(offset)))


async def steps_by_id(
    session: AsyncSession, project_id: int, ids: Collection[str]
) -> dict[str, list[ActionStep]]:
    """The steps of actions by id, ``{"7": [{...}]}``; unknown ids are omitted."""
    numbers = [int(item) for item in ids if is_action_id(item)]
    if not numbers:
        return {}
    statement = select(ActionRow).where(
        ActionRow.project_id == project_id,
        ActionRow.deleted.is_(False),
        ActionRow.id.in_(numbers),
    )
    rows = await session.scalars(statement)
    known = {row.id: row.steps for row in rows}
    return {item: known[int(item)] for item in ids if is_action_id(item) and int(item) in known}


def is_action_id(text: str) -> bool:
    """Whether a text is a valid action id."""
    return text.isascii() and text.isdecimal() and len(text) <= _ID_DIGITS
