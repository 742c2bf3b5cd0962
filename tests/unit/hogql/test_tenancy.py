"""Every compiled query restricts every table to the project."""

import json
import re
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoglet.hogql import CompiledQuery, compile_query
from hoglet.hogql.enforce import enforce, verify_sql
from hoglet.hogql.insights.plan import build_insight
from hoglet.hogql.plan import FunctionCall, Join, Name, Scan, Select
from hoglet.hogql.print_clickhouse import Printer
from hoglet.hogql.schema.catalog import PHYSICAL_TABLES, TABLES
from hoglet.kit.errors import Bug, SourceError
from hoglet.warehouse.errors import QueryRefused
from support.hogql_queries import insights, queries
from support.hogql_world import CONTEXT, PROJECT, UNLIMITED, HogqlWorld
from support.seeds import thinned

ALLOWED = PHYSICAL_TABLES | {"hogql_world_daily"}
_SCOPE = re.compile(
    r"FROM `?(events|persons|person_distinct_ids|person_distinct_id_overrides|groups|cohort_members"
    r"|log_entries|app_metrics|query_log|hogql_world_daily)`?\b(?=(?P<rest>.{0,300}))"
)
_PROJECT = r"project_id = \{project_id:Int64\}"
_SUBQUERY = re.compile(rf" WHERE {_PROJECT}(?: AND \(| GROUP BY |\))")
_FLAT = re.compile(
    rf" AS (?P<alias>`(?:[^`\\]|\\.)*`|\w+) WHERE (?P=alias)\.{_PROJECT}"
    r"(?: AND \(|\)|$| (?:GROUP BY|HAVING|WINDOW|QUALIFY|ORDER BY|LIMIT|OFFSET) )"
)


def _check_scopes(sql: str) -> list[str]:
    """The tables that are read, each with the project; text in quotes is no table."""
    text = re.sub(r"`(?:[^`\\]|\\.)*`", lambda value: value.group().replace("FROM", "from"), sql)
    scopes = list(_SCOPE.finditer(text))
    for scope in scopes:
        rest = scope["rest"].removeprefix(" FINAL")
        assert _SUBQUERY.match(rest) or _FLAT.match(rest)
    return [scope[1] for scope in scopes]


_SHARED = settings(max_examples=60)


@settings(max_examples=300)
@given(queries(), st.text(max_size=20))
def test_every_scan_has_its_project(query: str, value: str) -> None:
    try:
        compiled = compile_query(query, context=CONTEXT, variables={"v": f"secret-{value}"})
    except SourceError:
        return

    assert compiled.params["project_id"] == PROJECT
    _check_scopes(compiled.sql)
    assert "secret-" not in compiled.sql


@_SHARED
@given(query=queries())
def test_the_engine_reads_no_table_that_was_not_checked(
    hogql_world: HogqlWorld, query: str
) -> None:
    """The engine's own parser counts the tables, so that no spelling of one is overlooked."""
    try:
        compiled = compile_query(query, context=CONTEXT, variables={"v": "purchase"})
    except SourceError:
        return
    tree = hogql_world.raw(msgspec.structs.replace(compiled, sql=f"EXPLAIN AST {compiled.sql}"))
    read = [line.split()[1] for [line] in tree if line.strip().startswith("TableIdentifier ")]

    assert sorted(read) == sorted(_check_scopes(compiled.sql))


@pytest.mark.slow
def test_the_generator_makes_every_scope() -> None:
    """Each table, and each place where a table can be: otherwise the tests would prove nothing."""
    seen: Counter[str] = Counter()

    @settings(max_examples=1500, database=None, derandomize=True)
    @given(queries())
    def collect(query: str) -> None:
        try:
            compiled = compile_query(query, context=CONTEXT, variables={"v": "purchase"})
        except SourceError:
            return
        seen.update(_check_scopes(compiled.sql))
        seen.update(words for words in _PLACES if words in compiled.sql)

    collect()

    assert [name for name in (*ALLOWED, *_PLACES) if not seen[name]] == []


_PLACES = (
    "ASOF INNER JOIN (", "SEMI JOIN (", "ANTI JOIN (", "LEFT ANY JOIN (", "LEFT JOIN (",
    "RIGHT JOIN (", "FULL OUTER JOIN (", "CROSS JOIN (", "INNER JOIN (", "LEFT ARRAY JOIN",
    "UNION ALL (",
    "UNION DISTINCT (", "INTERSECT (", "EXCEPT (", "exists((", "QUALIFY", "HAVING", "GROUPING SETS",
    "ROLLUP(", "CUBE(", "WITH FILL FROM", "NULLS FIRST", "LIMIT 1 BY", "WITH TIES", " WINDOW ",
    "-> (SELECT", "sipHash64", "numbers(2)", "groupArray(DISTINCT",
)  # fmt: skip


