"""Numbers with IEEE double semantics: conversion, arithmetic, text.

The Python printer inlines fast paths of these operators; the functions here are complete, for every
type of operand.

Source: docs/spec/hog-language.md#4-values, docs/spec/hog-language.md#5-semantics-of-operators and
docs/spec/hog-language.md#8-printing.
"""

import math
import re
from typing import Any, Final

import orjson

from hoglet.hog.runtime.values import LARGEST_INTEGER

type Number = int | float

_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_PREFIXED: Final = re.compile(r"0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+)\Z")
_INFINITE: Final = re.compile(r"[+-]?Infinity\Z")
_BLANK: Final = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_NUMBERS: Final = frozenset({int, float})
_BEGINS_NUMBER: Final = frozenset("0123456789+-.I")
_EXACT_DIGITS: Final = 16  # fewer digits are always within ±2^53
_MAX_NUMBER_CHARACTERS: Final = 4000  # longer numbers are infinite, zero or rounded anyway


def settle(number: Number) -> Number:
    """Bring a computed number into its stored form: an int only within ±2^53."""
    if type(number) is int and not -LARGEST_INTEGER <= number <= LARGEST_INTEGER:
        return to_float(number)
    return number


def to_float(number: Number) -> float:
    """The nearest double; infinity if out of range."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def whole(number: Number) -> Number:
    """The same number, as an int if it is whole and within ±2^53."""
    if type(number) is float and number.is_integer() and abs(number) <= LARGEST_INTEGER:
        return int(number)
    return number


def to_number(value: Any) -> Number:
    """Convert any value to a number, as arithmetic does: null is 0, non-numeric text NaN."""
    kind = type(value)
    if kind is int or kind is float:
        return value
    if value is None:
        return 0
    if kind is bool:
        return 1 if value else 0
    if kind is str:
        return text_to_number(value)
    return _list_to_number(value) if isinstance(value, list) else math.nan


def _list_to_number(items: list[Any]) -> Number:
    """The number of an array: that of its only item, 0 if empty or inside itself, else NaN."""
    outer: list[list[Any]] = []
    while len(items) == 1 and len(outer) < 100:
        outer.append(items)
        item = items[0]
        if not isinstance(item, list):
            return math.nan if type(item) is bool else to_number(item)
        if any(item is array for array in outer):
            return 0
        items = item
    return math.nan if items else 0


def text_to_number(text: str) -> Number:
    """Convert a complete text to a number: ``''`` is 0, ``' 1e3 '`` 1000, ``0x1F`` 31, else NaN."""
    if len(text) < _EXACT_DIGITS and (not text or (text.isdigit() and text.isascii())):
        return int(text or "0")
    text = text.strip(_BLANK)
    if text[:1] not in _BEGINS_NUMBER:
        return math.nan if text else 0
    if len(text) < _MAX_NUMBER_CHARACTERS and _PREFIXED.match(text):
        return settle(int(text, 0))
    if _DECIMAL.match(text):
        return settle(int(text)) if text.isdigit() and len(text) <= 16 else _decimal(text)
    if _INFINITE.match(text):
        return -math.inf if text[0] == "-" else math.inf
    return math.nan


def _decimal(text: str) -> Number:
    number = float(text)
    return number if number == 0 and text[0] == "-" else whole(number)  # '-0' stays negative


def add(left: Any, right: Any) -> Number:
    """``left + right``; never joins text."""
    if type(left) is float and type(right) is float:
        return left + right
    return settle(to_number(left) + to_number(right))


def subtract(left: Any, right: Any) -> Number:
    """``left - right``."""
    return settle(to_number(left) - to_number(right))


def multiply(left: Any, right: Any) -> Number:
    """``left * right``."""
    if type(left) is float and type(right) in _NUMBERS:
        return left * right
    a, b = to_number(left), to_number(right)
    product = a * b
    if product:
        return settle(product)
    return float(a) * float(b) if a < 0 or b < 0 else product


def divide(left: Any, right: Any) -> Number:
    """``left / right``; infinity or NaN if ``right`` is zero."""
    a, b = to_number(left), to_number(right)
    if b:
        return a / b
    if a == 0 or a != a:  # noqa: PLR0124 (NaN)
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def remainder(left: Any, right: Any) -> Number:
    """``left % right``, with the sign of the dividend; ``x % 0`` is NaN."""
    a, b = to_number(left), to_number(right)
    if b == 0 or a != a or b != b or a in (math.inf, -math.inf):  # noqa: PLR0124 (NaN)
        return math.nan
    if type(a) is int and type(b) is int:
        result = abs(a) % abs(b)
        return result if a >= 0 else (-result if result else -0.0)
    return math.fmod(a, b)


def number_text(number: Number) -> str:
    """The shortest round-trip text: ``1``, ``0.000001``, ``1e-7``, ``1e+21``, ``NaN``."""
    if type(number) is int:
        return str(number)
    if not number.is_integer() and 1e-4 <= abs(number) < 1e16:
        return orjson.dumps(number).decode()  # faster than ``repr``
    if number.is_integer() and -1e21 < number < 1e21:
        return str(int(number)) if abs(number) <= LARGEST_INTEGER else _large_whole(number)
    if number != number:  # noqa: PLR0124 (NaN)
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return _decimal_text(number)


def _large_whole(number: float) -> str:
    digits, exponent = _digits(abs(number))
    return ("-" if number < 0 else "") + digits.ljust(exponent, "0")


def _digits(number: float) -> tuple[str, int]:
    """Digits and position of the point: 0.00123 is ``("123", -2)``, 12.5 ``("125", 2)``."""
    mantissa, _, exponent = repr(number).partition("e")
    before, _, after = mantissa.partition(".")
    after = "" if after == "0" else after
    point = len(before) + int(exponent or 0)
    digits = before + after
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    return stripped.rstrip("0") or "0", point


def _decimal_text(number: float) -> str:
    sign = "-" if number < 0 else ""
    digits, point = _digits(abs(number))
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    power = point - 1
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{'+' if power > 0 else '-'}{abs(power)}"
