"""FunnelsQuery: conversion through a sequence of steps.

For each actor, the attempt that reached the most steps counts, the earliest of several. Steps can
be optional, see ``optional_steps``.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.ast_builders import (
    Expression,
    alias,
    call,
    compare,
    constant,
    field,
    fill,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.breakdowns import Breakdown, breakdown_of
from hoglet.hogql.insights.build_result import Built, Rows
from hoglet.hogql.insights.date_range import DateSpan, span_of
from hoglet.hogql.insights.funnels.attempts import TICKS, FunnelAttempts
from hoglet.hogql.insights.funnels.optional_steps import required_before
from hoglet.hogql.insights.funnels.results import (
    histogram_edges,
    merged,
    merged_times,
    periods_of,
    shape_steps,
    shape_times,
    shape_trends,
)
from hoglet.hogql.insights.funnels.steps import check_step
from hoglet.hogql.insights.sampling import sampled, sampling_factor
from hoglet.hogql.insights.series import Node
from hoglet.syntax import tree

_BEST = (
    "SELECT actor, {breakdown} AS breakdown, best FROM (SELECT actor, breakdown, events, ticks, "
    "arrayFirst(times -> {score} = highest, attempts) AS best FROM "
    "(SELECT actor, breakdown, events, ticks, attempts, "
    "arrayMax(times -> {score}, attempts) AS highest "
    "FROM {attempts} WHERE notEmpty(attempts))) WHERE {attributed}"
)
# Per interval: 0 did not reach the first step, 1 not the last, 2 both.
_ENTRIES = (
    "SELECT bucket, breakdown, max(reached) AS reached FROM "
    "(SELECT actor, {bucket} AS bucket, {breakdown} AS breakdown, "
    "multiIf(NOT {entered}, 0, NOT {done}, 1, 2) AS reached FROM "
    "(SELECT actor, breakdown, events, ticks, arrayJoin(attempts) AS times FROM {attempts}) "
    "WHERE {attributed}) GROUP BY actor, bucket, breakdown"
)
_RANKED = (
    "SELECT {columns}, if(rank <= {limit}, breakdown, {rest}) AS breakdown FROM "
    "(SELECT {columns}, breakdown, dense_rank() OVER (ORDER BY size DESC, breakdown) AS rank "
    "FROM (SELECT {columns}, breakdown, count() OVER (PARTITION BY breakdown) AS size "
    "FROM {rows}))"
)
_STEPS = "SELECT {columns} FROM {best} GROUP BY breakdown"
_TRENDS = (
    "SELECT bucket, breakdown, countIf(reached >= 1) AS entered, countIf(reached = 2) AS done "
    "FROM {entries} GROUP BY bucket, breakdown"
)
_TIMES = "SELECT groupArray({seconds}) AS seconds FROM {best} WHERE {start} AND {end}"


def build(query: Mapping[str, Any], context: QueryContext) -> Built:
    """One query for each period: persons by step, conversion by interval, or conversion times."""
    span = span_of(query, context)
    funnels = [_Funnel(query, context, period) for period in periods_of(query, span)]
    factor = sampling_factor(query)

    def shape(answers: Sequence[Rows]) -> list[Any] | dict[str, Any]:
        if len(funnels) == 1:
            return funnels[0].shape(answers[0])
        if funnels[0].kind == "time_to_convert":
            return merged_times([_times_of(rows) for rows in answers], funnels[0].bins, factor)
        pairs = zip(funnels, answers, strict=True)
        results: list[Any] = [funnel.shape(rows) for funnel, rows in pairs]
        return merged(results)

    return Built([sampled(funnel.query(), factor) for funnel in funnels], shape, span)


def best_attempts(attempts: FunnelAttempts) -> Any:
    """The query ``actor, breakdown, best`` of actors who entered a funnel."""
    best = field("best")
    return fill(
        _BEST,
        attempts=attempts.query(),
        breakdown=attempts.breakdown_at(best) or field("breakdown"),
        attributed=attempts.reaches_attribution(best),
        score=attempts.score(field("times")),
    )


class _Funnel:
    def __init__(self, query: Mapping[str, Any], context: QueryContext, span: DateSpan) -> None:
        self._query = query
        self._context = context
        self._steps: list[Node] = list(query.get("series") or [])
        self._filter: Mapping[str, Any] = query.get("funnelsFilter") or {}
        self.kind = self._filter.get("funnelVizType") or "steps"
        if self.kind not in {"steps", "trends", "time_to_convert"}:
            raise refused(
                f"Unsupported funnelVizType '{self.kind}'", attr="funnelsFilter__funnelVizType"
            )
        self.bins: int = self._filter.get("binCount") or 0
        self.span = span
        # Times to convert are not split by breakdown.
        split = self.kind != "time_to_convert"
        self._breakdown: Breakdown | None = breakdown_of(query, context) if split else None
        self._attempts = FunnelAttempts(query, context, self.span, self._breakdown)
        self._start, self._end = self._section()

    def _section(self) -> tuple[int, int]:
        """The steps between which times and trends are measured; ``(0, 0)`` if none are.

        By default a funnel ends with its last required step, or with the last step if all others
        are optional.
        """
        last = len(self._steps) - 1
        for key in ("funnelFromStep", "funnelToStep"):
            check_step(self._filter.get(key), len(self._steps), f"funnelsFilter__{key}")
        start = self._filter.get("funnelFromStep") or 0
        given = self._filter.get("funnelToStep")
        required = required_before(self._attempts.optional, last + 1)
        end = given if given is not None else required if required > start else last
        if not last or self.kind == "steps":  # which may contain settings of another visualization
            return 0, 0
        if start >= end:
            key = "funnelFromStep" if start else "funnelToStep"
            raise refused(
                "funnelFromStep must be before funnelToStep", attr=f"funnelsFilter__{key}"
            )
        return start, end

    # --- query

    def query(self) -> Any:
        if self.kind == "trends":
            return self._trends()
        best = best_attempts(self._attempts)
        if self.kind == "time_to_convert":
            seconds = _seconds(_at(self._start), _at(self._end))
            start, end = _did(self._start), _did(self._end)
            return fill(_TIMES, seconds=seconds, start=start, end=end, best=best)
        if self._breakdown is not None:
            best = self._ranked(best, field("best"))
        return fill(_STEPS, columns=self._step_columns(), best=best)

    def _trends(self) -> Any:
        """An actor counts in every interval in which an attempt started."""
        times = field("times")
        first = call("arrayElement", times, constant(1))
        moment = call("fromUnixTimestamp", call("intDiv", first, constant(TICKS)))
        entries = fill(
            _ENTRIES,
            bucket=self.span.index(moment),
            breakdown=self._attempts.breakdown_at(times) or field("breakdown"),
            entered=_did(self._start, "times"),
            done=_did(self._end, "times"),
            attempts=self._attempts.query(),
            attributed=self._attempts.reaches_attribution(times),
        )
        if self._breakdown is not None:
            entries = self._ranked(entries, field("bucket"), field("reached"))
        return fill(_TRENDS, entries=entries)

    def _ranked(self, rows: Any, *columns: Expression) -> Any:
        """The rows with all but the most frequent breakdown values combined."""
        assert self._breakdown is not None  # noqa: S101 (both callers check)
        return fill(
            _RANKED,
            columns=columns,
            limit=constant(self._breakdown.limit),
            rest=self._breakdown.rest(),
            rows=rows,
        )

    def _step_columns(self) -> tuple[Expression, ...]:
        columns: list[Expression] = [field("breakdown")]
        for step in range(len(self._steps)):
            reached = _did(step)
            columns.append(alias(f"count_{step}", call("countIf", reached)))
            if step:  # a skipped optional step cannot start a time measurement
                gap = _seconds(_at(required_before(self._attempts.optional, step)), _at(step))
                columns.append(alias(f"average_{step}", call("avgIf", gap, reached)))
                middle = call("quantileExactInclusiveIf", gap, reached, params=[constant(0.5)])
                columns.append(alias(f"median_{step}", middle))
        return tuple(columns)

    # --- results

    def shape(self, rows: Rows) -> list[Any] | dict[str, Any]:
        factor = sampling_factor(self._query)
        if self.kind == "time_to_convert":
            seconds = _times_of(rows)
            return shape_times(seconds, histogram_edges(seconds, self.bins), factor)
        if self.kind == "trends":
            return shape_trends(rows, self.span, self._breakdown)
        return shape_steps(rows, self._steps, self._breakdown, self._context, factor)


def _times_of(rows: Rows) -> list[float]:
    return list(rows[0][0]) if rows else []


def _did(step: int, attempt: str = "best") -> Expression:
    """Whether an attempt reached a step."""
    tick = call("arrayElement", field(attempt), constant(step + 1))
    return compare(">", tick, constant(0))


def _at(step: int) -> Expression:
    """The microsecond at which the best attempt reached a step, 0-based."""
    tick = call("arrayElement", field("best"), constant(step + 1))
    return call("intDiv", tick, constant(16))


def _seconds(start: Expression, end: Expression) -> Expression:
    micros = tree.ArithmeticOperation(left=end, right=start, op="-")
    return tree.ArithmeticOperation(left=micros, right=constant(1_000_000), op="/")
