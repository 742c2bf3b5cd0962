"""Rate limits: requests per minute (burst) and hour (sustained), per key and project.

Counters are in memory and reset by a restart. Off unless settings define limits.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits;
docs/spec/query-endpoints.md#6-errors-keys-limits.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from hoglet.access.principals import Principal, ProjectScope
from hoglet.kit.errors import Throttled

_MINUTE_S = 60
_HOUR_S = 3600
_CAPACITY = 100_000  # open windows; each takes a few hundred bytes


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
        monotonic: a monotonic clock, in seconds.
    """

    def __init__(
        self, settings: RateSettings, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.settings = settings
        self._monotonic = monotonic
        self._windows: dict[tuple[str, int], tuple[float, int]] = {}

    def check(self, scope: ProjectScope) -> None:
        """Count a request of an ordinary route.

        The secret keys of a project share a bucket, so a second key does not double the limit.

        Raises:
            Throttled: the limit of the key or the project is exceeded.
        """
        self.check_key(scope.principal)
        if scope.principal.kind == "secret":
            self.take(f"secret:{scope.project.id}", self.settings.per_key)
        self.take(f"project:{scope.project.id}", self.settings.per_project)

    def check_key(self, principal: Principal) -> None:
        """Count a request of a route outside of projects.

        Raises:
            Throttled: the key's limit is exceeded.
        """
        self.take(f"key:{principal.key_id}", self.settings.per_key)

    def take(self, bucket: str, allowance: RateLimit) -> None:
        """Count a request in a named bucket, e.g. ``runs:key:1f2e``.

        Raises:
            Throttled: it is full; its window ends in ``wait_seconds``.
        """
        for limit, seconds in ((allowance.per_minute, _MINUTE_S), (allowance.per_hour, _HOUR_S)):
            if limit is not None:
                self._take(bucket, limit, seconds)

    def _take(self, bucket: str, limit: int, seconds: int) -> None:
        now = self._monotonic()
        ends, used = self._windows.get((bucket, seconds), (0.0, 0))
        if ends <= now:
            ends, used = now + seconds, 0
        if used >= limit:
            wait = max(1, math.ceil(ends - now))
            raise Throttled(
                f"Request was throttled. Expected available in {wait} seconds.", wait_seconds=wait
            )
        self._windows[bucket, seconds] = (ends, used + 1)
        if len(self._windows) > _CAPACITY:
            self._windows = {
                name: retained for name, retained in self._windows.items() if retained[0] > now
            }
