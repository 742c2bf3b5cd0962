"""Prints comparisons of operands of known or guarded kinds; see ``operands``."""

import re
from typing import Final

from hoglet.hog.python.analysis.type_facts import NUMBERS
from hoglet.hog.python.codegen.operands import (
    RANGE,
    Operand,
    Temporaries,
    beside,
    literal,
    whole_value,
)

_GUARDS: Final = {"K": "I", "C": "I", "Z": "I", "F": "F", "S": "S"}
ORDER: Final = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
"""The functions behind comparisons of order."""

_EQUALITY: Final = {"==": "eq", "!=": "ne"}
COMPARISONS: Final = ORDER | _EQUALITY
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
    slow = ORDER.get(operator) or _EQUALITY[operator]
    if left.kind == "N" or right.kind == "N":
        return Operand(_null_text(operator, left, right), "B")
    if left.is_number and right.is_number:
        text = f"({beside(left, right)} {operator} {beside(right, left)})"
    elif operator in _EQUALITY and left.kind == right.kind and left.kind in {"S", "B"}:
        text = f"({left.text} {operator} {right.text})"
    elif operator in _EQUALITY and {left.kind, right.kind} == {"A", "B"}:
        text = _with_boolean(operator, slow, left, right, new)
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
    items = "".join([f"{text!a}, " for text in texts])
    listed = f"({items})" if len(texts) <= _FEW else f"{{{items}}}"
    if left.kind == "S":
        return Operand(f"({left.text} {operator} {listed})", "B")
    otherwise = "False" if operator == "in" else "True"
    return Operand(f"({again} {operator} {listed} if type({first}) is S else {otherwise})", "B")


_FEW: Final = 3
"""Strings among which a search is as fast as in a set."""


def _null_text(operator: str, left: Operand, right: Operand) -> str:
    null, other = (left, right) if left.kind == "N" else (right, left)
    if operator in _EQUALITY and null.constant and other.constant:
        return str((other.value is None) == (operator == "=="))
    if operator in _EQUALITY and null.constant and other.kind not in "AN":
        answer = str(operator == "!=")  # the other operand is never null
        return answer if other.atom else f"({other.text}, {answer})[1]"
    if operator in _EQUALITY and null.constant:
        return f"({other.text} is {'' if operator == '==' else 'not '}None)"
    slow = ORDER.get(operator) or _EQUALITY[operator]
    return f"{slow}({left.text}, {right.text})"


def _with_boolean(operator: str, slow: str, left: Operand, right: Operand, new: Temporaries) -> str:
    """``x = true``: booleans, and null for what is missing, are compared in place."""
    value, known = (left, right) if right.kind == "B" else (right, left)
    slow_left, slow_right = whole_value(left), whole_value(right)
    if not known.atom:
        return f"{slow}({slow_left}, {slow_right})"
    first, again = new.twice(value)
    other = f"imp({again})" if value.raw else again
    slow_left, slow_right = (other, known.text) if value is left else (known.text, other)
    word = "is" if operator == "==" else "is not"
    test = f"type({first}) is B or {again} is None"
    return f"({again} {word} {known.text} if {test} else {slow}({slow_left}, {slow_right}))"


def _guarded_comparison(
    operator: str, slow: str, left: Operand, right: Operand, new: Temporaries
) -> str:
    guard = _comparison_guard(operator, left, right)
    if guard is None:
        return f"{slow}({whole_value(left)}, {whole_value(right)})"
    guards, uses = list[str](), dict[int, str]()
    is_alone = left.constant or right.constant
    for operand in sorted((left, right), key=lambda operand: operand.atom):
        if operand.atom and operand.kind in "ZCKFS":
            uses[id(operand)] = operand.text
            continue
        first, again = new.twice(operand)
        uses[id(operand)] = again
        guards.append(_type_test(guard, operand, first, again, is_alone=is_alone))
    a, b = uses[id(left)], uses[id(right)]
    if not guards:
        return f"({a} {operator} {b})"
    slow_a = left.raw.format(a) if left.raw else a
    slow_b = right.raw.format(b) if right.raw else b
    if operator in _EQUALITY and guard == "S" and is_alone and (left.raw or right.raw):
        slow, slow_a, slow_b = f"R_{slow}", a, b
    return f"({a} {operator} {b} if {' and '.join(guards)} else {slow}({slow_a}, {slow_b}))"


def _type_test(guard: str, operand: Operand, first: str, again: str, *, is_alone: bool) -> str:
    """The test of an operand's type; ``is_alone`` if the other one is a literal.

    Large integers of the host are not their own imports, but compare with small ones as these do.
    """
    if guard == "S":
        return f"type({first}) is S"
    if operand.raw and not is_alone:
        return f"(type({first}) is F or type({again}) is I and {RANGE.format(again)})"
    test = f"type({first}) is {guard}"
    if guard == "F" and operand.raw:
        return test
    return f"({test} or type({again}) is {'F' if guard == 'I' else 'I'})"


def _is_ascii(operand: Operand) -> bool:
    """Whether an operand is an ASCII literal: Python orders other strings around it as Hog does."""
    return isinstance(operand.value, str) and operand.value.isascii()


def _comparison_guard(operator: str, left: Operand, right: Operand) -> str | None:
    """The type that the fast path checks for; None to always call the helper."""
    kinds = {left.kind, right.kind} - {"A"}
    if not kinds:
        return "I" if operator in ORDER else "S"
    if len(kinds) > 1 and not kinds <= NUMBERS:
        return None
    kind = kinds.pop()
    if kind == "S":
        return "S" if operator in _EQUALITY or _is_ascii(left) or _is_ascii(right) else None
    return _GUARDS.get(kind)
