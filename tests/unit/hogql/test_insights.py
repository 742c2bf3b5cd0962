# ruff: noqa: E501 (a query reads best on one line)
"""Insight queries: their results for the events of the test world."""

import msgspec
import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from hoglet.kit.errors import SourceError
from support.hogql_world import CONTEXT, UNLIMITED, HogqlWorld

UNLIMITED_CONTEXT = msgspec.structs.replace(CONTEXT, limits=UNLIMITED)
DATES = {"date_from": "2026-01-04", "date_to": "2026-01-08"}
PAGE = {"kind": "EventsNode", "event": "$pageview"}
CLICK = {"kind": "EventsNode", "event": "$autocapture"}
PRICE = {"math": "sum", "math_property": "price"}
BUY = {"kind": "EventsNode", "event": "purchase"}


@pytest.fixture
def run(hogql_world: HogqlWorld):
    def run(kind: str, **query):
        full = {"kind": kind, "dateRange": DATES, **query}
        plan = build_insight(full, UNLIMITED_CONTEXT)
        compiled = [compile_query(each, context=UNLIMITED_CONTEXT) for each in plan.queries]
        return plan.shape([hogql_world.raw(each) for each in compiled])

    return run


# --- trends


def test_trend_has_a_value_for_each_day(run) -> None:
    (line,) = run("TrendsQuery", series=[PAGE])

    assert line["data"] == [0, 2, 0, 1, 0]
    assert line["labels"][0] == "4-Jan-2026"
    assert line["days"][-1] == "2026-01-08"
    assert (line["label"], line["count"]) == ("$pageview", 3)
    assert line["action"]["id"] == "$pageview"
    assert "breakdown_value" not in line


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ({"math": "dau"}, [0, 1, 0, 1, 0]),
        ({"math": "weekly_active"}, [0, 1, 1, 2, 2]),
        ({"math": "monthly_active"}, [0, 1, 1, 2, 2]),
        ({"math": "unique_session"}, [0, 1, 0, 1, 0]),
        ({"math": "sum", "math_property": "price"}, [0, 12.5, 0, 0, 0]),
        ({"math": "avg", "math_property": "price"}, [0, 6.25, 0, 0, 0]),
        ({"math": "min", "math_property": "price"}, [0, 2.5, 0, 0, 0]),
        ({"math": "max", "math_property": "price"}, [0, 10, 0, 0, 0]),
        ({"math": "median", "math_property": "price"}, [0, 6.25, 0, 0, 0]),
        ({"math": "p90", "math_property": "price"}, [0, 9.25, 0, 0, 0]),
        ({"math": "hogql", "math_hogql": "count() * 2"}, [0, 4, 0, 2, 0]),
        ({**PRICE, "math_multiplier": 0.5}, [0, 6.25, 0, 0, 0]),
        ({"properties": [{"key": "$browser", "value": "Chrome"}]}, [0, 1, 0, 0, 0]),
        ({"fixedProperties": [{"key": "$browser", "value": "Chrome"}]}, [0, 1, 0, 0, 0]),
    ],
    ids=str,
)
def test_math(run, series, expected) -> None:
    (line,) = run("TrendsQuery", series=[{**PAGE, **series}])

    assert line["data"] == expected


@pytest.mark.parametrize(
    ("interval", "dates", "expected"),
    [
        ("week", DATES, [3]),
        ("month", DATES, [3]),
        ("hour", {"date_from": "2026-01-05", "date_to": "2026-01-05"}, [0] * 10 + [2] + [0] * 13),
    ],
)
def test_intervals(run, interval: str, dates, expected) -> None:
    (line,) = run("TrendsQuery", series=[PAGE], interval=interval, dateRange=dates)

    assert line["data"] == expected


def test_default_range_is_seven_days_up_to_today(run) -> None:
    (line,) = run("TrendsQuery", series=[PAGE], dateRange=None)

    assert line["days"][0] == "2026-01-03"
    assert line["days"][-1] == "2026-01-10"


def test_breakdown(run) -> None:
    lines = run("TrendsQuery", series=[PAGE], breakdownFilter={"breakdown": "$browser"})

    assert {line["breakdown_value"]: line["count"] for line in lines} == {
        "Chrome": 1, "Firefox": 1, "Safari": 1,
    }  # fmt: skip
    assert lines[0]["label"] == lines[0]["breakdown_value"]


def test_missing_breakdown_values_are_null(run) -> None:
    lines = run("TrendsQuery", series=[BUY], breakdownFilter={"breakdown": "plan"})

    assert [(line["breakdown_value"], line["label"]) for line in lines] == [
        (None, "null"), ("pro", "pro"),
    ] or [(line["breakdown_value"], line["label"]) for line in lines] == [
        ("pro", "pro"), (None, "null"),
    ]  # fmt: skip


