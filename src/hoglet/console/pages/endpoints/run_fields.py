"""The inputs of a run, one per variable, typed by the endpoint's OpenAPI document."""

from collections.abc import Callable
from typing import Any

import orjson
from nicegui import ui

type Json = dict[str, Any]

_INSIGHT_DATES = frozenset({"date_from", "date_to"})
_DATE_EXAMPLE = "-7d, 2026-01-05"


class RunFields:
    """Renders one field for each variable.

    Args:
        schema: ``Variables`` of the endpoint's OpenAPI document, ``{}`` if there are none.
        on_change: called when a value changes.
        on_enter: called when Enter is pressed in a field.
    """

    def __init__(
        self, schema: Json, on_change: Callable[[], None], on_enter: Callable[[], Any]
    ) -> None:
        self._types: dict[str, Json] = schema.get("properties", {})
        required = set(schema.get("required", []))
        self._fields = {
            name: _field(name + (" *" if name in required else ""), given)
            for name, given in self._types.items()
        }
        for name, field in self._fields.items():
            field.on_value_change(on_change)
            if self._types[name]["type"] != "array":
                field.on("keydown.enter", on_enter)

    def given(self) -> Json:
        """The entered values; defaults apply to the rest."""
        values = {name: self._value(name) for name in self._fields}
        return {name: value for name, value in values.items() if value not in (None, "", [])}

    def _value(self, name: str) -> Any:
        value = self._fields[name].value
        if self._types[name]["type"] == "array":
            return [line for line in (value or "").splitlines() if line]
        is_whole = isinstance(value, float) and value.is_integer()
        return int(value) if is_whole else value


def _field(label: str, given: Json) -> Any:
    default = given.get("example", _DATE_EXAMPLE if label in _INSIGHT_DATES else None)
    if given["type"] == "boolean":
        first = "default" if default is None else f"default ({_text(default)})"
        field: Any = ui.select({None: first, True: "true", False: "false"}, label=label, value=None)
        return field.classes("w-40").props("stack-label outlined dense")
    placeholder = "" if default is None else _text(default)
    if given["type"] == "number":
        field = ui.number(label, placeholder=placeholder)
    elif given["type"] == "array":
        field = ui.textarea(label, placeholder=placeholder).props('autogrow hint="one per line"')
    else:
        field = ui.input(label, placeholder=placeholder)
    if given.get("format") == "date":  # browsers show no placeholder in date fields
        field.props("type=date").props["hint"] = f"default {placeholder}" if placeholder else ""
    return field.classes("w-40").props("stack-label outlined dense")


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(str(each) for each in value)
    return value if isinstance(value, str) else orjson.dumps(value).decode()
