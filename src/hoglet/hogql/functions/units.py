"""Units of time passed as strings, validated before the engine sees them."""

from typing import Any

from hoglet.hogql.errors import near, refused
from hoglet.hogql.plan import Expr, Number, Value
from hoglet.hogql.types import STRING

_SHORT = {
    "year": ("yy", "yyyy"),
    "quarter": ("qq", "q"),
    "month": ("mm", "m"),
    "week": ("ww", "wk"),
    "day": ("dd", "d"),
    "hour": ("hh", "h"),
    "minute": ("mi", "n"),
    "second": ("ss", "s"),
    "millisecond": ("ms",),
    "microsecond": ("us", "u"),
    "nanosecond": ("ns",),
}
_DISTANCE = {word: unit for unit, words in _SHORT.items() for word in (unit, *words)}
UNITS = frozenset(_DISTANCE)
"""All names of units."""
_TRUNCATED = {unit: unit for unit in _SHORT}
_NAMED = {
    unit: unit
    for unit in (
        "year", "quarter", "month", "dayofyear", "day", "week", "weekday", "hour", "minute",
        "second",
    )
}  # fmt: skip
_UNITS_OF = {
    "dateDiff": _DISTANCE,
    "age": _DISTANCE,
    "dateTrunc": _TRUNCATED,
    "dateName": _NAMED,
}
"""By the engine's function name: accepted units and their canonical names."""


def checked_unit(name: str, args: tuple[Expr, ...], node: Any) -> tuple[Expr, ...]:
    """The arguments with the canonical unit: ``DAYS`` becomes ``day``.

    Raises:
        SourceError: the first argument is not a unit of the function.
    """
    known = _UNITS_OF.get(name)
    if known is None or not args or (isinstance(args[0], Number) and args[0].text == "NULL"):
        return args
    word = args[0].value if isinstance(args[0], Value) else None
    written = (getattr(node, "args", None) or (node,))[0]
    if not isinstance(word, str):
        raise refused(f"{node.name}() needs the name of a unit as a string, such as 'day'", written)
    for form in (word.strip().lower(), word.strip().lower().removesuffix("s")):
        if form in known:
            return (Value(value=known[form], bind="String", type=STRING), *args[1:])
    units = dict.fromkeys(known.values())
    hint = f"known are {', '.join(units)}"
    raise refused(f"Unknown unit of time '{word}'.{near(word, units)}", written, hint=hint)
