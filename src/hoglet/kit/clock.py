"""The current time, timestamps as text, time zones, and identifiers that sort by time.

No other module reads the time.
"""

import math
import os
import re
import time
import uuid
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import Protocol
from zoneinfo import available_timezones

_LONG, _SHORT = 1.0, 0.5  # pauses of a second end at whole seconds of the monotonic clock


class Clock(Protocol):
    """Source of the current time; tests can set it."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...


class SystemClock:
    """The system clock."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        return datetime.now(UTC)


def unix_seconds() -> float:
    """The time of :class:`SystemClock` in seconds since 1970, at a twentieth of its cost."""
    return time.time()


class SteadyClock:
    """Another clock's time when this one was created, and the seconds that have passed since.

    Setting the machine's time does not move it. Time in which the machine is suspended counts.

    Args:
        start: the other clock, read once.
    """

    def __init__(self, start: Clock) -> None:
        self._start = start.now()
        self._started_s = _uptime_s()

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        return self._start + timedelta(seconds=_uptime_s() - self._started_s)


def _uptime_s() -> float:
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class FixedClock:
    """A clock that only moves when it is advanced; for tests."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        """The time that was set."""
        return self.at

    def advance(self, *, seconds: float) -> None:
        """Advance the clock by ``seconds``."""
        self.at += timedelta(seconds=seconds)


class PinnedClock(FixedClock):
    """A fixed clock that also applies in the warehouse: ``now()`` in a query returns its time."""


_LOST_PLUS = re.compile(r"(\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?) (\d\d:?\d\d)$")
_VERSION_7 = 0x7 << 76
_VARIANT = 0x2 << 62


_RANDOM_BYTES = 10
_RANDOM_AT_ONCE = 256  # each read lets other threads run, and then has to wait for them
_random_parts: list[int] = []  # unused low halves of ids; pop() and extend() are atomic
os.register_at_fork(after_in_child=_random_parts.clear)


def new_id() -> uuid.UUID:
    """A version 7 UUID: 48 bits of milliseconds, then random bits; sorts by creation time.

    Concurrency: may be called by all threads.

    Example:
        >>> new_id().version
        7
    """
    return uuid.UUID(int=_new_number())


def new_id_text() -> str:
    """The text of a new id, at a third of the cost of :func:`new_id` and ``str``.

    Example:
        >>> len(new_id_text())
        36
    """
    digits = f"{_new_number():032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


_random_texts: list[str] = []  # unused version 4 UUIDs
os.register_at_fork(after_in_child=_random_texts.clear)


def random_id_text() -> str:
    """A version 4 UUID as text; the system's randomness is read for many of them at once.

    Concurrency: may be called by all threads.

    Example:
        >>> uuid.UUID(random_id_text()).version
        4
    """
    try:
        return _random_texts.pop()
    except IndexError:
        digits = os.urandom(16 * _RANDOM_AT_ONCE).hex()
        texts = [_version_4(digits[at : at + 32]) for at in range(0, len(digits), 32)]
        _random_texts.extend(texts[1:])
        return texts[0]


def _version_4(digits: str) -> str:
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def _new_number() -> int:
    try:
        random_part = _random_parts.pop()
    except IndexError:
        random_part, *more = _read_random_parts()
        _random_parts.extend(more)
    return time.time_ns() // 1_000_000 << 80 | random_part


def _read_random_parts() -> list[int]:
    """The lower 80 bits of ids: version, 12 random bits, variant, 62 random bits."""
    block = os.urandom(_RANDOM_BYTES * _RANDOM_AT_ONCE)
    numbers = [
        int.from_bytes(block[start : start + _RANDOM_BYTES])
        for start in range(0, len(block), _RANDOM_BYTES)
    ]
    return [
        _VERSION_7 | (number >> 62 & 0xFFF) << 64 | _VARIANT | number & 0x3FFF_FFFF_FFFF_FFFF
        for number in numbers
    ]


def iso_z(at: datetime) -> str:
    """Format an aware datetime as ISO 8601 in UTC with microseconds.

    Source: docs/spec/hog-functions.md#1-routes-and-common-rules.

    Example:
        >>> iso_z(datetime(2026, 1, 5, 12, tzinfo=UTC))
        '2026-01-05T12:00:00.000000Z'
    """
    naive = at.astimezone(UTC).replace(tzinfo=None)  # strftime does not pad years before 1000
    return naive.isoformat(timespec="microseconds") + "Z"


def iso_z_or_none(at: datetime | None) -> str | None:
    """Like ``iso_z``, but None for None."""
    return None if at is None else iso_z(at)


def parse_instant(text: str, zone: tzinfo = UTC) -> datetime | None:
    """Parse an ISO 8601 date or time; None if it is invalid.

    A space is accepted in place of ``+``, because query strings decode ``+`` as a space.

    Args:
        text: ``2026-01-05``, ``2026-01-05T12:00:00Z``.
        zone: time zone of times without an offset.

    Example:
        >>> parse_instant("2026-01-05T12:00:00Z")
        datetime.datetime(2026, 1, 5, 12, 0, tzinfo=datetime.timezone.utc)
        >>> parse_instant("soon") is None
        True
    """
    try:
        at = datetime.fromisoformat(_LOST_PLUS.sub(r"\1+\2", text.strip()))
        return (at.replace(tzinfo=zone) if at.tzinfo is None else at).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@cache
def timezone_names() -> frozenset[str]:
    """All names, such as ``Europe/Berlin``; cached, because this reads several hundred files."""
    return frozenset(available_timezones())


def until_tick(seconds: float, now: float | None = None) -> float:
    """Shorten a pause by less than a second, so that it ends together with others.

    Idle tasks whose pauses end together wake the process up only once. Pauses of less than half a
    second are not shortened.

    Args:
        seconds: the length of the pause.
        now: a time of ``time.monotonic``; the current one by default.

    Example:
        >>> until_tick(2.0, now=100.25), until_tick(0.5, now=100.25), until_tick(0.1, now=100.25)
        (1.75, 0.25, 0.1)
    """
    if seconds < _SHORT:
        return seconds
    now = time.monotonic() if now is None else now
    step = _LONG if seconds >= _LONG else _SHORT
    return max(math.floor((now + seconds) / step) * step - now, 0.0)
