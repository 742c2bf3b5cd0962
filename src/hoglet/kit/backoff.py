"""Exponential backoff: how long to wait before a retry."""

from datetime import timedelta

import msgspec

_MAX_STEPS = 1000  # the wait does not grow beyond this number of failures


class Backoff(msgspec.Struct, frozen=True):
    """Waits that grow by ``factor`` from ``first`` to ``longest``, in seconds.

    Example:
        >>> [Backoff(first=2, longest=10).seconds(retries) for retries in range(4)]
        [2.0, 4.0, 8.0, 10.0]
    """

    first: float
    longest: float
    factor: float = 2.0

    def seconds(self, retries: int) -> float:
        """Seconds to wait after a failure; ``retries`` is the number of failures before it."""
        try:
            grown = self.first * self.factor ** min(retries, _MAX_STEPS)
        except OverflowError:
            return float(self.longest)
        return float(min(self.longest, grown))

    def wait(self, retries: int) -> timedelta:
        """Like :meth:`seconds`, as a ``timedelta``."""
        return timedelta(seconds=self.seconds(retries))
