"""The layout of all pages: sidebar, top bar on phones, content area."""

from collections.abc import Awaitable, Callable
from html import escape
from urllib.parse import quote

from nicegui import Client, ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.navigation import PAGES
from hoglet.console.records.project import ProjectRecord
from hoglet.console.session import SIGN_IN, Sessions
from hoglet.console.widgets import Link, Text, empty, heading
from hoglet.web.pagination import ORIGINAL_PATH

_MAX_PROJECTS = 1000
BUILD_SECONDS = 30.0  # for pages that query the warehouse before they are sent

type Build = Callable[[Backend], Awaitable[None]]


async def signed_in_page(
    sessions: Sessions, request: Request, project_id: str, *, section: str, build: Build
) -> Response | None:
    """Build a page for a signed-in user; others are redirected to the sign-in page.

    Args:
        sessions: resolves sessions.
        request: the page's request.
        project_id: the project in the path.
        section: the active page of the sidebar, its path without the slash, or "-" for none.
        build: renders the page's content.
    """
    backend = sessions.backend(request, project_id)
    projects = None if backend is None else await projects_of(backend)
    if backend is None or projects is None or projects.status == 401:
        path: str = request.scope.get(ORIGINAL_PATH, request.scope["path"])  # decoded
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{SIGN_IN}?next={quote(quote(path) + query)}", 303)
    listed: list[ProjectRecord] = projects.body["results"] if projects.is_good else []
    project = next((each for each in listed if str(each["id"]) == project_id), None)
    zone = backend.zone = str((project or {}).get("timezone") or "UTC")
    ui.add_head_html(f'<meta name="hoglet-zone" content="{escape(zone)}">')
    client = ui.context.client
    backend.on_signed_out = lambda: client.run_javascript("hogletSignedOut()")
    backend.on_wait = lambda is_waiting: _show_waiting(client, is_waiting=is_waiting)
    _shell(listed, project_id, section)
    with ui.element("div").props('id="content" tabindex="-1"'):
        if project is None and projects.is_good:
            _no_project(listed, project_id)
        else:
            await build(backend)
    return None


async def projects_of(backend: Backend) -> Reply:
    """The projects that the user's key can access."""
    return await backend.call("GET", "/api/projects", query=f"limit={_MAX_PROJECTS}")


def _show_waiting(client: Client, *, is_waiting: bool) -> None:
    if client.has_socket_connection:  # before that, the browser shows that the page is loading
        client.run_javascript(f"hogletWaiting({str(is_waiting).lower()})")


def _no_project(projects: list[ProjectRecord], project_id: str) -> None:
    heading("Not found")
    hint = "It was deleted, or your key has no access to it."
    with empty(f"There is no project {project_id}", hint, "search_off"):
        for project in projects:
            Link(str(project["name"]), f"/project/{project['id']}")


def _shell(projects: list[ProjectRecord], project_id: str, section: str) -> None:
    layout = ui.context.client.layout
    with layout:
        skip = Link("Skip to content", "#content").classes("skip")
        bar = _top_bar(projects, project_id)
        side = _sidebar(projects, project_id, section)
    for index, element in enumerate((skip, bar, side)):
        element.move(layout, target_index=index)


def _top_bar(projects: list[ProjectRecord], project_id: str) -> ui.element:
    with ui.element("header").classes("topbar") as bar:
        _icon_button("menu", "Open the menu", "fold").props["aria-expanded"] = "false"
        Text("span", _name(projects, project_id)).classes("where")
        _icon_button("search", "Jump to a page, function or endpoint", "jump")
    return bar


def _sidebar(projects: list[ProjectRecord], project_id: str, section: str) -> ui.element:
    with ui.element("nav").classes("sidebar") as side:
        side.props["aria-label"] = "Main"
        with Link("", f"/project/{project_id}").classes("brand"):
            ui.icon("pets")
            Text("span", "hoglet").classes("word")
        _project_choice(projects, project_id, section)
        with _act("jump", "Jump to a page, function or endpoint"):
            ui.icon("search")
            Text("span", "Jump to").classes("word")
            Text("kbd", "Ctrl K").classes("key")
        ui.element("hr")
        for page in PAGES:
            link = Link("", page.href(project_id))
            link.props["title"] = f"{page.title} ({page.keys})" if page.keys else page.title
            if page.path == f"/{section}" or (not page.path and not section):
                link.props["aria-current"] = "page"
            with link:
                ui.icon(page.icon)
                Text("span", page.title).classes("word")
        ui.element("hr").classes("rest")
        with _act("theme", "Switch between light and dark"):
            ui.icon("dark_mode")
            Text("span", "Theme").classes("word")
        with _act("help", "Keyboard shortcuts (?)"):
            ui.icon("keyboard")
            Text("span", "Shortcuts").classes("word")
            Text("kbd", "?").classes("key")
        with _act("fold", "Collapse or expand the sidebar"):
            ui.icon("sidebar")
            Text("span", "Collapse").classes("word")
        form = ui.element("form").props('method="post" action="/console/sign-out"')
        with form, ui.element("button").props('type="submit" title="Sign out"'):
            ui.icon("logout")
            Text("span", "Sign out").classes("word")
    return side


def _act(name: str, title: str) -> ui.element:
    button = ui.element("button").props(f'type="button" data-act="{name}"')
    button.props["title"] = title
    return button


def _icon_button(icon: str, label: str, act: str) -> ui.element:
    button = _act(act, label)
    button.props["aria-label"] = label
    with button:
        ui.icon(icon)
    return button


def _name(projects: list[ProjectRecord], project_id: str) -> str:
    return next((str(each["name"]) for each in projects if str(each["id"]) == project_id), "")


def _project_choice(projects: list[ProjectRecord], project_id: str, section: str) -> None:
    names = {str(project["id"]): str(project["name"]) for project in projects}
    if len(names) > 1 and project_id in names:
        chosen = ui.select(
            names,
            value=project_id,
            on_change=lambda event: ui.navigate.to(
                f"/project/{event.value}/{'' if section == '-' else section}"
            ),
        )
        chosen.props("dense outlined options-dense").classes("w-full word")
        chosen.props["aria-label"] = "Project"
    elif names.get(project_id):
        Text("span", names[project_id]).classes("word muted truncate").style(
            "padding: 0 0.5rem 0.25rem"
        )
