"""The property table shared by events and persons."""

from typing import Any

from nicegui import ui

from hoglet.console.layout import columns, empty
from hoglet.kit.text import dump_json


def properties_table(properties: dict[str, Any], hint: str) -> None:
    """Names and values, sorted; ``hint`` is shown if there are none."""
    if not properties:
        empty("No properties", hint, "list")
        return
    rows = [{"name": name, "value": _text(properties[name])} for name in sorted(properties)]
    table = ui.table(
        rows=rows,
        row_key="name",
        pagination=50,
        columns=columns(("name", "Property"), ("value", "Value")),
    ).classes("w-full")
    table.props("dense wrap-cells").mark("properties")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dump_json(value).decode()
