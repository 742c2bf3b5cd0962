"""Metrics and builds as chart options."""

from datetime import UTC, datetime
from typing import Any

from hoglet.console.charts import metrics_chart, totals
from hoglet.console.pages.endpoints.builds import timeline


def test_outcomes_are_stacked_bars_and_the_rest_are_lines() -> None:
    metrics = {
        "labels": ["2026-01-04", "2026-01-05"],
        "series": [{"name": "succeeded", "values": [1, 2]}, {"name": "new", "values": [0, 3]}],
    }

    options = metrics_chart(metrics)

    assert options["xAxis"]["data"] == ["2026-01-04", "2026-01-05"]
    assert [(each["name"], each["data"]) for each in options["series"]] == [
        ("Succeeded", [1, 2]),
        ("New", [0, 3]),
    ]
    assert [each["type"] for each in options["series"]] == ["bar", "line"]


def test_what_only_repeats_the_runs_is_left_out_and_the_legend_has_totals() -> None:
    names = ("billable_invocation", "dead_lettered", "failed", "triggered", "succeeded")
    series = [{"name": name, "values": [0, 1200]} for name in names[:-1]]
    metrics = {"labels": ["a", "b"], "series": [*series, {"name": "succeeded", "values": [0, 0]}]}

    assert totals(metrics) == [("Failed", 1200, "danger"), ("Dead letters", 1200, "warn")]
    assert [each["name"] for each in metrics_chart(metrics)["series"]] == ["Failed"]


def test_events_that_did_not_match_are_drawn_only_if_nothing_ran() -> None:
    filtered = {"name": "filtered", "values": [9000]}
    ran = {"name": "succeeded", "values": [3]}

    drawn = [
        [each["name"] for each in metrics_chart({"labels": ["a"], "series": series})["series"]]
        for series in ([filtered], [filtered, ran])
    ]

    assert drawn == [["Did not match"], ["Succeeded"]]


def build(at: str, ended: str | None, **fields: Any) -> dict[str, Any]:
    times = {"started_at": f"2026-01-05T{at}Z", "ended_at": ended and f"2026-01-05T{ended}Z"}
    return {"status": "Completed", "is_unchanged": False, **times, **fields}


def test_builds_are_bars_by_how_they_ended_in_the_projects_zone() -> None:
    builds = [
        build("12:00:00", None, status="Running"),
        build("11:00:00", "11:00:01", is_unchanged=True),
        build("10:00:00", "10:00:30", status="Failed"),
    ]

    options = timeline(builds, datetime(2026, 1, 5, 12, 0, 7, tzinfo=UTC), "Europe/Berlin")

    assert options["xAxis"]["data"] == ["01-05 11:00", "01-05 12:00", "01-05 13:00"]
    assert {each["name"]: each["data"] for each in options["series"]} == {
        "Failed": [30.0, None, None],
        "Up to date": [None, 1.0, None],
        "Building": [None, None, 7.0],
    }
