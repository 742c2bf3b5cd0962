"""Paths of a funnel's persons: before, between or after its steps.

Uses the attempt that counts in the funnel. Each person has one path, regardless of pauses: the
conversion window before a step, from step to step, or the conversion window after a step. Step
``-n`` selects persons who dropped off before step n, from the last step they reached.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (PathsQuery.funnelPathsFilter).
"""

from collections.abc import Mapping
from typing import Any

from hoglet.hogql.ast_builders import Expression, constant, fill
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.date_range import DateSpan
from hoglet.hogql.insights.funnels.attempts import FunnelAttempts
from hoglet.hogql.insights.funnels.build import best_attempts
from hoglet.hogql.insights.funnels.chains import expression
from hoglet.hogql.insights.funnels.optional_steps import required_before
from hoglet.hogql.insights.funnels.steps import window_seconds

BEFORE, BETWEEN, AFTER = (
    "funnel_path_before_step",
    "funnel_path_between_steps",
    "funnel_path_after_step",
)
_PEOPLE = "SELECT actor, {since} AS since, {until} AS until FROM {best} WHERE {reached}"
_AT = "intDiv(arrayElement(best, {step}), 16)"
_LAST_BEFORE = "intDiv(arrayMax(arraySlice(best, 1, {before})), 16)"
_REACHED = "arrayElement(best, {step}) > 0"
_STOPPED = "arrayElement(best, {step}) = 0 AND arrayElement(best, {before}) > 0"


class FunnelPaths:
    """The persons of a ``funnelPathsFilter`` and the time ranges of their paths.

    Args:
        query: the paths insight.
        context: the project.
        span: the date range, also of the funnel.

    Raises:
        SourceError: a step that the funnel does not have, or different actors.
    """

    def __init__(self, query: Mapping[str, Any], context: QueryContext, span: DateSpan) -> None:
        filter_ = query["funnelPathsFilter"]
        self.kind: str = filter_.get("funnelPathType") or AFTER
        if self.kind not in {BEFORE, BETWEEN, AFTER}:
            raise refused(
                f"Unknown funnelPathType '{self.kind}'", attr="funnelPathsFilter__funnelPathType"
            )
        source = funnel_source(query)
        _check_persons(query, source)
        self._attempts = FunnelAttempts(source, context, span, None)
        self._step = _step(filter_, self.kind, len(self._attempts.optional))
        self.window = window_seconds(source.get("funnelsFilter") or {}) * 1_000_000
        """Conversion window in microseconds."""

    def persons(self) -> Any:
        """The query ``actor, since, until``, both in microseconds."""
        since, until = self._times()
        return fill(
            _PEOPLE,
            since=since,
            until=until,
            best=best_attempts(self._attempts),
            reached=self._reached(),
        )

    def _times(self) -> tuple[Expression, Expression]:
        at = expression(_AT, step=constant(self._step))
        before = expression(_LAST_BEFORE, before=constant(abs(self._step) - 1))
        if self.kind == BETWEEN:
            return before, at
        at = at if self._step > 0 else before
        window = constant(self.window)
        if self.kind == BEFORE:
            return expression("{at} - {window}", at=at, window=window), at
        return at, expression("{at} + {window}", at=at, window=window)

    def _reached(self) -> Expression:
        if self._step > 0:
            return expression(_REACHED, step=constant(self._step))
        before = required_before(self._attempts.optional, -self._step - 1)
        return expression(_STOPPED, step=constant(-self._step), before=constant(before + 1))


def funnel_source(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """The funnel of a paths insight.

    Raises:
        SourceError: it has none.
    """
    source = query["funnelPathsFilter"].get("funnelSource") or {}
    if source.get("kind") != "FunnelsQuery":
        raise refused(
            "funnelPathsFilter needs a FunnelsQuery as its funnelSource",
            attr="funnelPathsFilter__funnelSource",
        )
    return source


def _step(filter_: Mapping[str, Any], kind: str, steps: int) -> int:
    step = filter_.get("funnelStep")
    if step is None or not 1 <= abs(step) <= steps or step == -1:
        raise refused(
            "funnelStep must be a step of the funnel, from 1, or -n for drop-offs before step n",
            attr="funnelPathsFilter__funnelStep",
        )
    if kind == BETWEEN and step < 2:
        raise refused(
            "Paths between steps need a funnelStep of 2 or more",
            attr="funnelPathsFilter__funnelStep",
        )
    return step


def _check_persons(query: Mapping[str, Any], source: Mapping[str, Any]) -> None:
    if (source.get("funnelsFilter") or {}).get("funnelAggregateByHogQL") not in {None, "person_id"}:
        raise refused(
            "Paths of a funnel that aggregates by an expression are not supported",
            attr="funnelPathsFilter__funnelSource",
        )
    key = "aggregation_group_type_index"
    if query.get(key) != source.get(key):
        raise refused(
            f"Paths and their funnel need the same {key}", attr="funnelPathsFilter__funnelSource"
        )
