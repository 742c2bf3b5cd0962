"""One operator of a property filter as a Hog tree.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

from collections.abc import Callable
from datetime import UTC
from typing import Any

from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters import semver
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
from hoglet.kit.relative_dates import DateClock, NotADate, resolve_date
from hoglet.syntax import tree

type Build = Callable[["tree.Expression", Any, FilterContext], "tree.Expression"]

_ORDER = {"gt": ">", "lt": "<", "gte": ">=", "min": ">=", "lte": "<=", "max": "<="}
_DATES = {"is_date_exact": "==", "is_date_before": "<", "is_date_after": ">"}
_NEGATIVE = {"is_not", "not_regex", "not_icontains", "semver_neq"}
WITHOUT_VALUE = frozenset({"is_set", "is_not_set"})


def apply_operator(
    subject: "tree.Expression", operator: str, value: Any, context: FilterContext
) -> "tree.Expression":
    """The test of one property.

    Args:
        subject: the property's field.
        operator: one of the table in
        docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
        value: scalar or list, as stored in the filter.
        context: gives the instant and zone of relative dates.

    Raises:
        FilterRefused: unknown operator, or a value the operator cannot take.
    """
    build = _BUILDERS.get(operator)
    if build is None:
        raise FilterRefused(f'Unknown property operator "{operator}"')
    if isinstance(value, list) and operator not in _TAKES_LISTS:
        return _each(subject, operator, value, context)
    return build(subject, value, context)


def _each(
    subject: "tree.Expression", operator: str, values: list[Any], context: FilterContext
) -> "tree.Expression":
    if not values:
        return constant(1)
    singles = [_BUILDERS[operator](subject, value, context) for value in values]
    return all_of(singles) if operator in _NEGATIVE else any_of(singles)


def _exact(subject: "tree.Expression", value: Any, _: FilterContext) -> "tree.Expression":
    if not isinstance(value, list):
        return compare(subject, "==", constant(value))
    if len(value) > 1:
        return compare(subject, "in", literals(value))
    return compare(subject, "==", constant(value[0])) if value else constant(1)


def _is_not(subject: "tree.Expression", value: Any, _: FilterContext) -> "tree.Expression":
    if not isinstance(value, list):
        return compare(subject, "!=", constant(value))
    if len(value) > 1:
        return compare(subject, "not in", literals(value))
    return compare(subject, "!=", constant(value[0])) if value else constant(1)


def _membership(operator: str) -> Build:
    def build(subject: "tree.Expression", value: Any, _: FilterContext) -> "tree.Expression":
        if not isinstance(value, list):
            raise FilterRefused(f'The operator "{operator}" needs a list of values')
        return compare(subject, operator.replace("_", " "), literals(value))

    return build


def _contains(subject: "tree.Expression", value: Any, context: FilterContext) -> "tree.Expression":
    if isinstance(value, list) and len(value) != 1:
        return _multi_search(">")(subject, value, context)
    return compare(text_of(subject), "ilike", constant(f"%{_text(_only(value))}%"))


def _contains_not(
    subject: "tree.Expression", value: Any, context: FilterContext
) -> "tree.Expression":
    if isinstance(value, list) and len(value) != 1:
        return _multi_search("==")(subject, value, context)
    return compare(text_of(subject), "not ilike", constant(f"%{_text(_only(value))}%"))


def _multi_search(operator: str) -> Build:
    def build(subject: "tree.Expression", value: Any, _: FilterContext) -> "tree.Expression":
        values = value if isinstance(value, list) else [value]
        if not values:
            return constant(1)
        needles = tree.Array(exprs=tuple(constant(_text(item)) for item in values))
        found = call("multiSearchAnyCaseInsensitive", text_of(subject), needles)
        return compare(found, operator, constant(0))

    return build


def _regex(subject: "tree.Expression", value: Any, _: FilterContext) -> "tree.Expression":
    found = call("match", text_of(subject), constant(_text(value)))
    return call("ifNull", found, constant(0))


def _regex_not(subject: "tree.Expression", value: Any, _: FilterContext) -> "tree.Expression":
    found = call("match", text_of(subject), constant(_text(value)))
    return call("ifNull", tree.Not(expr=found), constant(1))


def _ordering(symbol: str) -> Build:
    def build(subject: "tree.Expression", value: Any, _: FilterContext) -> "tree.Expression":
        return compare(subject, symbol, constant(value))

    return build


def _between(subject: "tree.Expression", value: Any, _: FilterContext) -> "tree.Expression":
    low, high = _range(value)
    return all_of([compare(subject, ">=", constant(low)), compare(subject, "<=", constant(high))])


def _between_not(subject: "tree.Expression", value: Any, _: FilterContext) -> "tree.Expression":
    low, high = _range(value)
    return any_of([compare(subject, "<", constant(low)), compare(subject, ">", constant(high))])


def _range(value: Any) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise FilterRefused("A between filter needs a list of two numbers")
    low, high = (_number(item) for item in value)
    if low > high:
        raise FilterRefused("A between filter needs its lower number first")
    return low, high


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise FilterRefused(f'A between filter needs numbers, not "{value}"') from None
    return int(number) if number.is_integer() else number


def _is_set(subject: "tree.Expression", _value: Any, _: FilterContext) -> "tree.Expression":
    return compare(subject, "!=", constant(None))


def _is_not_set(subject: "tree.Expression", _value: Any, _: FilterContext) -> "tree.Expression":
    return compare(subject, "==", constant(None))


def _date(symbol: str) -> Build:
    def build(subject: "tree.Expression", value: Any, context: FilterContext) -> "tree.Expression":
        moment = call("toDateTime", text_of(constant(_moment(_text(value), context))))
        zone = [] if context.timezone == "UTC" else [constant(context.timezone)]
        return compare(call("toDateTime", text_of(subject), *zone), symbol, moment)

    return build


def _moment(text: str, context: FilterContext) -> str:
    """A date as the text that the program compares with: an instant unless it is plain UTC."""
    clock = DateClock(context.now, context.timezone, context.week_start_day)
    try:
        date = resolve_date(text, clock)
    except NotADate as error:
        raise FilterRefused(str(error)) from None
    if context.timezone == "UTC" and not date.is_relative:
        return text
    return date.at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _semver(operator: str) -> Build:
    def build(subject: "tree.Expression", value: Any, _: FilterContext) -> "tree.Expression":
        return semver.compare_versions(subject, operator, value)

    return build


def _only(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


_BUILDERS: dict[str, Build] = {
    "exact": _exact,
    "is_not": _is_not,
    "in": _membership("in"),
    "not_in": _membership("not_in"),
    "icontains": _contains,
    "not_icontains": _contains_not,
    "icontains_multi": _multi_search(">"),
    "not_icontains_multi": _multi_search("=="),
    "regex": _regex,
    "not_regex": _regex_not,
    "between": _between,
    "not_between": _between_not,
    "is_set": _is_set,
    "is_not_set": _is_not_set,
    "is_cleaned_path_exact": _exact,  # projects have no path-cleaning rules
    **{name: _ordering(symbol) for name, symbol in _ORDER.items()},
    **{name: _date(symbol) for name, symbol in _DATES.items()},
    **{name: _semver(name) for name in semver.OPERATORS},
}

_TAKES_LISTS = frozenset(
    {
        "exact",
        "is_not",
        "in",
        "not_in",
        "is_cleaned_path_exact",
        "icontains",
        "not_icontains",
        "icontains_multi",
        "not_icontains_multi",
        "between",
        "not_between",
        *WITHOUT_VALUE,
    }
)
