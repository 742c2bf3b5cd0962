"""Prints operators on operands of known or guarded kinds.

Text to text: helper names come from ``builtins``, and user text only appears in literals written by
:func:`literal`.
"""

import math
from typing import Any, Final

from hoglet.hog.python.analysis.type_facts import NUMBERS, constant_kind

IMPORT: Final = "imp({})"
"""How host data is imported, unless its parts are compared: as a new copy."""

_UNKNOWN: Final = object()
SMALL: Final = 1_073_741_823
"""The interpreter compares ints up to here on its fastest path."""
RANGE: Final = f"-{SMALL} <= {{0}} <= {SMALL}"


class Operand:
    """Python text of a value.

    Attributes:
        text: an expression that can stand anywhere, in parentheses where needed.
        kind: see :mod:`hoglet.hog.python.analysis.type_facts`.
        atom: it is a name or a literal, which can be evaluated twice at no cost.
        value: the constant, if it is one.
        raw: how plain host data that was not imported yet is imported, ``imp({})``; else empty.
        general: the text with imports of a literal that has host data in it; else empty.
        plain: the condition under which a literal is plain data; empty if it is never tested.
    """

    __slots__ = ("atom", "general", "kind", "plain", "raw", "text", "value")

    def __init__(
        self,
        text: str,
        kind: str,
        *,
        atom: bool = False,
        value: Any = _UNKNOWN,
        raw: str = "",
        general: str = "",
        plain: str = "",
    ) -> None:
        self.text = text
        self.kind = kind
        self.atom = atom
        self.value = value
        self.raw = raw
        self.general = general
        self.plain = plain

    def named(self, name: str) -> "Operand":
        """The operand after its value was bound to a name."""
        return Operand(
            name, self.kind, atom=True, raw=self.raw, general=self.general, plain=self.plain
        )

    @property
    def constant(self) -> bool:
        """Whether the operand is a literal."""
        return self.value is not _UNKNOWN

    @property
    def is_number(self) -> bool:
        """Whether the operand is always a number."""
        return self.kind in NUMBERS


def literal(value: Any) -> Operand:
    """A constant as Python text. Text is escaped to ASCII."""
    kind = constant_kind(value)
    if kind == "F":
        value = _as_float(value)
        return Operand(_float_text(value), kind, atom=True, value=value)
    if isinstance(value, str):
        return Operand(ascii(value), kind, atom=True, value=value)
    text = f"({value})" if kind == "Z" and value < 0 else repr(value)
    return Operand(text, kind, atom=True, value=value)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _float_text(value: float) -> str:
    if math.isfinite(value):
        return repr(value) if value >= 0 and not str(value).startswith("-") else f"({value!r})"
    if value != value:  # noqa: PLR0124 (NaN)
        return "NAN"
    return "INF" if value > 0 else "(-INF)"


def as_float(operand: Operand) -> str:
    """The text of a number as a float."""
    if operand.kind == "F":
        return operand.text
    if operand.constant:
        return _float_text(float(operand.value))
    return f"({operand.text} * 1.0)"


def coerced(operand: Operand, kind: str) -> str:
    """The text of an operand where a value of that kind is needed."""
    return as_float(operand) if kind == "F" and operand.is_number else operand.text


def beside(operand: Operand, other: Operand) -> str:
    """The operand's text; an int literal becomes a float if the other operand is a float."""
    if other.kind == "F" and operand.constant and operand.kind in "ZC":
        return _float_text(float(operand.value))
    return operand.text


class Temporaries:
    """Names ``t1, t2 ...`` of one function."""

    def __init__(self) -> None:
        self.count = 0

    def new(self) -> str:
        """A fresh name."""
        self.count += 1
        return f"t{self.count}"

    def twice(self, operand: Operand) -> tuple[str, str]:
        """Text for the first use and for every later one."""
        if operand.atom:
            return operand.text, operand.text
        name = self.new()
        return f"({name} := {operand.text})", name


# --- arithmetic

_SLOW: Final = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod"}


def arithmetic(
    operator: str, left: Operand, right: Operand, kind: str, new: Temporaries
) -> Operand:
    """``left operator right``; at least one of the operands is an atom."""
    if operator == "%" and kind == "C":
        text = f"({left.text} % {right.text})"
    elif operator == "%":
        text = _remainder(left, right, new)
    elif operator == "/":
        text = _quotient(left, right, new)
    elif left.is_number and right.is_number:
        text = _numbers(operator, left, right, kind, new)
    else:
        text = _guarded(operator, left, right, new)
    return Operand(text, kind)


