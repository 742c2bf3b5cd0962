"""Property tests as Hog trees: prints ``kit/property_operators`` for functions.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

from datetime import UTC
from typing import Any

from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.filters.nodes import (
    all_of,
    any_of,
    call,
    compare,
    constant,
    literals,
    text_of,
)
from hoglet.kit import property_operators as tests
from hoglet.kit.property_operators import BadOperator, read_operator
from hoglet.kit.relative_dates import DateClock
from hoglet.syntax import tree


def apply_operator(
    subject: "tree.Expression", operator: Any, value: Any, context: FilterContext
) -> "tree.Expression":
    """The test of one property.

    Args:
        subject: the property's field.
        operator: one of ``kit/property_operators``.
        value: scalar or list, as stored in the filter.
        context: time and time zone for relative dates.

    Raises:
        FilterRefused: unknown operator, or a value the operator cannot take.
    """
    clock = DateClock(context.now, context.timezone, context.week_start_day)
    try:
        test = read_operator(operator, value, clock)
    except BadOperator as error:
        raise FilterRefused(str(error)) from None
    return _print(subject, test, context)


def _print(  # noqa: C901, PLR0911, PLR0912 (one case a test)
    subject: "tree.Expression", test: tests.Test, context: FilterContext
) -> "tree.Expression":
    match test:
        case tests.Equals((value,), negative):
            return compare(subject, "!=" if negative else "==", constant(value))
        case tests.Equals(values, negative) | tests.Member(values, negative):
            return compare(subject, "not in" if negative else "in", literals(values))
        case tests.Contains(part, negative):
            operator = "not ilike" if negative else "ilike"
            return compare(text_of(subject), operator, constant(f"%{part}%"))
        case tests.ContainsAny(parts, negative):
            needles = tree.Array(exprs=tuple(map(constant, parts)))
            match = call("multiSearchAnyCaseInsensitive", text_of(subject), needles)
            return compare(match, "==" if negative else ">", constant(0))
        case tests.Matches(pattern, negative):
            match = call("match", text_of(subject), constant(pattern))
            test_ = tree.Not(expr=match) if negative else match
            return call("ifNull", test_, constant(int(negative)))
        case tests.Order(sign, value):
            return compare(subject, sign, constant(value))
        case tests.NumericRange(low, high, negative):
            signs, join = (("<", ">"), any_of) if negative else ((">=", "<="), all_of)
            ends = zip(signs, (low, high), strict=True)
            return join([compare(subject, sign, constant(end)) for sign, end in ends])
        case tests.IsSet(negative):
            return compare(subject, "==" if negative else "!=", constant(None))
        case tests.DateOrder():
            return _date(subject, test, context)
        case tests.VersionOrder(sign, version):
            expected = call("sortableSemver", constant(version))
            return compare(call("sortableSemver", subject), sign, expected)
        case tests.Every(inner):
            return all_of([_print(subject, each, context) for each in inner])
        case tests.Some(inner):
            return any_of([_print(subject, each, context) for each in inner])
        case tests.Unconditional():
            return constant(1)


def _date(
    subject: "tree.Expression", test: tests.DateOrder, context: FilterContext
) -> "tree.Expression":
    """A date, by default in the project's time zone, which is passed unless it is UTC."""
    is_utc = context.timezone == "UTC"
    text = test.text
    if not is_utc or test.date.is_relative:
        text = test.date.at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    zone = [] if is_utc else [constant(context.timezone)]
    moment = call("toDateTime", text_of(constant(text)))
    return compare(call("toDateTime", text_of(subject), *zone), test.sign, moment)
