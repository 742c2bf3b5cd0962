"""LifecycleQuery: new, returning, resurrecting and dormant actors.

An actor is new in the interval of its creation, or of its first activity if that is earlier, with
any event and however long ago: events can arrive late, and not everyone has a profile.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.ast_builders import (
    alias,
    call,
    compare,
    constant,
    every,
    field,
    fill,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.breakdown_parts import no_breakdown
from hoglet.hogql.insights.build_result import Built, Rows
from hoglet.hogql.insights.date_range import DateSpan, span_of
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
from hoglet.kit.relative_dates import as_text

STATUSES = ("new", "returning", "resurrecting", "dormant")

_ACTIVE = "SELECT {columns} FROM events WHERE {where} GROUP BY actor"
_FIRSTS = (
    "SELECT {actor} AS actor, min(timestamp) AS first FROM events WHERE {where} GROUP BY actor"
)
_ACTORS = (
    "SELECT recent.active AS active, least(recent.created, {first}) AS born "
    "FROM {recent} AS recent INNER JOIN {ever} AS ever ON recent.actor = ever.actor"
)
_COUNTS = (
    "SELECT place, status, count() AS actors FROM (SELECT arrayJoin(arrayConcat("
    "arrayMap(at -> (_toInt64(at), multiIf(at = born, 'new', "
    "has(active, at - 1), 'returning', 'resurrecting')), active), "
    "arrayMap(at -> (_toInt64(at + 1), 'dormant'), "
    "arrayFilter(at -> NOT has(active, at + 1), active))"
    ")) AS cell, cell.1 AS place, cell.2 AS status FROM {actors}) "
    "WHERE place >= 0 GROUP BY place, status"
)


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query for the single series."""
    no_breakdown(query)
    span = span_of(query, context)
    series = list(query.get("series") or [])
    if len(series) != 1:
        raise refused("A lifecycle insight needs exactly one series", attr="series")
    node: Mapping[str, Any] = series[0]
    statuses = _statuses(query)
    tree_ = sampled(_query(query, node, span, context), sampling_factor(query))

    def shape(answers: Sequence[Rows]) -> list[Any]:
        lines = _shape(query, node, span, context, answers[0])
        return [line for line in lines if line["status"] in statuses]

    return Built([tree_], shape, span)


def _statuses(query: Mapping[str, Any]) -> Sequence[str]:
    statuses = (query.get("lifecycleFilter") or {}).get("toggledLifecycles") or STATUSES
    if unknown := [status for status in statuses if status not in STATUSES]:
        raise refused(
            f"Unknown toggledLifecycles: {', '.join(unknown)}",
            attr="lifecycleFilter__toggledLifecycles",
        )
    return statuses


def _query(
    query: Mapping[str, Any], node: Mapping[str, Any], span: DateSpan, context: QueryContext
) -> Any:
    column = field("timestamp")
    until = [compare("<=", column, constant(as_text(span.end))), *entity_conditions(query)]
    where = every(
        [
            compare(">=", column, constant(as_text(span.earlier(1)))),
            *until,
            series_condition(node, context),
            *common_conditions(query, context),
        ]
    )
    actor = entity_of(query)
    columns = (
        alias("actor", actor),
        alias("active", call("groupUniqArray", span.index(column))),
        alias("created", call("min", span.index(born_of(query)))),
    )
    actors = fill(
        _ACTORS,
        first=span.index(field("ever", "first")),
        recent=fill(_ACTIVE, columns=columns, where=where),
        ever=fill(_FIRSTS, actor=actor, where=every(until)),
    )
    return fill(_COUNTS, actors=actors)


def _shape(
    query: Mapping[str, Any],
    node: Mapping[str, Any],
    span: DateSpan,
    context: QueryContext,
    rows: Rows,
) -> list[Any]:
    count, factor = len(span.buckets()), sampling_factor(query)
    data = {status: [0] * count for status in STATUSES}
    for bucket, status, actors in rows:
        sign = -1 if status == "dormant" else 1
        if int(bucket) < count:  # dormancy after the last interval is not shown
            data[str(status)][int(bucket)] = sign * scaled(actors, factor)
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
    ]
