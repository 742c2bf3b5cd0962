"""The workbench of a function: code, inputs and filters beside a test panel, saved as one."""

import shlex
from contextlib import suppress
from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.code_editor import CodeEditor
from hoglet.console.components.save_warnings import SaveWarnings
from hoglet.console.filters_form import FiltersForm
from hoglet.console.inputs_form import InputsForm, NotJson, stored_integrations
from hoglet.console.pages.functions.drafts import DraftSwitch
from hoglet.console.pages.functions.forms.form_or_json import FormOrJson
from hoglet.console.pages.functions.forms.mappings_form import Choices, MappingsForm
from hoglet.console.pages.functions.forms.masking_form import MaskingForm
from hoglet.console.pages.functions.forms.schema_form import SchemaForm
from hoglet.console.pages.functions.function_test import TestPanel
from hoglet.console.pages.functions.history import written
from hoglet.console.pages.functions.matches import MatchCounter
from hoglet.console.records.functions import (
    EditedFilters,
    FunctionInputs,
    FunctionRecord,
    SaveWarning,
)
from hoglet.console.records.project import RequestBody
from hoglet.console.source_excerpt import code_block
from hoglet.console.suggestions import Suggestions
from hoglet.console.widgets import Text

_SITE = frozenset({"site_app", "site_destination"})
_UNFILTERED = frozenset({"source_webhook", "site_app"})
_MAPPED = frozenset({"destination", "site_destination"})
_UNMASKED = _SITE | {"source_webhook", "transformation"}
UNTESTABLE = frozenset({"source_webhook", "site_app", "site_destination"})
_ON_SITES = (
    "Site functions run in the visitor's browser, on pages that load posthog-js with this server "
    "as api_host and with opt_in_site_apps: true. Enable the function, then open such a page."
)
_REQUEST = '{"event": "paid", "distinct_id": "user-1"}'


