"""Every statement on background queries."""

from datetime import datetime

from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.queries.tables import QueryRunRow


async def find_run(
    session: AsyncSession, project_id: int, query_id: str, now: datetime
) -> QueryRunRow | None:
    """The run of this id that has not expired."""
    row = await session.get(QueryRunRow, (project_id, query_id))
    return None if row is None or row.expires_at <= now else row


async def delete_run(session: AsyncSession, project_id: int, query_id: str) -> None:
    """Forget the run of this id, so that the id can be used again."""
    await session.execute(
        delete(QueryRunRow).where(
            QueryRunRow.project_id == project_id, QueryRunRow.query_id == query_id
        )
    )


async def delete_expired_runs(session: AsyncSession, now: datetime) -> None:
    """Forget runs that nobody may poll any more."""
    await session.execute(delete(QueryRunRow).where(QueryRunRow.expires_at <= now))
