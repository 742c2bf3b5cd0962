"""Metrics as chart options: outcomes as stacked bars, everything else as lines. Pure."""

from typing import Any

_OUTCOMES = frozenset(
    {"succeeded", "failed"}
)  # each run has exactly one of them, so their sum is the number of runs
_COLORS = {
    "succeeded": "#36b37e",
    "failed": "#e5484d",
    "dead_lettered": "#7a1f2b",
    "filtered": "#9aa4b2",
    "triggered": "#1d4aff",
    "fetch": "#f5a623",
}


_TEXT = {"color": "#808794"}  # readable on white and on near-black
_GRID_LINE = {"lineStyle": {"color": "rgba(128, 135, 148, 0.25)"}}


def chart_frame(labels: list[str]) -> dict[str, Any]:
    """Axes, legend and tooltip of a chart over ``labels``; add ``series``."""
    return {
        "tooltip": {"trigger": "axis", "renderMode": "richText"},  # never HTML
        "aria": {"enabled": True},
        "textStyle": _TEXT,
        "legend": {"type": "scroll", "bottom": 0, "textStyle": _TEXT},
        "grid": {"left": 56, "right": 16, "top": 16, "bottom": 56},
        "xAxis": {"type": "category", "data": labels, "axisLabel": _TEXT},
        "yAxis": {"type": "value", "axisLabel": _TEXT, "splitLine": _GRID_LINE},
    }


def metrics_chart(metrics: dict[str, Any]) -> dict[str, Any]:
    """Options for ECharts from ``{"labels": ["2026-01-05"], "series": [{"name", "values"}]}``."""
    frame = chart_frame(metrics["labels"])
    frame["yAxis"]["minInterval"] = 1
    return frame | {"series": [_series(each) for each in metrics["series"]]}


def _series(series: dict[str, Any]) -> dict[str, Any]:
    options = {"name": series["name"], "type": "line", "data": series["values"]}
    if series["name"] in _OUTCOMES:
        options |= {"type": "bar", "stack": "runs", "barMaxWidth": 40}
    color = _COLORS.get(series["name"])
    return options if color is None else options | {"itemStyle": {"color": color}}
