"""Rate limits: requests per minute (burst) and hour (sustained), per key and project.

Off unless settings define limits.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits;
docs/spec/query-endpoints.md#6-errors-keys-limits.
"""

import math
from dataclasses import dataclass

from hoglet.access.principals import Principal, ProjectScope
from hoglet.access.rate_windows import MemoryWindows, RateWindows
from hoglet.kit.errors import Throttled

_MINUTE_S = 60
_HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Requests allowed; None means no limit. The specification suggests 480 and 4800."""

    per_minute: int | None = None
    per_hour: int | None = None


@dataclass(frozen=True, slots=True)
class RateSettings:
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
        await self.check_key(scope.principal)
        if scope.principal.kind == "secret":
            await self.take(f"secret:{scope.project.id}", self.settings.per_key)
        await self.take(f"project:{scope.project.id}", self.settings.per_project)

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
