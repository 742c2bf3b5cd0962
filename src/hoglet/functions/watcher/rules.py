"""Rules of the watcher: a token bucket and error rates. Pure.

Source: docs/spec/hog-functions.md#7-status-and-the-watcher.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

import msgspec

OFF, HEALTHY, DEGRADED, DISABLED = 0, 1, 2, 3
FORCED_DEGRADED, FORCED_DISABLED = 11, 12
NOT_RUN = frozenset({DISABLED, FORCED_DISABLED})
LOW_PRIORITY = frozenset({DEGRADED, FORCED_DEGRADED})
_FINAL = frozenset({DISABLED, FORCED_DEGRADED, FORCED_DISABLED})

type TimingKind = Literal["hog", "async"]
type MinuteCounts = Mapping[str, Sequence[int]]
"""Runs by minutes since 1970: ``{"29471040": [finished, failed]}``."""


class WatcherSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Thresholds of the watcher; durations in seconds unless the name says otherwise.

    Source: docs/spec/hog-functions.md#7-status-and-the-watcher.
    """

    capacity: int = 10_000
    refill_per_second: float = 10
    idle_expiry_seconds: int = 24 * 3600
    program_cost: float = 100
    program_lower_ms: float = 50
    program_upper_ms: float = 550
    async_cost: float = 20
    async_lower_ms: float = 100
    async_upper_ms: float = 5000
    disables: bool = True
    degraded_share: float = 0.8
    lock_seconds: int = 60
    degrade_minutes: int = 5
    degrade_least_runs: int = 20
    degrade_error_rate: float = 0.5
    disable_minutes: int = 30
    disable_least_runs: int = 100
    disable_error_rate: float = 0.9


class Bucket(msgspec.Struct, frozen=True):
    """The tokens of a function at a point in time."""

    tokens: float
    at: datetime


def run_cost(timings: Sequence[tuple[TimingKind, float]], settings: WatcherSettings) -> int:
    """Tokens consumed by one finished run.

    Args:
        timings: ``[("hog", 12.5), ("async", 840.0)]``, milliseconds.
        settings: see :class:`WatcherSettings`.
    """
    return sum(_timing_cost(kind, ms, settings) for kind, ms in timings)


def refilled(bucket: Bucket, now: datetime, settings: WatcherSettings) -> float:
    """Current tokens; a long idle bucket is full."""
    idle = (now - bucket.at).total_seconds()
    if idle > settings.idle_expiry_seconds:
        return settings.capacity
    return min(settings.capacity, bucket.tokens + max(0.0, idle) * settings.refill_per_second)


def next_state(
    state: int,
    *,
    tokens: float,
    recent: MinuteCounts,
    now: datetime,
    locked_until: datetime | None,
    settings: WatcherSettings,
) -> int:
    """The state after a batch of results; the worse of the two rules.

    States 0, 3, 11 and 12 and locked states never change here.
    """
    if state in _FINAL or state == OFF:
        return state
    if locked_until is not None and now < locked_until:
        return state
    worst = max(_by_tokens(tokens, settings), _by_errors(recent, now, settings))
    return DEGRADED if worst == DISABLED and not settings.disables else worst


def count_run(
    recent: MinuteCounts, now: datetime, *, finished: int, failed: int, settings: WatcherSettings
) -> dict[str, list[int]]:
    """The counts with more runs added and old minutes dropped."""
    minute = _minute(now)
    oldest = minute - settings.disable_minutes
    by_minute = {key: list(counts) for key, counts in recent.items() if int(key) > oldest}
    counts = by_minute.setdefault(str(minute), [0, 0])
    counts[0] += finished
    counts[1] += failed
    return by_minute


def lock_end(now: datetime, settings: WatcherSettings) -> datetime:
    """When automatic changes are allowed again after a change at ``now``."""
    return now + timedelta(seconds=settings.lock_seconds)


def _timing_cost(kind: TimingKind, milliseconds: float, settings: WatcherSettings) -> int:
    if kind == "hog":
        cost, lower, upper = (
            settings.program_cost,
            settings.program_lower_ms,
            settings.program_upper_ms,
        )
    else:
        cost, lower, upper = settings.async_cost, settings.async_lower_ms, settings.async_upper_ms
    return round(cost * max(milliseconds - lower, 0) / (upper - lower))


def _by_tokens(tokens: float, settings: WatcherSettings) -> int:
    if tokens < 0:
        return DISABLED
    return DEGRADED if tokens / settings.capacity <= settings.degraded_share else HEALTHY


def _by_errors(recent: MinuteCounts, now: datetime, settings: WatcherSettings) -> int:
    rules = (
        (
            DISABLED,
            settings.disable_minutes,
            settings.disable_least_runs,
            settings.disable_error_rate,
        ),
        (
            DEGRADED,
            settings.degrade_minutes,
            settings.degrade_least_runs,
            settings.degrade_error_rate,
        ),
    )
    for state, minutes, least, rate in rules:
        finished, failed = _window(recent, now, minutes)
        if finished >= least and failed / finished >= rate:
            return state
    return HEALTHY


def _window(recent: MinuteCounts, now: datetime, minutes: int) -> tuple[int, int]:
    oldest = _minute(now) - minutes
    inside = [counts for key, counts in recent.items() if int(key) > oldest]
    return sum(counts[0] for counts in inside), sum(counts[1] for counts in inside)


def _minute(now: datetime) -> int:
    return int(now.timestamp() // 60)
