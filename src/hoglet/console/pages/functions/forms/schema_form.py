"""A form for the schema of a function's inputs.

Source: docs/spec/hog-functions.md#41-schema-item.
"""

from collections.abc import Callable
from typing import Any

import orjson
from nicegui import ui

from hoglet.console.records.functions import SchemaItem

TYPES = {
    "string": "text",
    "number": "number",
    "boolean": "switch",
    "choice": "choice",
    "dictionary": "dictionary",
    "json": "JSON",
    "integration": "integration",
    "integration_multi": "several integrations",
    "integration_field": "field of an integration",
    "email": "email",
    "native_email": "email with a design",
    "non_failure_status_codes": "accepted statuses",
    "posthog_assignee": "assignee",
    "posthog_ticket_tags": "tags of a ticket",
    "posthog_business_hours": "business hours",
    "customer_analytics_account_properties": "properties of an account",
    "customer_analytics_account_relationships": "relationships of an account",
    "task_model": "model of a task",
    "task_repository": "repository of a task",
    "task_mcp_installations": "MCP servers of a task",
    "push_subscription": "push subscription",
}
_TEMPLATING = {"": "default", "hog": "Hog", "liquid": "Liquid", False: "none"}
_OF_INTEGRATIONS = frozenset({"integration", "integration_multi"})
_FIELD = "dense outlined"


class SchemaForm:
    """Edits the schema of a function's inputs; keys that it does not show are preserved.

    Args:
        schema: e.g. ``[{"key": "url", "type": "string", "label": "URL", "required": true}]``.
        on_change: called after every change.
    """

    def __init__(self, schema: Any, on_change: Callable[[], None]) -> None:
        self._items: list[SchemaItem] = [dict(item) for item in schema or []]
        self._on_change = on_change
        self._box = ui.element("div").classes("pane")
        self._draw()

    def value(self) -> list[SchemaItem]:
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

    def _item(self, item: SchemaItem) -> None:
        key = str(item.get("key") or "")
        with ui.element("div").classes("toolbar"):
            self._text(item, "key", "Key").props("autofocus" if not key else "")
            self._text(item, "label", "Label shown in the form")
            kind = str(item["type"])
            known: dict[Any, str] = TYPES | {kind: TYPES.get(kind, kind)}
            self._select(item, "type", "Type", known, redraw=True).classes("w-44")
            button = ui.button(icon="delete", on_click=lambda: self._remove(item))
            button.props("flat dense")
            button.props["aria-label"] = f"Remove input {key}".strip()
        with ui.element("div").classes("toolbar"):
            self._text(item, "description", "Description")
            self._of_type(item)
            if not item.get("secret"):
                self._default(item)
        with ui.element("div").classes("toolbar"):
            self._switch(item, "required", "Required")
            self._switch(item, "secret", "Secret")
            self._switch(item, "hidden", "Hidden")
            self._select(item, "templating", "Templates", _TEMPLATING).classes("w-32")

    def _of_type(self, item: SchemaItem) -> None:
        """Render the fields that are specific to the item's type."""
        kind = item["type"]
        if kind == "choice":
            self._choices(item)
        elif kind in _OF_INTEGRATIONS:
            self._text(item, "integration", "Kind of integration, e.g. slack")
        elif kind == "integration_field":
            self._text(item, "integration_key", "Key of the integration's input")
            self._text(item, "integration_field", "Its field")

    def _text(self, item: SchemaItem, name: str, label: str) -> ui.input:
        field = ui.input(
            label,
            value=str(item.get(name) or ""),
            on_change=lambda event: self._set(item, name, event.value or ""),
        )
        return field.props(f"{_FIELD} debounce=400").classes("grow")

    def _select(
        self,
        item: SchemaItem,
        name: str,
        label: str,
        options: dict[Any, str],
        *,
        redraw: bool = False,
    ) -> ui.select:
        value = item.get(name, "")
        field = ui.select(
            options if value in options else options | {value: str(value)},
            value=value,
            label=label,
            on_change=lambda event: self._set(item, name, event.value, redraw=redraw),
        )
        return field.props(f"{_FIELD} options-dense")

    def _switch(self, item: SchemaItem, name: str, label: str) -> None:
        ui.switch(
            label,
            value=bool(item.get(name)),
            on_change=lambda event: self._set(item, name, event.value, redraw=name == "secret"),
        )

    def _choices(self, item: SchemaItem) -> None:
        values = [str(choice.get("value", "")) for choice in item.get("choices") or []]
        labels = {choice.get("value"): choice.get("label") for choice in item.get("choices") or []}

        def write(event: Any) -> None:
            parts = [part.strip() for part in str(event.value or "").split(",") if part.strip()]
            choices = [{"value": part, "label": labels.get(part) or part} for part in parts]
            self._set(item, "choices", choices)

        field = ui.input("Choices, separated by commas", value=", ".join(values), on_change=write)
        field.props(f"{_FIELD} debounce=400").classes("grow")

    def _default(self, item: SchemaItem) -> None:
        def write(event: Any) -> None:
            field.props(remove="error error-message")
            try:
                value = default_of(item["type"], str(event.value or ""))
            except ValueError as error:
                field.props("error")
                field.props["error-message"] = str(error)
                return
            self._set(item, "default", value)

        field = ui.input("Default", value=default_text(item.get("default")), on_change=write)
        field.props(f"{_FIELD} debounce=400").classes("grow")

    def _add(self) -> None:
        self._items.append({"key": "", "type": "string", "label": "", "required": False})
        self._draw()

    def _remove(self, item: SchemaItem) -> None:
        self._items = [each for each in self._items if each is not item]
        self._draw()
        self._on_change()

    def _set(self, item: SchemaItem, name: str, value: Any, *, redraw: bool = False) -> None:
        item[name] = value
        if value in ("", None) and name not in {"key", "label", "type"}:
            del item[name]  # an optional key is absent, not empty
        if redraw:
            self._draw()
        self._on_change()


def default_of(kind: str, text: str) -> Any:
    """A default as typed: texts and choices unchanged, other types parsed as JSON; "" for none.

    Raises:
        ValueError: it is not JSON.

    Example:
        >>> [default_of("string", "12"), default_of("number", "12"), default_of("json", '["a"]')]
        ['12', 12, ['a']]
    """
    if not text or kind in {"string", "choice"}:
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise ValueError("Write it as JSON.") from None


def default_text(value: Any) -> str:
    """The text of a default in the form."""
    if value is None or isinstance(value, str):
        return value or ""
    return orjson.dumps(value).decode()
