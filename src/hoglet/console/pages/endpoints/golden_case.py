"""A run of an endpoint as a golden case for its file of tests, see docs/testing.md."""

from datetime import UTC, datetime
from typing import Any

import yaml
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import counted, failed

type Json = dict[str, Any]

_EVENTS = 50
_EVER = "1970-01-01T00:00:00Z"
_GIVEN = ("event", "distinct_id", "timestamp", "properties")


def golden_case(name: str, events: list[Json], variables: Json, result: Json) -> str:
    """The case as YAML.

    Args:
        name: of the case.
        events: as the API lists them, newest first.
        variables: those that the run was given.
        result: the body of its response.
    """
    case: Json = {
        "name": name,
        "now": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "events": [{key: event[key] for key in _GIVEN} for event in reversed(events)],
    }
    if variables:
        case["variables"] = variables
    columns = {"columns": result["columns"]} if result.get("columns") else {}
    case["expect"] = {**columns, "rows": result["results"]}
    return yaml.safe_dump([case], sort_keys=False, allow_unicode=True, width=100)


def golden_case_panel(backend: Backend, name: str, variables: Json, result: Json) -> None:
    """A panel with the case, made when it is opened."""

    async def show() -> None:
        if box.default_slot.children:
            return
        reply = await backend.get("/events", limit=_EVENTS, after=_EVER)
        with box:
            if not reply.is_good:
                failed(reply)
                return
            events: list[Json] = reply.body["results"]
            ui.label(
                f"Append it to endpoints/{name}.tests.yaml. hoglet test runs the endpoint on these "
                f"{counted(len(events), 'event')}, the project's newest, and compares the rows. "
                "If the rows above count others as well, hoglet test --update writes those of "
                "these events."
            ).classes("text-sm muted")
            title = f"as of {datetime.now(UTC):%Y-%m-%d %H:%M}"
            code_block(golden_case(title, events, variables, result), wraps=True).mark("golden")

    with ui.expansion("Keep as a golden case", icon="done_all", on_value_change=show) as panel:
        panel.classes("w-full")
        box = ui.element("div").classes("pane")
