"""NiceGUI with the console's pages, stylesheet and script.

Imported lazily, see ``hoglet.console.application``.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, override

from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from hoglet.console.pages import home, not_found, sign_in, status
from hoglet.console.pages.endpoints import endpoint, endpoints
from hoglet.console.pages.functions import failed_runs, function, functions, gallery
from hoglet.console.pages.project import (
    actions,
    cohorts,
    data,
    event,
    events,
    group,
    integrations,
    person,
    persons,
    sql,
    variables,
)
from hoglet.console.pages.settings import settings
from hoglet.console.routes import editor_route, jump_route
from hoglet.console.session import Sessions
from hoglet.web.error_handlers import install

_FOLDER = Path(__file__).parent / "static"
_TYPES = {"console.css": "text/css", "console.js": "text/javascript"}
_FOREVER = "public, max-age=31536000, immutable"
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="7" fill="#1d4aff"/>'
    '<path d="M5 22 8 12l2 4 2-7 3 6 3-7 2 7 4-4 1 6 3 5z" fill="#fff"/></svg>'
)
# Themes and icons are those of static/console.js.
_VUE = """
app.config.globalProperties.$q.iconMapFn = hogletIcon;
Quasar.Dark.set(document.documentElement.dataset.theme === "dark");
"""
_COLORS = {
    "primary": "var(--accent)",
    "secondary": "var(--muted)",
    "accent": "var(--accent)",
    "dark": "var(--panel)",
    "dark-page": "var(--bg)",
    "positive": "var(--ok)",
    "negative": "var(--danger)",
    "info": "var(--accent)",
    "warning": "var(--warn)",
}
_PAGES = (
    sign_in,
    home,
    events,
    event,
    persons,
    person,
    group,
    sql,
    functions,
    gallery,  # before the page of one function, which would match "new" as an id
    function,
    endpoints,
    endpoint,
    failed_runs,
    data,
    cohorts,
    actions,
    variables,
    integrations,
    settings,
    status,
    not_found,  # last: it matches everything else
)
RECONNECT_SECONDS = 10.0


class _Site(FastAPI):
    """Without Starlette's outermost layer, which answers 500 to clients that disconnect."""

    @override
    def build_middleware_stack(self) -> ASGIApp:
        outermost: Any = super().build_middleware_stack()
        return outermost.app


def make_site(api: ASGIApp, secret_keys: list[str]) -> FastAPI:
    """Create the console's ASGI application; its lifespan starts and stops NiceGUI.

    Call it once per process: pages are registered with NiceGUI's global application.
    """
    sessions = Sessions(secret_keys, api)
    site = _Site(docs_url=None, redoc_url=None, openapi_url=None)
    install(site)
    site.router.routes.extend(
        [*sessions.routes(), *asset_routes(), jump_route(sessions), editor_route(sessions)]
    )
    for page in _PAGES:
        page.register(sessions)
    ui.add_head_html(head_html(), shared=True)
    nicegui_app.config.vue_config_script += _VUE
    nicegui_app.config.quasar_config["brand"] = _COLORS
    ui.button.default_props("no-caps unelevated")
    ui.run_with(
        site,
        title="hoglet",
        favicon=_ICON,
        language="en-US",
        dark=None,
        tailwind=False,
        binding_refresh_interval=None,  # no polling while idle
        reconnect_timeout=RECONNECT_SECONDS,
        show_welcome_message=False,
    )
    return site


def head_html() -> str:
    """What every page loads before its content."""
    return (
        f'<link rel="stylesheet" href="{_address("console.css")}">'
        f'<script src="{_address("console.js")}"></script>'
    )


def asset_routes() -> list[Route]:
    """The routes of the files; a wrong hash is a 404, so no stale file stays cached."""
    return [Route(_address(name), _serve, name=name) for name in _TYPES]


def _address(name: str) -> str:
    return f"/console/assets/{_hash(name)}/{name}"


@cache
def _content(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()


@cache
def _hash(name: str) -> str:
    return sha256(_content(name)).hexdigest()[:16]


async def _serve(request: Request) -> Response:
    name = request.url.path.rsplit("/", 1)[1]
    return Response(_content(name), media_type=_TYPES[name], headers={"cache-control": _FOREVER})
