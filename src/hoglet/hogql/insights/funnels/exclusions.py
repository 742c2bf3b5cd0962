"""Exclusions of funnels: events that invalidate an attempt if they occur between two steps.

An exclusion from or to a skipped optional step extends to the next completed step around it.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (funnelsFilter.exclusions).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import Expression, constant, some
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.funnels.chains import expression, ticks_of
from hoglet.hogql.insights.funnels.optional_steps import required_before
from hoglet.hogql.insights.funnels.steps import check_step
from hoglet.hogql.insights.series import series_condition
from hoglet.syntax import tree

_MOST = 15
_EXCLUDED = (
    "arrayElement(times, {reached}) > 0 AND arrayExists(tick -> tick > {start} "
    "AND tick < if({end} > 0, {end}, arrayElement(times, 1) + {window}), {excluded})"
)
_AT = "arrayElement(times, {step})"
_AT_OR_BEFORE = "arrayMax(arraySlice(times, 1, {step}))"
_AT_OR_AFTER = "arrayFirst(time -> time > 0, arraySlice(times, {step}))"


class Exclusion(msgspec.Struct, frozen=True):
    """Excluded events, and the indexes of the steps between which they invalidate an attempt."""

    condition: Expression
    start: int
    end: int


def exclusions_of(filter_: Mapping[str, Any], steps: int, context: QueryContext) -> list[Exclusion]:
    """The exclusions of a ``funnelsFilter``.

    Raises:
        SourceError: too many, or one that is not between two steps.
    """
    exclusions = list(filter_.get("exclusions") or [])
    if len(exclusions) > _MOST:
        raise refused(
            f"A funnel supports at most {_MOST} exclusions", attr="funnelsFilter__exclusions"
        )
    return [
        _exclusion(item, steps, context, f"funnelsFilter__exclusions__{index}")
        for index, item in enumerate(exclusions)
    ]


def _exclusion(item: Mapping[str, Any], steps: int, context: QueryContext, path: str) -> Exclusion:
    for key in ("funnelFromStep", "funnelToStep"):
        check_step(item.get(key), steps, f"{path}__{key}")
    start = item.get("funnelFromStep") or 0
    given = item.get("funnelToStep")
    end = steps - 1 if given is None else given
    if start >= end:
        key = "funnelFromStep" if start else "funnelToStep"
        raise refused(
            "An exclusion needs funnelFromStep before funnelToStep", attr=f"{path}__{key}"
        )
    return Exclusion(series_condition(item, context), start, end)


def none_between(
    exclusions: Sequence[Exclusion], optional: Sequence[bool], window: Expression
) -> Expression:
    """Condition that no exclusion occurs between its steps, in the attempt ``times``."""
    excluded = [
        expression(
            _EXCLUDED,
            reached=constant(1 + required_before(optional, item.start + 1)),
            start=_placed(item.start, optional, _AT_OR_BEFORE),
            end=_placed(item.end, optional, _AT_OR_AFTER),
            window=window,
            excluded=ticks_of(len(optional) + index),
        )
        for index, item in enumerate(exclusions)
    ]
    return tree.Not(expr=some(excluded)) if excluded else constant(True)


def _placed(step: int, optional: Sequence[bool], around: str) -> Expression:
    return expression(around if optional[step] else _AT, step=constant(step + 1))
