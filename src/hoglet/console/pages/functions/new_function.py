"""The dialog that creates a function from a template, or an empty one."""

from typing import Any

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.inputs_form import InputsForm, NotJson, stored_integrations
from hoglet.console.widgets import notify, until_closed

_TYPES = "destination,transformation,source_webhook,site_destination,site_app"
_FIRST_CODE = "print(event.event, event.distinct_id)\n"
_EMPTY = "an empty destination"


async def ask_for_new_function(backend: Backend) -> None:
    """Show the dialog, create the function, and open its page."""
    reply = await backend.get("/hog_function_templates", limit=500, types=_TYPES)
    templates = {one["id"]: one for one in reply.body["results"]} if reply.is_good else {}
    names = {_EMPTY: "Empty destination"} | {
        key: f"{one['name']} ({one['type'].replace('_', ' ')})" for key, one in templates.items()
    }

    integrations = await stored_integrations(backend)

    @ui.refreshable
    def form() -> None:
        template = templates.get(chosen.value)
        schema = template["inputs_schema"] if template else []
        forms["current"] = InputsForm(schema or [], {}, integrations)

    async def create() -> None:
        try:
            inputs = forms["current"].inputs()
        except NotJson as problem:
            ui.notify(str(problem), type="negative")
            return
        reply = await backend.send(
            "POST", "/hog_functions", _body(templates.get(chosen.value), name.value or "", inputs)
        )
        if notify(reply, "Created. It is disabled until you enable it."):
            ui.navigate.to(f"/project/{backend.project_id}/functions/{reply.body['id']}")

    forms: dict[str, InputsForm] = {}
    with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-xl"):
        ui.label("New function").classes("text-lg font-medium")
        chosen = ui.select(names, value=_EMPTY, label="Begin with", with_input=True)
        chosen.classes("w-full").on_value_change(form.refresh)
        name = ui.input("Name", placeholder="as the template").classes("w-full")
        form()
        with ui.row():
            ui.button("Create", on_click=create).props("no-caps")
            ui.button("Cancel", on_click=dialog.close).props("flat no-caps")
    await until_closed(dialog)


def _body(template: dict[str, Any] | None, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    if template is None:
        return {"type": "destination", "name": name or "New function", "hog": _FIRST_CODE}
    named = {"name": name} if name else {}
    filters = {"filters": template["filters"]} if template["filters"] else {}
    return {
        "type": template["type"],
        "template_id": template["id"],
        "inputs": inputs,
        **named,
        **filters,
    }
