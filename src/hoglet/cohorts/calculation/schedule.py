"""Schedules calculations of dynamic cohorts, and ends stuck ones.

Source: docs/spec/data-and-queries.md#35-calculation.
"""

import asyncio
import contextlib
from datetime import datetime, timedelta

import structlog

from hoglet.cohorts import repository
from hoglet.cohorts.jobs import COHORTS, scheduled_job
from hoglet.cohorts.member_computation import record_failure
from hoglet.kit.backoff import Backoff
from hoglet.kit.clock import Clock
from hoglet.queue.port import Queue
from hoglet.store.database import Database

log = structlog.get_logger(__name__)

EVERY_SECONDS = 60.0
DEFAULT_AGE = timedelta(minutes=15)
STUCK_AFTER = timedelta(hours=1)
_BACKOFF = Backoff(first=3600, longest=1800 * 2**20)  # doubles with each error, up to 20 errors
_MAX_AT_ONCE = 50  # calculations enqueued per check


class CohortSchedule:
    """Enqueues due calculations every minute.

    Args:
        database: stores the cohorts.
        clock: the current time.
        queue: receives the jobs.
        age: maximum age of members.
    """

    def __init__(
        self, database: Database, clock: Clock, queue: Queue, *, age: timedelta = DEFAULT_AGE
    ) -> None:
        self._database = database
        self._clock = clock
        self._queue = queue
        self._age = age

    async def run_until(self, stopping: asyncio.Event) -> None:
        """Check every minute until stopped."""
        while not stopping.is_set():
            try:
                await self.enqueue_due()
            except Exception:  # the database is down; retried in a minute
                log.exception("scheduling cohorts failed", action="cohort_schedule_failed")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), EVERY_SECONDS)

    async def enqueue_due(self) -> list[int]:
        """End stuck calculations and enqueue due ones; returns the cohorts that are due."""
        now = self._clock.now()
        async with self._database.write() as session:
            for row in await repository.stuck(session, now - STUCK_AFTER):
                record_failure(row, self._clock, "The calculation took longer than an hour.")
        async with self._database.read() as session:
            rows = await repository.candidates(session)
        due = [
            id_
            for id_, calculated_at, errors, failed_at in rows
            if is_due(calculated_at, errors, failed_at, now, self._age)
        ][:_MAX_AT_ONCE]
        if due:
            async with self._database.write() as session:
                await self._queue.enqueue(session, [scheduled_job(each) for each in due])
            self._queue.wake(COHORTS)
        return due


def is_due(
    calculated_at: datetime | None,
    errors: int,
    failed_at: datetime | None,
    now: datetime,
    age: timedelta,
) -> bool:
    """Whether a cohort is due for recalculation.

    Example:
        >>> at = datetime(2026, 1, 1)
        >>> is_due(at, 1, at, at + timedelta(minutes=59), timedelta(minutes=15))
        False
    """
    if errors and failed_at is not None and now < failed_at + _BACKOFF.wait(errors - 1):
        return False
    return calculated_at is None or calculated_at <= now - age