def test_several_breakdowns_and_the_rest(run) -> None:
    breakdowns = [{"property": "$browser"}, {"property": "email", "type": "person"}]

    first, rest = run(
        "TrendsQuery",
        series=[PAGE],
        breakdownFilter={"breakdowns": breakdowns, "breakdown_limit": 1},
    )

    assert first["breakdown_value"] == ["Chrome", "ann@b.com"]
    assert first["label"] == "Chrome::ann@b.com"
    assert (rest["breakdown_value"], rest["count"]) == (["Other", "Other"], 2)


def test_compare(run) -> None:
    current, previous = run(
        "TrendsQuery", series=[PAGE], compareFilter={"compare": True, "compare_to": "-1d"}
    )

    assert (current["compare_label"], current["data"]) == ("current", [0, 2, 0, 1, 0])
    assert (previous["compare_label"], previous["data"]) == ("previous", [0, 0, 2, 0, 1])
    assert previous["days"][0] == "2026-01-03"


def test_total_display(run) -> None:
    (line,) = run("TrendsQuery", series=[PAGE], trendsFilter={"display": "BoldNumber"})

    assert (line["aggregated_value"], line["data"], line["days"]) == (3, [], [])


def test_cumulative_display(run) -> None:
    (line,) = run(
        "TrendsQuery", series=[PAGE], trendsFilter={"display": "ActionsLineGraphCumulative"}
    )

    assert line["data"] == [0, 2, 2, 3, 3]


def test_formula(run) -> None:
    (line,) = run("TrendsQuery", series=[PAGE, CLICK], trendsFilter={"formula": "B / A * 100"})

    assert line["data"] == [0, 50, 0, 0, 0]
    assert line["action"] is None


def test_actions_and_test_accounts(run) -> None:
    (line,) = run("TrendsQuery", series=[{"kind": "ActionsNode", "id": 1}], filterTestAccounts=True)

    assert line["count"] == 1
    assert line["label"] == "Buy"


def test_sampling_scales_counts_up(run) -> None:
    (line,) = run("TrendsQuery", series=[PAGE], samplingFactor=0.999999)

    assert round(line["count"]) == 3


# --- funnels


def test_funnel_steps_and_times(run) -> None:
    first, second, third = run("FunnelsQuery", series=[PAGE, CLICK, BUY])

    assert [first["count"], second["count"], third["count"]] == [2, 1, 1]
    assert first["average_conversion_time"] is None
    assert second["average_conversion_time"] == 360
    assert third["median_conversion_time"] == 134_640
    assert (second["order"], second["action_id"], second["people"]) == (1, "$autocapture", [])


def test_steps_take_no_notice_of_the_section_of_trends(run) -> None:
    from_first_step = run("FunnelsQuery", series=[PAGE, BUY], funnelsFilter={"funnelFromStep": 1})

    assert from_first_step == run("FunnelsQuery", series=[PAGE, BUY])


def test_funnel_window(run) -> None:
    window = {"funnelWindowInterval": 1, "funnelWindowIntervalUnit": "hour"}

    steps = run("FunnelsQuery", series=[PAGE, CLICK, BUY], funnelsFilter=window)

    assert [step["count"] for step in steps] == [2, 2, 1] or [step["count"] for step in steps] == [
        2,
        1,
        0,
    ]


def test_the_same_step_twice_needs_two_events(run) -> None:
    steps = run("FunnelsQuery", series=[PAGE, PAGE])

    assert [step["count"] for step in steps] == [2, 1]


def test_unordered_funnel(run) -> None:
    steps = run(
        "FunnelsQuery", series=[BUY, PAGE, CLICK], funnelsFilter={"funnelOrderType": "unordered"}
    )

    assert [step["count"] for step in steps] == [2, 2, 1]


def test_funnel_breakdown_is_a_list_of_lists(run) -> None:
    groups = run("FunnelsQuery", series=[PAGE, BUY], breakdownFilter={"breakdown": "$browser"})

    assert {group[0]["breakdown_value"][0]: [step["count"] for step in group] for group in groups} == {
        "Chrome": [1, 1], "Firefox": [1, 1],
    }  # fmt: skip


def test_funnel_trends(run) -> None:
    (line,) = run("FunnelsQuery", series=[PAGE, CLICK], funnelsFilter={"funnelVizType": "trends"})

    assert line["data"] == [0, 100, 0, 0, 0]
    assert len(line["days"]) == 5


def test_time_to_convert(run) -> None:
    answer = run(
        "FunnelsQuery", series=[PAGE, CLICK], funnelsFilter={"funnelVizType": "time_to_convert"}
    )

    assert answer["average_conversion_time"] == 360
    assert sum(count for _, count in answer["bins"]) == 1


# --- retention, lifecycle, stickiness, paths


