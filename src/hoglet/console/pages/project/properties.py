"""The property table shared by events and persons."""

from typing import Any

from hoglet.console.components.data_table import DataTable, column
from hoglet.console.widgets import empty
from hoglet.kit.text import dump_json


def properties_table(properties: dict[str, Any], hint: str) -> None:
    """Names and values, sorted; ``hint`` is shown if there are none."""
    if not properties:
        empty("No properties", hint, "list")
        return
    rows = [{"name": name, "value": property_text(properties[name])} for name in sorted(properties)]
    columns = [column("name", "Property"), column("value", "Value", "mono")]
    DataTable("Properties", columns, rows, key="name").mark("properties")


def property_text(value: Any) -> str:
    """A value for display: texts as they are, others as JSON."""
    return value if isinstance(value, str) else dump_json(value).decode()
