"""The logical tables of HogQL: their fields and how they are read."""

from hoglet.hogql.schema.catalog import (
    EMPTY_TABLES,
    TABLES,
    find_table,
    table_names,
)
from hoglet.hogql.schema.fields import (
    Computed,
    Derived,
    Field,
    LazyTable,
    Nested,
    Properties,
    Redirect,
    StoredColumn,
    Table,
)

__all__ = [
    "EMPTY_TABLES",
    "TABLES",
    "Computed",
    "Derived",
    "Field",
    "LazyTable",
    "Nested",
    "Properties",
    "Redirect",
    "StoredColumn",
    "Table",
    "find_table",
    "table_names",
]
