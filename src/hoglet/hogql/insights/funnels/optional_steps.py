"""Optional steps of funnels, which can be skipped.

The required steps of an ordered funnel are matched as if the optional ones did not exist. Between
two required steps, or after the last one, as many optional steps as possible are matched in order;
of several matches the earliest.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (optionalInFunnel).
"""

from collections.abc import Sequence

from hoglet.hogql.ast_builders import Expression, array, constant
from hoglet.hogql.errors import refused
from hoglet.hogql.insights.funnels.chains import expression, following, in_time
from hoglet.hogql.insights.series import Node

_REQUIRED_WEIGHT = 16
"""Larger than the number of optional steps, so that required ones dominate."""

_NOTHING = "arrayMap(tick -> emptyArrayInt64(), ticks)"
# For every event, the chain that starts with it at the step, one item per remaining step.
_CHAINED = (
    "arrayMap((tick, mask, chain) -> if(bitTest(mask, {bit}), "
    "arrayPushFront(arrayResize(chain, {left}, _toInt64(0)), tick), emptyArrayInt64()), "
    "ticks, masks, arraySlice(arrayPushBack({chains}, emptyArrayInt64()), 2))"
)
# The same; [-1] at the next required step, where the search for the optional one ends.
_STOPPED = (
    "arrayMap((mask, chain) -> if(bitTest(mask, {next}), [_toInt64(-1)], chain), masks, {chains})"
)
# The better of doing and skipping the step; ``after`` is the continuation without it.
_DONE_OR_LEFT_OUT = (
    "arrayMap((done, after) -> if({done_score} > {after_score} OR ({done_score} = {after_score} "
    "AND arrayFirst(time -> time > 0, done) <= arrayFirst(time -> time > 0, after)), done, "
    "if(empty(after), after, arrayPushFront(after, _toInt64(0)))), {chains}, after)"
)
_LET = "arrayElement(arrayMap(after -> {body}, [{value}]), 1)"
_SCORE = (
    "arraySum((time, weight) -> if(time > 0, weight, 0), "
    "arrayResize({times}, {count}, _toInt64(0)), {weights})"
)


def optional_steps(steps: Sequence[Node], order: str) -> tuple[bool, ...]:
    """Which steps are optional.

    Raises:
        SourceError: the first step is optional, or the funnel is unordered.
    """
    optional = tuple(bool(step.get("optionalInFunnel")) for step in steps)
    if optional and optional[0]:
        raise refused(
            "The first step of a funnel cannot be optional", attr="series__0__optionalInFunnel"
        )
    if any(optional) and order == "unordered":
        raise refused("Steps of an unordered funnel cannot be optional", attr="series")
    return optional


def optional_attempts(order: str, optional: Sequence[bool], window: Expression) -> Expression:
    """The attempts of an actor; 0 for steps that were skipped or not reached.

    Args:
        order: ``ordered`` or ``strict``.
        optional: which steps are optional.
        window: ticks from the first step to the last.
    """
    chains = expression(_NOTHING)
    for step in reversed(range(len(optional))):
        chains = _step(step, order, optional, chains)
    return in_time(chains, window, len(optional))


def score(times: Expression, optional: Sequence[bool]) -> Expression:
    """The rank of an attempt: by required steps, then by optional ones."""
    weights = array([1 if each else _REQUIRED_WEIGHT for each in optional])
    return expression(_SCORE, times=times, count=constant(len(optional)), weights=weights)


def required_before(optional: Sequence[bool], step: int) -> int:
    """The last required step before ``step``."""
    return max(earlier for earlier in range(step) if not optional[earlier])


def _step(step: int, order: str, optional: Sequence[bool], after: Expression) -> Expression:
    """For every event, the chain from that step on that starts with it or, if ordered, after it."""
    left = constant(len(optional) - step - 1)
    if not optional[step]:
        chains = expression(_CHAINED, bit=constant(step), left=left, chains=after)
        return _following(step, order, chains)
    chains = expression(_CHAINED, bit=constant(step), left=left, chains=expression("after"))
    required = next((other for other, each in enumerate(optional) if other > step and not each), 0)
    if order == "ordered" and required:
        chains = expression(_STOPPED, next=constant(required), chains=chains)
    body = expression(
        _DONE_OR_LEFT_OUT,
        chains=_following(step, order, chains),
        done_score=score(expression("done"), optional[step:]),
        after_score=score(expression("after"), optional[step + 1 :] or [True]),
    )
    return expression(_LET, body=body, value=after)


def _following(step: int, order: str, chains: Expression) -> Expression:
    if order == "strict" or not step:
        return chains
    return following(chains)
