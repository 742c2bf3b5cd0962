"""PathsQuery: which pages, screens or events follow each other within sessions.

A pause of 30 minutes begins a new path; an item that repeats at once is counted once.

Source: spec/query-endpoints.md section 10.6.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.built import Built, Rows
from hoglet.hogql.insights.series import common_conditions, entity_of
from hoglet.hogql.insights.span import span_of
from hoglet.hogql.trees import Expression, call, compare, constant, every, field, fill, some
from hoglet.syntax import tree

_KINDS = ("$pageview", "$screen", "custom_event", "hogql")
_PAUSE_SECONDS = 30 * 60

_QUERY = (
    "SELECT concat(toString(place), '_', one.2) AS source, "
    "concat(toString(place + 1), '_', two.2) AS target, count() AS edges, "
    "avg(two.1 - one.1) * 1000 AS average FROM "
    "(SELECT edge.1 AS place, edge.2 AS one, edge.3 AS two FROM "
    "(SELECT arrayJoin(arrayMap(at -> (at, arrayElement(path, at), arrayElement(path, at + 1)), "
    "range(1, greatest(1, length(path))))) AS edge FROM "
    "(SELECT arraySlice({started}, 1, {steps}) AS path FROM "
    "(SELECT arrayJoin(arraySplit((item, gap) -> gap > {pause}, items, "
    "arrayDifference(arrayMap(item -> item.1, items)))) AS session, "
    "arrayFilter((item, at) -> at = 1 OR item.2 != arrayElement(session, at - 1).2, session, "
    "arrayEnumerate(session)) AS compact FROM "
    "(SELECT arraySort(groupArray((_toFloat64(toUnixTimestamp64Micro(timestamp)) / 1000000, "
    "ifNull({item}, '')))) AS items FROM events WHERE {where} GROUP BY {entity}))))) "
    "GROUP BY source, target ORDER BY edges DESC, source, target LIMIT {edges}"
)
_FROM_START = (
    "arraySlice(compact, indexOf(arrayMap(item -> item.2, compact), {start}), "
    "if(has(arrayMap(item -> item.2, compact), {start}), length(compact), 0))"
)


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query: the edges, most frequent first."""
    filter_: Mapping[str, Any] = query.get("pathsFilter") or {}
    for key in ("endPoint", "pathGroupings", "localPathCleaningFilters"):
        if filter_.get(key):
            raise refused(f"pathsFilter.{key} is not supported")
    span = span_of(query, context)
    conditions = [*span.condition(), *common_conditions(query, context)]
    built = fill(
        _QUERY,
        started=_started(filter_),
        steps=constant(max(2, min(int(filter_.get("stepLimit") or 5), 20))),
        pause=constant(_PAUSE_SECONDS),
        item=_item(),
        where=every([*conditions, *_included(filter_)]),
        entity=entity_of(query),
        edges=constant(max(1, min(int(filter_.get("edgeLimit") or 50), 1000))),
    )
    return Built([built], _shape, span)


def _started(filter_: Mapping[str, Any]) -> Expression:
    start = filter_.get("startPoint")
    if not start:
        return field("compact")
    return fill(f"SELECT {_FROM_START}", start=constant(str(start))).select[0]


def _item() -> Expression:
    """What a step is called: the page without its trailing slash, the screen, the event."""
    page = call("replaceRegexpOne", _property("$current_url"), constant(r"(.)/$"), constant(r"\1"))
    event = field("event")
    return call(
        "multiIf",
        compare("==", event, constant("$pageview")),
        page,
        compare("==", event, constant("$screen")),
        _property("$screen_name"),
        event,
    )


def _property(name: str) -> Expression:
    return call("ifNull", call("toString", field("properties", name)), constant(""))


def _included(filter_: Mapping[str, Any]) -> list[Expression]:
    kinds = filter_.get("includeEventTypes") or []
    if unknown := [kind for kind in kinds if kind not in _KINDS]:
        raise refused(f"Unsupported includeEventTypes: {', '.join(map(str, unknown))}")
    if "hogql" in kinds:
        raise refused("Paths of HogQL expressions are not supported")
    event = field("event")
    own = call("startsWith", event, constant("$"))
    found: list[Expression] = [
        tree.Not(expr=own) if kind == "custom_event" else compare("==", event, constant(kind))
        for kind in kinds
    ]
    excluded = [constant(str(name)) for name in filter_.get("excludeEvents") or []]
    rest: list[Expression] = [some(found)] if found else []
    if excluded:
        rest.append(compare("not in", event, tree.Tuple(exprs=tuple(excluded))))
    return rest


def _shape(answers: Sequence[Rows]) -> list[Any]:
    return [
        {
            "source": source,
            "target": target,
            "value": int(edges),
            "average_conversion_time": float(average),
        }
        for source, target, edges, average in answers[0]
    ]
