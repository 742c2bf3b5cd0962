"""Describes result rows as OpenAPI 3.0.3 schemas.

The compiler knows type and nullability of every column. Rows are arrays, and 3.0 has no tuples, so
items are a union of the column types, and ``x-columns`` has the schema of each column.

Source: docs/spec/query-endpoints.md#8-openapijson and
docs/spec/query-endpoints.md#105-values-in-json.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.endpoints.analysis.model import RecordColumn
from hoglet.hogql.types import Type
from hoglet.web.openapi import OpenApiObject

_UNKNOWN = Type("")
_ANYTHING: OpenApiObject = {}
_SCHEMAS: dict[str, OpenApiObject] = {
    "Integer": {"type": "integer", "format": "int64"},
    "Float": {"type": "number", "format": "double"},
    "Decimal": {"type": "string"},
    "String": {"type": "string"},
    "UUID": {"type": "string", "format": "uuid"},
    "DateTime": {"type": "string", "format": "date-time"},
    "Date": {"type": "string", "format": "date"},
    "JSON": {"type": "string"},  # JSON columns are returned as strings
    "Tuple": {"type": "array", "items": {}},
    "Map": {"type": "object"},
    "Null": {"type": "string"},
}
_SEVERAL: dict[str, Sequence[OpenApiObject]] = {
    # Bool columns are returned as true and false, the engine's comparisons as 1 and 0.
    "Boolean": ({"type": "boolean"}, {"type": "integer"}),
}
_ALWAYS_NULLABLE = frozenset({"Float", "Null"})  # NaN and infinity are returned as null
_EXAMPLES: Mapping[str, Any] = {
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "string": "text",
    "array": [],
    "object": {},
    "uuid": "0199c7b2-0000-7000-8000-000000000000",
    "date-time": "2026-01-05T12:00:00Z",
    "date": "2026-01-05",
}


def row_schema(columns: Sequence[RecordColumn], types: Sequence[Type]) -> OpenApiObject:
    """The schema of a row in JSON.

    Args:
        columns: the columns of the record, ``[{"name": "n", "type": "integer"}]``.
        types: the compiler's types; empty for versions saved before types were stored.
    """
    cells = _cells(columns, types)
    row: OpenApiObject = {
        "type": "array",
        "items": _any_of([item for cell in cells for item in cell]),
    }
    if not cells:
        return row
    return row | {
        "minItems": len(cells),
        "maxItems": len(cells),
        "description": "In this order: " + ", ".join(column["name"] for column in columns),
        "example": [_example(cell) for cell in cells],
        "x-columns": [
            {"name": column["name"], "type": column["type"]} | _own(cell)
            for column, cell in zip(columns, cells, strict=True)
        ],
    }


def _cells(columns: Sequence[RecordColumn], types: Sequence[Type]) -> list[Sequence[OpenApiObject]]:
    """The alternatives of each column."""
    if len(types) != len(columns):
        types = [Type(_BY_RECORD.get(column["type"], ""), nullable=True) for column in columns]
    return [_cell(type_) for type_ in types]


def _cell(type_: Type) -> Sequence[OpenApiObject]:
    name = type_.name
    nullable = type_.nullable or name in _ALWAYS_NULLABLE
    schemas = _SEVERAL.get(name) or (_SCHEMAS.get(name, _ANYTHING),)
    if name == "Array":
        schemas = ({"type": "array", "items": _any_of(_cell(type_.item or _UNKNOWN))},)
    return [schema | {"nullable": True} if nullable and schema else schema for schema in schemas]


def _any_of(schemas: Sequence[OpenApiObject]) -> OpenApiObject:
    """One schema for all; without formats if one is a plain string, which may match any format."""
    if not schemas or _ANYTHING in schemas:
        return {}
    plain = any(each == {"type": "string"} or _is_null_text(each) for each in schemas)
    distinct: list[OpenApiObject] = []
    for schema in schemas:
        visible = _without_format(schema) if plain and schema["type"] == "string" else schema
        if visible not in distinct:
            distinct.append(visible)
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _is_null_text(schema: OpenApiObject) -> bool:
    return schema == {"type": "string", "nullable": True}


def _without_format(schema: OpenApiObject) -> OpenApiObject:
    return {key: value for key, value in schema.items() if key != "format"}


def _own(cell: Sequence[OpenApiObject]) -> OpenApiObject:
    schema = _any_of(cell)
    return {"schema": schema} if schema else {}


def _example(cell: Sequence[OpenApiObject]) -> Any:
    schema = cell[0]
    return _EXAMPLES.get(schema.get("format", "")) or _EXAMPLES.get(schema.get("type", ""), "text")


_BY_RECORD: Mapping[str, str] = {
    "integer": "Integer",
    "float": "Float",
    "string": "String",
    "datetime": "DateTime",
    "date": "Date",
    "boolean": "Boolean",
    "array": "Array",
    "json": "JSON",
}
