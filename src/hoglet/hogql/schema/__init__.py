"""The logical tables of HogQL as data: what a query may name and how it is read."""

from hoglet.hogql.schema.catalog import (
    EMPTY_TABLES,
    TABLES,
    find_table,
    table_names,
)
from hoglet.hogql.schema.fields import (
    Column,
    Computed,
    Derived,
    Field,
    LazyTable,
    Nested,
    Properties,
    Redirect,
    Table,
)

__all__ = [
    "EMPTY_TABLES",
    "TABLES",
    "Column",
    "Computed",
    "Derived",
    "Field",
    "LazyTable",
    "Nested",
    "Properties",
    "Redirect",
    "Table",
    "find_table",
    "table_names",
]
