"""The tables that a key may read, with their fields.

Source: docs/spec/data-and-queries.md#18-for-editors.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NotRequired, TypedDict

import msgspec

from hoglet.endpoints.analysis.model import TablePlan
from hoglet.endpoints.run.response import stamp
from hoglet.endpoints.tables import EndpointVersionRow, MaterializationRow
from hoglet.hogql.schema import (
    EMPTY_TABLES,
    TABLES,
    Computed,
    Derived,
    Field,
    LazyTable,
    Nested,
    Properties,
    Redirect,
    StoredColumn,
)
from hoglet.hogql.schema.catalog import LAZY_TABLES
from hoglet.hogql.schema.system import SYSTEM_TABLES
from hoglet.hogql.types import Type, record_type

type Build = tuple[str, EndpointVersionRow, MaterializationRow]

_EXACT = {"Decimal": "decimal"}


class FieldSchema(TypedDict):
    """A field of a table; ``table``, ``fields`` and ``chain`` depend on its type."""

    name: str
    hogql_value: str
    type: str
    schema_valid: bool
    table: NotRequired[str]
    fields: NotRequired[list[str]]
    chain: NotRequired[list[str]]


class TableSchema(TypedDict):
    """A table; the last three are those of materialized endpoints."""

    type: str
    id: str
    name: str
    fields: dict[str, FieldSchema]
    query: NotRequired[dict[str, Any]]
    status: NotRequired[str]
    last_run_at: NotRequired[str | None]


class DatabaseSchema(TypedDict):
    """The response of a schema query."""

    tables: dict[str, TableSchema]
    joins: list[str]


def database_schema(
    builds: Iterable[Build], group_types: Mapping[str, int], system_tables: Iterable[str]
) -> DatabaseSchema:
    """The body of a schema query.

    Args:
        builds: name in FROM, version and table of every readable materialized endpoint.
        group_types: group types, which are fields of events: ``{"company": 0}``.
        system_tables: those readable by the key, e.g. ``system.actions``.
    """
    tables = {name: _table(name, table.fields) for name, table in TABLES.items()}
    tables |= {name: _table(name, fields) for name, fields in EMPTY_TABLES.items()}
    tables |= {name: _table(name, SYSTEM_TABLES[name].table.fields) for name in system_tables}
    for name, index in group_types.items():
        fields = tables["events"]["fields"]
        fields.setdefault(name, _field(name, Redirect((f"group_{index}",))))
    for name, version, build in builds:
        tables[name] = _materialized(name, version, build)
    return {"tables": tables, "joins": []}


def _table(name: str, fields: Mapping[str, Field]) -> TableSchema:
    kind = "system" if name.startswith("system.") else "posthog"
    visible = {field: _field(field, each) for field, each in fields.items()}
    return {"type": kind, "id": name, "name": name, "fields": visible}


def _materialized(name: str, version: EndpointVersionRow, build: MaterializationRow) -> TableSchema:
    columns = msgspec.convert(build.plan, TablePlan).columns
    fields = {column: _plain(column, record_type(Type(type_.name))) for column, type_ in columns}
    return {
        "type": "materialized_view",
        "id": str(build.saved_query_id),
        "name": name,
        "fields": fields,
        "query": {"kind": version.query["kind"], "query": version.query.get("query")},
        "status": build.status,
        "last_run_at": None if build.last_built_at is None else stamp(build.last_built_at),
    }


def _field(name: str, field: Field) -> FieldSchema:
    match field:
        case StoredColumn(type=type_) | Computed(type=type_) | Derived(type=type_):
            return _plain(name, _word(type_))
        case Properties():
            return _plain(name, "json")
        case LazyTable(table=table):
            known = LAZY_TABLES.get(table)
            inner = [] if known is None else list(known.fields)
            return {**_plain(name, "lazy_table"), "table": table, "fields": inner}
        case Nested(fields=inner):
            return {**_plain(name, "virtual_table"), "table": name, "fields": list(inner)}
        case Redirect(chain=chain):
            return {**_plain(name, "field_traverser"), "chain": list(chain)}


def _plain(name: str, type_: str) -> FieldSchema:
    quoted = name if name.replace("$", "_").isidentifier() else f"`{name}`"
    return {"name": name, "hogql_value": quoted, "type": type_, "schema_valid": True}


def _word(type_: Type) -> str:
    return _EXACT.get(type_.name) or record_type(type_)
