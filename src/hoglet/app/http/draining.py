"""Delays shutdown so that load balancers can take the server out of rotation."""

import asyncio
from collections.abc import Callable

from hoglet.web.health import NotReady


class Drain:
    """Delays a shutdown; meanwhile ``/_readyz`` returns 503 and everything else works.

    Args:
        seconds: length of the delay; 0 stops at once.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begun = False

    @property
    def is_set(self) -> bool:
        """Whether there is a delay."""
        return self._seconds > 0

    def begin(self, stop: Callable[[], None]) -> None:
        """Call ``stop`` after the delay; a second call does not wait."""
        if self._begun or not self._seconds:
            stop()
            return
        self._begun = True
        asyncio.get_running_loop().call_later(self._seconds, stop)

    async def check(self) -> None:
        """A readiness check.

        Raises:
            NotReady: the server is draining.
        """
        if self._begun:
            raise NotReady("the server is stopping")
