"""Waits for what a running server does a moment later: looks often at first, then less often."""

import time
from collections.abc import Callable, Iterator


def pauses(seconds: float) -> Iterator[bool]:
    """Pause for 10 ms, then longer, up to a quarter of a second; ends after ``seconds``."""
    deadline, pause = time.monotonic() + seconds, 0.01
    while time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(1.5 * pause, 0.25)
        yield True


def wait_for[T](read: Callable[[], T], fits: Callable[[T], object] = bool, seconds: int = 60) -> T:
    """Call ``read`` until ``fits`` accepts its result, and return that.

    Raises:
        AssertionError: no result was accepted within ``seconds``.
    """
    more = pauses(seconds)
    while not fits(value := read()):
        assert next(more, False), f"still {value!r}"
    return value
