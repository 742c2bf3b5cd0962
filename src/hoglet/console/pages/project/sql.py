"""The SQL page: an editor beside the schema, results as table and chart, history.

The query and the view are in the URL, so a result can be shared.
"""

import time
from typing import Any
from uuid import uuid4

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.code_editor import CodeEditor
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.components.schema_tree import SchemaTable, SchemaTree
from hoglet.console.components.variable_fields import UsedVariables, project_variables
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.endpoints.result import downloads, result_table
from hoglet.console.query_chart import query_chart
from hoglet.console.records.endpoints import ResultRecord
from hoglet.console.session import Sessions
from hoglet.console.widgets import (
    Text,
    counted,
    empty,
    failed,
    heading,
    notify,
    set_url_values,
    until_closed,
    url_value,
)

_FIRST = (
    "SELECT event, count() AS events\nFROM events\nWHERE timestamp > now() - INTERVAL 7 DAY\n"
    "GROUP BY event\nORDER BY events DESC"
)
_NAME = "console"  # in the query log
_HISTORY = (
    "SELECT query_start_time, query, query_duration_ms, read_rows, result_rows, exception "
    "FROM query_log WHERE name = {name} ORDER BY query_start_time DESC LIMIT 100"
)
_MAX_URL_CHARACTERS = 4000
_PROPERTIES = 300
_VIEWS = {"table": "Table", "chart": "Chart"}


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/project/{project_id}/sql", title="SQL · hoglet", response_timeout=BUILD_SECONDS)
    async def sql(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await _SqlPage(backend).draw()

        return await signed_in_page(sessions, request, project_id, section="sql", build=build)


class _SqlPage:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._body: ResultRecord | None = None

    async def draw(self) -> None:
        given = url_value("q")
        heading("SQL", "Ctrl+Enter runs, Shift+Alt+F formats")
        with ui.element("div").classes("split schema"):
            with ui.element("aside").classes("pane").props('aria-label="Schema"'):
                tables = await _schema(self._backend)
                SchemaTree(tables, self._insert)
            with ui.element("div").classes("pane"):
                self._editor = CodeEditor(
                    self._backend,
                    given or _FIRST,
                    "hogQL",
                    "Query",
                    guarded=True,
                    on_change=self._show_variables,
                    on_run=self._run,
                    on_save=self._ask_for_endpoint,
                ).classes("tall")
                self._variables = UsedVariables(await project_variables(self._backend), self._run)
                self._show_variables()
                self._toolbar()
                self._result = ui.element("div").classes("pane")
        if given:
            await self._run()
        else:
            with self._result:
                empty("No result yet", "Run the query, or choose columns from the schema.", "sql")

    def _insert(self, text: str) -> None:
        self._editor.insert(text)

    def _show_variables(self) -> None:
        self._variables.show(self._editor.value)

    def _toolbar(self) -> None:
        with ui.element("div").classes("toolbar"):
            self._button = ui.button("Run", icon="play_arrow", on_click=self._run)
            self._button.props('data-run title="Ctrl+Enter"')
            ui.button("Format", on_click=self._editor.format).props("flat")
            save = ui.button("Save as endpoint", icon="save", on_click=self._ask_for_endpoint)
            save.props('flat data-save title="Ctrl+S"')
            ui.button("History", icon="history", on_click=self._show_history).props("flat")
            ui.space()
            view = url_value("view", "table")
            self._view = ui.toggle(
                _VIEWS, value=view if view in _VIEWS else "table", on_change=self._switch
            ).props("dense no-caps unelevated toggle-color=primary")

    async def _run(self) -> None:
        text = self._editor.value
        self._show_variables()
        is_short = len(text) < _MAX_URL_CHARACTERS
        set_url_values(q=text if is_short else None)
        self._editor.mark_saved()  # in the URL or the history
        self._button.props("loading")
        self._result.clear()
        query_id = str(uuid4())
        body = {
            "query": {
                "kind": "HogQLQuery",
                "query": text,
                "variables": self._variables.values(),
            },
            "refresh": "force_blocking",
            "client_query_id": query_id,
            "name": _NAME,
        }
        started = time.monotonic()
        reply = await self._backend.send("POST", "/query", body)
        seconds = time.monotonic() - started
        self._button.props(remove="loading")
        self._body = reply.body if reply.is_good else None
        if not reply.is_good:
            self._editor.show_problem(reply)
            with self._result:
                failed(reply, text)
            return
        cost = await self._backend.get(f"/query/{query_id}/log")
        self._result.clear()  # another run may have ended in the meantime
        with self._result:
            self._summary(reply.body, seconds, cost)
            self._output = ui.element("div").classes("pane")
        self._show()

    def _summary(self, body: ResultRecord, seconds: float, cost: Reply) -> None:
        more = " shown, there are more: add a LIMIT" if body["hasMore"] else ""
        notes = [counted(len(body["results"]), "row") + more]
        notes.append(f"{seconds:.2f} s")
        if read := _read(cost):
            notes.append(f"read {counted(read[0], 'row')}, {_size(read[1])}")
        with ui.element("div").classes("toolbar"):
            ui.label(" · ".join(notes)).classes("muted").mark("summary")
            ui.space()
            downloads("query", body["columns"], body["results"])

    def _switch(self) -> None:
        set_url_values(view=None if self._view.value == "table" else self._view.value)
        if self._body is not None:
            self._show()

    def _show(self) -> None:
        body = self._body
        self._output.clear()
        if body is None:
            return
        with self._output:
            if self._view.value == "table":
                result_table(body)
            elif (options := query_chart(body)) is not None:
                ui.echart(options).classes("w-full h-80").mark("chart")
            else:
                empty(
                    "Nothing to chart",
                    "A chart needs a first column of names or times, and a column of numbers.",
                    "bar_chart",
                )

    async def _show_history(self) -> None:
        reply = await self._backend.hogql(_HISTORY, name=_NAME)
        with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-3xl"):
            dialog.props["aria-label"] = "History"
            Text("h2", "Queries run here")
            if not reply.is_good:
                failed(reply)
            elif not reply.body["results"]:
                empty("No queries yet", "Queries run on this page appear here.", "history")
            else:
                self._history(reply.body["results"], dialog)
            ui.button("Close", on_click=dialog.close).props("flat")
        await until_closed(dialog)

    def _history(self, entries: list[list[Any]], dialog: ui.dialog) -> None:
        names = ("time", "query", "ms", "read", "rows", "error")
        rows = [
            dict(zip(names, entry, strict=True)) | {"id": index}
            for index, entry in enumerate(entries)
        ]

        def restore(index: int) -> None:
            self._editor.set_value(str(rows[index]["query"]))
            dialog.close()

        columns = [
            column("query", "Query", "mono"),
            column("time", "Run", "time"),
            column("ms", "ms", "number"),
            column("rows", "Rows", "number"),
            column("error", "Error"),
        ]
        DataTable("Queries", columns, rows, on_row=restore, page_size=20)

    async def _ask_for_endpoint(self) -> None:
        dialog = FormDialog("Save as endpoint", "Save")
        with dialog.fields():
            name = ui.input("Name", placeholder="daily_events").classes("w-full")
            name.props('outlined dense autofocus hint="letters, digits, _ and -"')
            description = ui.input("Description").classes("w-full").props("outlined dense")

        async def send() -> Reply:
            body = {
                "name": name.value or "",
                "description": description.value or "",
                "query": {"kind": "HogQLQuery", "query": self._editor.value},
            }
            return await self._backend.send("POST", "/endpoints", body)

        reply = await dialog.answered(send, {"name": name, "description": description})
        if reply is not None:
            notify(reply, "Saved.")
            self._editor.mark_saved()
            endpoint = reply.body["name"]
            ui.navigate.to(f"/project/{self._backend.project_id}/endpoints/{endpoint}")


async def _schema(backend: Backend) -> list[SchemaTable]:
    """Tables and known properties; only the tables if the key cannot read properties."""
    reply = await backend.send("POST", "/query", {"query": {"kind": "DatabaseSchemaQuery"}})
    tables: list[SchemaTable] = [
        {
            "name": str(name),
            "fields": [
                {"name": field["name"], "type": field["type"], "text": field["hogql_value"]}
                for field in table["fields"].values()
            ],
        }
        for name, table in (reply.body["tables"].items() if reply.is_good else ())
    ]
    for kind, title, prefix in (
        ("event", "event properties", "properties"),
        ("person", "person properties", "person.properties"),
    ):
        seen = await backend.get("/property_definitions", type=kind, limit=_PROPERTIES)
        names = [each["name"] for each in seen.body["results"]] if seen.is_good else []
        types = [each["property_type"] or "" for each in seen.body["results"]] if names else []
        if names:
            tables.append(
                {
                    "name": title,
                    "fields": [
                        {"name": name, "type": kind_, "text": f"{prefix}.{_quoted(name)}"}
                        for name, kind_ in zip(names, types, strict=True)
                    ],
                }
            )
    return tables


def _quoted(name: str) -> str:
    if name.replace("$", "_").isidentifier():
        return name
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return f"`{escaped}`"


def _read(cost: Reply) -> tuple[int, int] | None:
    if not cost.is_good or not cost.body["results"]:
        return None
    entry = dict(zip(cost.body["columns"], cost.body["results"][0], strict=True))
    return int(entry["read_rows"]), int(entry["read_bytes"])


def _size(count: float) -> str:
    """A number of bytes, e.g. ``1.5 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
