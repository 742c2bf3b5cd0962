"""The tables that a query can read, with their columns."""

from collections.abc import Callable
from typing import TypedDict

from nicegui import ui


class SchemaField(TypedDict):
    """A column: its name and type, and the text that a click inserts."""

    name: str
    type: str
    text: str


class SchemaTable(TypedDict):
    """A table: ``{"name": "events", "fields": [...]}``."""

    name: str
    fields: list[SchemaField]


class SchemaTree(ui.element, component="schema_tree.js"):
    """Tables that expand to their columns; ``on_insert`` is called with the text of a column."""

    def __init__(self, tables: list[SchemaTable], on_insert: Callable[[str], None]) -> None:
        super().__init__()
        self._props["tables"] = tables
        self.on("insert", lambda event: on_insert(str(event.args)))
