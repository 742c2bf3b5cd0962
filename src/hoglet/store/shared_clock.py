"""PostgreSQL's time, so that servers with different clocks agree on leases and due times."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import structlog
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from hoglet.kit.clock import Clock, SteadyClock, SystemClock
from hoglet.store.database import Database

REFRESH_SECONDS = 30.0
WARN_ABOVE = timedelta(seconds=1)
_SAMPLES = 3

log = structlog.get_logger()


class SharedClock:
    """A local clock, corrected by its offset from the database's clock.

    The offset is measured at startup and every 30 seconds, with an error of half a round trip. If
    the local clock jumped in between, the server's heartbeats and leases would be wrong until the
    next measurement, so it should be a :class:`hoglet.kit.clock.SteadyClock`.

    Concurrency: safe to read from any task or thread.
    """

    def __init__(self, database: Database, local: Clock) -> None:
        self._database = database
        self._local = local
        self.offset = timedelta()

    def now(self) -> datetime:
        """The database's time, aware, in UTC."""
        return self._local.now() + self.offset

    async def measure(self) -> None:
        """Measure the offset several times and use the sample with the shortest round trip."""
        best: tuple[timedelta, timedelta] | None = None
        async with self._database.read() as session:
            for _ in range(_SAMPLES):
                before = self._local.now()
                at = await session.scalar(select(func.clock_timestamp()))
                after = self._local.now()
                if at is not None:
                    sample = (after - before, at - (before + (after - before) / 2))
                    best = min(best or sample, sample)
        if best is not None:
            self.offset = best[1]

    async def follow(self) -> None:
        """Measure periodically until cancelled; if that fails, the last offset stays in use."""
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            try:
                await self.measure()
            except (SQLAlchemyError, OSError):
                log.warning("the database's time is unknown", action="clock_not_measured")


@asynccontextmanager
async def shared_clock(database: Database, local: Clock | None = None) -> AsyncGenerator[Clock]:
    """The clock that all servers share: the database's on PostgreSQL, the machine's on SQLite.

    Args:
        database: the metadata database.
        local: a clock instead of the machine's.
    """
    if database.is_sqlite:
        yield local or SystemClock()
        return
    clock = SharedClock(database, local or SteadyClock(SystemClock()))
    await clock.measure()
    if abs(clock.offset) > WARN_ABOVE:
        log.warning(
            "this machine's clock differs from the database's; the database's is used",
            action="clock_differs",
            seconds=clock.offset.total_seconds(),
        )
    following = asyncio.create_task(clock.follow(), name="shared clock")
    try:
        yield clock
    finally:
        following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await following
