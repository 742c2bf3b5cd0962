"""A form for the inputs of a function, made from its schema."""

from collections.abc import Callable
from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.records.functions import FunctionInputs, SchemaItem
from hoglet.console.records.project import IntegrationRecord

_AS_JSON = frozenset({"dictionary", "json", "email", "native_email", "non_failure_status_codes"})
_STORED_HINT = "stored; leave empty to keep it"


class NotJson(ValueError):
    """A JSON field contains invalid JSON; the text is the field's name."""


class InputsForm:
    """Renders one field for each visible item of a schema.

    Args:
        schema: e.g. ``[{"key": "url", "type": "string", "label": "URL", "required": true}]``.
        inputs: the stored inputs, e.g. ``{"url": {"value": "https://example.com"}}``.
        integrations: available integrations, as listed by the API.
        on_change: called when a field was changed.
    """

    def __init__(
        self,
        schema: list[SchemaItem],
        inputs: FunctionInputs,
        integrations: list[IntegrationRecord],
        *,
        on_change: Callable[[], object] = lambda: None,
    ) -> None:
        self._integrations = integrations
        self._items = {item["key"]: item for item in schema if item.get("key")}
        self._stored = inputs
        self._fields: FunctionInputs = {}
        for key, item in self._items.items():
            if not item.get("hidden"):
                field = self._field(item, inputs.get(key) or {})
                field.on_value_change(on_change)
                self._fields[key] = field.props("outlined dense")

    def inputs(self) -> FunctionInputs:
        """The inputs to send: the fields' values and inputs that the form does not show.

        Raises:
            NotJson: a field is invalid.
        """
        inputs = {key: given for key, given in self._stored.items() if key not in self._fields}
        for key, field in self._fields.items():
            stored = self._stored.get(key) or {}
            if stored.get("secret") and not field.value:
                inputs[key] = {"secret": True}
            elif field.value not in (None, "", []):
                inputs[key] = {**_settings(stored), "value": self._value(key, field.value)}
        return inputs

    def show_problem(self, key: str, text: str) -> bool:
        """Show an error at a field; False if the form has no such field."""
        field = self._fields.get(key)
        if field is None:
            return False
        field.props("error")
        field.props["error-message"] = text
        return True

    def clear_problems(self) -> None:
        """Remove all errors from fields."""
        for field in self._fields.values():
            field.props(remove="error error-message")

    def _field(self, item: SchemaItem, stored: FunctionInputs) -> Any:
        value = stored.get("value", item.get("default"))
        label = (item.get("label") or item["key"]) + (" *" if item.get("required") else "")
        if item["type"] == "choice" and item.get("choices"):
            names = {
                choice["value"]: choice.get("label") or choice["value"]
                for choice in item["choices"]
            }
            return ui.select(names, label=label, value=value if value in names else None).classes(
                "w-full"
            )
        if item["type"] in {"integration", "integration_multi"}:
            return self._integration(item, label, value)
        if item["type"] == "boolean" and not isinstance(value, str):
            return ui.switch(label, value=bool(value))
        return _text_field(item, label, value, is_stored=bool(stored.get("secret")))

    def _integration(self, item: SchemaItem, label: str, value: Any) -> Any:
        kind = item.get("integration")
        names = {
            integration["id"]: integration["display_name"]
            for integration in self._integrations
            if kind in (None, integration["kind"])
        }
        hint = "" if names else f"None yet: add one of kind {kind or 'any'} under Integrations."
        if item["type"] == "integration_multi":
            selected = [each for each in value or [] if each in names]
            chosen = ui.select(names, label=label, value=selected, multiple=True).props("use-chips")
        else:
            chosen = ui.select(names, label=label, value=value if value in names else None)
        return chosen.classes("w-full").props(f'hint="{hint}"')

    def _value(self, key: str, value: Any) -> Any:
        kind = self._items[key]["type"]
        if not isinstance(value, str) or not _is_json(kind):
            return value
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError as error:
            if kind == "json":
                return value  # a template that renders to JSON
            raise NotJson(f"{key} is not JSON: {error}") from None


async def stored_integrations(backend: Backend) -> list[IntegrationRecord]:
    """The project's integrations; empty for keys without access."""
    reply = await backend.get("/integrations", limit=500)
    return reply.body["results"] if reply.is_good else []


def _text_field(item: SchemaItem, label: str, value: Any, *, is_stored: bool) -> Any:
    text = value if isinstance(value, str) or value is None else _json(value)
    hint = item.get("description") or ""
    if item["type"] in _AS_JSON:
        field: Any = ui.textarea(label, value=text or "").props("autogrow stack-label")
    else:
        field = ui.input(label, value=text or "", password=bool(item.get("secret")))
    if is_stored:
        hint = _STORED_HINT
    return field.classes("w-full").props(f'hint="{hint.replace(chr(34), chr(39))}"')


def _settings(stored: FunctionInputs) -> FunctionInputs:
    return {"templating": stored["templating"]} if stored.get("templating") else {}


def _is_json(kind: str) -> bool:
    return kind in _AS_JSON or kind == "number"


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
