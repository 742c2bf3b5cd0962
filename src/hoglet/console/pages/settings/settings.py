"""The settings page: the project, keys, tenant tokens, and who changed what."""

from zoneinfo import available_timezones

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.components.field_errors import FieldErrors
from hoglet.console.conditions_form import ConditionsForm
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.settings.activity import ActivityList
from hoglet.console.pages.settings.keys import Keys
from hoglet.console.pages.settings.tenant_tokens import TenantTokens
from hoglet.console.records.functions import EditedFilters
from hoglet.console.records.project import ProjectRecord
from hoglet.console.session import Sessions
from hoglet.console.source_excerpt import code_block
from hoglet.console.suggestions import Suggestions
from hoglet.console.widgets import failed, heading, section, submit_button, tabs

_PERSONAL = "/api/personal_api_keys"


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/settings",
        title="Settings · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def settings(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            heading("Settings")
            secret = f"/api/projects/{project_id}/project_secret_api_keys"
            await tabs(
                {
                    "Project": lambda: _project(backend),
                    "Personal keys": Keys(backend, _PERSONAL, "personal key", "*").draw,
                    "Secret keys": Keys(backend, secret, "secret key", "endpoint:read").draw,
                    "Tenant tokens": TenantTokens(backend).draw,
                    "Activity": ActivityList(backend).draw,
                }
            )

        return await signed_in_page(sessions, request, project_id, section="settings", build=build)


async def _project(backend: Backend) -> None:
    path = f"/api/projects/{backend.project_id}"
    reply = await backend.call("GET", path)
    if not reply.is_good:
        failed(reply)
        return
    project: ProjectRecord = reply.body

    async def save() -> None:
        body = {"name": name.value or "", "timezone": zone.value}
        saved = await backend.call("PATCH", path, body=body)
        errors.clear()
        if saved.is_good:
            ui.navigate.reload()
        else:
            errors.show(saved)

    with ui.element("div").classes("card max-w-xl").props("data-form"):
        name = ui.input("Name", value=project["name"]).props("outlined dense").classes("w-full")
        zones = sorted({*available_timezones(), project["timezone"]})
        zone = ui.select(zones, value=project["timezone"], label="Time zone", with_input=True)
        zone.props("outlined dense options-dense").classes("w-full")
        errors = FieldErrors({"name": name, "timezone": zone})
        submit_button("Save", save, icon="save").style("align-self: flex-start")
    with section("Test accounts"):
        await _test_accounts(backend, path, project)
    with section("Token"):
        ui.label("It can send events but read nothing, so it may be public.").classes("muted")
        code_block(project["api_token"], wraps=True)


async def _test_accounts(backend: Backend, path: str, project: ProjectRecord) -> None:
    """Filters that exclude test accounts; functions and queries apply them on demand."""
    suggestions = Suggestions(backend)
    await suggestions.load()
    filters: EditedFilters = {
        "properties": [dict(each) for each in project["test_account_filters"]]
    }

    async def save() -> None:
        body = {"test_account_filters": filters["properties"]}
        saved = await backend.call("PATCH", path, body=body)
        problem.set_text("" if saved.is_good else saved.problem)
        if saved.is_good:
            ui.notify("Saved.", type="positive")

    hint = (
        "Functions and queries that exclude test accounts see only events that meet all of "
        "these conditions."
    )
    ui.label(hint).classes("muted")
    with ui.element("div").classes("card"):
        ConditionsForm(filters, "condition for real accounts", suggestions, lambda: None)
        problem = ui.label().classes("field-error").props("role=alert")
        button = ui.button("Update test accounts", icon="save", on_click=save)
        button.props("outline").style("align-self: flex-start")
