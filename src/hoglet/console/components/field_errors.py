"""Errors of the API, shown at the fields they name."""

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from hoglet.console.api_client import Reply
from hoglet.kit.json import JsonObject

type Fields = Mapping[str, Any]


class FieldErrors:
    """The errors of a form; those without a field are shown below it.

    Args:
        fields: the fields by the key that errors name; ``label`` also gets ``label__0``.
    """

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._rest = ui.label().classes("field-error").props("role=alert").mark("problem")

    def clear(self) -> None:
        """Remove all errors."""
        self._rest.set_text("")
        for field in self._fields.values():
            field.props(remove="error error-message")

    def report(self, text: str) -> None:
        """Show an error that does not belong to a field."""
        self._rest.set_text(text)

    def show(self, reply: Reply) -> None:
        """Show the error of a response, and focus its field."""
        body: JsonObject = reply.body if isinstance(reply.body, dict) else {}
        field = self._fields.get(str(body.get("attr") or "").split("__")[0])
        if field is None:
            self.report(reply.problem)
            return
        field.props("error")
        field.props["error-message"] = str(body.get("detail") or reply.problem)
        field.run_method("focus")
