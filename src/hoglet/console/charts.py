"""Metrics as chart options: outcomes as stacked bars, everything else as lines. Pure."""

from typing import NamedTuple

from hoglet.console.records.endpoints import ChartOptions
from hoglet.console.records.functions import ChartMetrics, ChartSeries

TONES = {"ok": "#2f9e66", "danger": "#e5484d", "warn": "#c98a00", "busy": "#5b7cff", "": "#8b93a1"}
"""Colors of states, readable on white and on near-black."""


class _Measure(NamedTuple):
    word: str
    tone: str
    is_outcome: bool = False


# Each run has exactly one outcome, so the outcomes add up to the number of runs.
_MEASURES = {
    "succeeded": _Measure("Succeeded", "ok", is_outcome=True),
    "failed": _Measure("Failed", "danger", is_outcome=True),
    "retried": _Measure("Retried", "warn"),
    "dead_lettered": _Measure("Dead letters", "warn"),
    "filtered": _Measure("Did not match", ""),
    "fetch": _Measure("Requests", "busy"),
}
_NOT_DRAWN = frozenset({"dead_lettered", "filtered"})  # equals "failed"; too many to show
_SAME_AS_RUNS = frozenset({"triggered", "billable_invocation"})
SERIES = ["#5b7cff", "#d9730d", "#2f9e66", "#c2417c", "#8b5cf6", "#0e8fa8", "#a8741a", "#808794"]
"""Colors of series, readable on white and on near-black."""
_TEXT = {"color": "#808794"}  # readable on white and on near-black
_GRID_LINE = {"lineStyle": {"color": "rgba(128, 135, 148, 0.25)"}}


def chart_frame(labels: list[str]) -> ChartOptions:
    """Axes, legend and tooltip of a chart over ``labels``; add ``series``."""
    return {
        "tooltip": {"trigger": "axis", "renderMode": "richText"},  # never HTML
        "aria": {"enabled": True},
        "animation": False,
        "color": SERIES,
        "textStyle": _TEXT,
        "legend": {"type": "scroll", "bottom": 0, "textStyle": _TEXT},
        "grid": {"left": 56, "right": 16, "top": 16, "bottom": 56},
        "xAxis": {"type": "category", "data": labels, "axisLabel": _TEXT},
        "yAxis": {"type": "value", "axisLabel": _TEXT, "splitLine": _GRID_LINE},
    }


def metrics_chart(metrics: ChartMetrics) -> ChartOptions:
    """Options for ECharts from ``{"labels": ["2026-01-05"], "series": [{"name", "values"}]}``."""
    frame = chart_frame(metrics["labels"])
    frame["yAxis"]["minInterval"] = 1
    frame["legend"]["show"] = False  # ``totals`` are the legend
    frame["grid"]["bottom"] = 28
    visible = [each for each in metrics["series"] if _is_shown(each)]
    drawn = [each for each in visible if each["name"] not in _NOT_DRAWN] or visible
    return frame | {"series": [_series(each) for each in drawn]}


def totals(metrics: ChartMetrics) -> list[tuple[str, int, str]]:
    """What a chart shows, as label, total and tone: ``[("Succeeded", 12, "ok"), ...]``."""
    visible = [each for each in metrics["series"] if _is_shown(each)]
    order = [*_MEASURES]
    visible.sort(
        key=lambda each: order.index(each["name"]) if each["name"] in order else len(order)
    )
    return [
        (_measure(each["name"]).word, sum(each["values"]), _measure(each["name"]).tone)
        for each in visible
    ]


def _is_shown(series: ChartSeries) -> bool:
    return series["name"] not in _SAME_AS_RUNS and any(series["values"])


def _measure(name: str) -> _Measure:
    return _MEASURES.get(name) or _Measure(name.replace("_", " ").capitalize(), "")


def _series(series: ChartSeries) -> ChartOptions:
    measure = _measure(series["name"])
    options = {"name": measure.word, "type": "line", "data": series["values"]}
    if measure.is_outcome:
        options |= {"type": "bar", "stack": "runs", "barMaxWidth": 40}
    return options | {"itemStyle": {"color": TONES[measure.tone]}}
