"""Every compiled query carries the project in every table scope, whatever the query is."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoglet.hogql import compile_query
from hoglet.hogql.enforce import enforce, verify_sql
from hoglet.hogql.plan import Apply, Join, Name, Scan, Select
from hoglet.hogql.print_clickhouse import Printer
from hoglet.hogql.schema.catalog import PHYSICAL_TABLES
from hoglet.kit.errors import Bug, SourceError
from support.hogql_world import CONTEXT, PROJECT

ALLOWED = PHYSICAL_TABLES | {"hogql_world_daily"}
_SCOPE = re.compile(
    r"FROM `?(events|persons|person_distinct_ids|person_distinct_id_overrides|groups|cohort_people"
    r"|log_entries|app_metrics|query_log|hogql_world_daily)`?\b(?P<rest>.{0,60})"
)

_columns = st.sampled_from(
    ["event", "person.properties.email", "person_id", "session.$pageview_count", "1", "count()",
     "company.properties.name", "properties.`a``b`", "properties['x\\'y']", "pdi.person_id",
     "(select count() from persons)", "toString(timestamp)"]
)  # fmt: skip
_names = st.text(
    st.characters(codec="utf-8", exclude_characters="`\\\x00"), min_size=1, max_size=12
)
_conditions = st.sampled_from(
    ["1", "true or false", "event = 'x'", "person_id in (select id from persons)", "{filters}",
     "person_id in cohort 5", "event in (select event from events where properties.p = 1)",
     "exists(select 1 from groups)", "event = {variables.v}"]
)  # fmt: skip
_sources = st.sampled_from(
    ["events", "events e", "events as persons", "(select * from events) as events",
     "(select * from events union all select * from events) as e", "events sample 0.5",
     "events e join persons p on e.person_id = p.id", "events e, daily_v1 d",
     "events left join sessions on events.$session_id = sessions.session_id"]
)  # fmt: skip


@st.composite
def queries(draw: st.DrawFn) -> str:
    columns = draw(st.lists(_columns, min_size=1, max_size=4))
    aliased = [f"{column} as `{draw(_names)}`" for column in columns]
    tail = draw(st.sampled_from(["", " limit 3", " order by 1", " group by all"]))
    query = f"select {', '.join(aliased)} from {draw(_sources)} where {draw(_conditions)}{tail}"
    if draw(st.booleans()):
        return f"with c as ({query}) select * from c, (select 1 as one from c) as d"
    return query


@settings(max_examples=200, deadline=None)
@given(queries(), st.text(max_size=20))
def test_every_scan_has_its_project(query: str, value: str) -> None:
    try:
        compiled = compile_query(query, context=CONTEXT, variables={"v": f"secret-{value}"})
    except SourceError:
        return

    assert compiled.params["project_id"] == PROJECT
    text = re.sub(
        r"`(?:[^`\\]|\\.)*`", lambda found: found.group().replace("FROM", "from"), compiled.sql
    )
    for scope in _SCOPE.finditer(text):
        rest = scope["rest"].removeprefix(" FINAL")
        assert rest.startswith(" WHERE project_id = {project_id:Int64}")
    assert "secret-" not in compiled.sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM events",
        "SELECT 1 FROM events WHERE project_id = 2",
        "SELECT 1 FROM events WHERE project_id = {project_id:Int64} OR 1",
        "SELECT 1 FROM events AS e WHERE project_id = {project_id:Int64} AND (1)",
        "SELECT 1 FROM (SELECT 1 FROM persons FINAL WHERE 1)",
        "SELECT 1 FROM (SELECT 1) AS a JOIN events ON 1",
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
        Select(columns=(("x", Apply(function="sleep", args=())),)),
        Select(
            columns=(("x", Name(name="x")),),
            joins=(Join(relation=Scan(table="secrets", columns=()), alias="s"),),
        ),
    ],
)
def test_a_plan_outside_the_lists_is_a_bug(plan) -> None:
    with pytest.raises(Bug):
        enforce(plan, CONTEXT)
