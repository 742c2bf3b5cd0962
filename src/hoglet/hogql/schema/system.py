"""The ``system`` tables: the project's own objects, read live.

The rows are in the metadata database, not in the warehouse. The caller of a query loads the
project's rows and binds them as JSON, see ``RowSource``. Every row has a ``project_id``, which the
printed scan compares as in any other table.

Source: docs/spec/data-and-queries.md#6-system-tables.
"""

from collections.abc import Mapping

import msgspec

from hoglet.hogql.schema.fields import Computed, Field, Properties, StoredColumn, Table
from hoglet.hogql.types import DATETIME, FLOAT, INTEGER, STRING, Type

PREFIX = "system."
ROWS = "rows_of_"
"""Prefix of parameters with a table's rows: ``rows_of_actions``."""
NO_ROWS = "[]"
PROJECT = "project_id"

_ENGINE_TYPES = {
    "Integer": "Int64",
    "Float": "Float64",
    "String": "String",
    "DateTime": "DateTime64(6, 'UTC')",
}
_FLAG = INTEGER  # 0 or 1
_OPTIONAL_TEXT = STRING.or_null()
_OPTIONAL_NUMBER = INTEGER.or_null()
_OPTIONAL_TIME = DATETIME.or_null()
_TIMES: dict[str, Type | None] = {"created_at": DATETIME, "updated_at": DATETIME}
_JSON = None


class SystemTable(msgspec.Struct, frozen=True):
    """A ``system`` table and the scope that it requires, e.g. ``endpoint:read``."""

    table: Table
    scope: str


class RowSource(msgspec.Struct, frozen=True):
    """How bound rows become a relation.

    ``columns`` are ``(name, type of the engine)``, e.g. ``("name", "Nullable(String)")``;
    ``json`` are those with objects and lists as text; ``times`` those with timestamps.
    """

    parameter: str
    columns: tuple[tuple[str, str], ...]
    json: frozenset[str]
    times: frozenset[str]


def _document(column: str) -> Properties:
    return Properties(column, "", "system", nullable=True)


def _loaded(
    name: str, thing: str, columns: Mapping[str, Type | None], *, id_type: Type = STRING
) -> SystemTable:
    """A table of bound rows; columns without a type are JSON text."""
    fields: dict[str, Field] = {
        "id": StoredColumn("id", id_type),
        "team_id": StoredColumn(PROJECT, INTEGER),
    }
    for column, type_ in columns.items():
        fields[column] = _document(column) if type_ is None else StoredColumn(column, type_)
    time = next((each for each in ("created_at", "timestamp") if each in columns), None)
    table = Table(PREFIX + name, ROWS + name, fields, time=time, stays_utc=True)
    return SystemTable(table, f"{thing}:read")


_DEFINITION: dict[str, Type | None] = {
    "description": STRING,
    "tags": _JSON,
    "updated_at": _OPTIONAL_TIME,
    "updated_by": _JSON,
    "verified": _FLAG,
    "verified_at": _OPTIONAL_TIME,
    "verified_by": _JSON,
    "hidden": _FLAG,
}

