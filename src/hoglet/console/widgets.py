"""Small elements that all pages share: texts, messages, dialogs, tabs, state in the URL."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from hoglet.console.api_client import Reply
from hoglet.console.source_excerpt import code_block, pointed

_LONG_TITLE = 80


class Text(TextElement):
    """Text in an element with the given tag, never parsed as HTML: ``Text("h2", "Properties")``."""

    def __init__(self, tag: str, text: str) -> None:
        super().__init__(tag=tag, text=text)


class Link(TextElement):
    """A link: ``Link("Echo", "/project/1/functions/…")``."""

    def __init__(self, text: str, href: str) -> None:
        super().__init__(tag="a", text=text)
        self._props["href"] = href


def heading(text: str, note: str = "") -> None:
    """The page's title and subtitle."""
    with ui.column().classes("gap-0 min-w-0"):
        title = Text("h1", text)
        if len(text) > _LONG_TITLE:
            title.props["title"] = text  # only its first lines are shown
        if note:
            clamped(note).classes("text-sm muted break-words")


def clamped(text: str) -> ui.element:
    """A text cut to its first lines, with a button that shows the rest; short texts have none."""
    with ui.element("hog-clamp") as box:
        Text("div", text)
    return box


@contextmanager
def section(title: str) -> Generator[None]:
    """A section with a title."""
    with ui.element("section").classes("pane"):
        Text("h2", title)
        yield


def badge(text: str, tone: str = "") -> Text:
    """A state with a dot: ``ok``, ``warn``, ``danger``, ``busy`` or gray."""
    element = Text("span", text)
    return element.classes(f"badge {tone}".strip())


def legend(totals: list[tuple[str, int, str]]) -> None:
    """The legend of a chart, with the total of each series."""
    with ui.row().classes("gap-4"):
        for word, total, tone in totals:
            badge(f"{word} {total:,}", tone)


def moment(iso: str | None) -> ui.element:
    """A time relative to now, the exact one on hover, in the project's time zone."""
    element = ui.element("hog-time")
    element.props["iso"] = iso or ""
    return element


def empty(title: str, hint: str, icon: str) -> ui.element:
    """An empty state; put the button that creates the first item inside."""
    with ui.element("div").classes("empty") as box:
        ui.icon(icon)
        ui.label(title).classes("text-lg font-medium")
        ui.label(hint).classes("text-sm muted max-w-md")
    return box


def send_events_link(project_id: str) -> None:
    """A link to the home page, which explains how to send an event; for lists that events fill."""
    Link("Send an event", f"/project/{project_id}").classes("act")


def failed(reply: Reply, source: str = "") -> None:
    """An error message, with the affected line of ``source``."""
    with ui.element("div").classes("notice danger").props("role=alert"):
        ui.icon("error_outline").classes("text-xl")
        with ui.column().classes("min-w-0 grow gap-2"):
            ui.label(reply.problem).classes("break-words max-w-full").mark("problem")
            if reply.error_position and (excerpt := pointed(source, reply.error_position)):
                code_block(excerpt)


def notify(reply: Reply, done: str) -> bool:
    """Notify about success or failure; returns whether it succeeded."""
    if reply.is_good:
        ui.notify(done, type="positive")
    else:
        ui.notify(reply.problem, type="negative", timeout=10_000, close_button="OK")
    return reply.is_good


def notify_failure(reply: Reply) -> bool:
    """Notify about failure only; returns whether it succeeded."""
    return reply.is_good or notify(reply, "")


async def confirm(title: str, text: str, button: str) -> bool:
    """Ask for confirmation before an irreversible action; True if the button was pressed."""
    with ui.dialog(value=True) as dialog, ui.card().classes("max-w-xl"):
        dialog.props["aria-label"] = title
        Text("h2", title)
        ui.label(text).classes("break-words")
        with ui.row().classes("w-full justify-end gap-2"):
            ui.button("Cancel", on_click=lambda: dialog.submit(False)).props("flat autofocus")
            ui.button(button, color="negative", on_click=lambda: dialog.submit(True)).props(
                "outline"
            )
    is_confirmed = bool(await dialog)
    remove(dialog)
    return is_confirmed


async def until_closed(dialog: ui.dialog) -> None:
    """Await a dialog and remove it, unless its page was already closed."""
    await dialog
    remove(dialog)


type Act = Callable[[], Awaitable[bool | None]]
"""What a button does; True if it opens another page."""


def one_at_a_time(act: Act) -> Callable[[], Awaitable[None]]:
    """Ignore clicks while an action runs or its page is being left: a double click acts once."""
    is_busy = False

    async def run() -> None:
        nonlocal is_busy
        if is_busy:
            return
        is_busy = True
        is_leaving: bool | None = False
        try:
            is_leaving = await act()
        finally:
            is_busy = bool(is_leaving)

    return run


def submit_button(text: str, act: Act, icon: str | None = None) -> ui.button:
    """The button that sends the form around it, an element with ``data-form``; Enter presses it."""
    return ui.button(text, icon=icon, on_click=one_at_a_time(act)).props("data-submit")


def remove(dialog: ui.dialog) -> None:
    """Remove a dialog, unless its page was already closed."""
    if not dialog.is_deleted:
        dialog.delete()


async def tabs(builders: dict[str, Callable[[], Awaitable[None]]]) -> None:
    """Tabs whose content is rendered when first opened; the URL has the open tab."""
    first = url_value("tab")
    if first not in builders:
        first = next(iter(builders))
    bar = ui.tabs().classes("w-full").props("align=left no-caps dense outside-arrows")
    with bar:
        for name in builders:
            ui.tab(name)
    with ui.tab_panels(bar, value=first, animated=False).classes("w-full"):
        panels = {name: ui.tab_panel(name).classes("px-0") for name in builders}

    async def open_tab(name: str) -> None:
        if name in unopened:
            unopened.remove(name)
            with panels[name]:
                await builders[name]()

    async def select(event: Any) -> None:
        set_url_values(tab=str(event.value))
        await open_tab(str(event.value))

    unopened = set(builders)
    bar.on_value_change(select)
    await open_tab(first)


def url_value(name: str, default: str = "") -> str:
    """A parameter of the page's URL."""
    return ui.context.client.request.query_params.get(name, default)


def set_url_values(**values: str | None) -> None:
    """Change parameters of the page's URL without loading it; "" and None remove one."""
    changes = orjson.dumps({name: value or None for name, value in values.items()}).decode()
    ui.run_javascript(
        f"""const url = new URL(location.href);
        for (const [name, value] of Object.entries({changes}))
            value === null ? url.searchParams.delete(name) : url.searchParams.set(name, value);
        history.replaceState(history.state, "", url);"""
    )


def search_input(label: str, value: str = "") -> ui.input:
    """A search field; ``/`` focuses the first one of a page."""
    field = ui.input(placeholder="Search", value=value)
    field.props("dense outlined clearable debounce=300 data-search")
    field.props["aria-label"] = label
    return field


def exact_time(iso: str | None, zone: str) -> str:
    """A time in the project's time zone, which it names; empty without one.

    Example:
        >>> exact_time("2026-01-05T12:00:00Z", "Europe/Berlin")
        '2026-01-05 13:00:00 Europe/Berlin'
    """
    if not iso:
        return ""
    time = datetime.fromisoformat(iso)
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return f"{time.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M:%S} {zone}"


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is 1.

    Example:
        >>> [counted(1, "row"), counted(1200, "row")]
        ['1 row', '1,200 rows']
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
