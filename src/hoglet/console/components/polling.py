"""Work that a page repeats while somebody can see it."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui


def poll_while_visible(seconds: float, act: Callable[[], Awaitable[None] | None]) -> None:
    """Call ``act`` every few seconds, but not while the page is in a hidden tab."""
    timer = ui.timer(seconds, act, immediate=False)

    def note(event: Any) -> None:
        timer.active = bool(event.args)

    ui.on("hoglet-visible", note)
