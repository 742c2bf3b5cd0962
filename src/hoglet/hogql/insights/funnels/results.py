"""Builds the results of funnels from their rows.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.insights.breakdowns import Breakdown, clean, is_rest
from hoglet.hogql.insights.build_result import Rows
from hoglet.hogql.insights.date_range import DateSpan, previous_span
from hoglet.hogql.insights.sampling import scaled
from hoglet.hogql.insights.series import Node, action_object

_MAX_BINS = 60
"""Maximum number of bins without ``binCount``."""


def shape_steps(
    rows: Rows,
    steps: Sequence[Node],
    breakdown: Breakdown | None,
    context: QueryContext,
    factor: float | None,
) -> list[Any]:
    """One item per step; with a breakdown a list of such lists, the largest first.

    Args:
        rows: ``breakdown, count_0, count_1, average_1, median_1, count_2 ...``.
        steps: the series.
        breakdown: labels values, or None.
        context: provides the names of actions.
        factor: the sampling factor.
    """
    if breakdown is None:
        return _steps_of(rows[0] if rows else None, steps, context, factor)
    visible = [row for row in rows if breakdown.shows(row[0])]
    ordered = sorted(visible, key=lambda row: (is_rest(row[0]), -row[1], list(row[0])))
    groups: list[Any] = []
    for row in ordered:
        values = clean(row[0])
        results = _steps_of(row, steps, context, factor)
        view = {"breakdown": breakdown.named(values), "breakdown_value": values}
        groups.append([item | view for item in results])
    return groups


def _steps_of(
    row: Sequence[Any] | None, steps: Sequence[Node], context: QueryContext, factor: float | None
) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = []
    for order, node in enumerate(steps):
        action = action_object(node, order, context)
        column = 1 + max(0, 3 * order - 2)
        results.append(
            {
                "action_id": action["id"],
                "name": action["name"],
                "custom_name": action["custom_name"],
                "order": order,
                "type": action["type"],
                "count": scaled(row[column], factor) if row is not None else 0,
                "people": [],
                "average_conversion_time": _time(row, column + 1) if order else None,
                "median_conversion_time": _time(row, column + 2) if order else None,
            }
        )
    return results


def _time(row: Sequence[Any] | None, column: int) -> float | None:
    value = row[column] if row is not None else None
    return None if value is None or value != value else float(value)  # noqa: PLR0124 (NaN)


def shape_trends(rows: Rows, span: DateSpan, breakdown: Breakdown | None) -> list[Any]:
    """The conversion rate in percent for each interval; 0 without entries.

    Args:
        rows: ``bucket, breakdown, entered, done``.
        span: the intervals.
        breakdown: labels values, or None.
    """
    count = len(span.buckets())
    lines: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0] * count)
    sizes: dict[tuple[str, ...], int] = defaultdict(int)
    if breakdown is None:
        lines[("",)]
    for index, values, entered, done in rows:
        if 0 <= int(index) < count and entered:
            lines[tuple(values)][int(index)] = round(100 * done / entered, 2)
            sizes[tuple(values)] += entered
    visible = [key for key in lines if breakdown is None or breakdown.shows(key)]
    ordered = sorted(visible, key=lambda key: (is_rest(key), -sizes[key], key))
    return [_trend(key, lines[key], span, breakdown) for key in ordered]


def _trend(
    key: tuple[str, ...], data: list[float], span: DateSpan, breakdown: Breakdown | None
) -> dict[str, Any]:
    visible = span.on_days(data, span.days_of_week)
    line: dict[str, Any] = {
        "count": len(visible),
        "data": visible,
        "days": span.on_days(span.days(), span.days_of_week),
        "labels": span.on_days(span.labels(), span.days_of_week),
    }
    if breakdown is None:
        return line
    if breakdown.is_cohorts:
        line["breakdown"] = breakdown.named(clean(key))
    return line | {"breakdown_value": clean(key)}


type Edges = tuple[float, int, int]
"""Histogram bins: start of the first bin, width in seconds, number of bins."""


def histogram_edges(seconds: Sequence[float], bins: int) -> Edges:
    """The bins of conversion times.

    Args:
        seconds: one number per converted person.
        bins: number of bins; 0 for the cube root of the number of persons.
    """
    if not seconds:
        return 0, 1, 0
    count = bins or min(math.ceil(len(seconds) ** (1 / 3)), _MAX_BINS)
    low = math.floor(min(seconds))
    return low, max(math.ceil((max(seconds) - low) / count), 1), count


def shape_times(seconds: Sequence[float], edges: Edges, factor: float | None) -> dict[str, Any]:
    """Histogram of conversion times: ``[[seconds from, persons], ...]``; may be empty.

    Args:
        seconds: one number per converted person.
        edges: the result of ``histogram_edges``.
        factor: the sampling factor.
    """
    low, width, count = edges
    bins = [[low + width * index, 0] for index in range(count + 1)] if count else []
    for value in seconds:
        bins[min(int((value - low) / width), count)][1] += 1
    bins = [[edge, scaled(persons, factor)] for edge, persons in bins]
    average = sum(seconds) / len(seconds) if seconds else None
    return {"bins": bins, "average_conversion_time": average}


type Item = dict[str, Any]

_LABELS = ("current", "previous")


def periods_of(query: Mapping[str, Any], span: DateSpan) -> list[DateSpan]:
    """The range of the query, and the one it is compared with, if any."""
    is_compared = (query.get("compareFilter") or {}).get("compare")
    return [span, previous_span(query, span)] if is_compared else [span]


def merged(results: Sequence[list[Any]]) -> list[Any]:
    """The items of both periods: steps, trends, or the steps of every breakdown value.

    A value that occurs in only one period is listed with zeros for the other one.
    """
    if any(result and isinstance(result[0], list) for result in results):
        results = _aligned(results)
    return [
        _labelled(item, label)
        for label, result in zip(_LABELS, results, strict=True)
        for item in result
    ]


def merged_times(seconds: Sequence[Sequence[float]], bins: int, factor: float | None) -> list[Item]:
    """Histograms of conversion times, with the same bins."""
    edges = histogram_edges([value for period in seconds for value in period], bins)
    return [
        _labelled(shape_times(period, edges, factor), label)
        for label, period in zip(_LABELS, seconds, strict=True)
    ]


def _labelled(item: Any, label: str) -> Any:
    if isinstance(item, list):
        return [_labelled(step, label) for step in item]
    return item | {"compare": True, "compare_label": label}


def _aligned(results: Sequence[list[list[Item]]]) -> list[list[list[Item]]]:
    by_value = [{_value_of(steps): steps for steps in result} for result in results]
    values = list(dict.fromkeys(value for period in by_value for value in period))
    known = {value: steps for period in reversed(by_value) for value, steps in period.items()}
    return [[period.get(value) or _zeros(known[value]) for value in values] for period in by_value]


def _value_of(steps: list[Item]) -> str:
    return repr(steps[0]["breakdown_value"])


def _zeros(steps: list[Item]) -> list[Item]:
    times = {"average_conversion_time": None, "median_conversion_time": None}
    return [step | {"count": 0} | times for step in steps]
