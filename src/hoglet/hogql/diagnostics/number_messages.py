"""Explains messages of the engine about kinds of numbers, and about values that may be NULL.

Numeric properties are floats that may be NULL; some functions take integers only.
"""

import re
from typing import Any

from hoglet.hogql.diagnostics.engine_terms import types_of_hogql, with_article
from hoglet.hogql.diagnostics.positions import call_of, calls_in, only_call
from hoglet.hogql.diagnostics.read_messages import Kind
from hoglet.hogql.errors import refused
from hoglet.kit.errors import SourceError

_POSITIONS = {"first": 1, "second": 2}
_NOT_NULL = "use coalesce(x, 0)"


def _number(match: re.Match[str], code: str, query: Any) -> SourceError:
    """An argument is no integer, no unsigned integer, or may be NULL."""
    parts = match.groupdict()
    name, given = parts.get("function") or "", parts.get("given")
    node = call_of(name, query) or only_call(query)
    name = getattr(node, "name", name)
    position = parts.get("position")
    subject = "An argument"
    if position is not None:
        subject = f"Argument {_POSITIONS.get(position.lower(), position)}"
    expected = parts.get("expected") or ""
    is_unsigned = "unsigned" in match.string or ("UInt" in expected and " Int" not in expected)
    required = "an unsigned Integer" if is_unsigned else "an Integer"
    message = f"{subject}{f' of {name}()' if name else ''} must be {required}"
    if given is None:
        return refused(message, node, code=code, hint=_conversion(None, unsigned=is_unsigned))
    type_ = types_of_hogql(given)
    message += f", not {with_article(type_)}"
    may_be_null = given.startswith("Nullable(") and type_ == "Integer"
    if may_be_null:
        message += " that may be NULL"
    hint = _NOT_NULL if may_be_null else _conversion(type_, unsigned=is_unsigned)
    return refused(message, node, code=code, hint=hint)


def _conversion(type_: str | None, *, unsigned: bool) -> str | None:
    if unsigned:
        return "use abs(toInt(x))"
    return None if type_ == "Integer" else "use toInt(x)"


def _two_numbers(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = call_of(match["function"], query)
    name = getattr(node, "name", match["function"])
    left, right = (with_article(types_of_hogql(match[side])) for side in ("left", "right"))
    message = f"'{name}' does not work on {left} and {right}"
    return refused(message, node, code=code, hint="use toInt(x)")


def _offset(match: re.Match[str], code: str, query: Any) -> SourceError:
    """Of lag, lead or nth_value."""
    node = next((each for each in calls_in(query) if each.name.lower() in _WITH_OFFSET), None)
    given = with_article(types_of_hogql(match["given"]))
    can_be_null = match["given"].startswith("Nullable(")
    message = f"An offset must be an Integer, not {given}{' that may be NULL' * can_be_null}"
    return refused(message, node, code=code, hint="use coalesce(toInt(x), 1)")


_WITH_OFFSET = frozenset({"lag", "lead", "laginframe", "leadinframe", "nth_value"})


def _null_number(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next((each for each in calls_in(query) if "TimeDecayed" in each.name), only_call(query))
    message = f"Argument {int(match['position']) + 1} must be a number that is never NULL"
    return refused(message, node, code=code, hint=_NOT_NULL)


def _map_key(match: re.Match[str], code: str, query: Any) -> SourceError:
    """A type that no key of a map can have; what may be NULL is one."""
    node = next((each for each in calls_in(query) if each.name.lower() in _MAPS), None)
    type_ = match["type"]
    if not type_ or type_.startswith(("Nullable(", "LowCardinality(Nullable(")):
        return refused("A key of a map cannot be NULL", node, code=code, hint="use ifNull(x, '')")
    message = f"A key of a map cannot be {with_article(types_of_hogql(type_))}"
    return refused(message, node, code=code, hint="use toString(x)")


_MAPS = frozenset({"map", "mapfromarrays", "json_build_object"})


def _fold(_match: re.Match[str], code: str, query: Any) -> SourceError:
    """An integer that is written is smaller than a sum of integers."""
    message = "arrayFold() begins with another type than its lambda returns"
    hint = "begin with the type of the lambda's result: toInt(0), toFloat(0)"
    return refused(message, call_of("arrayFold", query), code=code, hint=hint)


_NUMBER = r"(?:Nullable\()?(?:Float|U?Int)\d+\)?"

NUMBER_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"Map cannot have a key of type (?P<type>.+?)\.?(?: In scope|:|$)"), _map_key),
    (re.compile(r"mapFromArrays must not contain NULL(?P<type>)"), _map_key),
    (re.compile(r"lambda function must be the same as the accumulator type"), _fold),
    (
        re.compile(
            r"illegal type was provided as (?P<position>\d+)\w\w argument '\w+' to function "
            r"'(?P<function>\w+)'\. Expected: "
            r"(?P<expected>The number of decimal places to round to|U?Int(?!erval)[^.]*?), "
            rf"got: (?P<given>{_NUMBER})\.?$"
        ),
        _number,
    ),
    (
        re.compile(
            rf"Illegal type \(?(?P<given>{_NUMBER})\)? of "
            r"(?:first )?argument (?:of|for)(?: aggregate)? function "
            r"(?P<function>(?:range|groupBit\w+)\b|\w+(?=, expected (?:Native )?Integer))"
        ),
        _number,
    ),
    (
        re.compile(
            rf"Argument (?P<position>\d+) for function (?P<function>\w+) must be integer "
            rf"but it has type (?P<given>{_NUMBER})\.?$"
        ),
        _number,
    ),
    (
        re.compile(
            rf"(?P<position>First|Second) argument \(weight\) for function (?P<function>\w+) must "
            rf"be unsigned integer, but it has type (?P<given>{_NUMBER})\.?$"
        ),
        _number,
    ),
    (
        re.compile(
            r"(?P<position>[Ff]irst|[Ss]econd) argument for function '?(?P<function>\w+)'? must be "
            rf"integer(?: or array of integers)?(?:\.?$|, got '(?P<given>{_NUMBER})' instead)"
        ),
        _number,
    ),
    (
        re.compile(
            r"(?P<position>[Ff]irst|[Ss]econd) argument (?:for|of) aggregate function "
            r"'?(?P<function>\w+)'? must (?:have integer type|be unsigned integer)"
        ),
        _number,
    ),
    (
        re.compile(
            r"Illegal types (?P<left>Float\d+|U?Int\d+) and (?P<right>Float\d+|U?Int\d+) of "
            r"arguments of function (?P<function>bit\w+|gcd|lcm)\b"
        ),
        _two_numbers,
    ),
    (re.compile(rf"Offset must be an integer, '(?P<given>{_NUMBER})' given"), _offset),
    (re.compile(r"Argument (?P<position>\d+) must be a number, 'Nullable"), _null_number),
)
