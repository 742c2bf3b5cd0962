"""The page of actions: named sets of events that filters refer to."""

from typing import Any

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import Row, column
from hoglet.console.components.record_page import RecordKind, RecordPage, RecordUser
from hoglet.console.components.used_by import filters_of, functions_with
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.records.functions import FunctionRecord
from hoglet.console.records.project import ActionRecord, ActionStep, RequestBody
from hoglet.console.session import Sessions
from hoglet.console.suggestions import Suggestions
from hoglet.console.widgets import Text

_MATCHING = {"contains": "contains", "exact": "is", "regex": "matches regex"}
_FIELD = "outlined dense options-dense"


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/actions", title="Actions · hoglet", response_timeout=BUILD_SECONDS
    )
    async def actions(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await RecordPage(backend, _ACTIONS).draw()

        return await signed_in_page(sessions, request, project_id, section="actions", build=build)


def _row(action: ActionRecord) -> Row:
    return {
        "name": action["name"] or "Untitled",
        "steps": " or ".join(_step_text(step) for step in action["steps"]),
        "description": action["description"],
        "updated": action["updated_at"],
    }


def _step_text(step: ActionStep) -> str:
    page = f" at {step['url']}" if step["url"] else ""
    return f"{step['event'] or 'any event'}{page}"


async def _users(backend: Backend, action: ActionRecord) -> list[RecordUser]:
    def uses(function: FunctionRecord) -> bool:
        entries = [
            each for filters in filters_of(function) for each in filters.get("actions") or ()
        ]
        return str(action["id"]) in {str(entry.get("id")) for entry in entries}

    return await functions_with(backend, uses)


async def _form(backend: Backend, action: ActionRecord | None) -> "_Form":
    suggestions = Suggestions(backend)
    await suggestions.load()
    blank: RequestBody = {"name": "", "description": "", "steps": [{}]}
    return _Form(suggestions, action or blank)


class _Form:
    """Name, description and steps; keys of a step that it does not show are kept."""

    def __init__(self, suggestions: Suggestions, action: ActionRecord | RequestBody) -> None:
        self._events = suggestions.events
        self._name = ui.input("Name", value=action["name"]).classes("w-full")
        self._name.props("outlined dense autofocus")
        self._description = ui.input("Description", value=action["description"])
        self._description.props("outlined dense").classes("w-full")
        self.fields: RequestBody = {"name": self._name, "description": self._description}
        self._steps: list[ActionStep] = [
            {key: value for key, value in step.items() if value is not None}
            for step in action["steps"]
        ]
        Text("h3", "Events that match any of")
        self._box = ui.element("div").classes("pane")
        self._draw()

    def body(self) -> RequestBody:
        return {
            "name": self._name.value or "",
            "description": self._description.value or "",
            "steps": self._steps,
        }

    def _draw(self) -> None:
        self._box.clear()
        with self._box:
            for step in self._steps:
                self._step(step)
            button = ui.button("Add step", icon="add", on_click=self._add).props("outline")
            button.style("align-self: flex-start")

    def _step(self, step: ActionStep) -> None:
        def change(key: str, value: Any) -> None:
            step.pop(key, None)
            if value:
                step[key] = value

        def remove() -> None:
            self._steps = [each for each in self._steps if each is not step]
            self._draw()

        name = step.get("event")
        with ui.element("div").classes("toolbar"):
            event = ui.input(
                "Event",
                value=name or "",
                autocomplete=self._events,
                placeholder="any event",
                on_change=lambda event: change("event", event.value),
            )
            event.props("outlined dense stack-label").classes("grow")
            matching = ui.select(
                _MATCHING,
                value=step.get("url_matching") or "contains",
                label="URL",
                on_change=lambda event: change("url_matching", event.value),
            )
            matching.props(_FIELD).classes("w-40")
            url = ui.input(
                "URL text",
                value=step.get("url", ""),
                on_change=lambda event: change("url", event.value),
            )
            url.props("outlined dense").classes("grow")
            button = ui.button(icon="delete", on_click=remove).props("flat dense")
            button.props["aria-label"] = f"Remove step {name or ''}".strip()
        if step.get("properties"):
            ui.label(f"and {len(step['properties'])} property conditions").classes("muted")

    def _add(self) -> None:
        self._steps.append({})
        self._draw()


_ACTIONS = RecordKind(
    noun="action",
    title="Actions",
    note="Named sets of events that filters of functions and queries refer to",
    icon="done_all",
    path="/actions",
    columns=[
        column("name", "Name"),
        column("steps", "Events"),
        column("description", "Description"),
        column("updated", "Updated", "time"),
    ],
    row=_row,
    form=_form,
    users=_users,
    is_deleted_with_patch=True,
    on_delete="Filters that use it will no longer match its events.",
)
