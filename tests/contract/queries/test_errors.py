"""Errors that only the engine finds, translated to HogQL with positions, in runs and saves.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation and
docs/adr/0014-what-saving-refuses.md.
"""

from typing import Any

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
        "1:8: 'event' must be in GROUP BY",
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


TRENDS = {"kind": "TrendsQuery", "series": [{"kind": "EventsNode", "event": "a"}]}


def hogql(key: str) -> list[dict[str, str]]:
    return [{"type": "hogql", "key": key}]


@pytest.mark.parametrize(
    ("query", "code", "attr", "detail"),
    [
        (
            {"series": [{"event": "a", "math": "hogql", "math_hogql": "1 + sum(event)"}]},
            "illegal_type_of_argument",
            "series__0__math_hogql",
            "1:5: sum() does not take a String",
        ),
        (
            {"series": [{"event": "a", "math": "hogql", "math_hogql": "1 + sum(nope)"}]},
            "parse_error",
            "series__0__math_hogql",
            "1:9: Unable to resolve field: nope",
        ),
        (
            {"series": [{"event": "a", "math": "hogql", "math_hogql": "sum("}]},
            "parse_error",
            "series__0__math_hogql",
            "1:5: ",
        ),
        (
            {"series": [{"event": "a"}, {"event": "a", "properties": hogql("event")}]},
            "illegal_type_of_argument",
            "series__1__properties__0__key",
            "1:1: Expected a condition",
        ),
        (
            {"properties": hogql("1 = 1 and\nnope")},
            "parse_error",
            "properties__0__key",
            "2:1: Unable",
        ),
        (
            {"breakdownFilter": {"breakdown_type": "hogql", "breakdown": "lower(1, 2)"}},
            "parse_error",
            "breakdownFilter__breakdown",
            "1:1: Function 'lower' expects",
        ),
        (
            {"breakdownFilter": {"breakdowns": [{"type": "hogql", "property": "event +"}]}},
            "parse_error",
            "breakdownFilter__breakdowns__0__property",
            "1:8: ",
        ),
    ],
)
async def test_expressions_of_insights_have_their_position(
    queries: QueryWorld, query: dict[str, Any], code: str, attr: str, detail: str
) -> None:
    response = await queries.send(TRENDS | query)
    problem = response.json()

    assert (response.status_code, problem["code"]) == (400, code)
    assert problem["attr"] == f"query__{attr}"
    assert problem["detail"].startswith(detail)


@pytest.mark.parametrize(
    ("key", "code", "detail"),
    [
        ("1 = nope", "parse_error", "1:5: Unable to resolve field: nope"),
        ("1 =", "parse_error", "1:4: "),
        ("event", "illegal_type_of_argument", "1:1: Expected a condition"),
        ("1 < sum(1)", "illegal_aggregation", "1:1: WHERE cannot contain an aggregate"),
    ],
)
async def test_expressions_of_filters_have_their_position(
    queries: QueryWorld, key: str, code: str, detail: str
) -> None:
    sql = "select count() from events where event != '' and {filters}"
    filters = {"properties": [{"key": "a", "value": "b"}, *hogql(key)]}
    response = await queries.send({"kind": "HogQLQuery", "query": sql, "filters": filters})
    problem = response.json()

    assert (response.status_code, problem["code"]) == (400, code)
    assert problem["attr"] == "query__filters__properties__1__key"
    assert problem["detail"].startswith(detail)


@pytest.mark.parametrize(
    ("more", "attr", "detail"),
    [
        ({"orderBy": ["created_at", "1 + nope"], "limit": 1}, "orderBy__1", "1:5: Unable"),
        ({"orderBy": ["created_at +"], "limit": 1}, "orderBy__0", "1:13: "),
        ({"properties": hogql("1 = nope")}, "properties__0__key", "1:5: Unable"),
        ({"properties": hogql("1 =")}, "properties__0__key", "1:4: "),
    ],
)
async def test_expressions_of_actors_queries_have_their_position(
    queries: QueryWorld, more: dict[str, Any], attr: str, detail: str
) -> None:
    source = {"kind": "HogQLQuery", "query": "select id from persons"}
    response = await queries.client.post(
        f"/api/projects/{queries.endpoints.project_id}/cohorts",
        json={
            "name": "c",
            "is_static": True,
            "query": {"kind": "ActorsQuery", "source": source} | more,
        },
    )
    problem = response.json()

    assert (response.status_code, problem["attr"]) == (400, f"query__{attr}")
    assert problem["detail"].startswith(detail)


@pytest.mark.parametrize(
    "node",
    [
        {"kind": "HogQLQuery", "query": "select 1"},
        {"kind": "EventsQuery", "select": ["event"]},
        {"kind": "HogQLMetadata", "query": "select 1"},
        {"kind": "HogQLAutocomplete", "query": "select 1"},
        {"kind": "DatabaseSchemaQuery"},
        {"kind": "DataTableNode", "source": {"kind": "HogQLQuery", "query": "select 1"}},
    ],
    ids=lambda node: node["kind"],
)
async def test_tags_are_closed(queries: QueryWorld, node: dict[str, Any]) -> None:
    known = {"scene": "Insight", "productKey": "product_analytics", "name": "a"}
    assert (await queries.send(node | {"tags": known})).status_code == 200
    for tags, attr in (({"foo": 1}, "query__tags__foo"), ({"scene": 1}, "query__tags__scene")):
        status, _, path = await queries.refused(node | {"tags": tags})
        assert (status, path) == (400, attr)
