"""A tiny HogQL data set: two projects in the shared warehouse, and a query runner.

Cases run in ``PROJECT``; results must never contain rows of ``OTHER``.
"""

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import pytest

from hoglet.hogql import (
    Limits,
    QueryContext,
    SavedColumn,
    SavedTable,
    compile_query,
)
from hoglet.hogql.compile import CompiledQuery
from hoglet.hogql.context import CohortRef
from hoglet.hogql.materialize.plan import MaterializationPlan
from hoglet.hogql.types import DATE, INTEGER
from hoglet.warehouse import ClickHouseWarehouse, QueryResult
from support import hogql_generated

PROJECT = 880_001
OTHER = 880_002
NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)

ANN = "00000000-0000-0000-0000-00000000000a"
BOB = "00000000-0000-0000-0000-00000000000b"
GONE = "00000000-0000-0000-0000-00000000000c"
ANON = "00000000-0000-0000-0000-00000000000d"
EVE = "00000000-0000-0000-0000-00000000000e"

CONTEXT = QueryContext(
    project_id=PROJECT,
    now=NOW,
    group_types={"company": 0},
    property_types={
        ("event", "price"): "Numeric",
        ("event", "paid"): "Boolean",
        ("event", "when"): "DateTime",
        ("event", "$shelf"): "String",
        ("person", "shoe"): "String",
        ("group_0", "size"): "Numeric",
        ("group", "size"): "Numeric",
    },
    cohorts={"5": CohortRef("Five", 1)},
    saved_tables={
        "daily_v1": SavedTable(
            "hogql_world_daily", (SavedColumn("day", DATE), SavedColumn("views", INTEGER))
        )
    },
    test_account_filters=(
        {"key": "email", "type": "person", "operator": "not_icontains", "value": "@b.com"},
    ),
    actions={
        "1": {
            "name": "Buy",
            "steps": [{"event": "purchase"}, {"url": "a.com/x", "event": "$pageview"}],
        }
    },
)

_ELEMENTS = 'a.nav-link:href="https://a.com/z"text="Go"attr_id="go";div.menu'
# (project, number, event, properties, time, distinct id, stored person, elements, session, company)
_EVENTS: list[tuple[Any, ...]] = [
    (
        PROJECT,
        1,
        "$pageview",
        {
            "$browser": "Chrome",
            "price": 10,
            "paid": True,
            "a": {"b": 1},
            "x y": "z",
            "dot.ted": "yes",
            "tags": ["t1", "t2"],
            "$current_url": "https://a.com/x?utm=g",
        },
        "2026-01-05 10:00:00",
        "anon",
        ANON,
        "",
        "s1",
        "acme",
    ),
    (
        PROJECT,
        2,
        "$pageview",
        {"$browser": "Safari", "price": 2.5, "paid": False, "$current_url": "https://a.com/y"},
        "2026-01-05 10:05:00",
        "ann",
        ANN,
        "",
        "s1",
        "acme",
    ),
    (
        PROJECT,
        3,
        "$autocapture",
        {"$browser": "Chrome", "price": "7"},
        "2026-01-05 10:06:00",
        "ann",
        ANN,
        _ELEMENTS,
        "s1",
        "",
    ),
    (
        PROJECT,
        4,
        "purchase",
        {"price": 100, "plan": "pro", "when": "2026-01-04T08:00:00Z", "v": "1.10.2"},
        "2026-01-06 23:30:00",
        "ann",
        ANN,
        "",
        "",
        "acme",
    ),
    (
        PROJECT,
        5,
        "$pageview",
        {"$browser": "Firefox", "price": "none", "v": "1.9.0"},
        "2026-01-07 09:00:00",
        "bob",
        BOB,
        "",
        "s2",
        "",
    ),
    (PROJECT, 6, "purchase", {}, "2026-01-07 09:10:00", "bob", BOB, "", "s2", ""),
    (
        OTHER,
        7,
        "$pageview",
        {"$browser": "Secret", "price": 1},
        "2026-01-05 10:00:00",
        "eve",
        EVE,
        "",
        "s9",
        "",
    ),
]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _event(row: tuple[Any, ...]) -> list[Any]:
    project, number, event, properties, time, distinct_id, person, elements, session, company = row
    uuid = f"10000000-0000-0000-0000-{number:012d}"
    at = _time(time)
    return [
        project,
        uuid,
        event,
        json.dumps(properties),
        at,
        distinct_id,
        person,
        '{"email": "then@a.com"}',
        elements,
        at,
        session,
        "w1",
        company,
    ]


