"""A form for the schema of a function's inputs.

Source: docs/spec/hog-functions.md#41-schema-item.
"""

from collections.abc import Callable
from typing import Any

from nicegui import ui

type Json = dict[str, Any]

_TYPES = {
    "string": "text",
    "number": "number",
    "boolean": "switch",
    "choice": "choice",
    "dictionary": "dictionary",
    "json": "JSON",
    "integration": "integration",
    "email": "email",
}
_WITH_DEFAULT = frozenset({"string", "number", "choice"})
_FIELD = "dense outlined"


class SchemaForm:
    """Edits the inputs that a function asks for; keys that it does not show are kept.

    Args:
        schema: e.g. ``[{"key": "url", "type": "string", "label": "URL", "required": true}]``.
        on_change: called after every change.
    """

    def __init__(self, schema: Any, on_change: Callable[[], None]) -> None:
        self._items: list[Json] = [dict(item) for item in schema or []]
        self._on_change = on_change
        self._box = ui.element("div").classes("pane")
        self._draw()

    def value(self) -> list[Json]:
        """The schema as edited."""
        return self._items

    def _draw(self) -> None:
        self._box.clear()
        with self._box:
            if not self._items:
                hint = "Inputs are values that can be changed without changing the code."
                ui.label(hint).classes("muted")
            for item in self._items:
                with ui.element("div").classes("card"):
                    self._item(item)
            button = ui.button("Add input", icon="add", on_click=self._add).props("outline")
            button.style("align-self: flex-start")

    def _item(self, item: Json) -> None:
        key = str(item.get("key") or "")
        with ui.element("div").classes("toolbar"):
            self._text(item, "key", "Key").props("autofocus" if not key else "")
            self._text(item, "label", "Label shown in the form")
            known = _TYPES | {item["type"]: _TYPES.get(item["type"], item["type"])}
            kind = ui.select(
                known,
                value=item["type"],
                label="Type",
                on_change=lambda event: self._set(item, "type", event.value, redraw=True),
            )
            kind.props(f"{_FIELD} options-dense").classes("w-32")
            button = ui.button(icon="delete", on_click=lambda: self._remove(item))
            button.props("flat dense")
            button.props["aria-label"] = f"Remove input {key}".strip()
        with ui.element("div").classes("toolbar"):
            self._switch(item, "required", "Required")
            self._switch(item, "secret", "Secret")
            if item["type"] == "choice":
                self._choices(item)
            if item["type"] in _WITH_DEFAULT and not item.get("secret"):
                self._default(item)

    def _text(self, item: Json, name: str, label: str) -> ui.input:
        field = ui.input(
            label,
            value=str(item.get(name) or ""),
            on_change=lambda event: self._set(item, name, event.value or ""),
        )
        return field.props(f"{_FIELD} debounce=400").classes("grow")

    def _switch(self, item: Json, name: str, label: str) -> None:
        ui.switch(
            label,
            value=bool(item.get(name)),
            on_change=lambda event: self._set(item, name, event.value, redraw=name == "secret"),
        )

    def _choices(self, item: Json) -> None:
        values = [str(choice.get("value", "")) for choice in item.get("choices") or []]
        labels = {choice.get("value"): choice.get("label") for choice in item.get("choices") or []}

        def write(event: Any) -> None:
            parts = [part.strip() for part in str(event.value or "").split(",") if part.strip()]
            choices = [{"value": part, "label": labels.get(part) or part} for part in parts]
            self._set(item, "choices", choices)

        field = ui.input("Choices, separated by commas", value=", ".join(values), on_change=write)
        field.props(f"{_FIELD} debounce=400").classes("grow")

    def _default(self, item: Json) -> None:
        stored = item.get("default")

        def write(event: Any) -> None:
            text = str(event.value or "")
            if not text:
                item.pop("default", None)
                self._on_change()
                return
            self._set(item, "default", _number(text) if item["type"] == "number" else text)

        field = ui.input("Default", value="" if stored is None else str(stored), on_change=write)
        field.props(f"{_FIELD} debounce=400").classes("grow")

    def _add(self) -> None:
        self._items.append({"key": "", "type": "string", "label": "", "required": False})
        self._draw()

    def _remove(self, item: Json) -> None:
        self._items = [each for each in self._items if each is not item]
        self._draw()
        self._on_change()

    def _set(self, item: Json, name: str, value: Any, *, redraw: bool = False) -> None:
        item[name] = value
        if redraw:
            self._draw()
        self._on_change()


def _number(text: str) -> Any:
    """The number, or the text for the API to refuse."""
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number
