"""The page of a function: code, test runs, logs, metrics, dead letters and history."""

from typing import Any

import orjson
from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.charts import metrics_chart
from hoglet.console.components.code_editor import CodeEditor
from hoglet.console.inputs_form import InputsForm, NotJson, stored_integrations
from hoglet.console.layout import signed_in_page
from hoglet.console.pages.dead_letters import dead_letters_panel
from hoglet.console.pages.functions import status_of
from hoglet.console.pages.history import history_panel, written
from hoglet.console.pages.logs import logs_panel
from hoglet.console.session import Sessions
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import badge, empty, failed, heading, notify, tabs

_RANGES = {"-24h": "24 hours", "-7d": "7 days", "-30d": "30 days"}
_INTERVALS = {"-24h": "hour", "-7d": "day", "-30d": "day"}
_EXAMPLE = {
    "event": {
        "uuid": "0190f7a0-0000-7000-8000-000000000001",
        "event": "$pageview",
        "distinct_id": "user-1",
        "properties": {"$current_url": "https://example.com/"},
        "timestamp": "2026-01-05T12:00:00Z",
    }
}


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/project/{project_id}/functions/{function_id}", title="Function · hoglet")
    async def function(request: Request, project_id: str, function_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await _build(backend, f"/hog_functions/{function_id}")

        return await signed_in_page(sessions, request, project_id, section="functions", build=build)


async def _build(backend: Backend, path: str) -> None:
    reply = await backend.get(path)
    if not reply.is_good:
        failed(reply)
        return
    function: dict[str, Any] = reply.body
    _title(backend, path, function)
    await tabs(
        {
            "Code": lambda: _code(backend, path, function),
            "Inputs": lambda: _inputs(backend, path, function),
            "Test": lambda: _test(backend, path),
            "Logs": lambda: logs_panel(backend, f"{path}/logs", "Runs are logged here."),
            "Metrics": lambda: _metrics(backend, path),
            "Failed": lambda: dead_letters_panel(backend, path),
            "History": lambda: history_panel(backend, path),
            "Configuration": lambda: _configuration(function),
        }
    )


def _title(backend: Backend, path: str, function: dict[str, Any]) -> None:
    async def switch(event: Any) -> None:
        if event.value == function["enabled"]:
            return  # reset below
        reply = await backend.send("PATCH", path, {"enabled": event.value})
        if notify(reply, "Switched on." if event.value else "Switched off."):
            function["enabled"] = event.value
        else:
            event.sender.set_value(function["enabled"])

    state, tone = status_of(function)
    with ui.row().classes("w-full items-center gap-4"):
        kind = function["type"].replace("_", " ")
        note = " · ".join(filter(None, (kind, function["description"])))
        heading(function["name"] or "Untitled", note)
        badge(state, tone)
        ui.space()
        ui.switch("Enabled", value=function["enabled"], on_change=switch)


async def _code(backend: Backend, path: str, function: dict[str, Any]) -> None:
    async def save() -> None:
        reply = await backend.send("PATCH", path, {"hog": editor.value})
        problem.set_text("" if reply.is_good else reply.problem)
        if reply.is_good:
            editor.mark_saved()
            ui.notify("Saved.", type="positive")
        else:
            editor.show_problem(reply)

    is_site = function["type"] in {"site_app", "site_destination"}
    editor = CodeEditor(
        backend,
        function["hog"],
        "javascript" if is_site else "hog",
        "Code",
        globals_={"inputs": {item["key"]: "" for item in function["inputs_schema"] or []}},
        guarded=True,
        on_save=save,
    )
    with ui.row().classes("items-center gap-4 pt-2"):
        ui.button("Save", icon="save", on_click=save).props("no-caps")
        ui.button("Format", on_click=editor.format).props("flat")
        problem = ui.label().classes("field-error font-mono").mark("problem")


async def _inputs(backend: Backend, path: str, function: dict[str, Any]) -> None:
    async def save() -> None:
        try:
            body = {"inputs": form.inputs()}
        except NotJson as problem:
            ui.notify(str(problem), type="negative")
            return
        notify(await backend.send("PATCH", path, body), "Saved.")

    if not function["inputs_schema"]:
        empty("No inputs", "The function has no inputs.", "input")
        return
    integrations = await stored_integrations(backend)
    form = InputsForm(function["inputs_schema"], function["inputs"], integrations)
    ui.button("Save inputs", icon="save", on_click=save).props("no-caps")


async def _test(backend: Backend, path: str) -> None:
    async def run() -> None:
        try:
            sent = orjson.loads(globals_editor.value)
        except orjson.JSONDecodeError as error:
            ui.notify(f"The globals are not valid JSON: {error}", type="negative")
            return
        body = {"globals": sent, "mock_async_functions": mock.value}
        outcome.clear()
        reply = await backend.send("POST", f"{path}/invocations", body)
        with outcome:
            if reply.is_good:
                _outcome(reply.body)
            else:
                failed(reply)

    ui.label("Runs the saved code with these globals. Nothing is stored.").classes("opacity-70")
    example = orjson.dumps(_EXAMPLE, option=orjson.OPT_INDENT_2).decode()
    globals_editor = CodeEditor(backend, example, "json", "Globals", on_run=run)
    with ui.row().classes("items-center gap-4 py-2"):
        ui.button("Run test", icon="play_arrow", on_click=run).props("no-caps")
        mock = ui.switch("Mock requests", value=True)
    outcome = ui.column().classes("w-full gap-1")


def _outcome(result: dict[str, Any]) -> None:
    tones = {"success": "ok", "error": "danger"}
    badge(result["status"], tones.get(result["status"], ""))
    for error in result["errors"]:
        ui.label(error).classes("text-negative font-mono text-sm")
    for entry in result["logs"]:
        ui.label(f"{entry['level']:5} {entry['message']}").classes(
            "font-mono text-sm whitespace-pre-wrap"
        )
    if result["result"] is not None:
        text = orjson.dumps(result["result"], option=orjson.OPT_INDENT_2).decode()
        code_block(text)


async def _metrics(backend: Backend, path: str) -> None:
    chosen = ui.toggle(_RANGES, value="-7d").props("no-caps dense")

    @ui.refreshable
    async def chart() -> None:
        after = chosen.value or "-7d"
        reply = await backend.get(
            f"{path}/metrics", after=after, interval=_INTERVALS[after], breakdown_by="name"
        )
        totals = await backend.get(f"{path}/metrics/totals", after=after, breakdown_by="name")
        if not reply.is_good or not totals.is_good:
            failed(totals if reply.is_good else reply)
        elif not reply.body["series"]:
            empty("No runs in this period", "Metrics appear here when events match.", "bar_chart")
        else:
            with ui.row().classes("gap-2"):
                for name, count in totals.body["totals"].items():
                    ui.chip(f"{name}: {count}").props("outline square")
            ui.echart(metrics_chart(reply.body)).classes("w-full h-80").mark("chart")

    chosen.on_value_change(chart.refresh)
    await chart()


async def _configuration(function: dict[str, Any]) -> None:
    for title in ("inputs_schema", "filters", "mappings", "masking"):
        ui.label(title).classes("text-sm font-medium opacity-70")
        text = orjson.dumps(written(function[title]), option=orjson.OPT_INDENT_2).decode()
        code_block(text)
