"""Errors that only the engine finds, translated to HogQL with positions, in runs and saves.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation and
docs/adr/0014-what-saving-refuses.md.
"""

import pytest

from support.queries import QueryWorld

WRONG = [
    (
        "select sum(event) from events",
        "illegal_type_of_argument",
        "1:8: sum() does not take a String",
    ),
    (
        "select event, count() from events",
        "not_an_aggregate",
        "1:8: 'event' must stand in GROUP BY",
    ),
    (
        "select event from events\nwhere event",
        "illegal_type_of_argument",
        "2:7: WHERE needs a condition, not a String",
    ),
    ("select dateDiff('dya', now(), now())", "hogql_query_error", "Did you mean 'day'?"),
    ("select has(['a'], 1)", "no_common_type", "1:8: Values of the types String"),
    ("select 'a' =~ '['", "invalid_input", "1:15: '[' is not a regular expression"),
]


@pytest.mark.parametrize(("sql", "code", "detail"), WRONG, ids=[sql for sql, _, _ in WRONG])
async def test_runs_tell_the_place(queries: QueryWorld, sql: str, code: str, detail: str) -> None:
    response = await queries.send(sql)
    problem = response.json()

    assert (response.status_code, problem["code"], problem["attr"]) == (400, code, None)
    assert detail in problem["detail"]


@pytest.mark.parametrize(("sql", "code", "detail"), WRONG[:3], ids=[sql for sql, _, _ in WRONG[:3]])
async def test_saves_say_it_too(queries: QueryWorld, sql: str, code: str, detail: str) -> None:
    endpoints = queries.endpoints
    record = await endpoints.create(sql, name="a")

    assert record["columns"] == []
    assert record["materialization"]["can_materialize"] is False
    assert record["materialization"]["reason_code"] == "empty_or_invalid_query"
    assert detail in record["materialization"]["reason"]
    run = await endpoints.run("a")
    assert (run.status_code, run.json()["code"]) == (400, code)
    assert detail in run.json()["detail"]
    refused = await endpoints.patch("/a", {"is_materialized": True})
    assert (refused.status_code, refused.json()["attr"]) == (400, "is_materialized")


async def test_a_query_whose_variables_have_no_value_is_not_judged_by_null(
    queries: QueryWorld,
) -> None:
    await queries.endpoints.add_variable("step", "Number")
    record = await queries.endpoints.create(
        "select toStartOfInterval(now(), toIntervalMinute({variables.step})) as t", name="a"
    )

    assert [column["name"] for column in record["columns"]] == ["t"]


async def test_insights_show_nothing_of_their_sql(queries: QueryWorld) -> None:
    node = {
        "kind": "TrendsQuery",
        "series": [
            {"kind": "EventsNode", "event": "a", "math": "hogql", "math_hogql": "sum(event)"}
        ],
    }
    response = await queries.send(node)

    assert response.status_code == 400
    assert response.json()["code"] == "illegal_type_of_argument"
    assert "sum() does not take a String" in response.json()["detail"]
    assert "1:1" not in response.json()["detail"]
