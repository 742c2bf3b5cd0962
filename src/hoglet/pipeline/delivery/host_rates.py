"""Rate limits per host that all executors share on PostgreSQL.

Source: docs/adr/0030-shared-limits.md.
"""

from datetime import datetime, timedelta

from sqlalchemy import delete, func
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.pipeline.tables import HostRateRow
from hoglet.store.database import Database, insert_into

_RATE_RETENTION = timedelta(hours=1)  # how long a target's row is kept after its last request


class HostRates:
    """Rate limits per host that all executors share: reserves start times of requests.

    It uses the clock of the PostgreSQL database that the executors share.

    A reservation is one statement on an unlogged table. Targets without a rate limit need none.

    Raises on use:
        OperationalError: the database is unavailable; a retry may succeed.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve(self, name: str, per_second: float, within_seconds: float) -> float | None:
        """Reserve the next request to a target.

        A burst of one second's worth may start together; further requests are evenly spaced.

        Args:
            name: the target, e.g. ``host example.com``.
            per_second: its rate limit, above 0.
            within_seconds: the longest acceptable wait.

        Returns:
            The seconds until the request may start. None if the wait would be longer than
            ``within_seconds``; then nothing is reserved.
        """
        now = func.clock_timestamp()
        spacing = 1 / per_second
        burst = max(0.0, 1 - spacing)
        latest = now + timedelta(seconds=burst + within_seconds)
        following_at = func.greatest(HostRateRow.next_at, now) + timedelta(seconds=spacing)
        async with self._database.write() as session:
            row = insert_into(session, HostRateRow).values(
                name=name, next_at=now + timedelta(seconds=spacing)
            )
            reserved = row.on_conflict_do_update(
                index_elements=[HostRateRow.name],
                set_={"next_at": following_at},
                where=HostRateRow.next_at <= latest,
            ).returning(func.extract("epoch", HostRateRow.next_at - now))
            following = await session.scalar(reserved)
        return None if following is None else max(0.0, float(following) - spacing - burst)


async def drop_idle(session: AsyncSession, now: datetime) -> None:
    """Delete targets that have had no request for an hour."""
    await session.execute(delete(HostRateRow).where(HostRateRow.next_at < now - _RATE_RETENTION))