def _retention(**more):
    return {
        "period": "Day",
        "totalIntervals": 4,
        "targetEntity": {"id": "$pageview", "type": "events"},
        "returningEntity": {"id": "purchase", "type": "events"},
        **more,
    }


def test_retention(run) -> None:
    rows = run("RetentionQuery", retentionFilter=_retention())

    assert [row["label"] for row in rows] == ["Day 0", "Day 1", "Day 2", "Day 3"]
    assert [value["count"] for value in rows[0]["values"]] == [1, 1, 0, 0]
    assert [value["count"] for value in rows[2]["values"]] == [1, 0]
    assert rows[0]["date"].startswith("2026-01-05")


def test_first_time_retention(run) -> None:
    rows = run("RetentionQuery", retentionFilter=_retention(retentionType="retention_first_time"))

    assert [row["values"][0]["count"] for row in rows] == [1, 0, 1, 0]


def test_retention_breakdown(run) -> None:
    rows = run(
        "RetentionQuery", retentionFilter=_retention(), breakdownFilter={"breakdown": "$browser"}
    )

    assert {row["breakdown_value"] for row in rows} == {"Chrome", "Firefox", "Safari"}


def test_lifecycle(run) -> None:
    lines = {line["status"]: line["data"] for line in run("LifecycleQuery", series=[PAGE])}

    assert list(lines) == ["new", "returning", "resurrecting", "dormant"]
    assert lines["resurrecting"] == [0, 1, 0, 1, 0]
    assert lines["dormant"] == [0, 0, -1, 0, -1]


def test_new_in_the_interval_of_creation(run) -> None:
    lines = run(
        "LifecycleQuery",
        series=[PAGE],
        interval="month",
        dateRange={"date_from": "2026-01-01", "date_to": "2026-01-31"},
    )

    assert {line["status"]: line["count"] for line in lines}["new"] == 2


def test_stickiness(run) -> None:
    first, second = run("StickinessQuery", series=[PAGE, BUY])

    assert first["data"] == [2, 0, 0, 0, 0]
    assert second["labels"][:2] == ["1 day", "2 days"]
    assert second["days"] == [1, 2, 3, 4, 5]


def test_paths(run) -> None:
    edges = run("PathsQuery", pathsFilter={"includeEventTypes": ["$pageview", "custom_event"]})

    assert {
        "source": "1_https://a.com/x?utm=g",
        "target": "2_https://a.com/y",
        "value": 1,
        "average_conversion_time": 300_000.0,
    } in edges