class Workbench:
    """Edits and tests a function, or its draft.

    Args:
        backend: API client of the signed-in user.
        path: the path of the function, ``/hog_functions/<id>``.
        function: the API record; updated when saved.
    """

    def __init__(self, backend: Backend, path: str, function: FunctionRecord) -> None:
        self._backend = backend
        self._path = path
        self._drafts = DraftSwitch(backend, path, function)
        self._function = self._drafts.edited
        self._forms: dict[str, FormOrJson] = {}
        self._filters_form: FiltersForm | None = None
        self._matches: MatchCounter | None = None
        self._saved_forms: bytes | None = None
        self._is_dirty = False
        self._client = ui.context.client  # handlers may have deleted the button they belong to

    async def draw(self) -> None:
        """Render the page's main part."""
        suggestions = Suggestions(self._backend)
        await suggestions.load()
        self._choices = Choices(
            suggestions, await stored_integrations(self._backend), self._take_entries
        )
        self._tests: TestPanel | None = None
        kind = self._function["type"]
        if kind not in UNTESTABLE:
            self._tests = TestPanel(
                self._backend, self._path, self._subject, lambda: self._editor.value
            )
        with ui.element("div").classes("split aside"):
            with ui.element("div").classes("pane"):
                self._code()
                self._inputs_box = ui.element("section").classes("pane")
                self._inputs(self._function["inputs"] or {})
                self._schema()
                self._filters()
                if kind in _MAPPED:
                    self._mappings()
                if kind not in _UNMASKED:
                    self._masking()
            with ui.element("section").classes("pane"):
                if self._tests is None:
                    untestable_panel(self._backend, self._function)
                else:
                    await self._tests.draw()
        self._count_matches()
        self._saved_forms = self._form_values()

    def _code(self) -> None:
        names = [item["key"] for item in self._function["inputs_schema"] or []]
        with ui.element("div").classes("toolbar sticky"):
            Text("h2", "Code")
            ui.space()
            ui.button("Format", on_click=self._format).props("flat dense")
            self._drafts.buttons(self._body, self._saved, self._refused)
        self._drafts.notice()
        self._warnings = SaveWarnings()
        self._editor = CodeEditor(
            self._backend,
            self._function["hog"],
            "javascript" if self._function["type"] in _SITE else "hog",
            "Code",
            globals_={"inputs": dict.fromkeys(names, "")},
            guarded=True,
            on_save=self._drafts.save,
        )
        self._problem = ui.label().classes("field-error font-mono").props("role=alert")
        self._problem.mark("problem")

    def _format(self) -> None:
        self._editor.format()

    def _inputs(self, values: FunctionInputs) -> None:
        schema = self._forms["inputs_schema"].value() if self._forms else None
        if schema is None:
            schema = self._function["inputs_schema"] or []
        self._inputs_box.clear()
        with self._inputs_box:
            Text("h2", "Inputs")
            if not schema:
                ui.label("The function has no inputs. Add them below.").classes("muted")
            self._form = InputsForm(
                schema, values, self._choices.integrations, on_change=self._note_changes
            )

    def _schema(self) -> None:
        def change() -> None:
            self._note_changes()
            try:
                self._inputs(self._form.inputs())
            except (NotJson, TypeError, KeyError, AttributeError):
                return  # unfinished JSON

        self._part("inputs_schema", "Input schema", lambda value: SchemaForm(value, change), change)

    def _filters(self) -> None:
        if self._function["type"] in _UNFILTERED:
            return
        with ui.element("section").classes("pane"):
            Text("h2", "Filters")
            self._filters_form = FiltersForm(
                self._function["filters"], self._choices.suggestions, self._recount
            )
            self._filters_problem = ui.label().classes("field-error").props("role=alert")
            self._matches_box = ui.element("div").classes("pane")

    def _take_entries(self) -> EditedFilters:
        return {} if self._filters_form is None else self._filters_form.take_entries()

    def _mappings(self) -> None:
        self._part(
            "mappings",
            "Mappings",
            lambda value: MappingsForm(value, self._choices, self._recount),
            self._recount,
        )

    def _masking(self) -> None:
        change = self._note_changes
        self._part("masking", "Masking", lambda value: MaskingForm(value, change), change)

    def _part(self, key: str, title: str, form: Any, on_change: Any) -> None:
        value = written(self._function[key])
        with ui.expansion(title).classes("w-full"):
            self._forms[key] = FormOrJson(
                self._backend,
                title,
                value,
                form,
                on_change=on_change,
                on_save=self._drafts.save,
            )

    def _count_matches(self) -> None:
        if self._filters_form is None:
            return
        choose = None if self._tests is None else self._tests.choose
        with self._matches_box:
            self._matches = MatchCounter(self._backend, self._path, self._subject, choose)
            self._matches.draw()

    def _recount(self) -> None:
        self._note_changes()
        if self._matches is not None:
            self._matches.recount()

    def _subject(self) -> RequestBody:
        """The function as edited, for tests; fields with invalid JSON keep the stored value."""
        body: RequestBody = {"hog": self._editor.value}
        if self._filters_form is not None:
            body["filters"] = self._filters_form.value()
        with suppress(NotJson):
            body |= {"inputs": self._form.inputs()} | self._changed_forms()
        return {"configuration": body} | ({"draft": True} if self._drafts.is_open else {})

    def _changed_forms(self) -> RequestBody:
        values = {key: form.value() for key, form in self._forms.items()}
        return {
            key: value
            for key, value in values.items()
            if (value or None) != (written(self._function[key]) or None)
        }

    def _body(self) -> RequestBody | None:
        """The body to save; shows an error and returns None if a field has invalid JSON."""
        self._clear_problems()
        try:
            body: RequestBody = {"inputs": self._form.inputs()} | self._changed_forms()
        except NotJson as problem:
            self._problem.set_text(str(problem))
            return None
        body["hog"] = self._editor.value
        if self._filters_form is not None:
            body["filters"] = self._filters_form.value()
        return body

    def _saved(self, function: FunctionRecord, warnings: list[SaveWarning]) -> None:
        self._function |= function
        self._warnings.show(warnings)
        self._editor.mark_saved()
        self._saved_forms = self._form_values()
        self._note_changes()

    def _form_values(self) -> bytes:
        """The content of the forms, for comparison; empty if a field has invalid JSON."""
        filters = {} if self._filters_form is None else self._filters_form.value()
        filters = {key: value for key, value in filters.items() if value}  # empty means none
        try:
            forms = {key: form.value() for key, form in self._forms.items()}
            values = [filters, self._form.inputs(), forms]
            return orjson.dumps(values, option=orjson.OPT_SORT_KEYS)
        except (NotJson, TypeError, KeyError, AttributeError, ValueError):
            return b""

    def _note_changes(self) -> None:
        """Ask before leaving while a form has unsaved changes, as the editor does."""
        is_dirty = self._saved_forms is not None and self._form_values() != self._saved_forms
        if is_dirty != self._is_dirty:
            self._is_dirty = is_dirty
            self._client.run_javascript(f"hogletDirty('forms', {str(is_dirty).lower()})")

    def _clear_problems(self) -> None:
        self._problem.set_text("")
        self._warnings.show([])
        self._form.clear_problems()
        for form in self._forms.values():
            form.show_problem("")
        if self._filters_form is not None:
            self._filters_problem.set_text("")

    def _refused(self, reply: Reply) -> None:
        """Show the error at the field it belongs to."""
        body = reply.body or {}
        attr = str(body.get("attr") or "").removeprefix("draft__")
        detail = str(body.get("detail") or reply.problem)
        part, _, rest = attr.partition("__")
        if part == "inputs" and self._form.show_problem(rest.split("__")[0], detail):
            ui.notify("An input is not valid.", type="negative")
        elif part == "filters" and self._filters_form is not None:
            self._filters_problem.set_text(detail)
        elif part in self._forms:
            path = f"{rest.replace('__', ', ')}: " if rest else ""
            form = self._forms[part]
            form.show_problem(f"{path}{detail}")
            ui.notify(f"{form.title}: not saved.", type="negative")
        else:
            self._problem.set_text(reply.problem)
            if attr == "hog":
                self._editor.show_problem(reply)


def untestable_panel(backend: Backend, function: FunctionRecord) -> None:
    """Render the panel that replaces the test panel.

    Args:
        backend: API client of the signed-in user.
        function: the API record, of a type in ``UNTESTABLE``.
    """
    if function["type"] != "source_webhook":
        Text("h2", "Test")
        ui.label(_ON_SITES).classes("muted")
        return
    url = f"{backend.address}/public/webhooks/{function['id']}"
    Text("h2", "Webhook URL")
    code_block(url, wraps=True)
    ui.label(
        "Enter this URL in the sending service. It responds while the function is enabled."
    ).classes("muted")
    Text("h2", "Test")
    curl = (
        f"curl {shlex.quote(url)} \\\n"
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(_REQUEST)}"
    )
    code_block(curl, wraps=True)
    ui.label("Captured events appear under Events, printed lines under Logs.").classes("muted")
