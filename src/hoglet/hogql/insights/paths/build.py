"""PathsQuery: sequences of pages, screens or events.

A pause of 30 minutes starts a new path; an immediately repeated item counts once. With a start
point a path starts at its first occurrence, with an end point it ends at its first occurrence; if a
path between both is too long, its middle is shown as ``...``. Paths can be those of a funnel's
persons, see ``funnel_paths``.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

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
from hoglet.hogql.insights.breakdown_parts import no_breakdown
from hoglet.hogql.insights.build_result import Built, Rows
from hoglet.hogql.insights.date_range import DateSpan, span_of
from hoglet.hogql.insights.paths.funnel_paths import (
    BEFORE,
    BETWEEN,
    FunnelPaths,
    funnel_source,
)
from hoglet.hogql.insights.paths.items import included, is_included, item, point
from hoglet.hogql.insights.sampling import sampled, sampling_factor, scaled
from hoglet.hogql.insights.series import (
    common_conditions,
    entity_conditions,
    entity_of,
)

_PAUSE = 30 * 60 * 1_000_000
"""In microseconds, like all times of paths: integers, whose differences are exact."""

_QUERY = (
    "SELECT concat(toString(place), '_', one.2) AS source, "
    "concat(toString(place + 1), '_', two.2) AS target, count() AS edges, "
    "avg(two.1 - one.1) / 1000 AS average FROM "
    "(SELECT edge.1 AS place, edge.2 AS one, edge.3 AS two FROM "
    "(SELECT arrayJoin(arrayMap((at, one, two) -> (at, one, two), "
    "arrayEnumerate(arrayPopFront(path)), arrayPopBack(path), arrayPopFront(path))) AS edge FROM "
    "(SELECT {limited} AS path FROM (SELECT {cut} AS cut FROM "
    "(SELECT arrayJoin(arraySplit((item, gap) -> gap > {pause}, items, "
    "arrayDifference(arrayMap(item -> item.1, items)))) AS session, "
    "arrayFilter((item, before) -> item.2 != before, session, arrayPushFront(arrayPopBack("
    "arrayMap(item -> item.2, session)), '')) AS compact, "
    "arrayMap(item -> item.2, compact) AS names FROM "
    "{walks}))))) "
    "GROUP BY source, target HAVING {weighty} ORDER BY edges DESC, source, target LIMIT {edges}"
)
_WALKS = (
    "SELECT {entity} AS actor, "
    "arraySort(groupArrayIf((toUnixTimestamp64Micro(timestamp), {item}), {included})) AS items "
    "FROM events WHERE {where} GROUP BY actor"
)
_OF_FUNNEL = (
    "SELECT arrayFilter(item -> item.1 >= funnel.since AND item.1 <= funnel.until, walk.items) "
    "AS items FROM {walks} AS walk INNER JOIN {persons} AS funnel ON walk.actor = funnel.actor"
)
_AT_START = (
    "arraySlice(compact, indexOf(names, {start}), if(has(names, {start}), length(names), 0))"
)
_AT_END = "arraySlice(compact, 1, indexOf(names, {end}))"
_BETWEEN = (
    "arraySlice(compact, indexOf(names, {start}), if(has(names, {start}), "
    "indexOf(arraySlice(names, greatest(1, indexOf(names, {start}))), {end}), 0))"
)
_FIRST_STEPS = "arraySlice(cut, 1, {steps})"
_LAST_STEPS = "arraySlice(cut, greatest(1, length(cut) - {steps} + 1))"
_MIDDLE_LEFT_OUT = (
    "if(length(cut) <= {steps}, cut, arrayConcat(arraySlice(cut, 1, {half}), "
    "[(arrayElement(cut, length(cut) - {half}).1, '...')], "
    "arraySlice(cut, length(cut) - {half} + 1)))"
)


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query: the edges, most frequent first."""
    no_breakdown(query)
    filter_: Mapping[str, Any] = query.get("pathsFilter") or {}
    span = _span(query, context)
    funnel = FunnelPaths(query, context, span) if query.get("funnelPathsFilter") else None
    cut, limited = _cut(filter_, funnel)
    factor = sampling_factor(query)
    built = fill(
        _QUERY,
        limited=limited,
        cut=cut,
        pause=constant(funnel.window if funnel else _PAUSE),
        walks=_walks(query, context, span, funnel),
        weighty=_weighty(filter_, factor),
        edges=constant(filter_.get("edgeLimit") or 50),
    )

    def shape(answers: Sequence[Rows]) -> list[Any]:
        return _shape(answers[0], factor)

    return Built([sampled(built, factor)], shape, span)


