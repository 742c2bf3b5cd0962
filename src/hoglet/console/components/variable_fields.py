"""Fields for the variables of a query or an endpoint, typed."""

import re
from collections.abc import Callable
from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.records.endpoints import JsonSchema, VariableRecord, VariableValues

_USED = re.compile(r"\{\s*variables\.([A-Za-z0-9_]+)\s*\}")
_INSIGHT_DATES = frozenset({"date_from", "date_to"})
_DATE_EXAMPLE = "-7d, 2026-01-05"
_MOST = 1000
_SCHEMAS: dict[str, JsonSchema] = {
    "String": {"type": "string"},
    "Number": {"type": "number"},
    "Boolean": {"type": "boolean"},
    "List": {"type": "array"},
    "Date": {"type": "string", "format": "date"},
}
_EXAMPLES = {"String": "text", "Number": 1, "Boolean": True, "List": ["text"], "Date": "2026-01-05"}


async def project_variables(backend: Backend) -> dict[str, VariableRecord]:
    """The project's variables by code name; empty for keys without access."""
    reply = await backend.get("/insight_variables", limit=_MOST)
    return {each["code_name"]: each for each in reply.body["results"]} if reply.is_good else {}


def with_values(variables: dict[str, VariableRecord], given: VariableValues) -> VariableValues:
    """``variables`` of a query: the given values, and the defaults of the others."""
    return {
        each["id"]: {"variableId": each["id"], "code_name": name, "value": value}
        for name, each in variables.items()
        if (value := given.get(name, each["default_value"])) is not None
    }


def with_examples(variables: dict[str, VariableRecord]) -> VariableValues:
    """``variables`` for checking a query without running it: an example value for each."""
    return with_values(
        variables, {name: _EXAMPLES[each["type"]] for name, each in variables.items()}
    )


class VariableFields:
    """Renders one field for each variable.

    Args:
        schema: ``Variables`` of an endpoint's OpenAPI document, ``{}`` if there are none.
        on_change: called when a value changes.
        on_enter: called when Enter is pressed in a field.
    """

    def __init__(
        self, schema: JsonSchema, on_change: Callable[[], object], on_enter: Callable[[], Any]
    ) -> None:
        self._types: dict[str, JsonSchema] = schema.get("properties", {})
        required = set(schema.get("required", []))
        self._fields = {
            name: _field(name + (" *" if name in required else ""), given)
            for name, given in self._types.items()
        }
        for name, field in self._fields.items():
            field.on_value_change(on_change)
            if self._types[name]["type"] != "array":
                field.on("keydown.enter.exact", on_enter)

    def given(self) -> VariableValues:
        """The entered values; defaults apply to the rest."""
        values = {name: self._value(name) for name in self._fields}
        return {name: value for name, value in values.items() if value not in (None, "", [])}

    def _value(self, name: str) -> Any:
        value = self._fields[name].value
        if self._types[name]["type"] == "array":
            return [line for line in (value or "").splitlines() if line]
        is_whole = isinstance(value, float) and value.is_integer()
        return int(value) if is_whole else value


class UsedVariables:
    """Fields for the variables of a query, updated while it is edited.

    Args:
        variables: the variables of the project, from ``project_variables``.
        on_enter: called when Enter is pressed in a field.
    """

    def __init__(self, variables: dict[str, VariableRecord], on_enter: Callable[[], Any]) -> None:
        self._variables = variables
        self._on_enter = on_enter
        self._visible_names: list[str] = []
        self._fields: VariableFields | None = None
        self._box = ui.row().classes("w-full items-start gap-4")
        self._box.set_visibility(False)

    def show(self, text: str) -> None:
        """Render the fields for the variables in a text, unless they are already shown."""
        names = [name for name in dict.fromkeys(_USED.findall(text)) if name in self._variables]
        if names == self._visible_names:
            return
        self._visible_names = names
        self._box.clear()
        self._box.set_visibility(bool(names))
        with self._box:
            self._fields = VariableFields(self._schema(names), lambda: None, self._on_enter)

    def values(self) -> VariableValues:
        """``variables`` of the query."""
        used = {name: self._variables[name] for name in self._visible_names}
        return with_values(used, self._fields.given() if self._fields else {})

    def _schema(self, names: list[str]) -> JsonSchema:
        used = {name: self._variables[name] for name in names}
        defaults = {name: each["default_value"] for name, each in used.items()}
        return {
            "properties": {
                name: _SCHEMAS[each["type"]]
                | ({} if defaults[name] is None else {"example": defaults[name]})
                for name, each in used.items()
            },
            "required": [name for name in names if defaults[name] is None],
        }


def _field(label: str, given: JsonSchema) -> Any:
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
