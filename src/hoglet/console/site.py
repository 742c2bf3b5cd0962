"""NiceGUI with the console's pages; imported lazily, see ``hoglet.console.application``."""

from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import ui
from starlette.types import ASGIApp

from hoglet.console.assets import asset_routes, head_html
from hoglet.console.editor_service import editor_route
from hoglet.console.jump import jump_route
from hoglet.console.pages import home, not_found, settings, sign_in, status
from hoglet.console.pages.endpoints import endpoint, endpoints
from hoglet.console.pages.functions import failed_runs, function, functions, gallery
from hoglet.console.pages.project import (
    actions,
    cohorts,
    data,
    event,
    events,
    integrations,
    person,
    persons,
    sql,
    variables,
)
from hoglet.console.session import Sessions
from hoglet.web.error_handlers import install

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
    sql,
    functions,
    gallery,  # before the page of one function: "new" is no id
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


def make_site(api: ASGIApp, secret_keys: list[str]) -> FastAPI:
    """Create the console's ASGI application; its lifespan starts and stops NiceGUI.

    Call it once per process: pages are registered with NiceGUI's global application.
    """
    sessions = Sessions(secret_keys, api)
    site = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
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
