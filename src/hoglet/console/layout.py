"""The layout of all pages: colors, navigation bar, the signed-in user."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from nicegui import ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.session import SIGN_IN, Sessions
from hoglet.console.source_excerpt import code_block, pointed
from hoglet.web.pagination import ORIGINAL_PATH

EDITOR = "w-full rounded text-sm border border-slate-300"
PRIMARY = "#1d4aff"
ACCENT = "#f54e00"
BUILD_SECONDS = 30.0  # for pages that query the warehouse before they are sent

type Build = Callable[[Backend], Awaitable[None]]


async def signed_in_page(
    sessions: Sessions, request: Request, project_id: str, *, section: str, build: Build
) -> Response | None:
    """Build a page for a signed-in user; others are redirected to the sign-in page.

    Args:
        sessions: resolves sessions.
        request: the page's request.
        project_id: from the path.
        section: the active section in the bar, ``functions``, ``endpoints`` or none.
        build: renders the page's content.
    """
    backend = sessions.backend(request, project_id)
    projects = None if backend is None else await backend.call("GET", "/api/projects")
    if backend is None or projects is None or projects.status == 401:
        path: str = request.scope.get(ORIGINAL_PATH, request.scope["path"])  # decoded
        return RedirectResponse(f"{SIGN_IN}?next={quote(quote(path))}", 303)
    listed = projects.body["results"] if projects.is_good else []
    _bar(listed, project_id, section)
    with ui.column().classes("w-full max-w-6xl mx-auto p-4 gap-4"):
        await build(backend)
    return None


async def tabs(builders: dict[str, Callable[[], Awaitable[None]]]) -> None:
    """Tabs whose content is rendered when they are first opened; the first one immediately."""
    with ui.tabs().classes("w-full").props("align=left no-caps dense") as bar:
        for name in builders:
            ui.tab(name)
    first = next(iter(builders))
    with ui.tab_panels(bar, value=first).classes("w-full bg-transparent"):
        panels = {name: ui.tab_panel(name).classes("px-0") for name in builders}

    async def open_tab(name: str) -> None:
        if name in unopened:
            unopened.remove(name)
            with panels[name]:
                await builders[name]()

    unopened = set(builders)
    bar.on_value_change(lambda event: open_tab(str(event.value)))
    await open_tab(first)


@contextmanager
def section(title: str) -> Generator[None]:
    """A section with a title."""
    with ui.column().classes("w-full gap-2"):
        ui.label(title).classes("text-lg font-medium").props("role=heading aria-level=2")
        yield


def heading(text: str, note: str = "") -> None:
    """The page's title and subtitle."""
    with ui.column().classes("gap-0 min-w-0"):
        title = ui.label(text).classes("text-2xl font-semibold break-all")
        title.props("role=heading aria-level=1")
        if note:
            ui.label(note).classes("text-sm opacity-70")


def empty(title: str, hint: str, icon: str) -> None:
    """The placeholder of an empty section."""
    with ui.column().classes("w-full items-center py-12 gap-2 opacity-80"):
        ui.icon(icon).classes("text-5xl opacity-50")
        ui.label(title).classes("text-lg font-medium")
        ui.label(hint).classes("text-sm opacity-70 text-center max-w-md")


def failed(reply: Reply, source: str = "") -> None:
    """An error message, with the affected line of ``source``."""
    row = ui.row().classes("w-full items-start no-wrap gap-2 p-4 rounded border border-red-400")
    with row.props("role=alert"):
        ui.icon("error_outline").classes("text-negative text-xl")
        with ui.column().classes("min-w-0 grow gap-2"):
            ui.label(reply.problem).classes("break-words max-w-full").mark("problem")
            if reply.place and (shown := pointed(source, reply.place)):
                code_block(shown)


def tell(reply: Reply, done: str) -> bool:
    """Notify about success or failure; returns whether it succeeded."""
    if reply.is_good:
        ui.notify(done, type="positive")
    else:
        ui.notify(reply.problem, type="negative", timeout=10_000, close_button="OK")
    return reply.is_good


def link_cell(table: ui.table, column: str) -> None:
    """Render a column as a link to the row's ``href``."""
    table.add_slot(
        f"body-cell-{column}",
        '<q-td :props="props"><a :href="props.row.href" :title="props.value" class="text-primary '
        'font-medium inline-block truncate align-bottom max-w-40 sm:max-w-md">'
        "{{ props.value }}</a></q-td>",
    )


def badge_cell(table: ui.table, column: str) -> None:
    """Render a column as a badge; the row's ``<column>_color`` is its color."""
    table.add_slot(
        f"body-cell-{column}",
        f'<q-td :props="props"><q-badge :color="props.row.{column}_color" outline>'
        "{{ props.value }}</q-badge></q-td>",
    )


def columns(*names: tuple[str, str]) -> list[dict[str, Any]]:
    """Left-aligned table columns from pairs of key and title."""
    return [
        {"name": key, "label": title, "field": key, "align": "left", "sortable": True}
        for key, title in names
    ]


def short_time(text: str | None) -> str:
    """``2026-01-05T12:00:00.000000Z`` as ``2026-01-05 12:00:00``."""
    return "" if not text else text[:19].replace("T", " ")


def _bar(projects: list[dict[str, Any]], project_id: str, section: str) -> None:
    ui.colors(primary=PRIMARY, accent=ACCENT)
    with ui.header().classes("items-center gap-4 px-4 py-2 bg-primary"):
        ui.icon("pets").classes("text-xl")
        ui.link("hoglet", f"/project/{project_id}/functions").classes(
            "text-white text-lg font-bold no-underline -ml-2"
        )
        for name in ("functions", "endpoints"):
            marked = "underline underline-offset-8" if name == section else "no-underline"
            ui.link(name.capitalize(), f"/project/{project_id}/{name}").classes(
                f"text-white {marked}"
            )
        ui.space()
        _project_choice(projects, project_id, section)
        with ui.element("form").props('method="post" action="/console/sign-out"'):
            ui.button("Sign out").props('type="submit" flat dense no-caps color="white"')


def _project_choice(projects: list[dict[str, Any]], project_id: str, section: str) -> None:
    names = {str(project["id"]): project["name"] for project in projects}
    if len(names) > 1 and project_id in names:
        ui.select(
            names,
            value=project_id,
            on_change=lambda event: ui.navigate.to(f"/project/{event.value}/{section}"),
        ).props("dense dark borderless options-dense")
    else:
        ui.label(names.get(project_id, "")).classes("text-white opacity-80 max-sm:hidden")


async def until_closed(dialog: ui.dialog) -> None:
    """Await a dialog and remove it, unless its page was already closed."""
    await dialog
    if not dialog.is_deleted:
        dialog.delete()
