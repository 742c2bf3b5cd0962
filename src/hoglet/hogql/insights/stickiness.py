"""StickinessQuery: in how many intervals of the range actors were active.

Source: spec/query-endpoints.md section 10.6.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.built import Built, Rows
from hoglet.hogql.insights.series import (
    action_object,
    common_conditions,
    entity_of,
    series_condition,
    series_name,
)
from hoglet.hogql.insights.span import Span, span_of
from hoglet.hogql.trees import call, every, field, fill

_QUERY = (
    "SELECT active, count() AS actors FROM (SELECT {entity} AS actor, "
    "count(DISTINCT {index}) AS active FROM events WHERE {where} GROUP BY actor) GROUP BY active"
)


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query for each series and period."""
    span = span_of(query, context)
    series: list[Mapping[str, Any]] = list(query.get("series") or [])
    if not series:
        raise refused("An insight needs at least one series")
    spans = _spans(query, span)
    plans = [(part, name, order, node) for part, name in spans for order, node in enumerate(series)]
    queries = [_query(query, node, part, context) for part, _, _, node in plans]

    def shape(answers: Sequence[Rows]) -> list[Any]:
        return [
            _line(node, part, context, rows, order=order, period=name)
            for (part, name, order, node), rows in zip(plans, answers, strict=True)
        ]

    return Built(queries, shape, span)


def _spans(query: Mapping[str, Any], span: Span) -> list[tuple[Span, str | None]]:
    compare = query.get("compareFilter") or {}
    if not compare.get("compare"):
        return [(span, None)]
    return [(span, "current"), (span.moved(compare.get("compare_to")), "previous")]


def _query(
    query: Mapping[str, Any], node: Mapping[str, Any], span: Span, context: QueryContext
) -> Any:
    conditions = [*span.condition(), series_condition(node, context)]
    where = every([*conditions, *common_conditions(query, context)])
    index = call("toString", span.index(field("timestamp")))
    return fill(_QUERY, entity=entity_of(query), index=index, where=where)


def _line(
    node: Mapping[str, Any],
    span: Span,
    context: QueryContext,
    rows: Rows,
    *,
    order: int,
    period: str | None,
) -> dict[str, Any]:
    count = len(span.buckets())
    data = [0] * count
    for active, actors in rows:
        if 1 <= int(active) <= count:
            data[int(active) - 1] = int(actors)
    unit = span.interval
    line: dict[str, Any] = {
        "action": action_object(node, order, context),
        "label": series_name(node, context),
        "count": sum(data),
        "data": data,
        "days": list(range(1, count + 1)),
        "labels": [
            f"{number} {unit}{'' if number == 1 else 's'}" for number in range(1, count + 1)
        ],
    }
    if period is not None:
        line |= {"compare": True, "compare_label": period}
    return line
