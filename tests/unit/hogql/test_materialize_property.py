# ruff: noqa: E501 (a query reads best on one line)
"""Generated queries: whatever is not refused gives the same rows from its table as inline."""

import itertools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoglet.hogql import SavedColumn, SavedTable, compile_query
from hoglet.hogql.materialize.plan import plan_materialization
from hoglet.hogql.materialize.refusal import Refusal
from support.hogql_world import CONTEXT, PROJECT, UNLIMITED, HogqlWorld
from support.seeds import thinned

_numbers = itertools.count()
_columns = ["event", "distinct_id", "properties.$browser", "properties.price", "toDate(timestamp)"]
_aggregates = [
    "count()", "sum(properties.price)", "min(properties.price)", "max(timestamp)",
    "countIf(event = 'purchase')", "uniq(distinct_id)", "avg(properties.price)", "max(event)",
    "sumIf(properties.price, event = 'purchase')", "any(length(event) > 0)", "count() + 1", "minIf(timestamp, event = 'purchase')",
    "sum(properties.price) / count()", "maxIf(-length(event), properties.price > 5)",
]  # fmt: skip
# predicate, values of the variable; times at midnight, since buckets are days
_predicates = [
    ("event = {variables.a}", "a", ["$pageview", "purchase", "nope"]),
    ("{variables.b} = distinct_id", "b", ["ann", "bob", "nope"]),
    ("properties.$browser = {variables.c}", "c", ["Chrome", "nope"]),
    ("properties.price > {variables.d}", "d", [5, 1000]),
    ("timestamp >= {variables.e}", "e", ["2026-01-06", "2031-01-01"]),
    ("timestamp < {variables.f}", "f", ["2026-01-06", "2026-02-01"]),
    ("event like {variables.g}", "g", ["%page%", "z"]),
    ("event in {variables.j}", "j", [["$pageview", "purchase"], ["nope"], []]),
    ("properties.$browser not in {variables.k}", "k", [["Chrome"], []]),
    ("properties.price in {variables.l}", "l", [[5, 1000], [5]]),
    ("toDate(timestamp) = {variables.h}", "h", ["2026-01-05", "2031-01-01"]),
    ("person.properties.email = {variables.i}", "i", ["ann@b.com", "nope"]),
    ("toDate(timestamp) >= toDate({variables.m})", "m", ["2026-01-06 12:00:00", "zz", None]),
    ("lower(event) = lower({variables.n})", "n", ["PURCHASE", None]),
    ("properties.price = {variables.o}", "o", ["none", 10, "10.0", None]),
    ("toFloat(properties.price) = toFloat({variables.p})", "p", ["10.0", 7]),
    # code names that are columns or aliases too
    ("timestamp >= {variables.timestamp}", "timestamp", ["2026-01-06"]),
    ("event = {variables.event}", "event", ["$pageview", "nope"]),
    ("lower(distinct_id) = {variables.distinct_id}", "distinct_id", ["ann", "nope"]),
    ("event = {variables.x0}", "x0", ["$pageview", "nope"]),
]
_fixed = [
    "",
    "event != '$autocapture'",
    "properties.price is not null",
    "timestamp > '2026-01-05 10:02:00'",
]


@st.composite
def queries(draw: st.DrawFn) -> tuple[str, dict[str, list]]:
    plain = draw(st.lists(st.sampled_from(_columns), max_size=2, unique=True))
    aggregates = draw(st.lists(st.sampled_from(_aggregates), max_size=2, unique=True))
    named = [f"{expr} as x{index}" for index, expr in enumerate([*plain, *aggregates])]
    used = draw(
        st.lists(
            st.sampled_from(_predicates), min_size=1, max_size=2, unique_by=lambda each: each[1]
        )
    )
    where = [text for text, _, _ in used] + [
        text for text in [draw(st.sampled_from(_fixed))] if text
    ]
    query = f"{', '.join(named) or '1 as x0'} from events where {' and '.join(draw(st.permutations(where)))}"
    if aggregates and plain:
        query += " group by " + ", ".join(f"x{index}" for index in range(len(plain)))
        query += draw(st.sampled_from(["", " having count() > 1"]))
    distinct = "distinct " if draw(st.booleans()) and not aggregates else ""
    query = f"select {distinct}{query}"
    if draw(st.integers(0, 3)) == 0:
        outer = draw(st.sampled_from(["*", "x0", "x0, count() as n", "count() as n"]))
        group = " group by x0" if outer == "x0, count() as n" else ""
        query += f" union all {query}" * draw(st.integers(0, 1))
        query = f"with w as ({query}) select {outer} from w{group}"
    return query, {name: values for _, name, values in used}


@pytest.mark.parametrize("count", thinned((20, 80), 2))
def test_same_rows(hogql_world: HogqlWorld, count: int) -> None:
    @settings(max_examples=count)
    @given(queries())
    def compare(query_and_values: tuple[str, dict[str, list]]) -> None:
        _compare(hogql_world, *query_and_values)

    compare()


def _compare(hogql_world: HogqlWorld, query: str, values: dict[str, list]) -> None:
    try:
        plan = plan_materialization(query, context=CONTEXT, variables=values)
    except Refusal:
        return
    context, name = _build(hogql_world, plan)

    for run in itertools.product(*values.values()):
        variables = dict(zip(values, run, strict=True))
        inline = compile_query(query, context=CONTEXT, variables=variables)
        read = compile_query(plan.read("kept"), context=context, variables=variables)

        expected, actual = hogql_world.run(inline), hogql_world.run(read)
        assert sorted(map(repr, expected)) == sorted(map(repr, actual)), variables
    hogql_world.command(f"DROP TABLE {name}")


def _build(world: HogqlWorld, plan):
    built = compile_query(plan.build, context=msgspec.structs.replace(CONTEXT, limits=UNLIMITED))
    name = f"hogql_generated_{next(_numbers)}"
    world.command(
        f"CREATE OR REPLACE TABLE {name} ENGINE = MergeTree ORDER BY tuple() AS "
        f"SELECT toInt64({PROJECT}) AS project_id, * FROM ({built.sql})",
        built.params,
    )
    columns = tuple(SavedColumn(column.label, column.kind) for column in built.columns)
    context = msgspec.structs.replace(CONTEXT, saved_tables={"kept": SavedTable(name, columns)})
    return context, name
