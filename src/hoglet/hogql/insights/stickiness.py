"""StickinessQuery: in how many intervals actors were active.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.ast_builders import (
    Expression,
    call,
    compare,
    constant,
    every,
    field,
    fill,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.hogql.insights.breakdown_parts import no_breakdown
from hoglet.hogql.insights.build_result import Built, Rows
from hoglet.hogql.insights.date_range import DateSpan, previous_span, span_of
from hoglet.hogql.insights.measures import group_of
from hoglet.hogql.insights.sampling import sampled, sampling_factor, scaled
from hoglet.hogql.insights.series import (
    action_object,
    common_conditions,
    entity_of,
    group_key,
    series_condition,
    series_name,
)

_QUERY = (
    "SELECT active, count() AS actors FROM (SELECT actor, count() AS active FROM "
    "(SELECT {entity} AS actor, {index} AS place, count() AS times FROM events WHERE {where} "
    "GROUP BY actor, place HAVING {often}) GROUP BY actor) GROUP BY active"
)
_CRITERIA = {"gte": ">=", "lte": "<=", "exact": "==", "gt": ">", "lt": "<"}
_MATHS = frozenset(
    {None, "total", "dau", "weekly_active", "monthly_active", "unique_group", "hogql"}
)
"""Stickiness counts actors by its own intervals, regardless of the window of the math."""


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query for each series and period."""
    no_breakdown(query)
    span = span_of(query, context)
    series: list[Mapping[str, Any]] = list(query.get("series") or [])
    if not series:
        raise refused("An insight needs at least one series", attr="series")
    width = _width(query)
    factor = sampling_factor(query)
    spans = _spans(query, span)
    plans = [(part, name, order, node) for part, name in spans for order, node in enumerate(series)]
    queries = [
        sampled(_query(query, node, part, context, width), factor) for part, _, _, node in plans
    ]
    is_cumulative = _is_cumulative(query)

    def shape(answers: Sequence[Rows]) -> list[Any]:
        return [
            {"label": series_name(node, context)}
            | _line(_data(rows, part, width, factor, cumulative=is_cumulative), part, width)
            | {"action": action_object(node, order, context)}
            | ({} if name is None else {"compare": True, "compare_label": name})
            for (part, name, order, node), rows in zip(plans, answers, strict=True)
        ]

    return Built(queries, shape, span)


def _spans(query: Mapping[str, Any], span: DateSpan) -> list[tuple[DateSpan, str | None]]:
    if not (query.get("compareFilter") or {}).get("compare"):
        return [(span, None)]
    return [(span, "current"), (previous_span(query, span), "previous")]


def _is_cumulative(query: Mapping[str, Any]) -> bool:
    mode = (query.get("stickinessFilter") or {}).get("computedAs") or "non_cumulative"
    if mode not in {"cumulative", "non_cumulative"}:
        raise refused(f"Unknown computedAs '{mode}'", attr="stickinessFilter__computedAs")
    return mode == "cumulative"


def _width(query: Mapping[str, Any]) -> int:
    """The number of intervals combined into one period."""
    return query.get("intervalCount") or 1


def _query(
    query: Mapping[str, Any],
    node: Mapping[str, Any],
    span: DateSpan,
    context: QueryContext,
    width: int,
) -> Any:
    entity = _entity(query, node)
    where = every(
        [
            *span.condition(),
            series_condition(node, context),
            *common_conditions(query, context),
            compare("!=", entity, constant(None)),
        ]
    )
    index = call("intDiv", span.index(field("timestamp")), constant(width))
    return fill(_QUERY, entity=entity, index=index, where=where, often=_often(query))


def _entity(query: Mapping[str, Any], node: Mapping[str, Any]) -> Expression:
    kind = node.get("math")
    if kind not in _MATHS:
        raise refused(f"Math '{kind}' is not supported in stickiness", attr="series")
    if kind == "unique_group":
        return group_key(group_of(node))
    if kind == "hogql":
        text = call("toString", read_expression(str(node["math_hogql"])))
        return call("nullIf", text, constant(""))
    return entity_of(query)


def _often(query: Mapping[str, Any]) -> Expression:
    """How often an actor must be active in an interval for it to count."""
    criteria = (query.get("stickinessFilter") or {}).get("stickinessCriteria") or {}
    operator = criteria.get("operator") or "gte"
    if operator not in _CRITERIA:
        raise refused(
            f"Unknown operator '{operator}' in stickinessCriteria",
            attr="stickinessFilter__stickinessCriteria__operator",
        )
    times = criteria.get("value")
    return compare(_CRITERIA[operator], field("times"), constant(1 if times is None else times))


def _data(
    rows: Rows, span: DateSpan, width: int, factor: float | None, *, cumulative: bool
) -> list[int]:
    """Actors by the exact or minimum number of intervals in which they were active."""
    count = math.ceil(len(span.buckets()) / width)
    data = [0] * count
    for active, actors in rows:
        if 1 <= int(active) <= count:
            data[int(active) - 1] = scaled(actors, factor)
    return [sum(data[index:]) for index in range(count)] if cumulative else data


def _line(data: list[int], span: DateSpan, width: int) -> dict[str, Any]:
    numbers = range(1, len(data) + 1)
    return {
        "count": sum(data),
        "data": data,
        "days": list(numbers),
        "labels": [_label(number, span.interval, width) for number in numbers],
    }


def _label(number: int, interval: str, width: int) -> str:
    """``1 day``, ``2 days``; ``2 periods of 3 days`` if three days are combined."""
    if width > 1:
        return f"{number} period{'' if number == 1 else 's'} of {width} {interval}s"
    return f"{number} {interval}{'' if number == 1 else 's'}"
