"""Tests of properties as HogQL trees: the printer of ``kit/property_operators`` for queries.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

from typing import Any

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
from hoglet.hogql.dates import clock_of, moment_constant
from hoglet.hogql.errors import refused
from hoglet.kit import property_operators as tests
from hoglet.kit.property_operators import BadOperator, read_operator
from hoglet.syntax import tree

type Condition = tree.Expression

_NEEDLES = 200
"""The engine searches for at most 255 texts at once."""

_DATE = "^[ ]*[0-9]{4}-[0-9]"
"""How text begins that programs take for a date; the engine takes ``10`` for one, too."""


class Hint:
    """What a condition needs to know of the project: the clock for relative dates."""

    def __init__(self, context: QueryContext) -> None:
        self.context = context


def operator_condition(target: Condition, operator: Any, value: Any, hint: Hint) -> Condition:
    """The condition of one operator on a resolved target.

    Raises:
        SourceError: unknown operator, or a value the operator cannot take.
    """
    try:
        test = read_operator(operator, value, clock_of(hint.context))
    except BadOperator as error:
        raise refused(str(error)) from None
    return _print(target, test, hint)


def _print(  # noqa: C901, PLR0911, PLR0912 (one case a test)
    target: Condition, test: tests.Test, hint: Hint
) -> Condition:
    match test:
        case tests.Equals((value,), negative):
            return compare("!=" if negative else "==", target, _constant(value))
        case tests.Equals(values, negative) | tests.Member(values, negative):
            if not values:
                return constant(negative)
            items = tree.Tuple(exprs=tuple(_constant(value) for value in values))
            return compare("not in" if negative else "in", target, items)
        case tests.Contains(part, negative):
            pattern = constant("%" + part.replace("\\", "\\\\") + "%")
            return compare("not ilike" if negative else "ilike", _text(target), pattern)
        case tests.ContainsAny(parts, negative):
            found = _search(target, parts)
            return negated(found) if negative else found
        case tests.Matches("", negative):
            return constant(negative)
        case tests.Matches(pattern, negative):
            # the dot of the engine is any character, that of programs none that ends a line
            source = f"(?-s){pattern}" if "." in pattern else pattern
            return compare("!~" if negative else "=~", _text(target), constant(source))
        case tests.Order(sign, value):
            return compare(sign, target, constant(value))
        case tests.Between(low, high, negative):
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


def _constant(value: tests.Scalar) -> Condition:
    """A value: text is compared with the property's text, a number by the property's type."""
    if isinstance(value, bool):
        return constant("true" if value else "false")
    return constant(value)


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
    """A comparison of lists, which cannot be NULL: a missing property is asked for beside it."""
    numbers = call("sortableSemver", constant(version))
    test = compare(sign, call("sortableSemver", target), numbers)
    if sign == "!=":
        return some([compare("==", target, constant(None)), test])
    return every([compare("!=", target, constant(None)), test])
