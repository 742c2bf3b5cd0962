"""Insight endpoints (docs/spec/query-endpoints.md#52-variables,
docs/spec/query-endpoints.md#54-overrides, docs/spec/query-endpoints.md#56-answer,
docs/spec/query-endpoints.md#7-materialization and
docs/spec/query-endpoints.md#106-insight-queries-and-results; cases 3, 9, 10, 11)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hoglet.endpoints.insights import variables
from support.endpoints import EndpointWorld

AT = datetime(2026, 1, 4, 12, tzinfo=UTC)
NODE = {"kind": "EventsNode", "event": "$pageview", "name": "$pageview"}
TRENDS: dict[str, Any] = {
    "kind": "TrendsQuery",
    "series": [NODE],
    "dateRange": {"date_from": "-30d"},
}
BY_BROWSER = TRENDS | {
    "breakdownFilter": {"breakdowns": [{"property": "$browser", "type": "event"}]}
}
INSIGHT_KEYS = {
    "results",
    "hasMore",
    "error",
    "is_cached",
    "last_refresh",
    "next_allowed_client_refresh",
    "cache_target_age",
    "timezone",
    "query_status",
    "query_metadata",
    "name",
    "execution_id",
    "endpoint_version",
    "endpoint_version_created_at",
}


async def add_views(endpoints: EndpointWorld) -> None:
    browsers = ["Chrome", "Chrome", "Firefox", None]
    await endpoints.add_events(
        [
            (
                "$pageview",
                AT - timedelta(days=10 * (n % 2)),
                f"u{n}",
                f'{{"$browser":"{b}","$os":"Linux"}}' if b else "{}",
            )
            for n, b in enumerate(browsers)
        ]
    )


def total(body: dict[str, Any]) -> float:
    return sum(sum(item["data"]) for item in body["results"])


async def test_03_every_given_field_is_kept(endpoints: EndpointWorld) -> None:
    rich = TRENDS | {
        "series": [NODE, NODE | {"math": "dau"}],
        "breakdownFilter": {"breakdown": "$browser", "breakdown_type": "event"},
        "compareFilter": {"compare": True, "compare_to": "-1w"},
        "trendsFilter": {"formula": "A+B", "goalLines": [{"label": "g", "value": 5}]},
        "samplingFactor": 0.1,
    }
    for query in (TRENDS, rich):
        record = await endpoints.create(query)
        for key, value in query.items():
            assert record["query"][key] == value, key
        assert record["query"]["properties"] == []
        assert record["query"]["modifiers"] is None
        assert record["columns"] == []


async def test_09_plain_dates_and_breakdowns(endpoints: EndpointWorld) -> None:
    await add_views(endpoints)
    await endpoints.create(TRENDS, name="a")
    whole = await endpoints.ran("a")
    assert set(whole) == INSIGHT_KEYS
    assert next(iter(whole)) == "results"
    assert total(whole) == 4
    assert {"data", "labels", "days", "count", "label", "action"} <= set(whole["results"][0])
    later = await endpoints.ran(
        "a", variables={"date_from": "2026-01-01"}, debug=True, refresh="force"
    )
    assert later["resolved_date_range"]["date_from"].startswith("2026-01-01")
    assert total(later) == 2
    unknown = await endpoints.run("a", variables={"$browser": "Chrome"})
    assert (unknown.status_code, unknown.json()["attr"]) == (400, "variables")
    assert "$browser" in unknown.json()["detail"]
    await endpoints.create(BY_BROWSER, name="b")
    assert total(await endpoints.ran("b", variables={"$browser": "Chrome"})) == 2
    assert total(await endpoints.ran("b", variables={"$browser": ""})) == 1
    for nothing in ({}, {"$browser": None}):
        refused = await endpoints.run("b", variables=nothing)
        problem = refused.json()
        assert (refused.status_code, problem["code"], problem["attr"]) == (
            400,
            "required",
            "variables",
        )
        assert "$browser" in problem["detail"]
    await endpoints.create(BY_BROWSER, name="c", optional_breakdown_properties=["$browser"])
    assert total(await endpoints.ran("c")) == 4


async def test_all_time_begins_at_the_oldest_event(endpoints: EndpointWorld) -> None:
    await endpoints.create(TRENDS | {"dateRange": {"date_from": "all"}}, name="a")
    empty = await endpoints.ran("a")
    assert len(empty["results"][0]["days"]) == 8
    await add_views(endpoints)
    unset_clock = datetime(1970, 1, 1, 12, tzinfo=UTC)
    await endpoints.add_events([("$pageview", unset_clock, "u9", "{}")])
    body = await endpoints.ran("a", debug=True, refresh="force")
    assert body["results"][0]["days"][0] == "2025-12-25"
    assert body["resolved_date_range"]["date_from"].startswith("2025-12-25T00:00:00")
    assert total(body) == 4
    hours = {"kind": "LifecycleQuery", "series": [NODE], "interval": "hour"}
    await endpoints.create(hours | {"dateRange": {"date_from": "all"}}, name="b")
    new = (await endpoints.ran("b"))["results"][0]
    assert (new["status"], new["days"][0]) == ("new", "2025-12-25 00:00:00")


async def test_11_materialized_breakdowns_are_required(endpoints: EndpointWorld) -> None:
    await add_views(endpoints)
    await endpoints.create(BY_BROWSER, name="a")
    inline = {
        value: (await endpoints.ran("a", variables={"$browser": value}))["results"]
        for value in ("Chrome", "Firefox", "", "Nothing")
    }
    on = await endpoints.patch("/a", {"is_materialized": True})
    assert on.status_code == 200, on.text
    wrong = await endpoints.run("a", variables={"$os": "Linux"})
    assert wrong.status_code == 400
    assert "$os" in wrong.json()["detail"]
    empty = await endpoints.run("a")
    assert empty.status_code == 400
    assert "$browser" in empty.json()["detail"]
    await endpoints.services.jobs.drain()
    for value, results in inline.items():
        table = await endpoints.ran("a", variables={"$browser": value})
        assert table["endpoint_materialized"] is True
        assert table["results"] == results, value
        assert set(table) == INSIGHT_KEYS | {"endpoint_materialized", "endpoint_materialized_at"}
    direct = await endpoints.ran("a", variables={"$browser": "Chrome"}, refresh="direct")
    assert "endpoint_materialized" not in direct
    for override in ({"breakdownFilter": {}}, {"properties": []}):
        refused = await endpoints.run(
            "a", variables={"$browser": "Chrome"}, query_override=override
        )
        assert (refused.status_code, refused.json()["attr"]) == (400, "query_override")


async def test_optional_breakdowns(endpoints: EndpointWorld) -> None:
    await add_views(endpoints)
    body = {"is_materialized": True, "optional_breakdown_properties": ["$browser"]}
    record = await endpoints.create(BY_BROWSER, name="a", **body)
    assert record["optional_breakdown_properties"] == ["$browser"]
    await endpoints.services.jobs.drain()
    assert total(await endpoints.ran("a")) == 4
    unknown = await endpoints.post(
        "", endpoints.body(BY_BROWSER, optional_breakdown_properties=["$os"])
    )
    assert (unknown.status_code, unknown.json()["attr"]) == (400, "optional_breakdown_properties")


async def test_overrides(endpoints: EndpointWorld) -> None:
    await add_views(endpoints)
    await endpoints.create(TRENDS, name="a")
    node = NODE | {"event": "$pageleave"}
    assert total(await endpoints.ran("a", query_override={"series": [node]})) == 0
    filters = {"date_from": "2026-01-01", "properties": [{"key": "$browser", "value": "Chrome"}]}
    assert total(await endpoints.ran("a", filters_override=filters)) == 1
    wins = await endpoints.ran(
        "a",
        filters_override={"date_from": "2026-01-01"},
        variables={"date_from": "2025-01-01"},
    )
    assert total(wins) == 2
    for override in (
        {"kind": "FunnelsQuery"},
        {"properties": [{"type": "hogql", "key": "1=1"}]},
        {"series": [NODE | {"math": "hogql", "math_hogql": "count()"}]},
        {"breakdownFilter": {"breakdown_type": "hogql", "breakdown": "1"}},
        {"series": [{"kind": "DataWarehouseNode"}]},
        {"source": {"kind": "HogQLQuery", "query": "SELECT 1"}},
    ):
        refused = await endpoints.run("a", query_override=override)
        assert (refused.status_code, refused.json()["attr"]) == (400, "query_override"), override
    for field in ("limit", "offset"):
        refused = await endpoints.run("a", **{"limit": 5, field: 5})
        assert refused.status_code == 400


@pytest.mark.parametrize(
    ("override", "attr"),
    [
        (
            {"filters_override": {"properties": [{"key": "a", "value": 1, "operator": "nope"}]}},
            "filters_override__properties",
        ),
        (
            {"query_override": {"dateRange": {"date_from": "zz"}}},
            "query_override__dateRange__date_from",
        ),
        (
            {"query_override": {"series": [NODE | {"properties": [{"key": "a", "type": "x"}]}]}},
            "query_override__series__0__properties__0__type",
        ),
    ],
)
async def test_errors_of_an_override_name_it(
    endpoints: EndpointWorld, override: dict[str, Any], attr: str
) -> None:
    filtered = {"kind": "HogQLQuery", "query": "SELECT count() FROM events WHERE {filters}"}
    queries = [TRENDS] if "query_override" in override else [TRENDS, filtered]
    for index, query in enumerate(queries):
        await endpoints.create(query, name=f"e{index}")
        refused = await endpoints.run(f"e{index}", **override)

        assert (refused.status_code, refused.json()["attr"]) == (400, attr)


async def test_which_insights_can_be_kept(endpoints: EndpointWorld) -> None:
    cases = [
        (TRENDS, None),
        (TRENDS | {"compareFilter": {"compare": True}}, "compare_mode_not_supported"),
        (
            TRENDS | {"breakdownFilter": {"breakdown": ["all"], "breakdown_type": "cohort"}},
            "cohort_breakdown_not_supported",
        ),
        (
            {
                "kind": "FunnelsQuery",
                "series": [NODE, NODE],
                "breakdownFilter": {"breakdown": "$browser", "breakdown_type": "event"},
            },
            "funnel_breakdown_not_supported",
        ),
        (
            TRENDS | {"breakdownFilter": {"breakdown": "x", "breakdown_normalize_url": True}},
            "query_type_not_materializable",
        ),
        (
            BY_BROWSER | {"series": [NODE | {"math": "first_matching_event_for_user"}]},
            "query_type_not_materializable",
        ),
        ({"kind": "FunnelsQuery", "series": [NODE, NODE]}, None),
        ({"kind": "FunnelsQuery", "series": [NODE, NODE | {"optionalInFunnel": True}]}, None),
        ({"kind": "StickinessQuery", "series": [NODE], "intervalCount": 3}, None),
        (
            {
                "kind": "PathsQuery",
                "pathsFilter": {},
                "funnelPathsFilter": {
                    "funnelStep": 1,
                    "funnelSource": {"kind": "FunnelsQuery", "series": [NODE, NODE]},
                },
            },
            None,
        ),
        ({"kind": "LifecycleQuery", "series": [NODE]}, None),
        ({"kind": "StickinessQuery", "series": [NODE]}, None),
        ({"kind": "PathsQuery", "pathsFilter": {"includeEventTypes": ["$pageview"]}}, None),
        (
            {
                "kind": "RetentionQuery",
                "retentionFilter": {
                    "targetEntity": {"id": "$pageview", "type": "events"},
                    "returningEntity": {"id": "$pageview", "type": "events"},
                },
            },
            None,
        ),
    ]
    for query, code in cases:
        record = await endpoints.create(query)
        status = record["materialization"]
        assert (status["can_materialize"], status["reason_code"]) == (code is None, code)
        if code is not None:
            continue
        inline = await endpoints.ran(record["name"])
        await endpoints.patch(f"/{record['name']}", {"is_materialized": True})
        await endpoints.services.jobs.drain()
        table = await endpoints.ran(record["name"])
        assert table["endpoint_materialized"] is True, record["query"]["kind"]
        assert table["results"] == inline["results"]


@pytest.mark.parametrize("query", [
    {"kind": "RetentionQuery", "retentionFilter": {
        "totalIntervals": 5, "retentionCustomBrackets": [1, 2],
        "targetEntity": {"id": "$pageview", "type": "events"},
        "returningEntity": {"id": "$pageview", "type": "events"}}},
    TRENDS | {"series": [NODE | {"math": "first_time_for_user"}]},
], ids=["brackets", "first time"])  # fmt: skip
async def test_tables_answer_as_the_raw_data_for_each_value(
    endpoints: EndpointWorld, query: dict[str, Any]
) -> None:
    seen = [
        (0, "Safari"),
        (0, "Chrome"),
        (1, "Chrome"),
        (2, "Chrome"),
        (2, "Safari"),
        (3, "Chrome"),
    ]
    await endpoints.add_events(
        [
            (
                "$pageview",
                AT - timedelta(days=3 - day, minutes=-index),
                user,
                f'{{"$browser":"{b}"}}',
            )
            for user in ("u1", "u2")
            for index, (day, b) in enumerate(seen)
        ]
    )
    await endpoints.create(query | {"breakdownFilter": BY_BROWSER["breakdownFilter"]}, name="a")
    inline = {b: await endpoints.ran("a", variables={"$browser": b}) for b in ("Chrome", "Safari")}
    await endpoints.patch("/a", {"is_materialized": True})
    await endpoints.services.jobs.drain()
    for browser, whole in inline.items():
        table = await endpoints.ran("a", variables={"$browser": browser})
        assert table["endpoint_materialized"] is True
        assert table["results"] == whole["results"], browser


async def test_a_table_that_would_lack_values_is_not_kept(
    endpoints: EndpointWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert variables.BREAKDOWN_LIMIT == 10_000
    monkeypatch.setattr(variables, "BREAKDOWN_LIMIT", 100)
    await endpoints.add_events(
        [("$pageview", AT, "u", f'{{"$browser":"b{number}"}}') for number in range(101)]
    )
    hidden = BY_BROWSER["breakdownFilter"] | {"breakdown_hide_other_aggregation": True}
    await endpoints.create(BY_BROWSER | {"breakdownFilter": hidden}, name="a")
    await endpoints.patch("/a", {"is_materialized": True})
    await endpoints.services.jobs.drain()
    status = (await endpoints.client.get(f"{endpoints.base}/a/materialization_status")).json()
    assert (status["status"], status["ready"]) == ("Failed", False)
    assert "breakdown values" in status["error"]


async def test_refused_kinds(endpoints: EndpointWorld) -> None:
    for kind in ("InsightVizNode", "DataVisualizationNode", "EventsQuery", "WebOverviewQuery"):
        refused = await endpoints.post("", endpoints.body({"kind": kind, "source": TRENDS}))
        assert refused.status_code == 400
        assert refused.json()["attr"] == "query__kind"


async def test_other_is_a_value_like_others_until_values_are_lumped(
    endpoints: EndpointWorld,
) -> None:
    values = ["Other", *(f"b{number}" for number in range(30))]
    await endpoints.add_events(
        [("$pageview", AT, "u", f'{{"$browser":"{value}"}}') for value in values]
    )
    limited = BY_BROWSER | {
        "breakdownFilter": BY_BROWSER["breakdownFilter"] | {"breakdown_limit": 40}
    }
    optional = {"optional_breakdown_properties": ["$browser"]}
    await endpoints.create(BY_BROWSER, name="cut", **optional)
    await endpoints.create(limited, name="whole", **optional)
    assert (await endpoints.ran("cut"))["hasMore"] is True
    assert (await endpoints.ran("whole"))["hasMore"] is False
    hidden = BY_BROWSER["breakdownFilter"] | {"breakdown_hide_other_aggregation": True}
    await endpoints.create(BY_BROWSER | {"breakdownFilter": hidden}, name="hidden", **optional)
    record = await endpoints.ran("hidden")
    assert (len(record["results"]), record["hasMore"]) == (25, True)
    inline = await endpoints.ran("whole", variables={"$browser": "Other"})
    await endpoints.patch("/whole", {"is_materialized": True})
    await endpoints.services.jobs.drain()
    table = await endpoints.ran("whole", variables={"$browser": "Other"})
    assert table["endpoint_materialized"] is True
    assert table["results"] == inline["results"]


async def test_the_preview_of_an_insight_shows_its_queries(endpoints: EndpointWorld) -> None:
    await endpoints.create(BY_BROWSER, name="a")
    record = (await endpoints.post("/a/materialization_preview", {})).json()
    assert record["can_materialize"] is True
    assert "$browser" in record["transformed_query"]
    assert "a_v1" in record["execution_query"]
    assert "{variables.$browser}" in record["execution_query"]


async def test_a_table_without_an_optional_value_lumps_as_the_raw_data_does(
    endpoints: EndpointWorld,
) -> None:
    await endpoints.add_events(
        [("$pageview", AT, "u", f'{{"$browser":"b{number}"}}') for number in range(30)]
    )
    body = {"optional_breakdown_properties": ["$browser"]}
    await endpoints.create(BY_BROWSER, name="a", **body)
    inline = await endpoints.ran("a")
    assert len(inline["results"]) == 26
    await endpoints.patch("/a", {"is_materialized": True})
    await endpoints.services.jobs.drain()
    whole = await endpoints.ran("a", refresh="force")
    assert "endpoint_materialized" not in whole
    assert whole["results"] == inline["results"]
    response = await endpoints.ran("a", variables={"$browser": "b29"})
    assert response["endpoint_materialized"] is True
    assert len(response["results"]) == 1


@pytest.mark.parametrize("value", [3, 3.0, "3", 99])
@pytest.mark.parametrize(
    "breakdown",
    [
        {"breakdown": "n", "breakdown_type": "event"},
        {"breakdown": "toInt(properties.n)", "breakdown_type": "hogql"},
    ],
)
async def test_numbers_are_values_of_tables_as_of_the_raw_data(
    endpoints: EndpointWorld, breakdown: dict[str, str], value: object
) -> None:
    await endpoints.add_events([("$pageview", AT, "u1", f'{{"n":{n}}}') for n in (3, 3, 4)])
    await endpoints.create(TRENDS | {"breakdownFilter": breakdown}, name="a", is_materialized=True)
    await endpoints.services.jobs.drain()
    variables = {breakdown["breakdown"]: value}
    table = await endpoints.ran("a", variables=variables)
    inline = await endpoints.ran("a", variables=variables, refresh="force_blocking")
    assert table["endpoint_materialized"] is True
    assert table["results"] == inline["results"]
    assert [each["count"] for each in table["results"]] == ([] if value == 99 else [2])
