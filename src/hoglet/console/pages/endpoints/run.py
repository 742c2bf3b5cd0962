"""The run tab of an endpoint: variables, the result, the same call for a terminal, a golden case.

Golden cases are for the endpoint's file of tests, see docs/testing.md.
"""

import time
from datetime import UTC, datetime

import orjson
import yaml
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.variable_fields import VariableFields
from hoglet.console.pages.endpoints.result import result_view
from hoglet.console.records.endpoints import EndpointRecord, ResultRecord, VariableValues
from hoglet.console.records.project import EventRecord, RequestBody
from hoglet.console.snippets import call_snippets
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import Link, counted, failed
from hoglet.kit.json import JsonObject

_REFRESH = {"blocking": "Cached if fresh", "force": "Computed now"}
_RAW = {"force_blocking": "From raw events"}
_DEFAULT_LIMIT = 100


async def run_panel(backend: Backend, path: str, record: EndpointRecord) -> None:
    """A form to run an endpoint.

    Args:
        backend: API client of the signed-in user.
        path: the path of the endpoint, ``/endpoints/<name>``.
        record: the API record.
    """
    document = await backend.get(f"{path}/openapi.json")
    await _RunForm(backend, path, record, document.body if document.is_good else {}).draw()


class _RunForm:
    """The form; ``_offset`` is the start of the shown page."""

    def __init__(
        self, backend: Backend, path: str, record: EndpointRecord, document: JsonObject
    ) -> None:
        self._backend = backend
        self._path = path
        self._record = record
        self._document = document
        self._is_sql = record["query"]["kind"] == "HogQLQuery"
        self._offset = 0

    async def draw(self) -> None:
        schemas: JsonObject = self._document.get("components", {}).get("schemas", {})
        choices = _REFRESH | (_RAW if self._record["is_materialized"] else {})
        with ui.row().classes("w-full items-start gap-4 pt-2"):
            self._fields = VariableFields(schemas.get("Variables", {}), self._show_call, self._run)
            limit = ui.number("Row limit", min=1, max=50_000, precision=0, placeholder="100")
            self._limit = limit.classes("w-32").props("stack-label outlined dense")
            self._limit.on_value_change(self._show_call).set_visibility(self._is_sql)
            self._refresh = ui.select(choices, value="blocking", label="Answer")
            self._refresh.classes("w-44").props("outlined dense options-dense")
            self._refresh.on_value_change(self._show_call)
            self._button = ui.button("Run", icon="play_arrow", on_click=self._run)
            self._button.props('data-run title="Ctrl+Enter"').style("min-height: 40px")
        if schemas.get("Variables", {}).get("required"):
            ui.label("* is required").classes("text-xs opacity-70")
        self._outcome = ui.column().classes("w-full gap-3 py-2").props("aria-live=polite")
        self._draw_call()

    def _body(self) -> RequestBody:
        body: RequestBody = {}
        if given := self._fields.given():
            body["variables"] = given
        if self._limit.value or self._offset:
            body["limit"] = int(self._limit.value or _DEFAULT_LIMIT)
        if self._offset:
            body["offset"] = self._offset
        if self._refresh.value != "blocking":
            body["refresh"] = self._refresh.value
        return body

    async def _run(self) -> None:
        await self._run_from(0)

    async def _run_from(self, offset: int) -> None:
        self._offset = offset
        self._show_call()
        self._button.props(add="loading")
        started = time.perf_counter()
        reply = await self._backend.send("POST", f"{self._path}/run", self._body())
        milliseconds = (time.perf_counter() - started) * 1000
        self._button.props(remove="loading")
        self._outcome.clear()
        with self._outcome:
            if reply.is_good:
                result_view(self._record["query"]["kind"], reply.body, milliseconds)
                self._draw_paging(reply.body)
                golden_case_panel(
                    self._backend, self._record["name"], self._fields.given(), reply.body
                )
            else:
                failed(reply, str(self._record["query"].get("query") or ""))

    def _draw_paging(self, body: ResultRecord) -> None:
        limit = body.get("limit") or _DEFAULT_LIMIT
        if not self._is_sql or not (body.get("hasMore") or self._offset):
            return
        with ui.row().classes("w-full items-center justify-end gap-2"):
            rows = len(body["results"])
            ui.label(f"rows {self._offset + 1} to {self._offset + rows}").classes("text-sm")
            before = ui.button(
                "Earlier rows", on_click=lambda: self._run_from(max(0, self._offset - limit))
            )
            before.props("flat no-caps").set_enabled(self._offset > 0)
            after = ui.button("Further rows", on_click=lambda: self._run_from(self._offset + limit))
            after.props("flat no-caps").set_enabled(bool(body.get("hasMore")))

    def _draw_call(self) -> None:
        with ui.expansion("Call it from code", icon="terminal", value=True).classes("w-full"):
            chosen = ui.toggle(list(self._calls()), value="curl", on_change=self._show_call)
            self._language = chosen.props("no-caps dense")
            self._call = code_block("", wraps=True).mark("call")
            with ui.element("div").classes("toolbar"):
                ui.button("openapi.json", icon="download", on_click=self._download).props(
                    "flat dense no-caps"
                ).tooltip("Types of variables and rows, for client generators")
                keys = f"/project/{self._backend.project_id}/settings?tab=Personal+keys"
                Link("Create a key for HOGLET_API_KEY", keys)
        self._show_call()

    def _show_call(self) -> None:
        self._call.set_text(self._calls()[str(self._language.value)])

    def _calls(self) -> dict[str, str]:
        return call_snippets(self._record["url"], self._body())

    def _download(self) -> None:
        text = orjson.dumps(self._document, option=orjson.OPT_INDENT_2)
        ui.download.content(text, f"{self._record['name']}.openapi.json")


_EVENTS = 50
_EVER = "1970-01-01T00:00:00Z"
_GIVEN = ("event", "distinct_id", "timestamp", "properties")


def golden_case(
    name: str, events: list[EventRecord], variables: VariableValues, result: ResultRecord
) -> str:
    """The case as YAML.

    Args:
        name: the name of the case.
        events: as the API lists them, newest first.
        variables: the values of the run.
        result: the body of its response.
    """
    case: JsonObject = {
        "name": name,
        "now": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "events": [{key: event[key] for key in _GIVEN} for event in reversed(events)],
    }
    if variables:
        case["variables"] = variables
    columns = {"columns": result["columns"]} if result.get("columns") else {}
    case["expect"] = {**columns, "rows": result["results"]}
    return yaml.safe_dump([case], sort_keys=False, allow_unicode=True, width=100)


def golden_case_panel(
    backend: Backend, name: str, variables: VariableValues, result: ResultRecord
) -> None:
    """A panel with the case, created when it is opened."""

    async def show() -> None:
        if box.default_slot.children:
            return
        reply = await backend.get("/events", limit=_EVENTS, after=_EVER)
        with box:
            if not reply.is_good:
                failed(reply)
                return
            events: list[EventRecord] = reply.body["results"]
            ui.label(
                f"Append it to endpoints/{name}.tests.yaml. hoglet test runs the endpoint on these "
                f"{counted(len(events), 'event')}, the project's newest, and compares the rows. "
                "If the rows above include other events, hoglet test --update replaces them with "
                "the rows of these."
            ).classes("text-sm muted")
            title = f"as of {datetime.now(UTC):%Y-%m-%d %H:%M}"
            code_block(golden_case(title, events, variables, result), wraps=True).mark("golden")

    with ui.expansion("Save as a test case", icon="done_all", on_value_change=show) as panel:
        panel.classes("w-full")
        box = ui.element("div").classes("pane")
