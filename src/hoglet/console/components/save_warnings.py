"""What a save warns about: the function is stored, but probably does not do what it should."""

from typing import Any

import orjson
from nicegui import ui

from hoglet.console.records.functions import SaveWarning
from hoglet.console.widgets import Text

_PARTS = {"hog": "Code", "inputs": "Inputs", "filters": "Filters", "mappings": "Mappings"}


def open_with_warnings(path: str, record: dict[str, Any]) -> None:
    """Open the page of a function that was saved; the page shows the warnings of the save.

    Args:
        path: the path of the page, with its query string.
        record: the response to the save.
    """
    warnings: list[SaveWarning] = record.get("warnings") or []
    ui.run_javascript(f"hogletOpenWithWarnings({_script(path)}, {_script(warnings)})")


def _script(value: Any) -> str:
    return orjson.dumps(value).decode()


class SaveWarnings:
    """A notice above the form, hidden while there is nothing to warn about.

    The browser tab keeps the warnings of a save that opened this page.
    """

    def __init__(self) -> None:
        self._box = ui.element("div").classes("notice warn").props("role=status")
        with self._box:
            ui.icon("warning").classes("text-xl")
            self._list = ui.element("ul").classes("min-w-0 grow")
        self.show([])
        ui.on("hoglet-save-warnings", lambda event: self.show(event.args))
        ui.run_javascript("hogletTakeWarnings()")

    def show(self, warnings: list[SaveWarning]) -> None:
        """Replace the warnings by those of the last save."""
        self._box.set_visibility(bool(warnings))
        self._list.clear()
        with self._list:
            for warning in warnings:
                Text("li", warning_text(warning)).classes("break-words")


def warning_text(warning: SaveWarning) -> str:
    """One warning with its position.

    Example:
        >>> warning_text({"message": "Unknown input `urll`", "hint": "Did you mean `url`?",
        ...               "line": 3, "column": 7, "attr": "hog"})
        'Code, line 3: Unknown input `urll`. Did you mean `url`?'
    """
    part, *path = warning["attr"].removeprefix("draft__").split("__")
    places = [_PARTS.get(part, part), *path]
    if part == "hog":
        places.append(f"line {warning['line']}")
    hint = f" {warning['hint']}" if warning["hint"] else ""
    return f"{', '.join(places)}: {warning['message']}.{hint}"