def _numbers(operator: str, left: Operand, right: Operand, kind: str, new: Temporaries) -> str:
    plain = f"({beside(left, right)} {operator} {beside(right, left)})"
    if kind in {"C", "F"}:
        return plain
    name = new.new()
    test = RANGE.format(f"({name} := {plain})")
    if operator == "*" and not (_positive(left) or _positive(right)):
        first, second = left.text, right.text
        if not (left.atom and right.atom):
            return f"mul({first}, {second})"
        return f"({name} if {test} and {name} else mul({first}, {second}))"
    return f"({name} if {test} else settle({name}))"


def _positive(operand: Operand) -> bool:
    return operand.constant and operand.value > 0


def _guarded(operator: str, left: Operand, right: Operand, new: Temporaries) -> str:
    """Numbers are computed in place; ints only if they and the result are small."""
    slow = _SLOW[operator]
    if {"S", "N", "B", "L", "D"} & {left.kind, right.kind}:
        return f"{slow}({whole_value(left)}, {whole_value(right)})"
    guards, uses = list[str](), dict[int, str]()
    # the operand that is not an atom is evaluated in the first guard, which always runs
    for operand in sorted((left, right), key=lambda operand: operand.atom):
        if operand.is_number and operand.atom:
            uses[id(operand)] = operand.text
            continue
        first, again = new.twice(operand)
        uses[id(operand)] = again
        small = f" and {RANGE.format(again)}" if operand.raw else ""
        guards.append(f"(type({first}) is F or type({again}) is I{small})")
    a, b = uses[id(left)], uses[id(right)]
    shown_a = beside(left, right) if left.constant else a
    shown_b = beside(right, left) if right.constant else b
    slow_a, slow_b = (f"imp({a})" if left.raw else a), (f"imp({b})" if right.raw else b)
    test, otherwise = " and ".join(guards), f"{slow}({slow_a}, {slow_b})"
    if "F" in (left.kind, right.kind):
        return f"({shown_a} {operator} {shown_b} if {test} else {otherwise})"
    name = new.new()
    result = RANGE.format(name)
    if operator == "*" and not (_is_positive(left) or _is_positive(right)):
        result = f"{name} and {result}"
    computed = f"(type({name} := {shown_a} {operator} {shown_b}) is F or {result})"
    return f"({name} if {test} and {computed} else {otherwise})"


def whole_value(operand: Operand) -> str:
    """The operand's text where a function needs a Hog value."""
    return operand.raw.format(operand.text) if operand.raw else operand.text


def _is_positive(operand: Operand) -> bool:
    return operand.constant and operand.kind == "Z" and operand.value > 0


def _quotient(left: Operand, right: Operand, new: Temporaries) -> str:
    if not (left.is_number and right.is_number):
        return f"div({whole_value(left)}, {whole_value(right)})"
    if right.constant and right.value:
        return f"({left.text} / {beside(right, left)})"
    if not left.atom and not right.atom:
        return f"div({whole_value(left)}, {whole_value(right)})"
    first, again = new.twice(right)
    if left.atom:
        return f"({left.text} / {again} if {first} else div({left.text}, {again}))"
    if right.atom:
        return f"div({whole_value(left)}, {whole_value(right)})"
    return f"div({whole_value(left)}, {whole_value(right)})"


def _remainder(left: Operand, right: Operand, new: Temporaries) -> str:
    positive = right.constant and right.kind in {"Z", "F"} and right.value > 0
    if not (right.is_number and (left.is_number or positive)) or not (left.atom or right.atom):
        return f"mod({whole_value(left)}, {whole_value(right)})"
    if not right.atom:
        return f"mod({whole_value(left)}, {whole_value(right)})"
    first, again = new.twice(left)
    other = beside(right, left)
    sign = "" if positive else f" and {other} > 0"
    guard = f"{first} >= 0" if left.is_number else f"type({first}) is I and 0 <= {again} <= {SMALL}"
    slow = f"imp({again})" if left.raw else again
    return f"({again} % {other} if {guard}{sign} else mod({slow}, {right.text}))"
