"""Prints operators on operands of known or guarded kinds.

Text to text: helper names come from ``builtins``, and user text only appears in literals written by
:func:`literal`.
"""

import math
import re
from typing import Any, Final

from hoglet.hog.python.analysis.type_facts import NUMBERS, constant_kind

IMPORT: Final = "imp({})"
"""How host data is imported, unless its parts are compared: as a new copy."""

_UNKNOWN: Final = object()
SMALL: Final = 1_073_741_823
"""The interpreter compares ints up to here on its fastest path."""
_RANGE: Final = f"-{SMALL} <= {{0}} <= {SMALL}"
_GUARDS: Final = {"K": "I", "C": "I", "Z": "I", "F": "F", "S": "S"}


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


def _beside(operand: Operand, other: Operand) -> str:
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
    if operator == "%":
        text = _remainder(left, right, new)
    elif operator == "/":
        text = _quotient(left, right, new)
    elif left.is_number and right.is_number:
        text = _numbers(operator, left, right, kind, new)
    else:
        text = _guarded(operator, left, right, new)
    return Operand(text, kind)


def _numbers(operator: str, left: Operand, right: Operand, kind: str, new: Temporaries) -> str:
    plain = f"({_beside(left, right)} {operator} {_beside(right, left)})"
    if kind in {"C", "F"}:
        return plain
    name = new.new()
    test = _RANGE.format(f"({name} := {plain})")
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
        small = f" and {_RANGE.format(again)}" if operand.raw else ""
        guards.append(f"(type({first}) is F or type({again}) is I{small})")
    a, b = uses[id(left)], uses[id(right)]
    shown_a = _beside(left, right) if left.constant else a
    shown_b = _beside(right, left) if right.constant else b
    slow_a, slow_b = (f"imp({a})" if left.raw else a), (f"imp({b})" if right.raw else b)
    test, otherwise = " and ".join(guards), f"{slow}({slow_a}, {slow_b})"
    if "F" in (left.kind, right.kind):
        return f"({shown_a} {operator} {shown_b} if {test} else {otherwise})"
    name = new.new()
    result = _RANGE.format(name)
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
        return f"({left.text} / {_beside(right, left)})"
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
    other = _beside(right, left)
    sign = "" if positive else f" and {other} > 0"
    guard = f"{first} >= 0" if left.is_number else f"type({first}) is I and 0 <= {again} <= {SMALL}"
    slow = f"imp({again})" if left.raw else again
    return f"({again} % {other} if {guard}{sign} else mod({slow}, {right.text}))"


# --- comparisons

_ORDER: Final = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_EQUALITY: Final = {"==": "eq", "!=": "ne"}
COMPARISONS: Final = _ORDER | _EQUALITY
"""The functions behind comparisons."""

_HELPERS: Final = {
    "like": "like", "ilike": "ilike", "not like": "not_like", "not ilike": "not_ilike",
    "in": "contains", "not in": "not_contains", "=~": "regex", "!~": "not_regex",
    "=~*": "regex_ignore_case", "!~*": "not_regex_ignore_case",
}  # fmt: skip


def comparison(operator: str, left: Operand, right: Operand, new: Temporaries) -> Operand:
    """``left operator right`` as a bool; at least one of the operands is an atom."""
    helper = _HELPERS.get(operator)
    if helper is not None:
        return Operand(_helper_text(operator, helper, left, right, new), "B")
    slow = _ORDER.get(operator) or _EQUALITY[operator]
    if left.kind == "N" or right.kind == "N":
        return Operand(_null_text(operator, left, right), "B")
    if left.is_number and right.is_number:
        text = f"({_beside(left, right)} {operator} {_beside(right, left)})"
    elif operator in _EQUALITY and left.kind == right.kind and left.kind in {"S", "B"}:
        text = f"({left.text} {operator} {right.text})"
    else:
        text = _guarded_comparison(operator, slow, left, right, new)
    return Operand(text, "B")


def _helper_text(
    operator: str, helper: str, left: Operand, right: Operand, new: Temporaries
) -> str:
    if operator in {"in", "not in"} and right.kind == "D" and left.kind == "S":
        return f"({left.text} {operator} {right.text})"
    if operator in _LIKE and right.constant and right.kind == "S":
        bare = right.value.strip("%")
        if "%" not in bare and "_" not in bare:
            word = _LIKE[operator]
            return _membership(word, literal(bare).text, left, new, helper)
        return _with_prefilter(operator, bare, left, new, right)
    if operator in _IGNORING_CASE and right.constant and right.kind == "S" and not left.constant:
        bare = right.value.strip("%")
        if "%" not in bare and "_" not in bare and bare.isascii():
            return _membership_in_lower(operator, literal(bare.lower()).text, left, new, right)
    is_literal = operator in _REGEX and right.constant and right.kind == "S"
    if is_literal and _NO_SYNTAX.match(right.value):
        return _membership(_REGEX[operator], right.text, left, new, helper)
    return f"{helper}({left.text}, {right.text})"


