"""Compilation of system tables: bound rows, the project's condition, both checks.

Source: docs/spec/data-and-queries.md#6-system-tables.
"""

from typing import Any

import msgspec
import pytest

from hoglet.hogql import plan
from hoglet.hogql.compile import CompiledQuery, compile_query
from hoglet.hogql.context import QueryContext
from hoglet.hogql.enforce import enforce, verify_sql
from hoglet.hogql.materialize.plan import plan_materialization
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.hogql.print_clickhouse import Printer
from hoglet.hogql.schema.catalog import PHYSICAL_TABLES, TABLES
from hoglet.hogql.schema.system import ROW_SOURCES, SYSTEM_TABLES
from hoglet.kit.errors import Bug, SourceError

CONTEXT = QueryContext(project_id=7, readable_system_tables=frozenset(SYSTEM_TABLES))
CONDITION = "WHERE project_id = {project_id:Int64}"
BOUND = sorted(name for name, each in SYSTEM_TABLES.items() if each.table.physical in ROW_SOURCES)


def compiled(sql: str, context: QueryContext = CONTEXT) -> CompiledQuery:
    return compile_query(sql, context=context)


@pytest.mark.parametrize("name", BOUND)
def test_rows_are_bound_and_filtered_by_the_project(name: str) -> None:
    query = compiled(f"SELECT * FROM {name}")
    parameter = SYSTEM_TABLES[name].table.physical
    assert query.params == {parameter: "[]", "project_id": 7}
    assert query.sql.count(CONDITION) == query.sql.count(f"{{{parameter}:String}}") == 1
    assert query.tables == (name,)


@pytest.mark.parametrize("name", BOUND)
@pytest.mark.parametrize(
    "broken",
    ["", "WHERE 1", f"{CONDITION} OR 1", "WHERE project_id = 8", f"WHERE 1 AND {CONDITION[6:]}"],
)
def test_the_check_notices_bound_rows_without_their_project(name: str, broken: str) -> None:
    sql = compiled(f"SELECT id FROM {name}").sql
    verify_sql(sql, PHYSICAL_TABLES)
    with pytest.raises(Bug):
        verify_sql(sql.replace(CONDITION, broken), PHYSICAL_TABLES)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT {rows_of_actions:String}",
        "SELECT x FROM (SELECT {rows_of_actions:String} AS x)",
        "SELECT x FROM (SELECT arrayJoin(JSONExtract({rows_of_teams:String}, 'Array(Int8)')) AS x)",
        "SELECT id FROM rows_of_actions WHERE project_id = {project_id:Int64}",
    ],
)
def test_bound_rows_stand_nowhere_else(sql: str) -> None:
    with pytest.raises(Bug):
        verify_sql(sql, PHYSICAL_TABLES)


def test_a_scan_without_its_project_is_not_printed() -> None:
    scan = plan.Scan(table="rows_of_actions", columns=())
    with pytest.raises(Bug):
        Printer().relation(scan)
    assert CONDITION in Printer().relation(enforce(scan, CONTEXT))
    other = plan.Value(value=8, bind="Project")
    with pytest.raises(Bug):
        enforce(msgspec.structs.replace(scan, project=other), CONTEXT)


@pytest.mark.parametrize("name", sorted(SYSTEM_TABLES))
def test_nothing_is_readable_unless_the_context_says_so(name: str) -> None:
    allowed = frozenset(SYSTEM_TABLES) - {name}
    for context in (
        QueryContext(project_id=7),
        QueryContext(project_id=7, readable_system_tables=allowed),
    ):
        with pytest.raises(SourceError) as refusal:
            compiled(f"SELECT 1 FROM {name}", context)
        assert refusal.value.error_code == "table_access_denied"
        assert SYSTEM_TABLES[name].scope in refusal.value.message


@pytest.mark.parametrize("name", sorted(SYSTEM_TABLES))
def test_every_table_begins_with_id_and_project(name: str) -> None:
    fields = list(SYSTEM_TABLES[name].table.fields)
    assert fields[:2] == ["id", "team_id"]
    assert name not in TABLES


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM system.actions",
        "SELECT count() FROM events WHERE event IN (SELECT name FROM system.event_definitions)",
        "WITH a AS (SELECT id FROM system.actions) SELECT count() FROM a",
        "SELECT id FROM system.actions WHERE name = {variables.x}",
        "SELECT 1 AS id UNION ALL SELECT id FROM system.actions",
        "SELECT key FROM system.groups",
    ],
)
def test_live_records_are_not_materialized(sql: str) -> None:
    variables: dict[str, Any] = {"x": None}
    with pytest.raises(Refusal) as refusal:
        plan_materialization(sql, context=CONTEXT, variables=variables)
    assert "system." in refusal.value.reason
    assert refusal.value.reason_code == "query_type_not_materializable"


def test_a_time_stays_utc_in_a_project_of_another_zone() -> None:
    berlin = msgspec.structs.replace(CONTEXT, timezone="Europe/Berlin")
    assert "Berlin" not in compiled("SELECT created_at FROM system.actions", berlin).sql
    assert "Berlin" in compiled("SELECT timestamp FROM events", berlin).sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id.x FROM system.hog_functions",
        "SELECT inputs FROM system.hog_functions",
        "SELECT hog FROM system.hog_functions",
        "SELECT secrets FROM system.integrations",
        "SELECT project_id FROM system.actions",
        "SELECT bound_row FROM system.actions",
    ],
)
def test_other_fields_do_not_exist(sql: str) -> None:
    with pytest.raises(SourceError):
        compiled(sql)
