"""Rate limits: requests per minute (burst) and hour (sustained), per key and project.

Off unless settings define limits. Requests are counted in memory, or in PostgreSQL for all servers.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits;
docs/spec/query-endpoints.md#6-errors-keys-limits; docs/adr/0030-shared-limits.md.
"""

import math
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Protocol

import msgspec
from sqlalchemy import case, delete, func
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Principal, ProjectScope
from hoglet.access.tables import RateWindowRow
from hoglet.kit.errors import Throttled
from hoglet.store.database import Database, insert_into

_CAPACITY = 100_000  # open windows in memory; each takes a few hundred bytes


class RateWindows(Protocol):
    """Counts requests in windows that start with a bucket's first request."""

    async def count(self, bucket: str, limit: int, seconds: int) -> float:
        """Count a request, unless the window is full.

        Args:
            bucket: what is counted, e.g. ``key:1f2e``.
            limit: requests per window, at least 1.
            seconds: length of the window.

        Returns:
            0 if the request may proceed, else the seconds until the window ends.
        """
        ...


class MemoryWindows:
    """Windows of this process; a restart resets them.

    Args:
        monotonic: a monotonic clock, in seconds.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._windows: dict[tuple[str, int], tuple[float, int]] = {}

    async def count(self, bucket: str, limit: int, seconds: int) -> float:
        """Count a request; see :class:`RateWindows`."""
        now = self._monotonic()
        ends, used = self._windows.get((bucket, seconds), (0.0, 0))
        if ends <= now:
            ends, used = now + seconds, 0
        if used >= limit:
            return ends - now
        self._windows[bucket, seconds] = (ends, used + 1)
        if len(self._windows) > _CAPACITY:
            self._windows = {
                name: window for name, window in self._windows.items() if window[0] > now
            }
        return 0.0


class SharedWindows:
    """Windows shared by all servers on one PostgreSQL, by its clock.

    A count is one statement on an unlogged table: it takes 1.7 ms of processor time, and its commit
    does not wait for the disk. A crash of PostgreSQL resets the windows.

    Raises on use:
        OperationalError: the database is unavailable; retrying helps.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self, bucket: str, limit: int, seconds: int) -> float:
        """Count a request; see :class:`RateWindows`."""
        now = func.clock_timestamp()
        is_over = RateWindowRow.ends_at <= now
        async with self._database.write() as session:
            row = insert_into(session, RateWindowRow).values(
                bucket=bucket, seconds=seconds, ends_at=now + timedelta(seconds=seconds), used=1
            )
            counted = row.on_conflict_do_update(
                index_elements=[RateWindowRow.bucket, RateWindowRow.seconds],
                set_={
                    "used": case((is_over, 1), else_=func.least(RateWindowRow.used, limit) + 1),
                    "ends_at": case((is_over, row.excluded.ends_at), else_=RateWindowRow.ends_at),
                },
            ).returning(RateWindowRow.used, func.extract("epoch", RateWindowRow.ends_at - now))
            used, remaining = (await session.execute(counted)).one()
        return float(remaining) if used > limit else 0.0


async def drop_expired(session: AsyncSession, now: datetime) -> None:
    """Delete shared windows that are over."""
    await session.execute(delete(RateWindowRow).where(RateWindowRow.ends_at < now))


_MINUTE_S = 60
_HOUR_S = 3600


class RateLimit(msgspec.Struct, frozen=True):
    """Requests allowed; None means no limit. The specification suggests 480 and 4800."""

    per_minute: int | None = None
    per_hour: int | None = None


_NO_LIMIT = RateLimit()

type Limits = tuple[tuple[str, RateLimit], ...]
"""Buckets in which a request is counted, each with its limit: ``(("key:1f2e", limit),)``."""


def set_limits(limits: Iterable[tuple[str, RateLimit]]) -> Limits:
    """Those that limit anything."""
    return tuple(each for each in limits if each[1] != _NO_LIMIT)


class RateSettings(msgspec.Struct, frozen=True):
    """Limits per key, and per project over all its keys."""

    per_key: RateLimit = RateLimit()
    per_project: RateLimit = RateLimit()


class RateLimiter:
    """Counts requests in windows that start with a bucket's first request.

    Args:
        settings: the limits of ordinary routes.
        windows: where requests are counted; by default in memory.
    """

    def __init__(self, settings: RateSettings, windows: RateWindows | None = None) -> None:
        self.settings = settings
        self._windows = windows or MemoryWindows()

    async def check(self, scope: ProjectScope) -> None:
        """Count a request of an ordinary route.

        The secret keys of a project share a bucket, so a second key does not double the limit.

        Raises:
            Throttled: the limit of the key or the project is exceeded.
        """
        for bucket, allowance in self.limits_of(scope):
            await self.take(bucket, allowance)

    def limits_of(self, scope: ProjectScope) -> Limits:
        """The limits of an ordinary route that are set, with their buckets."""
        settings, principal, project = self.settings, scope.principal, scope.project
        limits = [(f"key:{principal.key_id}", settings.per_key)]
        if principal.kind == "secret":
            limits.append((f"secret:{project.id}", settings.per_key))
        limits.append((f"project:{project.id}", settings.per_project))
        return set_limits(limits)

    async def check_key(self, principal: Principal) -> None:
        """Count a request of a route outside of projects.

        Raises:
            Throttled: the key's limit is exceeded.
        """
        await self.take(f"key:{principal.key_id}", self.settings.per_key)

    async def take(self, bucket: str, allowance: RateLimit) -> None:
        """Count a request in a named bucket, e.g. ``runs:key:1f2e``.

        Raises:
            Throttled: the bucket is full; its window ends in ``wait_seconds``.
        """
        for limit, seconds in ((allowance.per_minute, _MINUTE_S), (allowance.per_hour, _HOUR_S)):
            remaining = 0.0
            if limit is not None:
                remaining = await self._windows.count(bucket, limit, seconds)
            if remaining > 0:
                wait = max(1, math.ceil(remaining))
                raise Throttled(
                    f"Request was throttled. Expected available in {wait} seconds.",
                    wait_seconds=wait,
                )
