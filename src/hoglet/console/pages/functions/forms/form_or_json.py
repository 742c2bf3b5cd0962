"""A form for a JSON value, with the JSON itself as an advanced view."""

from collections.abc import Callable
from typing import Any, Protocol

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.code_editor import Act, CodeEditor
from hoglet.console.inputs_form import NotJson


class Form(Protocol):
    """A form; rendered when it is created."""

    def value(self) -> Any:
        """The value as edited."""
        ...


class FormOrJson:
    """Shows the form; a button switches between form and JSON and keeps the edits.

    Args:
        backend: API client of the signed-in user.
        title: names the section, e.g. ``Masking``.
        value: as stored.
        form: renders the form of a value.
        on_change: called when the JSON has changed, and when the view is switched.
        on_save: called on Ctrl+S in the JSON.
    """

    def __init__(
        self,
        backend: Backend,
        title: str,
        value: Any,
        form: Callable[[Any], Form],
        *,
        on_change: Callable[[], None],
        on_save: Act,
    ) -> None:
        self._backend = backend
        self.title = title
        self._build = form
        self._on_change = on_change
        self._on_save = on_save
        self._editor: CodeEditor | None = None
        self._form: Form | None = None
        self._box = ui.element("div").classes("pane")
        with ui.element("div").classes("toolbar"):
            self._button = ui.button("Edit as JSON", icon="braces", on_click=self._switch)
            self._button.props("flat dense")
            self._button.props["aria-label"] = f"Edit {title} as JSON"
            self._problem = ui.label().classes("field-error grow").props("role=alert")
        self._show_form(value)

    def value(self) -> Any:
        """The value as edited.

        Raises:
            NotJson: the JSON view contains invalid JSON.
        """
        if self._editor is None:
            return None if self._form is None else self._form.value()
        try:
            return orjson.loads(self._editor.value or "null")
        except orjson.JSONDecodeError as error:
            raise NotJson(f"{self.title} is not valid JSON: {error}") from None

    def show_problem(self, text: str) -> None:
        """Show an error below the form; "" removes it."""
        self._problem.set_text(text)

    def _show_form(self, value: Any) -> None:
        self._editor = None
        self._box.clear()
        with self._box:
            self._form = self._build(value)
        self._button.set_text("Edit as JSON")

    def _show_json(self, value: Any) -> None:
        self._form = None
        self._box.clear()
        with self._box:
            text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
            self._editor = CodeEditor(
                self._backend,
                text,
                "json",
                self.title,
                on_change=self._on_change,
                on_save=self._on_save,
            )
        self._button.set_text("Back to the form")

    def _switch(self) -> None:
        try:
            value = self.value()
            if self._editor is None:
                self._show_json(value)
            else:
                self._show_form(value)
        except (NotJson, TypeError, KeyError, AttributeError, ValueError) as error:
            known = str(error) if isinstance(error, NotJson) else "The form cannot show this value."
            self.show_problem(known)
            return
        self.show_problem("")
        self._on_change()
