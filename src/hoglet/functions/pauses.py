"""Statements on ``Retry-After`` pauses of hosts.

Source: docs/spec/hog-functions.md#134-retries-hoglet-goes-further.
"""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.tables import PauseRow
from hoglet.store.database import insert_into

_HOST_CHARACTERS = 400


async def keep(session: AsyncSession, pauses: Mapping[tuple[UUID, str], datetime]) -> None:
    """Store pauses as ``{(function id, host): until}``; a longer existing one is kept.

    Args:
        session: a write transaction.
        pauses: not empty.
    """
    insert = insert_into(session, PauseRow)
    statement = insert.on_conflict_do_update(
        index_elements=[PauseRow.function_id, PauseRow.host],
        set_={"until": insert.excluded.until},
        where=PauseRow.until < insert.excluded.until,
    )
    rows = [
        {"function_id": function_id, "host": host[:_HOST_CHARACTERS], "until": until}
        for (function_id, host), until in sorted(pauses.items())
    ]
    await (await session.connection()).execute(statement, rows)


async def current(session: AsyncSession, now: datetime) -> dict[tuple[str, str], datetime]:
    """Pauses that have not ended."""
    rows = await session.scalars(select(PauseRow).where(PauseRow.until > now))
    return {(str(row.function_id), row.host): row.until for row in rows}


async def drop_ended(session: AsyncSession, now: datetime) -> None:
    """Delete pauses that have ended."""
    await session.execute(delete(PauseRow).where(PauseRow.until <= now))
