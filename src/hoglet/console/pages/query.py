"""The query tab of an endpoint; saving creates a version."""

from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.layout import EDITOR, tell
from hoglet.console.pages.versions import query_text

type Json = dict[str, Any]

_WRONG = "bg-red-100"


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
        language: Any = "SQL" if self._is_sql else "JSON"
        self._editor = ui.codemirror(
            query_text(self._query),
            language=language,
            theme="vscodeLight",
            line_wrapping=True,
            keymap={"Mod-s": self._save},
        )
        self._editor.classes(f"{EDITOR} h-auto min-h-40 max-h-128").on_value_change(self._forget)
        with ui.row().classes("items-center gap-4 pt-2"):
            ui.button("Save as new version", icon="save", on_click=self._save).props("no-caps")
            problem = ui.label().classes("text-negative font-mono text-sm break-words max-w-full")
            self._problem = problem.props("role=alert").mark("problem")
        ui.label(
            "Earlier versions remain, and callers can select them. Ctrl+S saves, too."
        ).classes("text-sm opacity-70 pt-1")

    def _forget(self) -> None:
        if self._editor.decorations:
            self._editor.decorations = []

    async def _save(self) -> None:
        try:
            query = self._written()
        except orjson.JSONDecodeError as error:
            self._refused(f"This is not valid JSON: {error}", error.lineno)
            return
        reply = await self._backend.send("PATCH", self._path, {"query": query})
        if reply.is_good:
            tell(reply, f"Version {reply.body['current_version']} is the current one.")
            ui.navigate.reload()
        else:
            self._refused(reply.problem, reply.place[0] if reply.place else None)

    def _written(self) -> Any:
        text = self._editor.value
        return {**self._query, "query": text} if self._is_sql else orjson.loads(text)

    def _refused(self, why: str, line: int | None) -> None:
        self._problem.set_text(why)
        if line is not None and line <= self._editor.value.count("\n") + 1:
            self._editor.decorations = [{"kind": "line", "line": line, "class": _WRONG}]