def test_paths_from_a_start(run) -> None:
    edges = run("PathsQuery", pathsFilter={"startPoint": "https://a.com/y"})

    assert [edge["source"] for edge in edges] == ["1_https://a.com/y"]


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("SurveysQuery", {}),
        ("TrendsQuery", {"series": []}),
        ("TrendsQuery", {"series": [{"kind": "ActionsNode", "id": 99}]}),
        ("TrendsQuery", {"series": [{"kind": "DataWarehouseNode"}]}),
        ("TrendsQuery", {"series": [{**PAGE, "math": "wow"}]}),
        ("TrendsQuery", {"series": [{**PAGE, "math": "sum"}]}),
        ("TrendsQuery", {"series": [PAGE], "interval": "century"}),
        ("TrendsQuery", {"series": [PAGE], "dateRange": {"date_from": "someday"}}),
        (
            "TrendsQuery",
            {"series": [PAGE], "interval": "minute", "dateRange": {"date_from": "-1y"}},
        ),
        (
            "TrendsQuery",
            {"series": [PAGE], "breakdownFilter": {"breakdown": "x", "breakdown_type": "y"}},
        ),
        ("TrendsQuery", {"series": [PAGE], "breakdownFilter": {"breakdowns": [{"type": "event"}]}}),
        ("TrendsQuery", {"series": [PAGE], "breakdownFilter": {"breakdown": [None]}}),
        ("TrendsQuery", {"series": [PAGE], "breakdownFilter": {"breakdown": {"a": 1}}}),
        ("TrendsQuery", {"series": [PAGE], "breakdownFilter": {"breakdown": True}}),
        (
            "TrendsQuery",
            {
                "series": [PAGE],
                "breakdownFilter": {
                    "breakdowns": [{"property": "x"}, {"property": 5, "type": "cohort"}]
                },
            },
        ),
        ("TrendsQuery", {"series": [PAGE], "compareFilter": {"compare": "false"}}),
        ("TrendsQuery", {"series": [PAGE], "dateRange": {"explicitDate": "yes"}}),
        ("TrendsQuery", {"series": [PAGE], "conversionGoal": {"actionId": 1}}),
        ("TrendsQuery", {"series": [PAGE], "trendsFilter": {"formula": "A + B"}}),
        ("TrendsQuery", {"series": [PAGE], "trendsFilter": {"formula": "A + true"}}),
        ("TrendsQuery", {"series": [{**PAGE, "math": "hogql", "math_hogql": "max(timestamp)"}]}),
        ("TrendsQuery", {"series": [{**PAGE, "math": "hogql", "math_hogql": "max(event)"}]}),
        ("TrendsQuery", {"series": [{**PAGE, "math": "hogql", "math_hogql": "groupArray(1)"}]}),
        ("TrendsQuery", {"series": [{**PAGE, "math_multiplier": 2}]}),
        ("TrendsQuery", {"series": [{**PAGE, "math_multiplier": "2"}]}),
        ("TrendsQuery", {"series": [{**PAGE, **PRICE, "math_property_type": "planet"}]}),
        (
            "TrendsQuery",
            {"series": [{**PAGE, **PRICE, "math_property_revenue_currency": {"static": "EUR"}}]},
        ),
        ("RetentionQuery", {"retentionFilter": {"totalIntervals": -1}}),
        ("RetentionQuery", {"retentionFilter": {"totalIntervals": 101}}),
        ("RetentionQuery", {"retentionFilter": {"cumulative": "yes"}}),
        ("RetentionQuery", {"retentionFilter": {"aggregationType": "sum"}}),
        ("RetentionQuery", {"retentionFilter": {"targetEntity": {"type": "data_warehouse"}}}),
        ("LifecycleQuery", {"series": [PAGE], "lifecycleFilter": {"toggledLifecycles": ["old"]}}),
        ("LifecycleQuery", {"series": [PAGE], "breakdownFilter": {"breakdown": "x"}}),
        ("StickinessQuery", {"series": [PAGE], "breakdownFilter": {"breakdown": "x"}}),
        ("PathsQuery", {"pathsFilter": {}, "breakdownFilter": {"breakdown": "x"}}),
        ("FunnelsQuery", {"series": []}),
        ("FunnelsQuery", {"series": [PAGE], "funnelsFilter": {"funnelOrderType": "random"}}),
        ("FunnelsQuery", {"series": [PAGE, {**BUY, "optionalInFunnel": "yes"}]}),
        ("FunnelsQuery", {"series": [PAGE], "funnelsFilter": {"binCount": -1}}),
        ("FunnelsQuery", {"series": [PAGE], "funnelsFilter": {"funnelWindowInterval": -1}}),
        (
            "FunnelsQuery",
            {
                "series": [PAGE, BUY],
                "funnelsFilter": {"funnelVizType": "trends", "funnelFromStep": 1},
            },
        ),
        (
            "FunnelsQuery",
            {
                "series": [PAGE, BUY],
                "funnelsFilter": {
                    "exclusions": [{"event": "x", "funnelFromStep": 1, "funnelToStep": 1}]
                },
            },
        ),
        ("FunnelsQuery", {"series": [PAGE], "funnelsFilter": {"funnelVizType": "flow"}}),
        (
            "FunnelsQuery",
            {
                "series": [PAGE],
                "breakdownFilter": {"breakdown": "$browser"},
                "funnelsFilter": {"breakdownAttributionType": "nth_touch"},
            },
        ),
        ("RetentionQuery", {"retentionFilter": {"period": "Decade"}}),
        ("RetentionQuery", {"retentionFilter": {"retentionCustomBrackets": [1, 0]}}),
        ("RetentionQuery", {"retentionFilter": {"retentionCustomBrackets": [True]}}),
        ("RetentionQuery", {"retentionFilter": {"retentionCustomBrackets": [1] * 101}}),
        ("StickinessQuery", {"series": [PAGE], "intervalCount": 0}),
        ("StickinessQuery", {"series": [PAGE], "intervalCount": 1.5}),
        ("LifecycleQuery", {"series": [PAGE, BUY]}),
        ("PathsQuery", {"pathsFilter": {"includeEventTypes": ["hogql"]}}),
        ("PathsQuery", {"pathsFilter": {"localPathCleaningFilters": [{"regex": "("}]}}),
        ("PathsQuery", {"pathsFilter": {}, "funnelPathsFilter": {"funnelStep": 1}}),
    ],
    ids=str,
)
def test_refused(run, kind: str, query) -> None:
    with pytest.raises(SourceError):
        run(kind, **query)


@pytest.mark.parametrize("formula", ["A * 1e308 * 1e308", "0 - A / 1e-308 / 1e-308"])
def test_numbers_too_large_are_0(run, formula: str) -> None:
    (line,) = run("TrendsQuery", series=[PAGE], trendsFilter={"formula": formula})

    assert line["data"] == [0, 0, 0, 0, 0]


def test_a_formula_is_arithmetic_only(run) -> None:
    with pytest.raises(SourceError):
        run("TrendsQuery", series=[PAGE], trendsFilter={"formula": "sleep(1)"})
