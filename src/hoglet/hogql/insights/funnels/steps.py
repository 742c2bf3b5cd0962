"""The steps of a funnel: their events and the conversion window.

A step with ``first_time_for_user`` matches an actor's first such event ever, if it has the step's
properties; with ``first_time_for_user_with_filters`` it matches the first one that has them.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.ast_builders import (
    Expression,
    compare,
    constant,
    every,
    field,
    fill,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.date_range import DateSpan
from hoglet.hogql.insights.series import Node, series_condition, without_properties
from hoglet.kit.relative_dates import as_text

_MOST = 15
_FIRST_TIME = "first_time_for_user"
_FIRST_MATCHING = ("first_time_for_user_with_filters", "first_matching_event_for_user")
_SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86_400,
    "week": 604_800,
    "month": 2_592_000,
}
_LONGEST = 100 * 365 * 86_400
"""A century in seconds: longer windows mean no limit, and would exceed the range of ticks."""

_FIRSTS = "SELECT argMin(uuid, timestamp) FROM events WHERE {where} GROUP BY {actor}"


def steps_of(query: Mapping[str, Any]) -> list[Node]:
    """The series of a funnel.

    Raises:
        SourceError: there are none or too many.
    """
    steps = list(query.get("series") or [])
    if not 1 <= len(steps) <= _MOST:
        raise refused(f"A funnel needs 1 to {_MOST} steps", attr="series")
    return steps


def check_step(step: int | None, count: int, attr: str) -> None:
    """Check that a funnel has a step.

    Raises:
        SourceError: the funnel has no such step; with ``attr``.
    """
    if step is not None and step >= count:
        name = attr.rpartition("__")[2]
        raise refused(f"{name} {step} is not a step: the last one is {count - 1}", attr=attr)


def step_conditions(
    steps: Sequence[Node], context: QueryContext, span: DateSpan, actor: Expression
) -> list[Expression]:
    """The conditions of the steps.

    Args:
        steps: the series.
        context: the project.
        span: the date range; later events are ignored.
        actor: the actor of first-time events.
    """
    conditions: list[Expression] = []
    for step in steps:
        condition, math = series_condition(step, context), step.get("math")
        if math == _FIRST_TIME:
            whole = series_condition(without_properties(step), context)
            condition = every([condition, _is_first(whole, span, actor)])
        elif math in _FIRST_MATCHING:
            condition = every([condition, _is_first(condition, span, actor)])
        conditions.append(condition)
    return conditions


def _is_first(condition: Expression, span: DateSpan, actor: Expression) -> Expression:
    until = compare("<=", field("timestamp"), constant(as_text(span.end)))
    firsts = fill(_FIRSTS, where=every([until, condition]), actor=actor)
    return compare("in", field("uuid"), firsts)


def window_seconds(filter_: Mapping[str, Any]) -> int:
    """The conversion window in seconds.

    Raises:
        SourceError: an unknown unit.
    """
    unit = filter_.get("funnelWindowIntervalUnit") or "day"
    if unit not in _SECONDS:
        raise refused(
            f"Unknown funnelWindowIntervalUnit '{unit}'",
            attr="funnelsFilter__funnelWindowIntervalUnit",
        )
    return min((filter_.get("funnelWindowInterval") or 14) * _SECONDS[unit], _LONGEST)
