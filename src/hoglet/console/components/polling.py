"""Periodic work of pages that are visible."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from hoglet.console.api_client import IN_BACKGROUND


def poll_while_visible(seconds: float, act: Callable[[], Awaitable[None] | None]) -> None:
    """Call ``act`` every few seconds while the page's tab is visible."""

    async def act_quietly() -> None:
        IN_BACKGROUND.set(True)
        outcome = act()
        if isinstance(outcome, Awaitable):
            await outcome

    timer = ui.timer(seconds, act_quietly, immediate=False)

    def note(event: Any) -> None:
        timer.active = bool(event.args)

    ui.on("hoglet-visible", note)
