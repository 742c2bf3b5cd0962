"""The query tab of an endpoint: runs the query as edited; saving creates a version."""

import time
from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.code_editor import CodeEditor
from hoglet.console.components.variable_fields import UsedVariables, project_variables
from hoglet.console.pages.endpoints.insight import insight_view
from hoglet.console.pages.endpoints.result import result_table
from hoglet.console.pages.endpoints.versions import query_text
from hoglet.console.records.endpoints import EndpointRecord
from hoglet.console.records.project import StoredQuery
from hoglet.console.widgets import confirm, counted, failed, notify

_NEWER = (
    "Version {newer} was saved in another tab or by another user after you opened version "
    "{opened}. Save creates another version from what is on this page; no version is lost, and "
    "you can compare them under Versions."
)


async def query_panel(backend: Backend, path: str, record: EndpointRecord) -> None:
    """An editor for SQL, or for an insight as JSON.

    Args:
        backend: API client of the signed-in user.
        path: the path of the endpoint, ``/endpoints/<name>``.
        record: the API record.
    """
    await _Editor(backend, path, record).draw()


class _Editor:
    def __init__(self, backend: Backend, path: str, record: EndpointRecord) -> None:
        self._backend = backend
        self._path = path
        self._version: int = record["current_version"]
        self._query: StoredQuery = record["query"]
        self._is_sql = self._query["kind"] == "HogQLQuery"

    async def draw(self) -> None:
        text = query_text(self._query)
        self._editor = CodeEditor(
            self._backend,
            text,
            "hogQL" if self._is_sql else "json",
            "Query",
            guarded=True,
            on_change=self._show_variables,
            on_save=self._save,
            on_run=self._run,
        )
        variables = await project_variables(self._backend) if self._is_sql else {}
        self._variables = UsedVariables(variables, self._run)
        self._variables.show(text)
        with ui.element("div").classes("toolbar"):
            save = ui.button("Save as new version", icon="save", on_click=self._save)
            save.props('data-save title="Ctrl+S"')
            self._button = ui.button("Run", icon="play_arrow", on_click=self._run)
            self._button.props('outline data-run title="Ctrl+Enter"')
            ui.button("Format", on_click=self._editor.format).props("flat")
            problem = ui.label().classes("text-negative font-mono text-sm break-words max-w-full")
            self._problem = problem.props("role=alert").mark("problem")
        ui.label(
            "Run executes the query without saving it. Earlier versions remain, and "
            "callers can select them."
        ).classes("text-sm muted")
        self._outcome = ui.element("div").classes("pane").props("aria-live=polite")

    def _show_variables(self) -> None:
        if self._is_sql:
            self._variables.show(self._editor.value)

    async def _run(self) -> None:
        query = self._written()
        if query is None:
            return
        self._show_variables()
        if self._is_sql:
            query |= {"variables": self._variables.values()}
        self._button.props(add="loading")
        started = time.perf_counter()
        body = {"query": query, "refresh": "force_blocking"}
        reply = await self._backend.send("POST", "/query", body)
        milliseconds = (time.perf_counter() - started) * 1000
        self._button.props(remove="loading")
        self._outcome.clear()
        with self._outcome:
            if not reply.is_good:
                self._editor.show_problem(reply)
                failed(reply, self._editor.value)
            elif self._is_sql:
                rows = counted(len(reply.body["results"]), "row")
                more = " shown, there are more" if reply.body["hasMore"] else ""
                ui.label(f"{rows}{more} · {milliseconds:.0f} ms").classes("text-sm muted")
                result_table(reply.body)
            else:
                insight_view(self._query["kind"], reply.body["results"])

    async def _save(self) -> None:
        query = self._written()
        if query is None or not await self._is_newest():
            return
        reply = await self._backend.send("PATCH", self._path, {"query": query})
        if reply.is_good:
            notify(reply, f"Version {reply.body['current_version']} is the current one.")
            self._editor.mark_saved()
            ui.navigate.reload()
        else:
            self._problem.set_text(reply.problem)
            self._editor.show_problem(reply)

    async def _is_newest(self) -> bool:
        """Whether to save: no version was saved in the meantime, or the user confirmed."""
        reply = await self._backend.get(self._path)
        newer = reply.body["current_version"] if reply.is_good else self._version
        if newer == self._version:
            return True
        text = _NEWER.format(newer=newer, opened=self._version)
        return await confirm("Changed elsewhere", text, "Save")

    def _written(self) -> Any:
        """The query as edited; shows an error and returns None if it is invalid JSON."""
        text = self._editor.value
        self._problem.set_text("")
        if self._is_sql:
            return {**self._query, "query": text}
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            self._problem.set_text(f"This is not valid JSON: {error}")
            self._editor.show_line_problem(error.lineno, str(error))
            return None