_REGEX: Final = {"=~": "in", "!~": "not in"}
_NO_SYNTAX: Final = re.compile(r"[A-Za-z0-9 @/:_,;%&=<>~!#'\"-]+\Z")
_LIKE: Final = {"like": "in", "not like": "not in"}


def _membership(word: str, needle: str, text: Operand, new: Temporaries, otherwise: str) -> str:
    """A search in a string; other types are passed to the function ``otherwise``."""
    first, again = new.twice(text)
    return f"({needle} {word} {again} if type({first}) is S else {otherwise}({again}, {needle}))"


def _with_prefilter(
    operator: str, pattern: str, text: Operand, new: Temporaries, right: Operand
) -> str:
    """``like`` with wildcards inside: only strings with its longest piece are passed to it."""
    piece = max(re.split("[%_]", pattern), key=len)
    helper = _HELPERS[operator]
    if not piece.isascii() or not piece or text.constant:
        return f"{helper}({text.text}, {right.text})"
    first, again = new.twice(text)
    without = operator == "not like"
    test = f"type({first}) is S and {literal(piece).text} not in {again}"
    return f"({without} if {test} else {helper}({again}, {right.text}))"


_IGNORING_CASE: Final = {"ilike": "in", "not ilike": "not in"}


def _membership_in_lower(
    operator: str, needle: str, text: Operand, new: Temporaries, pattern: Operand
) -> str:
    """A search in a short ASCII string, ignoring case."""
    first, again = new.twice(text)
    test = f"type({first}) is S and LEN({again}) <= 256 and {again}.isascii()"
    inside = f"{needle} {_IGNORING_CASE[operator]} LOWER({again})"
    return f"({inside} if {test} else {_HELPERS[operator]}({again}, {pattern.text}))"


def one_of(operator: str, left: Operand, texts: list[str], new: Temporaries) -> Operand:
    """``left in ['a', 'b']`` for literal strings; false for non-strings."""
    first, again = new.twice(left)
    listed = "".join([f"{text!a}, " for text in texts])
    otherwise = "False" if operator == "in" else "True"
    return Operand(f"({again} {operator} ({listed}) if type({first}) is S else {otherwise})", "B")


def _null_text(operator: str, left: Operand, right: Operand) -> str:
    null, other = (left, right) if left.kind == "N" else (right, left)
    if operator in _EQUALITY and null.constant and other.constant:
        return str((other.value is None) == (operator == "=="))
    if operator in _EQUALITY and null.constant and other.kind not in "AN":
        answer = str(operator == "!=")  # the other operand is never null
        return answer if other.atom else f"({other.text}, {answer})[1]"
    if operator in _EQUALITY and null.constant:
        return f"({other.text} is {'' if operator == '==' else 'not '}None)"
    slow = _ORDER.get(operator) or _EQUALITY[operator]
    return f"{slow}({left.text}, {right.text})"


def _guarded_comparison(
    operator: str, slow: str, left: Operand, right: Operand, new: Temporaries
) -> str:
    guard = _comparison_guard(operator, left, right)
    if guard is None:
        return f"{slow}({left.text}, {right.text})"
    guards, uses = list[str](), dict[int, str]()
    for operand in sorted((left, right), key=lambda operand: operand.atom):
        if operand.atom and operand.kind in "ZCKFS":
            uses[id(operand)] = operand.text
            continue
        first, again = new.twice(operand)
        uses[id(operand)] = again
        test = f"type({first}) is {guard}"
        if guard != "S" and (guard == "I" or not operand.raw):
            test = f"({test} or type({again}) is {'F' if guard == 'I' else 'I'})"
        guards.append(test)
    a, b = uses[id(left)], uses[id(right)]
    if not guards:
        return f"({a} {operator} {b})"
    slow_a, slow_b = (f"imp({a})" if left.raw else a), (f"imp({b})" if right.raw else b)
    return f"({a} {operator} {b} if {' and '.join(guards)} else {slow}({slow_a}, {slow_b}))"


def _is_ascii(operand: Operand) -> bool:
    """Whether an operand is an ASCII literal: Python orders other strings around it as Hog does."""
    return isinstance(operand.value, str) and operand.value.isascii()


def _comparison_guard(operator: str, left: Operand, right: Operand) -> str | None:
    """The type that the fast path checks for; None to always call the helper."""
    kinds = {left.kind, right.kind} - {"A"}
    if not kinds:
        return "I" if operator in _ORDER else "S"
    if len(kinds) > 1 and not kinds <= NUMBERS:
        return None
    kind = kinds.pop()
    if kind == "S":
        return "S" if operator in _EQUALITY or _is_ascii(left) or _is_ascii(right) else None
    return _GUARDS.get(kind)
