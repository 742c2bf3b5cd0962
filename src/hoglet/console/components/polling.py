"""Work that a page repeats while somebody can see it."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from hoglet.console.api_client import IN_BACKGROUND


def poll_while_visible(seconds: float, act: Callable[[], Awaitable[None] | None]) -> None:
    """Call ``act`` every few seconds, but not while the page is in a hidden tab."""

    async def act_quietly() -> None:
        IN_BACKGROUND.set(True)
        outcome = act()
        if isinstance(outcome, Awaitable):
            await outcome

    timer = ui.timer(seconds, act_quietly, immediate=False)

    def note(event: Any) -> None:
        timer.active = bool(event.args)

    ui.on("hoglet-visible", note)