def _span(query: Mapping[str, Any], context: QueryContext) -> DateSpan:
    """The date range of the paths, or of their funnel."""
    if query.get("funnelPathsFilter") and not any((query.get("dateRange") or {}).values()):
        return span_of({"dateRange": funnel_source(query).get("dateRange")}, context)
    return span_of(query, context)


def _walks(
    query: Mapping[str, Any], context: QueryContext, span: DateSpan, funnel: FunnelPaths | None
) -> Any:
    """The items of each actor in order of time."""
    filter_: Mapping[str, Any] = query.get("pathsFilter") or {}
    conditions = [*span.condition(), *common_conditions(query, context), *entity_conditions(query)]
    name = item(filter_)
    walks = fill(
        _WALKS,
        item=name,
        included=is_included(name, filter_),
        where=every([*conditions, included(filter_)]),
        entity=entity_of(query),
    )
    return fill(_OF_FUNNEL, walks=walks, persons=funnel.persons()) if funnel else walks


def _cut(filter_: Mapping[str, Any], funnel: FunnelPaths | None) -> tuple[Expression, Expression]:
    """The part of a path between its points, cut to the requested number of steps."""
    steps: int = filter_.get("stepLimit") or 5
    start, end = (filter_.get(key) for key in ("startPoint", "endPoint"))
    points = {"start": constant(point(str(start))), "end": constant(point(str(end)))}
    if start and end:
        return _expression(_BETWEEN, **points), _both_ends(steps)
    if end:
        return _expression(_AT_END, **points), _expression(_LAST_STEPS, steps=constant(steps))
    limited = _expression(_FIRST_STEPS, steps=constant(steps))
    if start:
        return _expression(_AT_START, **points), limited
    if funnel and funnel.kind == BEFORE:
        limited = _expression(_LAST_STEPS, steps=constant(steps))
    if funnel and funnel.kind == BETWEEN:
        limited = _both_ends(steps)
    return field("compact"), limited


def _both_ends(steps: int) -> Expression:
    half = constant(max(1, (steps - 1) // 2))
    return _expression(_MIDDLE_LEFT_OUT, steps=constant(max(3, steps)), half=half)


def _weighty(filter_: Mapping[str, Any], factor: float | None) -> Expression:
    """Edge-weight bounds (min/max) as a HAVING condition; weights are those that are returned."""
    low, high = filter_.get("minEdgeWeight"), filter_.get("maxEdgeWeight")
    if low is not None and high is not None and low > high:
        raise refused(
            "minEdgeWeight must not be greater than maxEdgeWeight",
            attr="pathsFilter__minEdgeWeight",
        )
    bounds = ((">=", low), ("<=", high))
    edges = field("edges")
    if factor is not None:
        edges = call("round", call("divide", edges, constant(factor)))
    return every(
        [
            compare(operator, edges, constant(weight))
            for operator, weight in bounds
            if weight is not None
        ]
    )


def _expression(text: str, **parts: Any) -> Expression:
    return fill(f"SELECT {text}", **parts).select[0]


def _shape(rows: Rows, factor: float | None) -> list[Any]:
    return [
        {
            "source": source,
            "target": target,
            "value": scaled(edges, factor),
            "average_conversion_time": float(average),
        }
        for source, target, edges, average in rows
    ]
