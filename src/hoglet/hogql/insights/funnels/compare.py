"""Funnels compared with an earlier period: the results of both, each with its label.

Source: docs/spec/data-and-queries.md#16-insight-kinds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.insights.date_range import DateSpan, previous_span
from hoglet.hogql.insights.funnels.results import histogram_edges, shape_times

type Item = dict[str, Any]

_LABELS = ("current", "previous")


def periods_of(query: Mapping[str, Any], span: DateSpan) -> list[DateSpan]:
    """The range of the query, and the one it is compared with, if any."""
    is_compared = (query.get("compareFilter") or {}).get("compare")
    return [span, previous_span(query, span)] if is_compared else [span]


def merged(results: Sequence[list[Any]]) -> list[Any]:
    """The items of both periods: steps, trends, or the steps of every breakdown value.

    A value that only one period has is there with zeros in the other one.
    """
    if any(result and isinstance(result[0], list) for result in results):
        results = _aligned(results)
    return [
        _labelled(item, label)
        for label, result in zip(_LABELS, results, strict=True)
        for item in result
    ]


def merged_times(seconds: Sequence[Sequence[float]], bins: int) -> list[Item]:
    """Histograms of conversion times, with the same bins."""
    edges = histogram_edges([value for period in seconds for value in period], bins)
    return [
        _labelled(shape_times(period, edges), label)
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
