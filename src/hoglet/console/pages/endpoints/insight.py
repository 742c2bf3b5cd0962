"""The result of an insight: a chart and its figures."""

from typing import Any

import orjson
from nicegui import ui

from hoglet.console.components.data_table import DataTable, Row, column
from hoglet.console.insight_charts import (
    breakdown_name,
    funnel_groups,
    insight_chart,
    series_name,
    step_name,
)
from hoglet.console.records.endpoints import FunnelStep, RetentionCohort
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import empty


def insight_view(kind: str, results: Any) -> None:
    """Render the results of a query of ``kind``."""
    if not results:
        empty("Nothing to show", "No events in this period.", "insights")
        return
    options = insight_chart(kind, results)
    if options is not None:
        ui.echart(options).classes("w-full h-80").mark("chart")
    if kind == "RetentionQuery":
        _retention(results)
    elif figures := _figures(kind, results):
        _table(figures)
    with ui.expansion("As JSON").classes("w-full"):
        code_block(orjson.dumps(results, option=orjson.OPT_INDENT_2).decode()).classes("max-h-96")


def _figures(kind: str, results: Any) -> list[Row]:
    """Rows of the table below a chart; empty if the chart shows everything."""
    if kind == "PathsQuery":
        return [
            {"From": result["source"], "To": result["target"], "People": result["value"]}
            for result in results
        ]
    if kind == "FunnelsQuery":
        if isinstance(results, dict) or "data" in results[0] or "bins" in results[0]:
            return []
        return [row for group in funnel_groups(results) for row in _steps(group)]
    if kind == "LifecycleQuery":
        return [{"Status": result["status"], "Sum": result["count"]} for result in results]
    return [
        {"Series": series_name(result), "Total": result.get("aggregated_value", result["count"])}
        for result in results
    ]


def _steps(steps: list[FunnelStep]) -> list[Row]:
    first = steps[0]["count"] if steps else 0
    return [
        ({"Group": breakdown_name(step)} if {"breakdown_value", "compare_label"} & {*step} else {})
        | {
            "Step": step_name(step),
            "People": step["count"],
            "Conversion": f"{step['count'] / first:.0%}" if first else "–",
            "Average time": _duration(step["average_conversion_time"]),
        }
        for step in steps
    ]


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def _table(rows: list[Row]) -> None:
    columns = [
        column(name, name, "number" if isinstance(value, int | float) else "text")
        for name, value in rows[0].items()
    ]
    numbered = [row | {"#": number} for number, row in enumerate(rows)]
    DataTable("Figures", columns, numbered, key="#").mark("figures")


def _retention(results: list[RetentionCohort]) -> None:
    """Cohorts as rows, periods as columns; darker means more returned."""
    periods = max((each["values"] for each in results), key=len)
    box = ui.element("div").classes("w-full overflow-x-auto")
    with box, ui.element("table").classes("text-sm text-right").mark("retention"):
        with ui.element("tr"):
            for name in ("Cohort", "People", *(value["label"] for value in periods)):
                _cell("th", name)
        for cohort in results:
            _cohort(cohort)


def _cohort(cohort: RetentionCohort) -> None:
    counts = [value["count"] for value in cohort["values"]]
    group = cohort.get("breakdown_value")
    name = cohort["date"][:10] + ("" if group is None else f" · {group}")
    with ui.element("tr"):
        _cell("th", name)
        _cell("td", f"{counts[0] if counts else 0:,}")
        for count in counts:
            share = count / counts[0] if counts[0] else 0
            cell = _cell("td", f"{share:.0%}")
            cell.style(f"background: rgba(29, 74, 255, {share * 0.6:.2f})").tooltip(f"{count:,}")


def _cell(tag: str, text: str) -> ui.element:
    with ui.element(tag).classes("px-2 py-1 whitespace-nowrap") as cell:
        ui.label(text)
    return cell
