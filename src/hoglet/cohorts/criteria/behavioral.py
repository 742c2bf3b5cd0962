"""Behavioral criteria: queries of persons by their events, ``person_id, leaf``.

Events belong to their current person: ``person_id`` of ``events`` follows merges.

Source: docs/spec/data-and-queries.md#34-dynamic-cohorts.
"""

from collections.abc import Callable
from datetime import datetime

from hoglet.cohorts.criteria.model import Behavior, BehaviorKind
from hoglet.cohorts.criteria.windows import (
    TimeWindow,
    last_span,
    period_starts,
    window_of,
)
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
from hoglet.hogql.errors import located
from hoglet.hogql.filters.actions import action_condition
from hoglet.hogql.filters.dates import clock_of, moment_constant
from hoglet.hogql.filters.properties import conditions
from hoglet.syntax import tree

_SIGNS = {"gte": ">=", "lte": "<=", "gt": ">", "lt": "<", "eq": "==", "exact": "=="}
_GROUPED = (
    "SELECT person_id, {leaf} AS leaf FROM events WHERE {where} GROUP BY person_id HAVING {having}"
)
_PERIODS = (
    "SELECT person_id, {leaf} AS leaf FROM (SELECT person_id, {period} AS period FROM events "
    "WHERE {where} GROUP BY person_id, period HAVING {often}) GROUP BY person_id "
    "HAVING count() >= {least}"
)
# Visits events in reverse time order, so at each first event the earliest later second event is
# known. At equal times, first events are visited before second ones, which do not count as later.
_SEQUENCE = (
    "SELECT person_id, {leaf} AS leaf FROM (SELECT person_id, timestamp, is_first, "
    "minIf(timestamp, is_first = 0) OVER (PARTITION BY person_id "
    "ORDER BY timestamp DESC, is_first DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) "
    "AS following FROM (SELECT person_id, timestamp, 1 AS is_first FROM events WHERE {first} "
    "UNION ALL SELECT person_id, timestamp, 0 AS is_first FROM events WHERE {second})) "
    "WHERE is_first = 1 AND following > timestamp AND following <= {latest} GROUP BY person_id"
)
_INTERVALS = {
    "minute": "toIntervalMinute",
    "hour": "toIntervalHour",
    "day": "toIntervalDay",
    "week": "toIntervalWeek",
    "month": "toIntervalMonth",
    "year": "toIntervalYear",
}


def behavioral_query(leaf: Behavior, context: QueryContext, number: Expression) -> tree.Query:
    """The persons of a behavioral criterion.

    Args:
        leaf: the criterion.
        context: the project.
        number: the number that marks its rows.

    Raises:
        SourceError: an action is unknown, or a filter does not compile.
    """
    return _QUERIES[leaf.value](leaf, context, number)


def _performed(leaf: Behavior, context: QueryContext, number: Expression) -> tree.Query:
    where = every([_events(leaf, context), *_within(_window(leaf, context))])
    return _grouped(number, where, compare(">", call("count"), constant(0)))


def _multiple(leaf: Behavior, context: QueryContext, number: Expression) -> tree.Query:
    where = every([_events(leaf, context), *_within(_window(leaf, context))])
    return _grouped(number, where, _often(leaf))


def _first_time(leaf: Behavior, context: QueryContext, number: Expression) -> tree.Query:
    first = call("min", field("timestamp"))
    window = _window(leaf, context)
    having = [compare(">=", first, _at(window.start)), compare("<=", first, _at(window.end))]
    return _grouped(number, _events(leaf, context), every(having))


def _sequence(leaf: Behavior, context: QueryContext, number: Expression) -> tree.Query:
    window = _window(leaf, context)
    with located("seq_event"):
        later = _entity(leaf.seq_event, leaf.seq_event_type, context)
    until = clock_of(context).local()
    step = call(_INTERVALS[leaf.seq_time_interval], constant(leaf.seq_time_value))
    return fill(
        _SEQUENCE,
        leaf=number,
        first=every([_events(leaf, context), *_within(window)]),
        second=every([later, *_within(TimeWindow(window.start, until))]),
        latest=call("plus", field("timestamp"), step),
    )


def _regularly(leaf: Behavior, context: QueryContext, number: Expression) -> tree.Query:
    starts = period_starts(leaf, clock_of(context))
    edges = tree.Array(exprs=tuple(call("toDateTime", _at(start)) for start in starts[1:]))
    period = fill("SELECT arrayFirstIndex(edge -> timestamp >= edge, {edges})", edges=edges)
    inside = [
        compare(">=", field("timestamp"), _at(starts[-1])),
        compare("<", field("timestamp"), _at(starts[0])),
    ]
    return fill(
        _PERIODS,
        leaf=number,
        period=period.select[0],
        where=every([_events(leaf, context), *inside]),
        often=_often(leaf),
        least=constant(leaf.min_periods),
    )


def _stopped(leaf: Behavior, context: QueryContext, number: Expression) -> tree.Query:
    window = _window(leaf, context)
    where = every([_events(leaf, context), *_within(window)])
    last = call("max", field("timestamp"))
    return _grouped(number, where, compare("<", last, _at(last_span(leaf, window))))


def _restarted(leaf: Behavior, context: QueryContext, number: Expression) -> tree.Query:
    window = _window(leaf, context)
    again = last_span(leaf, window)
    time = field("timestamp")
    before = compare("<", time, _at(window.start))
    between = every([compare(">=", time, _at(window.start)), compare("<", time, _at(again))])
    lately = compare(">=", time, _at(again))
    having = [
        compare(">", call("countIf", before), constant(0)),
        compare("==", call("countIf", between), constant(0)),
        compare(">", call("countIf", lately), constant(0)),
    ]
    ended = compare("<=", time, _at(window.end))
    return _grouped(number, every([_events(leaf, context), ended]), every(having))


_QUERIES: dict[BehaviorKind, Callable[[Behavior, QueryContext, Expression], tree.Query]] = {
    BehaviorKind.PERFORMED: _performed,
    BehaviorKind.MULTIPLE: _multiple,
    BehaviorKind.FIRST_TIME: _first_time,
    BehaviorKind.SEQUENCE: _sequence,
    BehaviorKind.REGULARLY: _regularly,
    BehaviorKind.STOPPED: _stopped,
    BehaviorKind.RESTARTED: _restarted,
}


def _grouped(number: Expression, where: Expression, having: Expression) -> tree.Query:
    return fill(_GROUPED, leaf=number, where=where, having=having)


def _often(leaf: Behavior) -> Expression:
    sign = _SIGNS[leaf.operator]
    return compare(sign, call("count"), constant(leaf.operator_value))


def _events(leaf: Behavior, context: QueryContext) -> Expression:
    with located("key"):
        entity = _entity(leaf.key, leaf.event_type, context)
    return every([entity, *conditions(leaf.event_filters, context, attr="event_filters")])


def _entity(key: str | int, event_type: str, context: QueryContext) -> Expression:
    if event_type == "actions":
        return action_condition(str(key), context)
    return compare("==", field("event"), constant(key))


def _window(leaf: Behavior, context: QueryContext) -> TimeWindow:
    return window_of(leaf, clock_of(context))


def _within(window: TimeWindow) -> list[Expression]:
    time = field("timestamp")
    return [compare(">=", time, _at(window.start)), compare("<=", time, _at(window.end))]


def _at(moment: datetime) -> Expression:
    return moment_constant(moment)
