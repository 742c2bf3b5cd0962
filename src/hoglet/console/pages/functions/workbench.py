"""The workbench of a function: code, inputs and filters beside a test panel, saved as one."""

from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.code_editor import CodeEditor
from hoglet.console.filters_form import FiltersForm, Suggestions
from hoglet.console.inputs_form import InputsForm, NotJson, stored_integrations
from hoglet.console.pages.functions.function_test import TestPanel
from hoglet.console.pages.functions.history import written
from hoglet.console.widgets import Text

type Json = dict[str, Any]

_ADVANCED = {
    "inputs_schema": "Schema of the inputs",
    "mappings": "Mappings",
    "masking": "Masking",
}
_SITE = frozenset({"site_app", "site_destination"})
_UNFILTERED = frozenset({"source_webhook", "site_app"})


class Workbench:
    """Edits and tests a function.

    Args:
        backend: the user's.
        path: of the function, ``/hog_functions/<id>``.
        function: the API's record; updated when saved.
    """

    def __init__(self, backend: Backend, path: str, function: Json) -> None:
        self._backend = backend
        self._path = path
        self._function = function
        self._advanced: dict[str, CodeEditor] = {}

    async def draw(self) -> None:
        """Render the page's main part."""
        self._suggestions = Suggestions(self._backend)
        await self._suggestions.load()
        self._integrations = await stored_integrations(self._backend)
        with ui.element("div").classes("split aside"):
            with ui.element("div").classes("pane"):
                self._code()
                self._inputs_box = ui.element("section").classes("pane")
                self._inputs()
                self._filters()
                self._more()
            with ui.element("section").classes("pane"):
                if self._function["type"] in _SITE:
                    Text("h2", "Test")
                    ui.label("Site functions run in the visitor's browser.").classes("muted")
                else:
                    await TestPanel(
                        self._backend, self._path, self._configuration, lambda: self._editor.value
                    ).draw()

    def _code(self) -> None:
        names = [item["key"] for item in self._function["inputs_schema"] or []]
        with ui.element("div").classes("toolbar"):
            Text("h2", "Code")
            ui.space()
            ui.button("Format", on_click=self._format).props("flat dense")
            ui.button("Save", icon="save", on_click=self._save)
        self._editor = CodeEditor(
            self._backend,
            self._function["hog"],
            "javascript" if self._function["type"] in _SITE else "hog",
            "Code",
            globals_={"inputs": dict.fromkeys(names, "")},
            guarded=True,
            on_save=self._save,
        )
        self._problem = ui.label().classes("field-error font-mono").props("role=alert")
        self._problem.mark("problem")

    def _format(self) -> None:
        self._editor.format()

    def _inputs(self) -> None:
        self._inputs_box.clear()
        with self._inputs_box:
            Text("h2", "Inputs")
            schema = self._function["inputs_schema"] or []
            if not schema:
                ui.label("The function has no inputs; add some to the schema below.").classes(
                    "muted"
                )
            self._form = InputsForm(schema, self._function["inputs"] or {}, self._integrations)

    def _filters(self) -> None:
        self._filters_form: FiltersForm | None = None
        if self._function["type"] in _UNFILTERED:
            return
        with ui.element("section").classes("pane"):
            Text("h2", "Filters")
            self._filters_form = FiltersForm(
                self._function["filters"], self._suggestions, lambda: None
            )
            self._filters_problem = ui.label().classes("field-error").props("role=alert")

    def _more(self) -> None:
        for key, title in _ADVANCED.items():
            with ui.expansion(title).classes("w-full"):
                self._advanced[key] = CodeEditor(
                    self._backend,
                    _json(written(self._function[key])),
                    "json",
                    title,
                    on_save=self._save,
                )

    def _configuration(self) -> Json:
        """The function as edited; what is not valid JSON is left as stored."""
        body: Json = {"hog": self._editor.value}
        if self._filters_form is not None:
            body["filters"] = self._filters_form.value()
        try:
            return body | {"inputs": self._form.inputs()} | self._advanced_values()
        except (NotJson, orjson.JSONDecodeError):
            return body

    def _advanced_values(self) -> Json:
        changed: Json = {}
        for key, editor in self._advanced.items():
            value = orjson.loads(editor.value or "null")
            if value != written(self._function[key]):
                changed[key] = value
        return changed

    async def _save(self) -> None:
        self._clear_problems()
        try:
            body: Json = {"inputs": self._form.inputs()} | self._advanced_values()
        except NotJson as problem:
            self._problem.set_text(str(problem))
            return
        except orjson.JSONDecodeError as problem:
            self._problem.set_text(f"Schema, mappings or masking are not valid JSON: {problem}")
            return
        body["hog"] = self._editor.value
        if self._filters_form is not None:
            body["filters"] = self._filters_form.value()
        reply = await self._backend.send("PATCH", self._path, body)
        if not reply.is_good:
            self._refused(reply)
            return
        has_new_schema = reply.body["inputs_schema"] != self._function["inputs_schema"]
        self._function |= reply.body
        self._editor.mark_saved()
        if has_new_schema:
            self._inputs()
        ui.notify("Saved.", type="positive")

    def _clear_problems(self) -> None:
        self._problem.set_text("")
        self._form.clear_problems()
        if self._filters_form is not None:
            self._filters_problem.set_text("")

    def _refused(self, reply: Reply) -> None:
        """Show the error at the field it belongs to."""
        attr = str((reply.body or {}).get("attr") or "")
        detail = str((reply.body or {}).get("detail") or reply.problem)
        if attr.startswith("inputs__") and self._form.show_problem(attr.split("__")[1], detail):
            ui.notify("An input is not valid.", type="negative")
        elif attr.startswith("filters") and self._filters_form is not None:
            self._filters_problem.set_text(reply.problem)
        else:
            self._problem.set_text(reply.problem)
            if attr == "hog":
                self._editor.show_problem(reply)


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
