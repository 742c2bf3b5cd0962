"""Results of insights become charts: one case for each shape of result.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from typing import Any

import pytest

from hoglet.console.insight_charts import insight_chart

DAYS = {"days": ["2026-01-05", "2026-01-06"], "labels": ["5-Jan-2026", "6-Jan-2026"]}


def step(name: str, count: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "custom_name": None, "order": 0, "count": count, **more}


@pytest.mark.parametrize(
    ("kind", "results", "labels", "drawn"),
    [
        (
            "TrendsQuery",
            [
                {"label": "seen", "data": [1, 2], "compare_label": "current", **DAYS},
                {"label": "seen", "data": [0, 1], "compare_label": "previous", **DAYS},
            ],
            DAYS["labels"],
            [("seen (current)", "line", [1, 2]), ("seen (previous)", "line", [0, 1])],
        ),
        (
            "TrendsQuery",
            [{"label": "seen", "data": [], "labels": [], "count": 3, "aggregated_value": 3}],
            ["seen"],
            [("total", "bar", [3])],
        ),
        (
            "LifecycleQuery",
            [{"label": "seen - new", "status": "new", "data": [1, 0], **DAYS}],
            DAYS["labels"],
            [("new", "bar", [1, 0])],
        ),
        (
            "FunnelsQuery",
            [step("seen", 4), step("bought", 1)],
            ["seen", "bought"],
            [("people", "bar", [4, 1])],
        ),
        (
            "FunnelsQuery",
            [[step("seen", 4, breakdown_value=["Chrome"])], [step("seen", 1, breakdown_value="")]],
            ["seen"],
            [("Chrome", "bar", [4]), ("none", "bar", [1])],
        ),
        (
            "FunnelsQuery",
            [step("seen", 4, compare_label="current"), step("seen", 2, compare_label="previous")],
            ["seen"],
            [("current", "bar", [4]), ("previous", "bar", [2])],
        ),
        (
            "FunnelsQuery",
            [
                [step("seen", 4, breakdown_value=["Chrome"], compare_label="current")],
                [step("seen", 1, breakdown_value=["Chrome"], compare_label="previous")],
            ],
            ["seen"],
            [("Chrome (current)", "bar", [4]), ("Chrome (previous)", "bar", [1])],
        ),
        (
            "FunnelsQuery",
            [
                {"bins": [[0, 3]], "compare_label": "current"},
                {"bins": [[0, 1]], "compare_label": "previous"},
            ],
            ["0.0 h"],
            [("current", "bar", [3]), ("previous", "bar", [1])],
        ),
        (
            "FunnelsQuery",
            {"bins": [[0, 3], [5400, 1]], "average_conversion_time": 60.0},
            ["0.0 h", "1.5 h"],
            [("people", "bar", [3, 1])],
        ),
        (
            "FunnelsQuery",
            [{"count": 2, "data": [50.0, 100.0], **DAYS}],
            DAYS["labels"],
            [("% converted", "line", [50.0, 100.0])],
        ),
    ],
)
def test_series(kind: str, results: Any, labels: list[str], drawn: list[Any]) -> None:
    options = insight_chart(kind, results)

    assert options is not None
    assert options["xAxis"]["data"] == labels
    assert [(each["name"], each["type"], each["data"]) for each in options["series"]] == drawn
    assert options["tooltip"]["renderMode"] == "richText"


def test_paths_are_a_sankey() -> None:
    edge = {"source": "1_/", "target": "2_/docs", "value": 2, "average_conversion_time": 1.0}

    options = insight_chart("PathsQuery", [edge])

    assert options is not None
    assert options["series"][0]["data"] == [{"name": "1_/"}, {"name": "2_/docs"}]
    assert options["series"][0]["links"] == [{"source": "1_/", "target": "2_/docs", "value": 2}]


@pytest.mark.parametrize(
    ("kind", "results"),
    [
        ("TrendsQuery", []),
        ("FunnelsQuery", {"bins": [], "average_conversion_time": None}),
        ("FunnelsQuery", [[]]),
        ("RetentionQuery", [{"date": "2026-01-05T00:00:00Z", "values": []}]),
    ],
)
def test_nothing_to_draw(kind: str, results: Any) -> None:
    assert insight_chart(kind, results) is None
