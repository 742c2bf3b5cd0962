"""The query API: bodies, kinds, caching, background queries, cancelling, scopes.

Source: docs/spec/data-and-queries.md#1-query-api and
docs/spec/data-and-queries.md#8-acceptance-cases.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from support.endpoints import EndpointWorld
from support.queries import QueryWorld

SLOW = "SELECT count() FROM numbers(100000000000) WHERE sipHash64(number) = 5"
NOON = datetime(2026, 1, 5, 11, tzinfo=UTC)
TRENDS = {"kind": "TrendsQuery", "series": [{"kind": "EventsNode", "event": "a"}]}
KEYS = {
    "results",
    "columns",
    "types",
    "hasMore",
    "limit",
    "offset",
    "query",
    "hogql",
    "clickhouse",
    "error",
    "explain",
    "metadata",
    "modifiers",
    "timings",
    "query_status",
    "resolved_date_range",
    "is_cached",
    "cache_key",
    "cache_target_age",
    "last_refresh",
    "next_allowed_client_refresh",
    "timezone",
    "calculation_trigger",
    "query_metadata",
}


async def add_events(endpoints: EndpointWorld, count: int) -> None:
    await endpoints.add_events(
        [("a", NOON, f"u{index}", f'{{"n": {index}}}') for index in range(count)]
    )


async def test_a_hogql_query_answers_rows_columns_and_types(queries: QueryWorld) -> None:
    body = await queries.ran("select 1, 'a' as b")
    assert body["results"] == [[1, "a"]]
    assert body["columns"] == ["1", "b"]
    assert [name for name, _ in body["types"]] == ["1", "b"]
    assert (body["limit"], body["offset"], body["hasMore"]) == (100, 0, False)
    assert set(body) == KEYS


async def test_pages_are_honest(queries: QueryWorld) -> None:
    await add_events(queries.endpoints, 101)
    whole = await queries.ran("select event from events")
    assert (len(whole["results"]), whole["hasMore"]) == (100, True)
    five = await queries.ran("select event from events limit 5")
    assert (len(five["results"]), five["hasMore"], five["limit"]) == (5, False, 5)
    clamped = await queries.ran("select event from events limit 60000")
    assert (len(clamped["results"]), clamped["limit"]) == (101, 50_000)
    skipped = await queries.ran("select event from events limit 10 offset 99")
    assert (len(skipped["results"]), skipped["offset"]) == (2, 99)


async def test_the_kind_of_the_path_must_be_that_of_the_body(queries: QueryWorld) -> None:
    wrong = await queries.send(TRENDS, "/HogQLQuery")
    assert (wrong.status_code, wrong.json()["attr"]) == (400, "query__kind")
    right = await queries.send(TRENDS, "/TrendsQuery")
    assert right.status_code == 200
    assert {"results", "hogql", "hasMore", "timings", "cache_key"} <= set(right.json())
    assert "columns" not in right.json()
    lower = await queries.send(TRENDS, "/trends")
    assert lower.status_code == 405


@pytest.mark.parametrize(
    ("body", "code", "attr"),
    [
        ({}, "parse_error", "query"),
        ({"query": {"kind": "Nope"}}, "parse_error", "query__kind"),
        ({"query": {"query": "select 1"}}, "parse_error", "query__kind"),
        ({"query": {"kind": ["HogQLQuery"]}}, "parse_error", "query__kind"),
        ({"query": {"kind": {"kind": "HogQLQuery"}}}, "parse_error", "query__kind"),
        (
            {"query": {"kind": "InsightVizNode", "source": {"kind": []}}},
            "parse_error",
            "query__source__kind",
        ),
        ({"query": "select 1"}, "parse_error", "query"),
        ({"query": {"kind": "SavedInsightNode"}}, "invalid_input", "query__kind"),
        ({"query": {"kind": "HogQLQuery"}}, "parse_error", "query__query"),
        ({"query": {"kind": "HogQLQuery", "query": 5}}, "parse_error", "query__query"),
        (
            {"query": {"kind": "HogQLQuery", "query": "select 1"}, "refresh": "soon"},
            "invalid_choice",
            "refresh",
        ),
        (
            {"query": {"kind": "HogQLQuery", "query": "select 1"}, "foo": 1},
            "invalid_input",
            "foo",
        ),
        (
            {"query": {"kind": "HogQLQuery", "query": "select 1"}, "connectionId": "x"},
            "parse_error",
            "connectionId",
        ),
        (
            {"query": {"kind": "InsightVizNode", "source": TRENDS, "sorce": 1}},
            "parse_error",
            "query__sorce",
        ),
        (
            {"query": {"kind": "HogQLQuery", "query": "select 1"}, "limit_context": "me"},
            "invalid_choice",
            "limit_context",
        ),
    ],
)
async def test_wrong_bodies_name_the_place(
    queries: QueryWorld, body: Any, code: str, attr: str
) -> None:
    response = await queries.client.post(f"{queries.base}/", json=body)
    problem = response.json()
    assert (response.status_code, problem["code"], problem["attr"]) == (400, code, attr)


async def test_a_wrong_query_is_an_error_of_the_query(queries: QueryWorld) -> None:
    status, code, attr = await queries.refused("select nope from events")
    assert (status, code, attr) == (400, "hogql_query_error", None)
    assert (await queries.refused("selec 1"))[1] == "hogql_syntax_error"
    assert (await queries.refused("select 1 from nowhere"))[1] == "unknown_table"


@pytest.mark.parametrize(
    ("query", "attr"),
    [
        (TRENDS | {"foo": 1}, "query__foo"),
        (TRENDS | {"series": [{"event": "a", "mth": "dau"}]}, "query__series__0__mth"),
        (TRENDS | {"series": [{"event": "a", "math": "summ"}]}, "query__series__0__math"),
        (TRENDS | {"dateRange": {"date_from": "7dd"}}, "query__dateRange__date_from"),
        ({"kind": "InsightVizNode", "source": TRENDS | {"foo": 1}}, "query__source__foo"),
        (
            {
                "kind": "InsightVizNode",
                "source": TRENDS | {"series": [{"event": "a", "math": "summ"}]},
            },
            "query__source__series__0__math",
        ),
        ({"kind": "HogQLQuery", "query": "select 1", "qury": 1}, "query__qury"),
        ({"kind": "HogQLQuery", "qury": "select 1"}, "query__qury"),
        ({"kind": "TrendsQuery", "serie": []}, "query__serie"),
        ({"kind": "EventsQuery", "selct": ["*"]}, "query__selct"),
    ],
)
async def test_a_wrong_part_of_a_node_is_named_by_its_path(
    queries: QueryWorld, query: Any, attr: str
) -> None:
    assert await queries.refused(query) == (400, "parse_error", attr)


SHORT_AND_REGULAR = (
    ({"kind": "HogQLQuery", "query": "select count(), 'é' from events"}, {}),
    ({"kind": "HogQLQuery", "query": "select {a}", "values": {"a": [1, None]}}, {"name": "n"}),
    ({"kind": "HogQLQuery", "query": "select 1"}, {"client_query_id": "q", "refresh": "async"}),
    ({"kind": "HogQLQuery", "query": "select 2", "explain": True}, {}),
    (TRENDS, {"filters_override": {"date_from": "-3d"}}),
    ({"kind": "InsightVizNode", "source": TRENDS}, {"refresh": "force_cache"}),
    ({"kind": "EventsQuery", "select": ["event"]}, {}),
)


@pytest.mark.parametrize(("query", "more"), SHORT_AND_REGULAR)
async def test_the_short_path_answers_like_the_regular_one(
    queries: QueryWorld, query: dict[str, Any], more: dict[str, Any]
) -> None:
    """Language models get one more key, which only the regular path adds."""
    await queries.ran(query, **{**more, "refresh": "blocking"})
    await queries.ran(query, **more)
    short = await queries.ran(query, **more)
    queries.client.headers["x-posthog-client"] = "mcp"
    regular = await queries.ran(query, **more)
    assert isinstance(regular.pop("formatted_results"), str)
    assert list(regular) == list(short)
    if short["is_cached"]:
        assert regular == short
    else:
        assert regular["results"] == short["results"]


async def test_the_short_path_notices_another_project(queries: QueryWorld) -> None:
    """What is remembered about a request is valid only for the project at that time."""
    node = {"kind": "HogQLQuery", "query": "select toString(toDateTime(0))"}
    for _ in range(3):
        assert (await queries.ran(node))["timezone"] == "UTC"
    project = f"/api/projects/{queries.endpoints.project_id}/"
    changed = await queries.client.patch(project, json={"timezone": "Asia/Tokyo"})
    assert changed.status_code == 200, changed.text
    body = await queries.ran(node)
    assert (body["timezone"], body["is_cached"]) == ("Asia/Tokyo", False)
    assert body["results"] == [["1970-01-01 09:00:00"]]


async def test_the_second_run_comes_from_the_cache(queries: QueryWorld) -> None:
    first = await queries.ran("select count() from events")
    second = await queries.ran("select count() from events")
    assert (first["is_cached"], second["is_cached"]) == (False, True)
    assert first["cache_key"] == second["cache_key"]
    assert first["cache_key"].startswith(f"cache_{queries.endpoints.project_id}_")
    forced = await queries.ran("select count() from events", refresh="force_blocking")
    assert forced["is_cached"] is False
    older = await queries.ran("select count() from events", refresh=True)
    assert older["is_cached"] is False
    forced = await queries.ran("select count(), 2 from events", refresh="force_cache")
    assert forced["is_cached"] is False


async def test_an_endpoint_with_the_same_query_shares_the_result(queries: QueryWorld) -> None:
    await queries.ran("select count(), 3 from events")
    await queries.endpoints.create("select count(), 3 from events", name="shared")
    answer = await queries.endpoints.ran("shared")
    assert answer["results"] == [[0, 3]]


async def test_a_background_query_is_polled(queries: QueryWorld) -> None:
    started = await queries.send("select 7", refresh="force_async", client_query_id="q1")
    assert started.status_code == 202
    assert started.headers["location"] == f"{queries.base}/q1/"
    assert (await queries.get("q1")).status_code == 202
    await queries.services.worker.drain()
    done = await queries.get("q1")
    status = done.json()["query_status"]
    assert (done.status_code, status["complete"], status["error"]) == (200, True, False)
    assert status["results"]["results"] == [[7]]
    assert set(status["results"]) == KEYS
    assert (await queries.get("nobody")).status_code == 404


@pytest.mark.parametrize("query_id", ["W\u0005x", "a b/c?d#e%", "é", "\ue38f", "\U000c4d45"])
async def test_the_location_of_a_background_query_is_encoded(
    queries: QueryWorld, query_id: str
) -> None:
    accepted = await queries.send("select 1", client_query_id=query_id, refresh="force_async")
    assert accepted.status_code == 202
    await queries.services.worker.drain()
    location = accepted.headers["Location"]
    assert location.isascii()
    if "/" not in query_id:  # a slash in an id cannot be polled by path
        assert (await queries.client.get(location)).json()["query_status"]["id"] == query_id


async def test_a_failed_background_query_says_why(queries: QueryWorld) -> None:
    await queries.send("select nope from events", **{"async": True, "client_query_id": "q2"})
    await queries.services.worker.drain()
    response = await queries.get("q2")
    status = response.json()["query_status"]
    assert (response.status_code, status["error"], status["complete"]) == (400, True, True)
    assert "nope" in status["error_message"]
    assert status["error_code"] == "hogql_query_error"


async def test_a_running_query_is_cancelled(queries: QueryWorld) -> None:
    await queries.send(SLOW, refresh="force_async", client_query_id="q3")
    working = asyncio.ensure_future(queries.services.worker.drain())
    while (await queries.get("q3")).json()["query_status"]["pickup_time"] is None:  # noqa: ASYNC110 (over HTTP)
        await asyncio.sleep(0.01)
    assert (await queries.delete("q3", dequeue_only="true")).status_code == 200
    assert (await queries.get("q3")).status_code == 202
    assert (await queries.delete("q3")).status_code == 200
    status = (await queries.get("q3")).json()["query_status"]
    assert status["error_code"] == "query_cancelled"
    await working
    assert (await queries.delete("q3")).status_code == 200
    assert (await queries.delete("nobody")).status_code == 404


async def test_progress_is_what_the_engine_has_read(queries: QueryWorld) -> None:
    async def progress(query_id: str, word: str = "show_progress") -> dict[str, Any]:
        answer = await queries.get(query_id, **{word: "true"})
        return answer.json()["query_status"]["query_progress"]

    await queries.send(SLOW, refresh="force_async", client_query_id="p1")
    nothing = dict.fromkeys(
        ("bytes_read", "rows_read", "estimated_rows_total", "time_elapsed", "active_cpu_time"), 0
    )
    assert await progress("p1") == nothing
    working = asyncio.ensure_future(queries.services.worker.drain())
    while not (seen := await progress("p1"))["rows_read"]:  # noqa: ASYNC110 (over HTTP)
        await asyncio.sleep(0.01)
    assert seen["bytes_read"] == 8 * seen["rows_read"]
    assert seen["estimated_rows_total"] == 100_000_000_000
    assert seen["time_elapsed"] > 0
    later = await progress("p1", "showProgress")
    assert later["rows_read"] >= seen["rows_read"]
    assert (await queries.get("p1")).json()["query_status"]["query_progress"] is None
    await queries.delete("p1")
    await working

    await add_events(queries.endpoints, 50)
    await queries.send("select event from events", refresh="force_async", client_query_id="p2")
    await queries.services.worker.drain()
    done = await progress("p2")
    # The engine reads whole granules: a shared warehouse has events of other tests beside them.
    assert done["rows_read"] == done["estimated_rows_total"] >= 50
    assert done["bytes_read"] > 0


async def test_a_stale_result_says_which_run_refreshes_it(queries: QueryWorld) -> None:
    query = "select count(), 'stale' from events"
    first = await queries.ran(query)
    word = "async_except_on_cache_miss"
    fresh = await queries.ran(query, refresh=word)
    assert (fresh["is_cached"], fresh["query_status"]) == (True, None)
    queries.endpoints.world.clock.advance(seconds=7 * 3600)
    stale = await queries.ran(query, refresh=word, client_query_id="behind")
    assert (stale["is_cached"], stale["last_refresh"]) == (True, first["last_refresh"])
    assert stale["query_status"]["id"] == "behind"
    assert stale["query_status"]["complete"] is False
    await queries.services.worker.drain()
    assert (await queries.get("behind")).status_code == 200
    renewed = await queries.ran(query, refresh=word)
    assert renewed["last_refresh"] != first["last_refresh"]


async def test_no_queries_are_drafted(queries: QueryWorld) -> None:
    for method in ("GET", "POST"):
        response = await queries.client.request(method, f"{queries.base}/draft_sql/", json={})
        assert response.status_code == 404


async def test_a_waiting_query_is_dequeued(queries: QueryWorld) -> None:
    await queries.send("select 9", refresh="force_async", client_query_id="q4")
    assert (await queries.delete("q4", dequeue_only="true")).status_code == 200
    await queries.services.worker.drain()
    assert (await queries.get("q4")).status_code == 400


async def test_a_blocking_query_is_cancelled_by_its_id(queries: QueryWorld) -> None:
    running = asyncio.ensure_future(queries.send(SLOW, client_query_id="q5"))
    while (await queries.delete("q5")).status_code == 404:  # noqa: ASYNC110 (over HTTP)
        await asyncio.sleep(0.01)
    response = await running
    assert (response.status_code, response.json()["code"]) == (400, "query_cancelled")


async def test_scopes(queries: QueryWorld) -> None:
    world, endpoints = queries.endpoints.world, queries.endpoints
    body = {"query": {"kind": "HogQLQuery", "query": "select 1"}}

    async def status_with(key: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key}"}
        return await queries.client.post(f"{queries.base}/", json=body, headers=headers)

    without = await status_with(await world.add_key(["endpoint:read"]))
    assert without.status_code == 403
    assert "query:read" in without.json()["detail"]
    assert (await status_with(await world.add_key(["query:read"]))).status_code == 200
    secret = await world.add_secret_key(endpoints.project_id, ["query:read"])
    assert (await status_with(secret)).status_code == 200
    other = await world.add_secret_key(endpoints.project_id, ["endpoint:read"])
    assert (await status_with(other)).status_code == 403


async def test_null_members_are_absent(queries: QueryWorld) -> None:
    off = {"connectionId": None, "sendRawQuery": False, "filters": None, "variables": None}
    query = {"kind": "HogQLQuery", "query": "select 1", "values": None, "modifiers": None}
    assert (await queries.ran(query | off))["results"] == [[1]]
    for name, value in (("connectionId", "x"), ("sendRawQuery", True)):
        refused = (400, "parse_error", f"query__{name}")
        assert await queries.refused(query | {name: value}) == refused


async def test_wrappers_answer_as_their_source(queries: QueryWorld) -> None:
    await add_events(queries.endpoints, 3)
    wrapped = await queries.ran({"kind": "InsightVizNode", "source": TRENDS})
    alone = await queries.ran(TRENDS)
    assert wrapped["results"] == alone["results"]
    inner = {"kind": "HogQLQuery", "query": "select count() from events"}
    table = await queries.ran({"kind": "DataVisualizationNode", "source": inner, "display": "x"})
    assert table["results"] == [[3]]


@pytest.mark.parametrize(
    ("filters", "named"),
    [
        ({"dateRange": {"date_from": "-7d"}}, "dateRange"),
        ({"dateRange": {"date_to": "2026-01-05"}}, "dateRange"),
        ({"properties": [{"key": "n", "value": 1}], "interval": "week"}, "properties"),
        ({"properties": {"type": "AND", "values": [{"key": "n", "value": 1}]}}, "properties"),
        ({"dateRange": {"date_from": "-7d"}, "filterTestAccounts": True},
         "dateRange, filterTestAccounts"),
    ],
)  # fmt: skip
async def test_filters_without_a_place_are_refused(
    queries: QueryWorld, filters: dict[str, Any], named: str
) -> None:
    query = {"kind": "HogQLQuery", "query": "select count() from events", "filters": filters}
    problem = (await queries.send(query)).json()
    assert (problem["code"], problem["attr"]) == ("parse_error", "query__filters")
    assert f"({named})" in problem["detail"]
    assert "{filters}" in problem["detail"]
    wrapped = {"kind": "DataVisualizationNode", "source": query}
    assert await queries.refused(wrapped) == (400, "parse_error", "query__source__filters")


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"dateRange": {}, "properties": [], "filterTestAccounts": False},
        {"dateRange": {"date_from": None, "date_to": ""}, "properties": None},
        {"dateRange": {"date_from": "all"}, "properties": {"type": "AND", "values": []}},
        {"interval": "day"},
    ],
)
async def test_filters_that_filter_nothing_need_no_place(
    queries: QueryWorld, filters: dict[str, Any]
) -> None:
    query = {"kind": "HogQLQuery", "query": "select 1", "filters": filters}
    assert (await queries.ran(query))["results"] == [[1]]


async def test_variables_and_filters_are_overridden(queries: QueryWorld) -> None:
    await add_events(queries.endpoints, 3)
    variable = await queries.endpoints.add_variable("least", "Number", 0)
    query = {
        "kind": "HogQLQuery",
        "query": "select count() from events where properties.n >= {variables.least} and {filters}",
        "variables": {variable: {"variableId": variable, "code_name": "least", "value": 1}},
        "filters": {"dateRange": {"date_from": "all"}},
    }
    assert (await queries.ran(query))["results"] == [[2]]
    override = {variable: {"value": 2}, "other": {"value": 5}}
    assert (await queries.ran(query, variables_override=override))["results"] == [[1]]
    fewer = await queries.ran(query, filters_override={"date_from": "2026-01-05T11:30:00"})
    assert fewer["results"] == [[0]]
    refused = await queries.refused("select 1", filters_override={"date_from": "-1d"})
    assert refused == (400, "invalid_input", "filters_override")


@pytest.mark.parametrize("key", ["date_from", "date_to"])
@pytest.mark.parametrize(
    "node",
    [
        TRENDS,
        {"kind": "HogQLQuery", "query": "select 1 from events where {filters}"},
        {"kind": "EventsQuery", "select": ["*"]},
    ],
    ids=lambda node: node["kind"],
)
async def test_an_override_that_is_no_date_is_named_where_it_was_sent(
    queries: QueryWorld, node: Any, key: str
) -> None:
    refused = await queries.refused(node, filters_override={key: "-1D"})
    assert refused == (400, "parse_error", f"filters_override__{key}")


async def test_a_variable_without_an_entry_is_refused(queries: QueryWorld) -> None:
    response = await queries.send("select {variables.nobody}")
    assert response.status_code == 400
    assert "nobody" in response.json()["detail"]
    gone = {"v": {"variableId": "0199", "code_name": "nobody", "value": 1}}
    query = {"kind": "HogQLQuery", "query": "select {variables.nobody}", "variables": gone}
    assert await queries.refused(query) == (400, "parse_error", "query__variables__v")
    wrapped = {"kind": "DataVisualizationNode", "source": query}
    assert await queries.refused(wrapped) == (400, "parse_error", "query__source__variables__v")


async def test_the_log_of_a_query(queries: QueryWorld) -> None:
    await queries.ran("select 11", client_query_id="q6", name="eleven")
    body = (await queries.client.get(f"{queries.base}/q6/log/")).json()
    rows = [dict(zip(body["columns"], row, strict=True)) for row in body["results"]]
    assert [(row["query_id"], row["name"], row["query"]) for row in rows] == [
        ("q6", "eleven", "select 11")
    ]


async def test_upgrade_rewrites_and_runs_nothing(queries: QueryWorld) -> None:
    older = TRENDS | {"trendsFilter": {"compare": True}}
    response = await queries.client.post(f"{queries.base}/upgrade/", json={"query": older})
    assert response.json()["query"]["compareFilter"] == {"compare": True}
    checked = await queries.client.post(f"{queries.base}/check_auth_for_async/")
    assert checked.json() == {"user": "ok"}
    assert (await queries.client.get(f"{queries.base}/")).status_code == 405


async def test_language_models_get_a_text_table(queries: QueryWorld) -> None:
    body = {"query": {"kind": "HogQLQuery", "query": "select 1 as a, 'x' as b"}}
    headers = {"X-PostHog-Client": "mcp"}
    response = await queries.client.post(f"{queries.base}/", json=body, headers=headers)
    assert response.json()["formatted_results"] == "a|b\n1|x"
