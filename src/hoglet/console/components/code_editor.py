"""The code editor: colors, completion and problems for Hog and HogQL.

``code_editor.js`` is built from ``console/editor`` by ``make editor``.
"""

from collections.abc import Awaitable, Callable
from typing import Literal

from nicegui import ui
from nicegui.events import GenericEventArguments

from hoglet.console.api_client import Backend, Reply
from hoglet.kit.json import JsonObject

type Language = Literal["hog", "hogQL", "json", "javascript"]
type Act = Callable[[], Awaitable[None] | None]


class CodeEditor(ui.element, component="code_editor.js"):
    """An editor for code; ``value`` is its content.

    Args:
        backend: API client of the signed-in user; the editor uses it for completions.
        value: the code.
        language: Hog and HogQL are completed and checked while typing.
        label: names the editor for screen readers.
        globals_: globals that the code may use, with example values for completion:
            ``{"inputs": {"url": ""}}``.
        guarded: leaving the page with unsaved changes asks for confirmation.
        readonly: the code cannot be changed.
        on_change: called when the code has changed, with a short delay.
        on_save: called on Ctrl+S.
        on_run: called on Ctrl+Enter.
    """

    def __init__(
        self,
        backend: Backend,
        value: str,
        language: Language,
        label: str,
        *,
        globals_: JsonObject | None = None,
        guarded: bool = False,
        readonly: bool = False,
        on_change: Act | None = None,
        on_save: Act | None = None,
        on_run: Act | None = None,
    ) -> None:
        super().__init__()
        self.value = value
        self._on_change = on_change
        self._props |= {
            "value": value,
            "language": language,
            "label": label,
            "service": f"/console/editor/{backend.project_id}",
            "globals": globals_,
            "guarded": guarded,
            "is-readonly": readonly,
        }
        self.classes("w-full")
        self.on("change", self._changed)
        if on_save is not None:
            self.on("save", lambda event: self._act(event, on_save))
        if on_run is not None:
            self.on("run", lambda event: self._act(event, on_run))

    def set_value(self, text: str) -> None:
        """Replace the code."""
        self.value = text
        self.run_method("setText", text)

    def mark_saved(self) -> None:
        """Mark the current code as saved, so that leaving the page does not ask."""
        self.run_method("markSaved", self.value)

    def format(self) -> None:
        """Format the code; only whitespace and the case of keywords change."""
        self.run_method("format")

    def insert(self, text: str) -> None:
        """Insert text at the cursor."""
        self.run_method("insert", text)

    def show_problem(self, reply: Reply) -> None:
        """Underline the position of a reply's error; no effect if it has none."""
        if reply.error_position is not None:
            line, column = reply.error_position
            self.run_method("showProblem", line, column, reply.problem)

    def show_line_problem(self, line: int, message: str) -> None:
        """Underline a line, counted from 1."""
        self.run_method("showProblem", line, None, message)

    def _changed(self, event: GenericEventArguments) -> Awaitable[None] | None:
        self.value = str(event.args)
        return self._on_change() if self._on_change else None

    def _act(self, event: GenericEventArguments, act: Act) -> Awaitable[None] | None:
        self.value = str(event.args)
        return act()
