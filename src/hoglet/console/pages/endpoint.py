"""One endpoint: its query, a form to run it, the result, its versions and logs."""

import time
from typing import Any

import orjson
from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.backend import Backend
from hoglet.console.frame import EDITOR, failed, heading, signed_in_page, tabs
from hoglet.console.pages.logs import logs_panel
from hoglet.console.pages.usage import usage_panel
from hoglet.console.pages.versions import query_text, versions_panel
from hoglet.console.session import Sessions

_HOGQL = "HogQLQuery"


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/project/{project_id}/endpoints/{name}", title="Endpoint · hoglet")
    async def endpoint(request: Request, project_id: str, name: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await _build(backend, f"/endpoints/{name}")

        return await signed_in_page(sessions, request, project_id, section="endpoints", build=build)


async def _build(backend: Backend, path: str) -> None:
    reply = await backend.get(path)
    if not reply.is_good:
        failed(reply)
        return
    record: dict[str, Any] = reply.body
    _title(record)
    await tabs(
        {
            "Run": lambda: _run_form(backend, path, record),
            "Query": lambda: _query(backend, path, record),
            "Versions": lambda: versions_panel(backend, path),
            "Usage": lambda: usage_panel(backend, path),
            "Logs": lambda: logs_panel(backend, f"{path}/logs", "Each run writes a line here."),
        }
    )


def _title(record: dict[str, Any]) -> None:
    with ui.row().classes("w-full items-center gap-4"):
        heading(record["name"], record["description"] or record["query"]["kind"])
        ui.badge(f"version {record['current_version']}").props("outline")
        if not record["is_active"]:
            ui.badge("off", color="grey")
        ui.space()
        ui.label(record["endpoint_path"]).classes("font-mono text-xs opacity-70")


async def _run_form(backend: Backend, path: str, record: dict[str, Any]) -> None:
    async def run() -> None:
        body = _run_body(fields, limit.value if limit else None)
        started = time.perf_counter()
        reply = await backend.send("POST", f"{path}/run", body)
        milliseconds = (time.perf_counter() - started) * 1000
        outcome.clear()
        with outcome:
            if reply.is_good:
                _result(reply.body, milliseconds)
            else:
                failed(reply)

    with ui.row().classes("w-full items-end gap-4"):
        fields = {
            variable["code_name"]: _field(variable)
            for variable in (record["query"].get("variables") or {}).values()
        }
        is_sql = record["query"]["kind"] == _HOGQL
        limit = ui.number("limit", min=1, max=50_000, precision=0) if is_sql else None
        ui.button("Run", icon="play_arrow", on_click=run).props("no-caps")
    outcome = ui.column().classes("w-full gap-2")


def _field(variable: dict[str, Any]) -> ui.input:
    stored = variable.get("value")
    field = ui.input(variable["code_name"], placeholder="" if stored is None else _text(stored))
    return field.props("stack-label")


def _run_body(fields: dict[str, ui.input], limit: float | None) -> dict[str, Any]:
    """Empty fields are left out: the endpoint's own values apply."""
    given = {name: field.value for name, field in fields.items() if field.value}
    body: dict[str, Any] = {"variables": given} if given else {}
    return body if limit is None else body | {"limit": int(limit)}


def _result(body: dict[str, Any], milliseconds: float) -> None:
    rows = body.get("results") or []
    notes = [f"{len(rows)} rows", f"{milliseconds:.0f} ms"]
    notes += ["from the cache"] if body.get("is_cached") else []
    notes += ["materialized"] if body.get("endpoint_materialized") else []
    notes += ["there are more rows"] if body.get("hasMore") else []
    ui.label(" · ".join(notes)).classes("text-sm opacity-70").mark("summary")
    if body.get("columns") is None:
        text = orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode()
        ui.code(text, language="json").classes("w-full")
    else:
        _result_table(body["columns"], rows)


def _result_table(names: list[str], rows: list[list[Any]]) -> None:
    """Columns go by position: two may have the same name."""
    shown = [
        {"row": number, **{f"c{index}": _text(value) for index, value in enumerate(row)}}
        for number, row in enumerate(rows)
    ]
    ui.table(
        rows=shown,
        row_key="row",
        pagination=25,
        columns=[
            {"name": f"c{index}", "label": name, "field": f"c{index}", "align": "left"}
            for index, name in enumerate(names)
        ],
    ).classes("w-full").props("dense").mark("result")


async def _query(backend: Backend, path: str, record: dict[str, Any]) -> None:
    query = record["query"]
    if query["kind"] != _HOGQL:
        ui.code(query_text(query), language="json").classes("w-full")
        return

    async def save() -> None:
        reply = await backend.send("PATCH", path, {"query": {**query, "query": editor.value}})
        problem.set_text("" if reply.is_good else reply.problem)
        if reply.is_good:
            ui.navigate.reload()

    editor = ui.codemirror(query["query"], language="SQL", theme="vscodeLight").classes(
        f"{EDITOR} min-h-40"
    )
    with ui.row().classes("items-center gap-4 pt-2"):
        ui.button("Save", icon="save", on_click=save).props("no-caps")
        problem = ui.label().classes("text-negative font-mono text-sm").mark("problem")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else orjson.dumps(value).decode()
