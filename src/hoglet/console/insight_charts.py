"""Results of insights as chart options. Pure.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from typing import Any, cast

from hoglet.console.records.endpoints import (
    ChartOptions,
    FunnelHistogram,
    FunnelStep,
    InsightSeries,
    PathEdge,
)

_STATUS_COLORS = {
    "new": "#1d4aff",
    "returning": "#36b37e",
    "resurrecting": "#f5a623",
    "dormant": "#e5484d",
}
# Tooltips are drawn on the canvas, never rendered as HTML: event names come from users.
_COMMON: ChartOptions = {
    "tooltip": {"trigger": "axis", "renderMode": "richText"},
    "aria": {"enabled": True},
}
_AS_BARS = frozenset({"StickinessQuery", "LifecycleQuery"})
_HOUR_SECONDS = 3600


def insight_chart(kind: str, results: Any) -> ChartOptions | None:
    """Options for ECharts, None if there is nothing to draw (retention is a table).

    Args:
        kind: the kind of the query, e.g. ``TrendsQuery``.
        results: the ``results`` of the run's response.
    """
    if not results or kind == "RetentionQuery":
        return None
    if kind == "PathsQuery":
        return _paths(results)
    if kind == "FunnelsQuery":
        return _funnel(results)
    if all(not each.get("data") for each in results):
        return _totals(results)
    return _over_time(kind, results)


def series_name(series: InsightSeries) -> str:
    """The name of a series, with its period in comparisons."""
    label = str(series.get("label") or "")
    period = series.get("compare_label")
    return f"{label} ({period})" if period else label


def step_name(step: FunnelStep) -> str:
    """The name of a funnel step."""
    return str(step.get("custom_name") or step.get("name") or f"step {step['order'] + 1}")


def breakdown_name(step: FunnelStep) -> str:
    """The breakdown value of a funnel's steps, e.g. ``Chrome``; several values are joined.

    With the period in comparisons.
    """
    value = step.get("breakdown_value")
    parts = value if isinstance(value, list) else [value]
    name = ", ".join("none" if part in (None, "") else str(part) for part in parts)
    period = step.get("compare_label")
    if period and "breakdown_value" not in step:
        return period
    return f"{name} ({period})" if period else name


def funnel_groups(results: list[Any]) -> list[list[FunnelStep]]:
    """The steps of each breakdown value and period."""
    if isinstance(results[0], list):
        return [steps for steps in results if steps]
    periods = dict.fromkeys(step.get("compare_label") for step in results)
    return [[step for step in results if step.get("compare_label") == each] for each in periods]


def _over_time(kind: str, results: list[InsightSeries]) -> ChartOptions:
    return _axes(results[0]["labels"], [_drawn(series, kind) for series in results])


def _drawn(series: InsightSeries, kind: str) -> ChartOptions:
    status = series.get("status")
    options: ChartOptions = {
        "name": status or series_name(series),
        "type": "bar" if kind in _AS_BARS else "line",
        "data": series["data"],
    }
    if kind == "LifecycleQuery":
        options |= {"stack": "all", "itemStyle": {"color": _STATUS_COLORS.get(str(status))}}
    if series.get("compare_label") == "previous":
        options["lineStyle"] = {"type": "dashed"}
    return options


def _totals(results: list[InsightSeries]) -> ChartOptions:
    names = [series_name(each) for each in results]
    values = [each.get("aggregated_value", each.get("count")) for each in results]
    return _axes(names, [{"name": "total", "type": "bar", "data": values, "barMaxWidth": 60}])


def _funnel(results: Any) -> ChartOptions | None:
    if isinstance(results, dict):
        return _histograms([cast("FunnelHistogram", results)])
    if "bins" in results[0]:
        return _histograms(results)
    if "data" in results[0]:
        return _over_time("TrendsQuery", [{"label": "% converted"} | each for each in results])
    groups = funnel_groups(results)
    if not groups:
        return None
    several = len(groups) > 1 or "breakdown_value" in groups[0][0]
    drawn = [
        _bar(breakdown_name(each[0]) if several else "people", _counts(each)) for each in groups
    ]
    return _axes([step_name(step) for step in groups[0]], drawn)


def _histograms(periods: list[FunnelHistogram]) -> ChartOptions | None:
    """Conversion times; compared periods have the same bins."""
    bins = periods[0]["bins"]
    labels = [f"{start / _HOUR_SECONDS:.1f} h" for start, _ in bins]
    drawn = [
        _bar(each.get("compare_label") or "people", [count for _, count in each["bins"]])
        for each in periods
    ]
    return _axes(labels, drawn) if bins else None


def _counts(steps: list[FunnelStep]) -> list[int]:
    return [step["count"] for step in steps]


def _bar(name: str, data: list[Any]) -> ChartOptions:
    label = {"show": True, "position": "top"}
    return {"name": name, "type": "bar", "data": data, "barMaxWidth": 80, "label": label}


def _axes(labels: list[Any], series: list[ChartOptions]) -> ChartOptions:
    legend: ChartOptions = {"type": "scroll", "bottom": 0, "show": len(series) > 1}
    return _COMMON | {
        "legend": legend,
        "grid": {"left": 8, "right": 16, "top": 24, "bottom": 40, "containLabel": True},
        "xAxis": {"type": "category", "data": labels},
        "yAxis": {"type": "value"},
        "series": series,
    }


def _paths(results: list[PathEdge]) -> ChartOptions:
    names = dict.fromkeys(end for each in results for end in (each["source"], each["target"]))
    links = [{key: each[key] for key in ("source", "target", "value")} for each in results]
    drawn: ChartOptions = {
        "type": "sankey",
        "data": [{"name": name} for name in names],
        "links": links,
    }
    drawn |= {"left": 8, "right": 160, "top": 16, "bottom": 16, "emphasis": {"focus": "adjacency"}}
    drawn["label"] = {"width": 150, "overflow": "truncate"}
    return _COMMON | {"tooltip": {"trigger": "item", "renderMode": "richText"}, "series": [drawn]}
