"""Attempts at a funnel: for every actor, the times at which each attempt reached each step.

The events of an actor are sorted by time. Each has a tick (its microsecond times 16, plus its
number within that microsecond, so that ticks are unique and one event is one step) and a bit mask
of the steps and exclusions it matches. An attempt is a list of ticks, one per step, 0 if the step
was not reached within the window.

The engine collects and sorts integers more than twice as fast as tuples: 10 million events of
500,000 persons in 2.2 s of CPU time instead of 5.6 (chDB 26.9). So :class:`Packing` stores the mask
in the low bits of the time, if it fits and there is no breakdown value.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (funnelsFilter).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import (
    Expression,
    alias,
    call,
    compare,
    constant,
    every,
    field,
    fill,
    same,
    some,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.hogql.insights.breakdowns import Breakdown
from hoglet.hogql.insights.date_range import DateSpan
from hoglet.hogql.insights.funnels.chains import attempts_of, expression
from hoglet.hogql.insights.funnels.exclusions import exclusions_of, none_between
from hoglet.hogql.insights.funnels.optional_steps import (
    optional_attempts,
    optional_steps,
    score,
)
from hoglet.hogql.insights.funnels.steps import (
    check_step,
    step_conditions,
    steps_of,
    window_seconds,
)
from hoglet.hogql.insights.series import common_conditions
from hoglet.syntax import tree

# Times of the engine, 1900 to 2299, take 54 bits in microseconds including the sign.
_MAX_BITS = 9
_MICROS = "toUnixTimestamp64Micro(timestamp)"
_PACKED = f"bitOr(bitShiftLeft({_MICROS}, {{bits}}), {{mask}})"
_EVENT = field("event")


class Packing(msgspec.Struct, frozen=True):
    """``item`` is collected per event; ``micros`` and ``mask`` read its parts from ``event``."""

    item: Expression
    micros: Expression
    mask: Expression


def packing_of(conditions: Sequence[Expression], key: Expression | None) -> Packing:
    """The packing for a funnel.

    Args:
        conditions: bit n of the mask of an event says whether condition n holds for it.
        key: an additional value per event, as ``event.3``.
    """
    bits, mask = len(conditions), _mask(conditions)
    if key is None and bits <= _MAX_BITS:
        return Packing(
            item=expression(_PACKED, bits=constant(bits), mask=mask),
            micros=call("bitShiftRight", _EVENT, constant(bits)),
            mask=call("bitAnd", _EVENT, constant((1 << bits) - 1)),
        )
    item = call("tuple", expression(_MICROS), mask, *([] if key is None else [key]))
    return Packing(
        item=item,
        micros=tree.TupleAccess(tuple=_EVENT, index=1),
        mask=tree.TupleAccess(tuple=_EVENT, index=2),
    )


def _mask(conditions: Sequence[Expression]) -> Expression:
    bits = [
        call("if", condition, constant(1 << index), constant(0))
        for index, condition in enumerate(conditions)
    ]
    total = bits[0]
    for bit in bits[1:]:
        total = tree.ArithmeticOperation(left=total, right=bit, op="+")
    return call("_toInt64", total)


TICKS = 16_000_000
"""Ticks per second."""

_PERSON = field("person_id")
_REACHED = "arrayCount(time -> time > 0, {times})"
_ACTORS = "SELECT {columns} FROM events WHERE {where} GROUP BY {keys}"
_TICKED = (
    "SELECT actor, breakdown, events, arrayMap(event -> {mask}, events) AS masks, "
    "arrayMap((event, nth) -> _toInt64({micros} * 16 + least(nth, 16) - 1), events, "
    "arrayEnumerateUniq(arrayMap(event -> {micros}, events))) AS ticks FROM {actors}"
)
_ATTEMPTS = (
    "SELECT actor, breakdown, events, ticks, arraySort(times -> arrayElement(times, 1), "
    "arrayFilter(times -> {valid}, {attempts})) AS attempts FROM {ticked}"
)


class FunnelAttempts:
    """Builds the query ``actor, breakdown, events, ticks, attempts`` of a funnel.

    Args:
        query: the insight.
        context: the project.
        span: its dates.
        breakdown: its breakdown, or None.
    """

    def __init__(
        self,
        query: Mapping[str, Any],
        context: QueryContext,
        span: DateSpan,
        breakdown: Breakdown | None,
    ) -> None:
        self._query = query
        self._context = context
        self._span = span
        self._breakdown = breakdown
        self._filter: Mapping[str, Any] = query.get("funnelsFilter") or {}
        self._order = self._filter.get("funnelOrderType") or "ordered"
        if self._order not in {"ordered", "unordered", "strict"}:
            raise refused(
                f"Unknown funnelOrderType '{self._order}'", attr="funnelsFilter__funnelOrderType"
            )
        self._steps = steps_of(query)
        self._conditions = step_conditions(self._steps, context, span, self._actor())
        self.optional = optional_steps(self._steps, self._order)
        self._exclusions = exclusions_of(self._filter, len(self._steps), context)
        self._window = constant(window_seconds(self._filter) * TICKS + 15)
        self._attribution = _attribution(
            self._filter, self._order, is_broken_down=breakdown is not None
        )
        attr = "funnelsFilter__breakdownAttributionValue"
        check_step(self._filter.get("breakdownAttributionValue"), len(self._steps), attr)
        if breakdown is not None and breakdown.is_cohorts:
            self._attribution = "all_events"

    def query(self) -> Any:
        """One row per actor (and breakdown value, if requested)."""
        packing = self._packing()
        ticked = fill(
            _TICKED, actors=self._actors(packing), micros=packing.micros, mask=packing.mask
        )
        valid = none_between(self._exclusions, self.optional, self._window)
        return fill(_ATTEMPTS, valid=valid, attempts=self._attempts(), ticked=ticked)

    def _attempts(self) -> Expression:
        if any(self.optional):
            return optional_attempts(self._order, self.optional, self._window)
        return attempts_of(self._order, self._conditions, self._window)

    def score(self, times: Expression) -> Expression:
        """The rank of an attempt: the number of its steps, required ones first."""
        if any(self.optional):
            return score(times, self.optional)
        return expression(_REACHED, times=times)

    def breakdown_at(self, times: Expression) -> Expression | None:
        """The breakdown value of an attempt, if it depends on the attempt."""
        if self._breakdown is None or self._attribution != "step":
            return None
        tick = call("arrayElement", times, constant(self._attributed_step() + 1))
        position = call("indexOf", field("ticks"), tick)
        event = call("arrayElement", field("events"), position)
        return tree.TupleAccess(tuple=event, index=3)

    def reaches_attribution(self, times: Expression) -> Expression:
        """Whether an attempt has a breakdown value: for ``step``, it has reached that step."""
        if self._breakdown is None or self._attribution != "step":
            return constant(True)
        tick = call("arrayElement", times, constant(self._attributed_step() + 1))
        return compare(">", tick, constant(0))

    # --- actors

    def _actors(self, packing: Packing) -> Any:
        events = call("arraySort", call("groupArray", packing.item))
        columns = [
            alias("actor", self._actor()),
            alias("breakdown", self._value()),
            alias("events", events),
        ]
        keys: list[Expression] = [field("actor")]
        if self._breakdown is not None and self._attribution == "all_events":
            keys.append(field("breakdown"))
        return fill(_ACTORS, columns=tuple(columns), where=self._where(), keys=tuple(keys))

    def _where(self) -> Expression:
        conditions = [*self._span.condition(), *common_conditions(self._query, self._context)]
        if not same(self._actor(), _PERSON):  # every event has one
            known = call("ifNull", call("toString", self._actor()), constant(""))
            conditions.append(compare("!=", known, constant("")))
        if self._order != "strict":  # strict funnels need all events in between
            conditions.append(
                some([*self._conditions, *(item.condition for item in self._exclusions)])
            )
        return every(conditions)

    def _actor(self) -> Expression:
        text = self._filter.get("funnelAggregateByHogQL")
        if text and text != "person_id":
            return call("toString", read_expression(str(text)))
        index = self._query.get("aggregation_group_type_index")
        return _PERSON if index is None else field(f"$group_{index}")

    def _packing(self) -> Packing:
        """Bit n of a mask is step n; the higher bits are exclusions."""
        conditions = [*self._conditions, *(item.condition for item in self._exclusions)]
        if self._breakdown is None or self._attribution != "step":
            return packing_of(conditions, None)
        return packing_of(conditions, self._breakdown.key(self._where()))

    def _value(self) -> Expression:
        """The breakdown value of an actor, if it does not depend on the attempt."""
        if self._breakdown is None or self._attribution == "step":
            return tree.Array(exprs=(constant(""),))
        key = self._breakdown.key(self._where())
        if self._attribution == "all_events":
            return key
        nothing = self._breakdown.nothing()
        touched = every([some(self._conditions), compare("!=", key, nothing)])
        function = "argMinIf" if self._attribution == "first_touch" else "argMaxIf"
        value = call(function, key, field("timestamp"), touched)
        return call("if", call("empty", value), nothing, value)

    def _attributed_step(self) -> int:
        return self._filter.get("breakdownAttributionValue") or 0


def _attribution(filter_: Mapping[str, Any], order: str, *, is_broken_down: bool) -> str:
    attribution = str(filter_.get("breakdownAttributionType") or "first_touch")
    if attribution not in {"first_touch", "last_touch", "all_events", "step"}:
        raise refused(
            f"Unknown breakdownAttributionType '{attribution}'",
            attr="funnelsFilter__breakdownAttributionType",
        )
    if is_broken_down and attribution == "step" and order == "unordered":
        raise refused(
            "An unordered funnel has no steps to attribute a breakdown to",
            attr="funnelsFilter__breakdownAttributionType",
        )
    return attribution
