"""Metrics as chart options."""

from hoglet.console.charts import metrics_chart


def test_outcomes_are_stacked_bars_and_the_rest_are_lines() -> None:
    metrics = {
        "labels": ["2026-01-04", "2026-01-05"],
        "series": [{"name": "succeeded", "values": [1, 2]}, {"name": "new", "values": [0, 3]}],
    }

    options = metrics_chart(metrics)

    assert options["xAxis"]["data"] == ["2026-01-04", "2026-01-05"]
    assert [(each["name"], each["data"]) for each in options["series"]] == [
        ("succeeded", [1, 2]),
        ("new", [0, 3]),
    ]
    assert [each["type"] for each in options["series"]] == ["bar", "line"]
    assert "itemStyle" in options["series"][0]
    assert "itemStyle" not in options["series"][1]