@pytest.mark.parametrize("name", [*TABLES, "daily_v1"])
def test_both_checks_notice_a_scope_without_its_project(name: str) -> None:
    """The check of this file and the one of the compiler itself, for each table."""
    sql = compile_query(f"SELECT count() FROM {name}", context=CONTEXT).sql
    assert _check_scopes(sql)
    whole = re.findall(rf"WHERE \S*{_PROJECT}", sql)[0]
    for broken in (
        "",
        "WHERE 1",
        f"{whole} OR 1",
        "WHERE project_id = 2",
        f"WHERE 1 AND {whole[6:]}",
    ):
        loose = sql.replace(whole, broken)
        with pytest.raises(AssertionError):
            _check_scopes(loose)
        with pytest.raises(Bug):
            verify_sql(loose, ALLOWED)


@settings(max_examples=100)
@given(insights)
def test_every_scan_of_insights_has_its_project(query: dict[str, Any]) -> None:
    for compiled in _compiled_insight(query):
        assert compiled.params["project_id"] == PROJECT
        _check_scopes(compiled.sql)


def _compiled_insight(query: dict[str, Any]) -> list[CompiledQuery]:
    context = msgspec.structs.replace(CONTEXT, limits=UNLIMITED)
    try:
        plan = build_insight(query, context)
    except SourceError:
        return []
    return [compile_query(each, context=context) for each in plan.queries]


_NAMES = r"Secret|secret|\beve\b|\bs9\b|other\.com|0000000e\b"
_STRANGER = re.compile(_NAMES + r"|\b99\b")
_STRANGER_IN_INSIGHTS = re.compile(_NAMES + r"|, 99(?:\.0)?\]")
"""Only as a value at the end of a row, because an hour or a day may have the number 99."""


@_SHARED
@given(query=queries())
def test_no_row_of_another_project_is_answered(hogql_world: HogqlWorld, query: str) -> None:
    try:
        compiled = compile_query(query, context=CONTEXT, variables={"v": "purchase"})
        rows = hogql_world.run(compiled)
    except (SourceError, QueryRefused):
        return

    assert not _STRANGER.search(json.dumps(rows))


@pytest.mark.parametrize("count", thinned((20, 80), 2))
def test_insights_run_and_see_one_project(hogql_world: HogqlWorld, count: int) -> None:
    @settings(max_examples=count)
    @given(insights)
    def run(query: dict[str, Any]) -> None:
        for compiled in _compiled_insight(query):
            assert not _STRANGER_IN_INSIGHTS.search(json.dumps(hogql_world.run(compiled)))

    run()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM events",
        "SELECT 1 FROM events WHERE project_id = 2",
        "SELECT 1 FROM events WHERE project_id = {project_id:Int64} OR 1",
        "SELECT 1 FROM events AS e WHERE project_id = {project_id:Int64} AND (1)",
        "SELECT 1 FROM (SELECT 1 FROM persons FINAL WHERE 1)",
        "SELECT 1 FROM (SELECT 1) AS a JOIN events ON 1",
        "SELECT 1 FROM (SELECT 1 FROM recursion_0, events)",
        "SELECT 1 FROM (SELECT 1 FROM recursion_0 AS r)",
        "SELECT 1 FROM (SELECT 1 FROM recursion_0.tables)",
        "SELECT 1 FROM (SELECT 1 FROM recursion_x)",
        "SELECT 1 FROM recursion_0",
        "SELECT 1 FROM system.tables",
        "SELECT 1 FROM `system`.`tables`",
        "SELECT 1 FROM file('x')",
        "SELECT 1; SELECT 2",
        "SELECT 1 -- comment",
        "SELECT 1 /* comment */",
        "SELECT 1 SETTINGS readonly = 0",
        "SELECT 1 FORMAT CSV",
        "SELECT (1",
        "SELECT 1)",
        "INSERT INTO events VALUES (1)",
        "",
    ],
)
def test_the_verifier_refuses(sql: str) -> None:
    with pytest.raises(Bug):
        verify_sql(sql, ALLOWED)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM (SELECT a FROM events WHERE project_id = {project_id:Int64}) AS e",
        "SELECT 'FROM x; SETTINGS', `FROM y` FROM (SELECT number FROM numbers(3)) AS n",
        "(SELECT 1) UNION ALL (SELECT 2)",
    ],
)
def test_the_verifier_accepts(sql: str) -> None:
    verify_sql(sql, ALLOWED)


def test_a_scan_without_its_project_cannot_be_printed() -> None:
    with pytest.raises(Bug):
        Printer().relation(Scan(table="events", columns=()))


@pytest.mark.parametrize(
    "plan",
    [
        Scan(table="system.tables", columns=()),
        Select(columns=(("x", FunctionCall(function="sleep", args=())),)),
        Select(
            columns=(("x", Name(name="x")),),
            joins=(Join(relation=Scan(table="secrets", columns=()), alias="s"),),
        ),
        Select(
            columns=(("x", Name(name="x")),),
            joins=(
                Join(
                    relation=Scan(table="events", columns=()),
                    alias="e",
                    on=FunctionCall(function="sleep", args=()),
                ),
            ),
        ),
    ],
)
def test_a_plan_outside_the_lists_is_a_bug(plan: Any) -> None:
    with pytest.raises(Bug):
        enforce(plan, CONTEXT)
