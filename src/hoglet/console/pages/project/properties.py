"""The property table shared by events and persons."""

from typing import Any

from hoglet.console.components.data_table import DataTable, column
from hoglet.console.widgets import empty
from hoglet.kit.json import Properties, dump_json

_LEVELS = 20


def properties_table(properties: Properties, hint: str) -> None:
    """Names and values, sorted; ``hint`` is shown if there are none."""
    if not properties:
        empty("No properties", hint, "list")
        return
    rows = [{"name": name, "value": value_tree(properties[name])} for name in sorted(properties)]
    columns = [column("name", "Property"), column("value", "Value", "tree")]
    DataTable("Properties", columns, rows, key="name").mark("properties")


def value_tree(value: Any, levels: int = _LEVELS) -> Any:
    """Objects and lists with scalars as text; empty ones and deeper levels are JSON text.

    Scalars are text because browsers would round large numbers.

    Example:
        >>> value_tree({"a": [12345678901234567890, True, "x"], "b": {}})
        {'a': ['12345678901234567890', 'true', 'x'], 'b': '{}'}
    """
    if not value or not levels or not isinstance(value, dict | list):
        return property_text(value)
    if isinstance(value, list):
        return [value_tree(item, levels - 1) for item in value]
    return {name: value_tree(item, levels - 1) for name, item in value.items()}


def property_text(value: Any) -> str:
    """A value for display: strings unchanged, others as JSON."""
    return value if isinstance(value, str) else dump_json(value).decode()
