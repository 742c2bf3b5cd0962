"""The query tab of an endpoint; saving creates a version."""

from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.code_editor import CodeEditor
from hoglet.console.pages.endpoints.versions import query_text
from hoglet.console.widgets import notify

type Json = dict[str, Any]


async def query_panel(backend: Backend, path: str, record: Json) -> None:
    """An editor for SQL, or for an insight as JSON.

    Args:
        backend: the user's.
        path: of the endpoint, ``/endpoints/<name>``.
        record: the API's record.
    """
    _Editor(backend, path, record["query"]).draw()


class _Editor:
    def __init__(self, backend: Backend, path: str, query: Json) -> None:
        self._backend = backend
        self._path = path
        self._query = query
        self._is_sql = query["kind"] == "HogQLQuery"

    def draw(self) -> None:
        self._editor = CodeEditor(
            self._backend,
            query_text(self._query),
            "hogQL" if self._is_sql else "json",
            "Query",
            guarded=True,
            on_save=self._save,
        )
        with ui.row().classes("items-center gap-4 pt-2"):
            ui.button("Save as new version", icon="save", on_click=self._save).props("no-caps")
            ui.button("Format", on_click=self._editor.format).props("flat")
            problem = ui.label().classes("text-negative font-mono text-sm break-words max-w-full")
            self._problem = problem.props("role=alert").mark("problem")
        ui.label(
            "Earlier versions remain, and callers can select them. Ctrl+S saves, too."
        ).classes("text-sm opacity-70 pt-1")

    async def _save(self) -> None:
        try:
            query = self._written()
        except orjson.JSONDecodeError as error:
            self._problem.set_text(f"This is not valid JSON: {error}")
            self._editor.show_line_problem(error.lineno, str(error))
            return
        reply = await self._backend.send("PATCH", self._path, {"query": query})
        if reply.is_good:
            notify(reply, f"Version {reply.body['current_version']} is the current one.")
            self._editor.mark_saved()
            ui.navigate.reload()
        else:
            self._problem.set_text(reply.problem)
            self._editor.show_problem(reply)

    def _written(self) -> Any:
        text = self._editor.value
        return {**self._query, "query": text} if self._is_sql else orjson.loads(text)
