"""LifecycleQuery: who is new, came back, came back after a pause, or went silent.

An actor is new in the interval in which it was created, or first active if that was before: events
may come in late, and are not always sent in the order in which they happened.

Source: spec/query-endpoints.md section 10.6.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.dates import as_text
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.built import Built, Rows
from hoglet.hogql.insights.sampling import sampled, sampling_factor, scaled
from hoglet.hogql.insights.series import (
    action_object,
    born_of,
    common_conditions,
    entity_conditions,
    entity_of,
    series_condition,
    series_name,
)
from hoglet.hogql.insights.span import Span, span_of
from hoglet.hogql.trees import alias, call, compare, constant, every, field, fill

STATUSES = ("new", "returning", "resurrecting", "dormant")

_ACTORS = "SELECT {columns} FROM events WHERE {where} GROUP BY actor"
_COUNTS = (
    "SELECT place, status, count() AS actors FROM (SELECT arrayJoin(arrayConcat("
    "arrayMap(at -> (_toInt64(at), multiIf(at = least(born, arrayMin(active)), 'new', "
    "has(active, at - 1), 'returning', 'resurrecting')), active), "
    "arrayMap(at -> (_toInt64(at + 1), 'dormant'), "
    "arrayFilter(at -> NOT has(active, at + 1), active))"
    ")) AS cell, cell.1 AS place, cell.2 AS status FROM {actors}) "
    "WHERE place >= 0 AND place < {count} GROUP BY place, status"
)


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query for the one series."""
    span = span_of(query, context)
    series = list(query.get("series") or [])
    if len(series) != 1:
        raise refused("A lifecycle insight needs exactly one series")
    node: Mapping[str, Any] = series[0]
    tree_ = sampled(_query(query, node, span, context), sampling_factor(query))

    def shape(answers: Sequence[Rows]) -> list[Any]:
        return _shape(query, node, span, context, answers[0])

    return Built([tree_], shape, span)


def _query(
    query: Mapping[str, Any], node: Mapping[str, Any], span: Span, context: QueryContext
) -> Any:
    column = field("timestamp")
    where = every(
        [
            compare(">=", column, constant(as_text(span.earlier(1)))),
            compare("<=", column, constant(as_text(span.end))),
            series_condition(node, context),
            *common_conditions(query, context),
            *entity_conditions(query),
        ]
    )
    columns = (
        alias("actor", entity_of(query)),
        alias("active", call("groupUniqArray", span.index(column))),
        alias("born", call("min", span.index(born_of(query)))),
    )
    actors = fill(_ACTORS, columns=columns, where=where)
    return fill(_COUNTS, actors=actors, count=constant(len(span.buckets())))


def _shape(
    query: Mapping[str, Any],
    node: Mapping[str, Any],
    span: Span,
    context: QueryContext,
    rows: Rows,
) -> list[Any]:
    count, factor = len(span.buckets()), sampling_factor(query)
    data = {status: [0] * count for status in STATUSES}
    for place, status, actors in rows:
        sign = -1 if status == "dormant" else 1
        data[str(status)][int(place)] = sign * scaled(actors, factor)
    wanted = (query.get("lifecycleFilter") or {}).get("toggledLifecycles") or STATUSES
    name = series_name(node, context)
    return [
        {
            "action": action_object(node, 0, context),
            "status": status,
            "label": f"{name} - {status}",
            "count": sum(data[status]),
            "data": data[status],
            "days": span.days(),
            "labels": span.labels(),
        }
        for status in STATUSES
        if status in wanted
    ]
