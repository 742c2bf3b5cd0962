"""The test panel of a function: an event, whether and why it matches, a traced test run."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.code_editor import CodeEditor
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.records.functions import (
    EditedFilters,
    ExampleGlobals,
    MatchExplanationRecord,
    TestRunRecord,
    TracedStep,
)
from hoglet.console.records.project import EventRecord, RequestBody
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import Text, badge, exact_time, failed, url_value

_EXAMPLE = {
    "event": {
        "uuid": "0190f7a0-0000-7000-8000-000000000001",
        "event": "$pageview",
        "distinct_id": "user-1",
        "properties": {"$current_url": "https://example.com/"},
        "timestamp": "2026-01-05T12:00:00Z",
    }
}
_EVENTS = 100
_MAX_NAMES = 3  # event names of the filters that are searched beyond the newest events
_OF_A_NAME = 10
_EVER = "1970-01-01T00:00:00Z"
_TONES = {"success": "ok", "error": "danger"}


class TestPanel:
    """Tests the function as it is edited, saved or not.

    Args:
        backend: API client of the signed-in user.
        path: the path of the function, ``/hog_functions/<id>``.
        subject: the edited function in the form of the API: ``{"configuration": {...}}``, with
            ``draft`` for a draft.
        source: its code, for the trace.
    """

    __test__ = False

    def __init__(
        self,
        backend: Backend,
        path: str,
        subject: Callable[[], RequestBody],
        source: Callable[[], str],
    ) -> None:
        self._backend = backend
        self._path = path
        self._subject = subject
        self._source = source
        self._events: list[EventRecord] = []

    async def draw(self) -> None:
        """Render the panel."""
        self._events = await self._recent_events()
        Text("h2", "Test")
        names = {
            index: f"{event['event']} · {event['distinct_id']} · "
            f"{exact_time(event['timestamp'], self._backend.zone)}"
            for index, event in enumerate(self._events)
        }
        chosen = ui.select(names, label="Recent event", with_input=True, on_change=self._choose)
        chosen.props("dense outlined options-dense").classes("w-full")
        chosen.set_enabled(bool(names))
        example = _globals(self._events[0]) if self._events else _EXAMPLE
        if given := url_value("event"):
            example = await self._stored(given) or example
        self._editor = CodeEditor(
            self._backend, _json(example), "json", "Globals", on_run=self._run
        )
        self._editor.classes("max-h-96")
        with ui.element("div").classes("toolbar"):
            run = ui.button("Run test", icon="play_arrow", on_click=self._run)
            run.props('data-run title="Ctrl+Enter"')
            ui.button("Explain match", on_click=self._explain).props("outline")
            self._mock = ui.switch("Mock requests", value=True)
        self._outcome = ui.element("div").classes("pane").props('role="status"')

    async def _recent_events(self) -> list[EventRecord]:
        """The newest events; those whose name is in the filters come first."""
        newest = await self._newest(None)
        filters: EditedFilters = self._subject()["configuration"].get("filters") or {}
        named = {str(entry["id"]) for entry in filters.get("events") or () if entry.get("id")}
        known = {event["event"] for event in newest}
        rare = [await self._newest(name) for name in sorted(named - known)[:_MAX_NAMES]]
        events = [event for group in (*rare, newest) for event in group]
        return sorted(events, key=lambda event: event["event"] not in named)

    async def _newest(self, name: str | None) -> list[EventRecord]:
        limit = _EVENTS if name is None else _OF_A_NAME
        reply = await self._backend.get("/events", limit=limit, after=_EVER, event=name)
        return reply.body["results"] if reply.is_good else []

    async def choose(self, uuid: str) -> None:
        """Use a stored event for the next test, and explain its match."""
        if given := await self._stored(uuid):
            self._editor.set_value(_json(given))
            await self._explain()

    async def _choose(self, event: Any) -> None:
        if event.value is not None:
            self._editor.set_value(_json(_globals(self._events[event.value])))
            await self._explain()

    async def _stored(self, uuid: str) -> ExampleGlobals | None:
        """The globals of a stored event; None if there is none."""
        reply = await self._backend.get(f"/events/{quote(uuid, safe='')}")
        return _globals(reply.body) if reply.is_good else None

    def _given(self) -> ExampleGlobals | None:
        try:
            given = orjson.loads(self._editor.value)
        except orjson.JSONDecodeError as error:
            ui.notify(f"The globals are not valid JSON: {error}", type="negative")
            return None
        return given if isinstance(given, dict) else {}

    async def _run(self) -> None:
        given = self._given()
        if given is None:
            return
        body = {
            "globals": given,
            "mock_async_functions": self._mock.value,
            **self._subject(),
            "trace": True,
        }
        reply = await self._backend.send("POST", f"{self._path}/invocations", body)
        self._outcome.clear()
        with self._outcome:
            if reply.is_good:
                _result(reply.body, self._source())
            else:
                failed(reply)

    async def _explain(self) -> None:
        given = self._given()
        if given is None:
            return
        reply = await self._backend.send("POST", f"{self._path}/explain_match", self._about(given))
        self._outcome.clear()
        with self._outcome:
            if reply.is_good:
                explanation_view(reply.body)
            else:
                failed(reply)

    def _about(self, given: ExampleGlobals) -> RequestBody:
        parts = {key: given[key] for key in ("event", "person", "groups") if given.get(key)}
        return parts | self._subject()


def explanation_view(explanation: MatchExplanationRecord) -> None:
    """Render whether an event would run a function, and each condition that fails."""
    if explanation["would_run"]:
        badge("This event runs the function.", "ok")
    else:
        badge("This event does not run the function.", "warn")
    for failure in explanation["failed"]:
        ui.label(failure["reason"]).classes("font-mono text-sm break-words")
    for note in explanation["notes"]:
        ui.label(note).classes("muted text-sm break-words")


def _result(result: TestRunRecord, source: str) -> None:
    badge(result["status"], _TONES.get(result["status"], ""))
    for error in result["errors"]:
        ui.label(error).classes("field-error font-mono")
    if trace := result.get("trace"):
        _trace(trace, source)
    if result["logs"]:
        Text("h3", "Log")
        lines = [f"{entry['level']:5} {entry['message']}" for entry in result["logs"]]
        code_block("\n".join(lines), wraps=True)
    if result["result"] is not None:
        Text("h3", "Result")
        code_block(_json(result["result"]), wraps=True)


def _trace(steps: list[TracedStep], source: str) -> None:
    lines = source.splitlines()
    rows = [
        {
            "id": index,
            "line": step["line"],
            "code": lines[step["line"] - 1].strip() if 0 < step["line"] <= len(lines) else "",
            "values": "\n".join(
                [f"{name} = {value}" for name, value in step["values"].items()] + step["calls"]
            ),
        }
        for index, step in enumerate(steps)
    ]
    Text("h3", "Steps")
    columns = [
        column("line", "Line", "number"),
        column("code", "Code", "mono"),
        column("values", "Values and calls", "mono"),
    ]
    DataTable("Steps", columns, rows, page_size=100).mark("trace")


def _globals(event: EventRecord) -> ExampleGlobals:
    inner = {
        "uuid": event["id"],
        "event": event["event"],
        "distinct_id": event["distinct_id"],
        "properties": event["properties"],
        "timestamp": event["timestamp"],
    }
    person = event.get("person") or {}
    if not person:
        return {"event": inner}
    known = {"id": person.get("uuid"), "properties": person.get("properties") or {}}
    return {"event": inner, "person": known}


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