_ALL = (
    _loaded(
        "hog_functions",
        "hog_function",
        {
            "name": _OPTIONAL_TEXT,
            "description": STRING,
            "type": STRING,
            "enabled": _FLAG,
            "deleted": _FLAG,
            "icon_url": _OPTIONAL_TEXT,
            "template_id": _OPTIONAL_TEXT,
            "execution_order": _OPTIONAL_NUMBER,
            "inputs_schema": _JSON,
            "filters": _JSON,
            **_TIMES,
        },
    ),
    _loaded(
        "insight_variables",
        "insight_variable",
        {
            "name": STRING,
            "type": STRING,
            "code_name": STRING,
            "values": _JSON,
            "default_value": _JSON,
        },
    ),
    _loaded(
        "actions",
        "action",
        {
            "name": _OPTIONAL_TEXT,
            "description": STRING,
            "deleted": _FLAG,
            "steps_json": _JSON,
            **_TIMES,
        },
        id_type=INTEGER,
    ),
    _loaded(
        "activity_logs",
        "activity_log",
        {
            "activity": STRING,
            "item_id": _OPTIONAL_TEXT,
            "scope": STRING,
            "detail": _JSON,
            "created_at": DATETIME,
        },
    ),
    _loaded(
        "data_modeling_endpoints",
        "endpoint",
        {
            "name": STRING,
            "is_active": _FLAG,
            "current_version": INTEGER,
            "derived_from_insight": _OPTIONAL_TEXT,
            **_TIMES,
            "last_executed_at": _OPTIONAL_TIME,
            "deleted": _FLAG,
        },
    ),
    _loaded(
        "data_modeling_endpoint_versions",
        "endpoint",
        {
            "endpoint_id": STRING,
            "version": INTEGER,
            "description": STRING,
            "query": _JSON,
            "data_freshness_seconds": INTEGER,
            "created_at": DATETIME,
            "is_active": _FLAG,
            "columns": _JSON,
        },
    ),
    _loaded(
        "cohorts",
        "cohort",
        {
            "name": STRING,
            "description": STRING,
            "deleted": _FLAG,
            "filters": _JSON,
            "groups": _JSON,
            "query": _JSON,
            "created_at": DATETIME,
            "last_calculation": _OPTIONAL_TIME,
            "version": _OPTIONAL_NUMBER,
            "count": _OPTIONAL_NUMBER,
            "is_static": _FLAG,
        },
        id_type=INTEGER,
    ),
    _loaded(
        "cohort_calculation_history",
        "cohort",
        {
            "cohort_id": INTEGER,
            "count": _OPTIONAL_NUMBER,
            "started_at": DATETIME,
            "finished_at": _OPTIONAL_TIME,
            "error_code": _OPTIONAL_TEXT,
        },
        id_type=INTEGER,
    ),
    _loaded(
        "integrations",
        "integration",
        {
            "kind": STRING,
            "integration_id": _OPTIONAL_TEXT,
            "config": _JSON,
            "errors": STRING,
            "created_at": DATETIME,
            "created_by_id": _OPTIONAL_NUMBER,
        },
        id_type=INTEGER,
    ),
    _loaded(
        "property_definitions",
        "property_definition",
        {
            "name": STRING,
            "type": STRING,
            "group_type_index": _OPTIONAL_NUMBER,
            "is_numerical": _FLAG,
            "property_type": _OPTIONAL_TEXT,
            "is_seen_on_filtered_events": _OPTIONAL_NUMBER,
            **_DEFINITION,
            "unconverted_share": FLOAT.or_null(),
        },
    ),
    _loaded(
        "event_definitions",
        "event_definition",
        {
            "name": STRING,
            "owner": _JSON,
            **_DEFINITION,
            "created_at": _OPTIONAL_TIME,
            "last_seen_at": _OPTIONAL_TIME,
            "last_updated_at": _OPTIONAL_TIME,
            "is_action": _FLAG,
            "action_id": _OPTIONAL_NUMBER,
            "is_calculating": _FLAG,
            "last_calculated_at": _OPTIONAL_TIME,
            "created_by": _JSON,
            "post_to_slack": _FLAG,
            "default_columns": _JSON,
        },
    ),
    _loaded(
        "teams",
        "project",
        {"name": STRING, "timezone": STRING, "test_account_filters": _JSON, **_TIMES},
        id_type=INTEGER,
    ),
    _loaded(
        "ingestion_warnings",
        "ingestion_warning",
        {"source": STRING, "type": STRING, "details": _JSON, "timestamp": DATETIME},
    ),
    SystemTable(
        Table(
            PREFIX + "groups",
            "groups",
            {
                "id": Computed("concat(toString(`index`), ':', `key`)", STRING, star=True),
                "team_id": StoredColumn(PROJECT, INTEGER),
                "index": StoredColumn("index", INTEGER),
                "key": StoredColumn("key", STRING),
                "properties": Properties("properties", "properties_json", "group"),
                "created_at": StoredColumn("created_at", DATETIME),
            },
            final=True,
            time="created_at",
            stays_utc=True,
        ),
        "group:read",
    ),
    _loaded(
        "group_type_mappings",
        "group",
        {
            "group_type": STRING,
            "group_type_index": INTEGER,
            "name_singular": _OPTIONAL_TEXT,
            "name_plural": _OPTIONAL_TEXT,
        },
        id_type=INTEGER,
    ),
)

SYSTEM_TABLES: dict[str, SystemTable] = {each.table.name: each for each in _ALL}
"""The ``system`` tables by their name in FROM, e.g. ``system.actions``."""


def _row_source(table: Table) -> RowSource:
    columns = {PROJECT: "Int64"}
    json: set[str] = set()
    times: set[str] = set()
    for field in table.fields.values():
        if isinstance(field, Properties):
            columns[field.text] = "Nullable(String)"
            json.add(field.text)
        elif isinstance(field, StoredColumn) and field.physical != PROJECT:
            kind = _ENGINE_TYPES[field.type.name]
            columns[field.physical] = f"Nullable({kind})" if field.type.nullable else kind
            if field.type.name == "DateTime":
                times.add(field.physical)
    return RowSource(table.physical, tuple(columns.items()), frozenset(json), frozenset(times))


ROW_SOURCES: dict[str, RowSource] = {
    each.table.physical: _row_source(each.table)
    for each in _ALL
    if each.table.physical.startswith(ROWS)
}
"""Relations of bound rows by parameter, e.g. ``rows_of_actions``."""
