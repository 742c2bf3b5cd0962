"""Packs the time and mask of events into integers for collecting them per actor.

The engine collects and sorts integers more than twice as fast as tuples: 10 million events of
500,000 persons in 2.2 s of CPU time instead of 5.6 (chDB 26.9). So the mask is stored in the low
bits of the time, if it fits and there is no breakdown value.
"""

from collections.abc import Sequence

import msgspec

from hoglet.hogql.ast_builders import Expression, call, constant, field
from hoglet.hogql.insights.funnels.chains import expression
from hoglet.syntax import tree

# Times of the engine, 1900 to 2299, take 54 bits in microseconds including the sign.
_MOST_BITS = 9
_MICROS = "toUnixTimestamp64Micro(timestamp)"
_PACKED = f"bitOr(bitShiftLeft({_MICROS}, {{bits}}), {{mask}})"
_EVENT = field("event")


class Packing(msgspec.Struct, frozen=True):
    """``item`` is collected for each event; ``micros`` and ``mask`` unpack it from ``event``."""

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
    if key is None and bits <= _MOST_BITS:
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
        call("if", condition, constant(1 << place), constant(0))
        for place, condition in enumerate(conditions)
    ]
    total = bits[0]
    for bit in bits[1:]:
        total = tree.ArithmeticOperation(left=total, right=bit, op="+")
    return call("_toInt64", total)