_FIRST = _time("2026-01-01 00:00:00")
_SECOND = _time("2026-01-02 00:00:00")
_ROWS: dict[str, tuple[list[str], list[list[Any]]]] = {
    "events": (
        ["project_id", "uuid", "event", "properties", "timestamp", "distinct_id", "person_id",
         "person_properties", "elements_chain", "created_at", "$session_id", "$window_id",
         "$group_0"],
        [_event(row) for row in _EVENTS],
    ),
    "persons": (
        ["project_id", "id", "created_at", "properties", "is_identified", "is_deleted", "version"],
        [
            [PROJECT, ANN, _FIRST, '{"email":"ann@a.com","plan":"pro"}', 1, 0, 1],
            [PROJECT, ANN, _FIRST, '{"email":"ann@b.com","plan":"pro"}', 1, 0, 2],
            [PROJECT, BOB, _SECOND, '{"email":"bob@a.com"}', 0, 0, 1],
            [PROJECT, GONE, _SECOND, '{"email":"gone@a.com"}', 0, 1, 1],
            [OTHER, EVE, _SECOND, '{"email":"eve@other.com"}', 0, 0, 1],
        ],
    ),
    "person_distinct_ids": (
        ["project_id", "distinct_id", "person_id", "is_deleted", "version"],
        [[PROJECT, "ann", ANN, 0, 1], [PROJECT, "anon", ANN, 0, 2], [PROJECT, "bob", BOB, 0, 1],
         [OTHER, "eve", EVE, 0, 1]],
    ),
    "person_distinct_id_overrides": (
        ["project_id", "distinct_id", "person_id", "is_deleted", "version"],
        [[PROJECT, "anon", ANN, 0, 1], [OTHER, "bob", EVE, 0, 1]],
    ),
    "groups": (
        ["project_id", "index", "key", "created_at", "updated_at", "properties", "version"],
        [[PROJECT, 0, "acme", _FIRST, _FIRST, '{"size":10,"name":"Acme"}', 1],
         [PROJECT, 1, "acme", _FIRST, _FIRST, '{"name":"Not me"}', 1],
         [OTHER, 0, "acme", _FIRST, _FIRST, '{"name":"Secret"}', 9]],
    ),
    "cohort_members": (
        ["project_id", "cohort_id", "person_id", "calculation_id"],
        [[PROJECT, 5, ANN, 1], [PROJECT, 5, EVE, 2], [OTHER, 5, BOB, 1]],
    ),
    "log_entries": (
        ["project_id", "log_source", "log_source_id", "instance_id", "timestamp", "level",
         "message"],
        [[project, "hog_function", "f1", "i1", datetime.now(UTC), "INFO", text]
         for project, text in ((PROJECT, "hello"), (OTHER, "secret"))],
    ),
}  # fmt: skip


async def _fill(warehouse: ClickHouseWarehouse) -> None:
    for table, (columns, rows) in _ROWS.items():
        await warehouse.insert(table, columns, rows)
    await warehouse.command(
        "CREATE TABLE IF NOT EXISTS hogql_world_daily (project_id Int64, day Date, views Int64) "
        "ENGINE = MergeTree ORDER BY project_id"
    )
    rows = [[PROJECT, "2026-01-05", 3], [OTHER, "2026-01-05", 99]]
    await warehouse.insert("hogql_world_daily", ["project_id", "day", "views"], rows)


class HogqlWorld:
    """Runs HogQL in ``PROJECT``."""

    def __init__(self, warehouse: ClickHouseWarehouse) -> None:
        self.warehouse = warehouse

    def answer(self, compiled: CompiledQuery) -> QueryResult:
        """Rows and types of a compiled query."""
        return asyncio.run(self.warehouse.query(compiled.sql, compiled.params))

    def run(self, compiled: CompiledQuery) -> list[list[Any]]:
        """The rows of a compiled query, as JSON values."""
        return plain_rows(self.answer(compiled))

    def raw(self, compiled: CompiledQuery) -> list[list[Any]]:
        """The rows as Python values."""
        return [list(row) for row in self.answer(compiled).rows]

    def rows(self, query: Any, **more: Any) -> list[list[Any]]:
        """Compile and run."""
        return self.run(compile_query(query, context=more.pop("context", CONTEXT), **more))

    def command(self, sql: str, params: Mapping[str, Any] | None = None) -> None:
        """Run a statement of ClickHouse itself."""
        asyncio.run(self.warehouse.command(sql, params))

    def materialized(self, plan: MaterializationPlan, table: str) -> QueryContext:
        """Fill a table; the context in which runs read it as ``kept``."""
        built = compile_query(
            plan.build, context=msgspec.structs.replace(CONTEXT, limits=UNLIMITED)
        )
        self.command(
            f"CREATE OR REPLACE TABLE {table} ENGINE = MergeTree ORDER BY tuple() AS "
            f"SELECT toInt64({PROJECT}) AS project_id, * FROM ({built.sql})",
            built.params,
        )
        columns = tuple(SavedColumn(column.label, column.kind) for column in built.columns)
        return msgspec.structs.replace(CONTEXT, saved_tables={"kept": SavedTable(table, columns)})


def plain_rows(answer: QueryResult) -> list[list[Any]]:
    """Rows as JSON values."""
    return [[plain(value) for value in row] for row in answer.rows]


def plain(value: Any) -> Any:  # noqa: PLR0911 (one return a type)
    """A value as JSON represents it: NaN as None, times as ISO text."""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix("+00:00")
    if isinstance(value, date | UUID):
        return str(value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, float) and value != value:  # noqa: PLR0124 (NaN)
        return None
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value


UNLIMITED = Limits(max_limit=None)


@pytest.fixture(scope="session")
def hogql_world(warehouse: ClickHouseWarehouse) -> HogqlWorld:
    """The filled world; tests only read it."""
    asyncio.run(_fill(warehouse))
    return HogqlWorld(warehouse)


@pytest.fixture(scope="session")
def generated_world(warehouse: ClickHouseWarehouse) -> HogqlWorld:
    """The generated project of ``hogql_generated``; tests only read it."""
    asyncio.run(hogql_generated.fill(warehouse))
    return HogqlWorld(warehouse)
