"""How the events of an actor are gathered for a funnel: the time and the mask of each, packed.

The engine gathers and sorts whole numbers more than twice as fast as tuples: 10 million events of
500,000 people in 2.2 s of processor time instead of 5.6 (chDB 26.9). So the mask of an event is put
into the low bits of its time, where it fits and no breakdown value comes along.
"""

from collections.abc import Sequence

import msgspec

from hoglet.hogql.ast_builders import Expression, call, constant, field
from hoglet.hogql.insights.funnels.chains import expression
from hoglet.syntax import tree

# Times of the engine, 1900 to 2299, take 54 bits in microseconds with their sign.
_MOST_BITS = 9
_MICROS = "toUnixTimestamp64Micro(timestamp)"
_PACKED = f"bitOr(bitShiftLeft({_MICROS}, {{bits}}), {{mask}})"
_EVENT = field("event")


class Packing(msgspec.Struct, frozen=True):
    """``item`` is what is gathered of an event; ``micros`` and ``mask`` read it as ``event``."""

    item: Expression
    micros: Expression
    mask: Expression


def packing_of(conditions: Sequence[Expression], key: Expression | None) -> Packing:
    """How events are gathered.

    Args:
        conditions: bit n of the mask of an event says whether condition n holds for it.
        key: what else is needed of an event, as ``event.3``.
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
