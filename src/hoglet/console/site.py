"""NiceGUI with the console's pages; imported lazily, see ``hoglet.console.application``."""

from fastapi import FastAPI
from nicegui import ui
from starlette.types import ASGIApp

from hoglet.console.pages import (
    endpoint,
    endpoints,
    event,
    function,
    functions,
    not_found,
    person,
    sign_in,
)
from hoglet.console.session import Sessions
from hoglet.web.error_handlers import install

_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="7" fill="#1d4aff"/>'
    '<path d="M5 22 8 12l2 4 2-7 3 6 3-7 2 7 4-4 1 6 3 5z" fill="#fff"/></svg>'
)
RECONNECT_SECONDS = 10.0


def make_site(api: ASGIApp, secret_keys: list[str]) -> FastAPI:
    """Create the console's ASGI application; its lifespan starts and stops NiceGUI.

    Call it once per process: pages are registered with NiceGUI's global application.
    """
    sessions = Sessions(secret_keys, api)
    site = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    install(site)
    site.router.routes.extend(sessions.routes())
    pages = (sign_in, functions, function, endpoints, endpoint, event, person, not_found)
    for page in pages:
        page.register(sessions)
    ui.run_with(
        site,
        title="hoglet",
        favicon=_ICON,
        dark=False,
        binding_refresh_interval=None,  # no polling while idle
        reconnect_timeout=RECONNECT_SECONDS,
        show_welcome_message=False,
    )
    return site
