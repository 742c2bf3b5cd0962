"""Rate limits: so many requests a minute (burst) and an hour (sustained), per key and project.

Kept in memory: a restart forgives. Off unless the settings name numbers.

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
_CAPACITY = 100_000  # windows kept; each is a few hundred bytes


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Requests allowed; None means no limit. The specification suggests 480 and 4800."""

    per_minute: int | None = None
    per_hour: int | None = None


@dataclass(frozen=True, slots=True)
class RateSettings:
    """What each key, and each project over all its keys, may ask for."""

    per_key: RateLimit = RateLimit()
    per_project: RateLimit = RateLimit()


class RateLimiter:
    """Counts requests in windows that start with a bucket's first request.

    Args:
        settings: the limits of ordinary routes.
        monotonic: seconds of a clock that never goes back.
    """

    def __init__(
        self, settings: RateSettings, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.settings = settings
        self._monotonic = monotonic
        self._windows: dict[tuple[str, int], tuple[float, int]] = {}

    def check(self, scope: ProjectScope) -> None:
        """Count one request of an ordinary route.

        The secret keys of a project share a bucket, so that a second key is not a second allowance.

        Raises:
            Throttled: the key's or the project's allowance is used up.
        """
        self.check_key(scope.principal)
        if scope.principal.kind == "secret":
            self.take(f"secret:{scope.project.id}", self.settings.per_key)
        self.take(f"project:{scope.project.id}", self.settings.per_project)

    def check_key(self, principal: Principal) -> None:
        """Count one request of a route outside projects.

        Raises:
            Throttled: the key's allowance is used up.
        """
        self.take(f"key:{principal.key_id}", self.settings.per_key)

    def take(self, bucket: str, allowance: RateLimit) -> None:
        """Count one request in a named bucket, e.g. ``runs:key:1f2e``.

        Raises:
            Throttled: it is full; ``wait_seconds`` tells when its window ends.
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
            self._windows = {name: kept for name, kept in self._windows.items() if kept[0] > now}
