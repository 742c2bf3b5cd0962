"""The only place that reads the time."""

from datetime import UTC, datetime, timedelta
from typing import Protocol


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
