"""The only place that reads the time."""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time, so that tests can set it."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The present instant, aware, in UTC."""
        return datetime.now(UTC)


class FixedClock:
    """A clock that stands still until it is moved; for tests."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        """The instant last set."""
        return self.at

    def advance(self, *, seconds: float) -> None:
        """Move the clock on by ``seconds``."""
        self.at += timedelta(seconds=seconds)
