"""Property tests as HogQL trees: prints ``kit/property_operators`` for queries.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

from typing import Any, NamedTuple

from hoglet.hogql.ast_builders import (
    TRUE,
    call,
    compare,
    constant,
    every,
    negated,
    some,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.filters.dates import clock_of, moment_constant
from hoglet.kit import property_operators as tests
from hoglet.kit.property_operators import OPERATORS, BadOperator, read_operator
from hoglet.kit.relative_dates import NotADate, resolve_date
from hoglet.syntax import tree

type Condition = tree.Expression

_NEEDLES = 200
"""The engine searches for at most 255 strings at once."""

_DATE = "^[ ]*[0-9]{4}-[0-9]{2}-[0-9]{2}"
"""The start of strings that are parsed as dates; the engine would accept ``10`` too."""


class Hint(NamedTuple):
    """Context of a condition: the clock for relative dates, and whether the target is a time.

    ``is_time_property`` is a property of type DateTime; only ordering operators compare it as a
    time. ``is_converted`` is one of type Boolean or DateTime, where numbers that were sent read as
    NULL or as times.
    """

    context: QueryContext
    is_time_column: bool = False
    is_time_property: bool = False
    is_converted: bool = False


def operator_condition(target: Condition, operator: Any, value: Any, hint: Hint) -> Condition:
    """The condition of an operator on a resolved target.

    Raises:
        SourceError: unknown operator, or an invalid value.
    """
    try:
        test = read_operator(operator, value, clock_of(hint.context))
    except BadOperator as error:
        key = "value" if operator is None or operator in OPERATORS else "operator"
        raise refused(str(error), attr=key) from None
    return _print(target, test, hint)


def _print(  # noqa: C901, PLR0911, PLR0912 (one case a test)
    target: Condition, test: tests.Test, hint: Hint
) -> Condition:
    match test:
        case tests.Equals(values, negative) | tests.Member(values, negative) if _is_special(
            values, hint
        ):
            return _equals(target, values, hint, negative=negative)
        case tests.Equals((value,), negative):
            return compare("!=" if negative else "==", target, _constant(value, hint))
        case tests.Equals(values, negative) | tests.Member(values, negative):
            if not values:
                return constant(negative)
            items = tree.Tuple(exprs=tuple(_constant(value, hint) for value in values))
            return compare("not in" if negative else "in", target, items)
        case tests.Contains(part, negative):
            pattern = constant("%" + part.replace("\\", "\\\\") + "%")
            return compare("not ilike" if negative else "ilike", _text(target), pattern)
        case tests.ContainsAny(parts, negative):
            condition = _search(target, parts)
            return negated(condition) if negative else condition
        case tests.Matches("", negative):
            return constant(negative)
        case tests.Matches(pattern, negative):
            # the engine's dot matches any character, Hog's all but line breaks
            source = f"(?-s){pattern}" if "." in pattern else pattern
            return compare("!~" if negative else "=~", _text(target), constant(source))
        case tests.Order(sign, value):
            is_time = hint.is_time_property or hint.is_time_column
            return compare(sign, target, _time(value, hint) if is_time else constant(value))
        case tests.NumericRange(low, high, negative):
            signs, join = (("<", ">"), some) if negative else ((">=", "<="), every)
            ends = zip(signs, (low, high), strict=True)
            return join([compare(sign, target, constant(end)) for sign, end in ends])
        case tests.IsSet(negative):
            return compare("==" if negative else "!=", _text(target), constant(None))
        case tests.DateOrder(sign, date):
            is_date = compare("=~", _text(target), constant(_DATE))
            left = call("toDateTime", _text(target))
            moment = call("toDateTime", moment_constant(date.at))
            return every([is_date, compare(sign, left, moment)])
        case tests.VersionOrder(sign, version):
            return _version(target, sign, version)
        case tests.Every(inner):
            return every([_print(target, each, hint) for each in inner])
        case tests.Some(inner):
            return some([_print(target, each, hint) for each in inner])
        case tests.Unconditional():
            return TRUE


def _is_number(value: tests.Scalar) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_special(values: tuple[tests.Scalar, ...], hint: Hint) -> bool:
    return None in values or (hint.is_converted and any(map(_is_number, values)))


def _equals(
    target: Condition, values: tuple[tests.Scalar, ...], hint: Hint, *, negative: bool
) -> Condition:
    """Equality with values that the property's type would hide: null is missing, numbers count."""
    known = tuple([value for value in values if value is not None])
    numbers = tuple([value for value in known if _is_number(value)])
    alternatives: list[Condition] = []
    if known:
        alternatives.append(_print(target, tests.Equals(known), hint._replace(is_converted=False)))
    if len(known) < len(values):
        alternatives.append(compare("==", _text(target), constant(None)))
    if hint.is_converted and numbers:
        items = tree.Tuple(exprs=tuple(map(constant, numbers)))
        alternatives.append(compare("in", call("toFloat", _text(target)), items))
    return negated(some(alternatives)) if negative else some(alternatives)


def _constant(value: tests.Scalar, hint: Hint) -> Condition:
    """A value: strings are compared with the property's text, numbers by its type."""
    if hint.is_time_column:
        return _time(value, hint)
    if isinstance(value, bool):
        return constant("true" if value else "false")
    return constant(value)


def _time(value: tests.Scalar, hint: Hint) -> Condition:
    """A value that is compared with a timestamp: a date, or a number of seconds.

    Raises:
        SourceError: another string, which the engine would reject when the query runs.
    """
    if not isinstance(value, str | bool):
        return constant(value)
    try:
        date = resolve_date(str(value), clock_of(hint.context))
    except NotADate:
        date = None
    if date is None or date.is_relative:
        raise refused(
            f"'{str(value)[:40]}' cannot be compared with a time: use 2026-01-05 or "
            "2026-01-05T10:00:00Z, or a relative date with is_date_before or is_date_after",
            attr="value",
        )
    return moment_constant(date.at)


def _text(target: Condition) -> Condition:
    return call("toString", target)


def _search(target: Condition, parts: tuple[str, ...]) -> Condition:
    text = call("ifNull", _text(target), constant(""))
    chunks = (parts[start : start + _NEEDLES] for start in range(0, len(parts), _NEEDLES))
    return some(
        [
            compare(
                "==",
                call("multiSearchAnyCaseInsensitiveUTF8", text, _array(chunk)),
                constant(1),
            )
            for chunk in chunks
        ]
    )


def _array(parts: tuple[str, ...]) -> tree.Array:
    return tree.Array(exprs=tuple(map(constant, parts)))


def _version(target: Condition, sign: tests.Sign, version: str) -> Condition:
    """A comparison of lists, which cannot be NULL, so missing properties are tested separately."""
    numbers = call("sortableSemver", constant(version))
    text = _text(target)
    test = compare(sign, call("sortableSemver", text), numbers)
    if sign == "!=":
        return some([compare("==", text, constant(None)), test])
    return every([compare("!=", text, constant(None)), test])
