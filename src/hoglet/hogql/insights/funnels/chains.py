"""Computes funnel attempts from the sorted events of an actor, as expressions over arrays.

``ticks`` and ``masks`` are arrays of one actor, one item per event; see ``attempts``. Everything is
linear in their length: successors are filled from the end, never searched.
"""

from collections.abc import Sequence
from typing import Any

from hoglet.hogql.ast_builders import (
    Expression,
    call,
    constant,
    field,
    fill,
    same,
)
from hoglet.syntax import tree

_STEP = "arrayFilter((tick, mask) -> bitTest(mask, {bit}), ticks, masks)"
# From the last step to the first: for every event of a step, the chain that starts there. The rest
# of the chain is that of the next event (strict), or of the next one that has a chain, filled from
# the end. Linear in the number of events.
_LAST = (
    "arrayMap((tick, mask) -> if(bitTest(mask, {bit}), [tick], emptyArrayInt64()), ticks, masks)"
)
_FILLED = "arrayReverseFill(chain -> notEmpty(chain), {chains})"
_CHAINED = (
    "arrayMap((tick, mask, chain) -> if(bitTest(mask, {bit}), arrayPushFront(chain, tick), "
    "emptyArrayInt64()), ticks, masks, arraySlice(arrayPushBack({chains}, emptyArrayInt64()), 2))"
)
_IN_TIME = (
    "arrayMap(chain -> arrayResize(arrayFilter(time -> time <= arrayElement(chain, 1) + {window}, "
    "chain), {count}, _toInt64(0)), arrayFilter(chain -> notEmpty(chain), {chains}))"
)
# Unordered: for every event, the next event of each step, itself included; -1 without one.
_NEXT = (
    "arrayReverseFill(time -> time != -1, arrayMap((tick, mask) -> "
    "if(bitTest(mask, {bit}), tick, _toInt64(-1)), ticks, masks))"
)
_NEXT_BUT_ONE = (
    "arrayReverseFill(time -> time != -1, arrayMap((mask, after) -> "
    "if(bitTest(mask, {bit}), after, _toInt64(-1)), masks, "
    "arraySlice(arrayPushBack({before}, _toInt64(0)), 2)))"
)
_UNORDERED = (
    "arrayMap((tick, times) -> arrayResize(arraySort(arrayFilter(time -> time > 0 AND "
    "time <= tick + {window}, times)), {count}, _toInt64(0)), "
    "arrayFilter((tick, mask) -> bitAnd(mask, {any}) != 0, ticks, masks), "
    "arrayFilter((times, mask) -> bitAnd(mask, {any}) != 0, {times}, masks))"
)


def attempts_of(order: str, conditions: Sequence[Expression], window: Expression) -> Expression:
    """The attempts of an actor: lists of ticks, one per step, 0 if it was not reached.

    Args:
        order: ``ordered``, ``strict`` or ``unordered``.
        conditions: the conditions of the steps; equal steps need separate events.
        window: ticks from the first step to the last.
    """
    count = constant(len(conditions))
    if order == "unordered":
        times = _zipped([_next(step, conditions) for step in range(len(conditions))])
        any_step = constant((1 << len(conditions)) - 1)
        return expression(_UNORDERED, times=times, window=window, count=count, any=any_step)
    *earlier, last = range(len(conditions))
    chains = expression(_LAST, bit=constant(last))
    for step in reversed(earlier):
        if order == "ordered":
            chains = following(chains)
        chains = expression(_CHAINED, bit=constant(step), chains=chains)
    return in_time(chains, window, len(conditions))


def following(chains: Expression) -> Expression:
    """For every event, its own chain, else that of the next event with one."""
    return expression(_FILLED, chains=chains)


def in_time(chains: Expression, window: Expression, count: int) -> Expression:
    """The existing chains as attempts of ``count`` steps, without late steps."""
    return expression(_IN_TIME, window=window, count=constant(count), chains=chains)


def ticks_of(bit: int) -> Expression:
    """The ticks of the events with that bit in their mask."""
    return expression(_STEP, bit=constant(bit))


def _next(step: int, conditions: Sequence[Expression]) -> Expression:
    """For every event, the next time of the step; equal steps use separate events."""
    bit = constant(step)
    time = expression(_NEXT, bit=bit)
    for _ in range(sum(same(conditions[step], other) for other in conditions[:step])):
        time = expression(_NEXT_BUT_ONE, bit=bit, before=time)
    return time


def _zipped(arrays: Sequence[Expression]) -> Expression:
    """``[[a1, b1], [a2, b2], ...]`` of ``[a1, a2, ...]`` and ``[b1, b2, ...]``."""
    names = [f"at_{index}" for index in range(len(arrays))]
    body = call("array", *(field(name) for name in names))
    return call("arrayMap", tree.Lambda(args=tuple(names), expr=body), *arrays)


def expression(text: str, **parts: Any) -> Expression:
    """Fill the template of an expression."""
    return fill(f"SELECT {text}", **parts).select[0]
