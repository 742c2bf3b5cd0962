"""``/`` and ``/sign-in``."""

from nicegui import ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hoglet.console.layout import BUILD_SECONDS
from hoglet.console.session import SIGN_IN, Sessions, safe_target
from hoglet.console.widgets import Text


def register(sessions: Sessions) -> None:
    """Add the pages."""

    @ui.page("/", response_timeout=BUILD_SECONDS)
    async def home(request: Request) -> Response:
        backend = sessions.backend(request)
        me = (
            None if backend is None else await backend.call("GET", "/api/projects", query="limit=1")
        )
        if me is None or me.status == 401:
            return RedirectResponse(SIGN_IN, 303)
        projects = me.body["results"] if me.is_good else []
        return RedirectResponse(f"/project/{projects[0]['id'] if projects else 1}", 303)

    @ui.page(SIGN_IN, title="Sign in · hoglet")
    def sign_in(failed: str = "", next: str = "/") -> None:  # noqa: A002 (the parameter's name)
        _form(is_failed=bool(failed), target=safe_target(next))


def _form(*, is_failed: bool, target: str) -> None:
    with ui.card().classes("sign-in w-96 p-6 gap-4"):
        with ui.row().classes("items-center gap-2"):
            ui.icon("pets").classes("text-2xl text-primary")
            Text("h1", "hoglet")
        ui.label("Sign in with a personal API key. The server printed one when it first started.")
        form = ui.element("form").props('method="post" action="/console/sign-in"')
        with form.classes("w-full flex flex-col gap-4"):
            hidden = ui.element("input").props('type="hidden" name="next"')
            hidden.props["value"] = target
            ui.input("API key").props(
                'name="key" type="password" outlined autofocus autocomplete="current-password"'
            ).classes("w-full")
            if is_failed:
                ui.label("This key is not valid.").classes("text-negative").mark("problem")
            ui.button("Sign in").props('type="submit" no-caps').classes("w-full")
        with ui.element("div").classes("text-xs muted"):
            ui.label("No key? Create one on the server:")
            Text("code", "hoglet admin keys create --scopes '*'")
