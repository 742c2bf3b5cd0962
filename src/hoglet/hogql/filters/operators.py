"""The operators of property filters, each as a HogQL condition on a target.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

from collections.abc import Callable, Mapping
from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.dates import moment_constant, read_date
from hoglet.hogql.errors import refused
from hoglet.hogql.filters.semver import semver_condition
from hoglet.hogql.frontend.trees import (
    TRUE,
    call,
    compare,
    constant,
    every,
    negated,
    some,
)
from hoglet.syntax import tree

type Condition = tree.Expression


class Hint:
    """What the project knows of the property: its type, the clock for relative dates."""

    def __init__(self, item: Mapping[str, Any], context: QueryContext) -> None:
        kind = "event" if item.get("type") in {None, "feature"} else str(item.get("type"))
        self.declared = context.property_types.get((kind, str(item.get("key"))))
        self.context = context


def operator_condition(target: Condition, operator: str, value: Any, hint: Hint) -> Condition:
    """The condition of one operator on a resolved target."""
    builder = _OPERATORS.get(operator)
    if builder is not None:
        return builder(target, value, hint)
    if operator.startswith("semver_"):
        return semver_condition(target, operator.removeprefix("semver_"), value)
    raise refused(f"Unknown property filter operator '{operator}'")


def _value(value: Any, hint: Hint) -> Condition:
    """A filter's value as a constant of the property's own type."""
    if hint.declared == "Boolean" and str(value).lower() in {"true", "false"}:
        return constant(str(value).lower() == "true")
    if isinstance(value, bool):
        return constant("true" if value else "false")
    if hint.declared == "Numeric" and isinstance(value, str):
        return constant(_as_number(value))
    if isinstance(value, int | float) and hint.declared in {None, "String"}:
        return constant(value)
    if isinstance(value, dict | list):
        raise refused("A property filter's value must be plain")
    return constant(value)


def _as_number(value: Any) -> Any:
    """A number where the text is one, else the text itself."""
    if not isinstance(value, str):
        return value
    try:
        return int(value)
    except ValueError:
        pass
    try:
        return float(value)
    except ValueError:
        return value


def _exact(target: Condition, value: Any, hint: Hint) -> Condition:
    if not isinstance(value, list):
        return compare("==", target, _value(value, hint))
    if not value:
        return TRUE
    if len(value) == 1:
        return compare("==", target, _value(value[0], hint))
    return compare("in", target, _tuple(value, hint))


def _is_not(target: Condition, value: Any, hint: Hint) -> Condition:
    if not isinstance(value, list):
        return compare("!=", target, _value(value, hint))
    if not value:
        return TRUE
    if len(value) == 1:
        return compare("!=", target, _value(value[0], hint))
    return compare("not in", target, _tuple(value, hint))


def _tuple(values: list[Any], hint: Hint) -> tree.Tuple:
    return tree.Tuple(exprs=tuple(_value(value, hint) for value in values))


def _in(target: Condition, value: Any, hint: Hint) -> Condition:
    values = value if isinstance(value, list) else [value]
    return compare("in", target, _tuple(values, hint))


def _not_in(target: Condition, value: Any, hint: Hint) -> Condition:
    values = value if isinstance(value, list) else [value]
    return compare("not in", target, _tuple(values, hint))


def _text(target: Condition) -> Condition:
    return call("toString", target)


def _contains(target: Condition, value: Any, _hint: Hint) -> Condition:
    if isinstance(value, list) and len(value) > 1:
        return _search(target, value)
    value = value[0] if isinstance(value, list) and value else value
    return compare("ilike", _text(target), constant(f"%{value}%"))


def _search(target: Condition, value: Any) -> Condition:
    values = value if isinstance(value, list) else [value]
    words = tree.Array(exprs=tuple(constant(str(each)) for each in values))
    found = call(
        "multiSearchAnyCaseInsensitive", call("ifNull", _text(target), constant("")), words
    )
    return compare("==", found, constant(1))


def _contains_not(target: Condition, value: Any, _hint: Hint) -> Condition:
    if isinstance(value, list) and len(value) > 1:
        return negated(_search(target, value))
    value = value[0] if isinstance(value, list) and value else value
    return compare("not ilike", _text(target), constant(f"%{value}%"))


def _contains_multi(target: Condition, value: Any, _hint: Hint) -> Condition:
    return _search(target, value)


def _contains_none(target: Condition, value: Any, _hint: Hint) -> Condition:
    return negated(_search(target, value))


def _matches(target: Condition, value: Any, _hint: Hint) -> Condition:
    return compare("=~", _text(target), constant(str(value)))


def _matches_not(target: Condition, value: Any, _hint: Hint) -> Condition:
    return compare("!~", _text(target), constant(str(value)))


def _ordered(operator: str) -> Callable[[Condition, Any, Hint], Condition]:
    def build(target: Condition, value: Any, _hint: Hint) -> Condition:
        return compare(operator, target, constant(_as_number(value)))

    return build


def _between(target: Condition, value: Any, _hint: Hint) -> Condition:
    if not isinstance(value, list) or len(value) != 2:
        raise refused("Operator 'between' needs a list of two numbers")
    low, high = (_as_number(each) for each in value)
    if not all(isinstance(each, int | float) for each in (low, high)) or low > high:
        raise refused("Operator 'between' needs two numbers, the smaller first")
    return every([compare(">=", target, constant(low)), compare("<=", target, constant(high))])


def _not_between(target: Condition, value: Any, hint: Hint) -> Condition:
    return negated(_between(target, value, hint))


def _is_set(target: Condition, _value: Any, _hint: Hint) -> Condition:
    return compare("!=", target, constant(None))


def _is_not_set(target: Condition, _value: Any, _hint: Hint) -> Condition:
    return compare("==", target, constant(None))


def _dated(operator: str) -> Callable[[Condition, Any, Hint], Condition]:
    def build(target: Condition, value: Any, hint: Hint) -> Condition:
        text = str(value[0] if isinstance(value, list) and value else value)
        moment = read_date(text, hint.context).at
        left = call("toDateTime", _text(target))
        return compare(operator, left, call("toDateTime", moment_constant(moment)))

    return build


def _any_of(
    build: Callable[[Condition, Any, Hint], Condition],
    join: Callable[[list[Condition]], Condition],
) -> Callable[[Condition, Any, Hint], Condition]:
    """The operator for one value; a list joins the conditions of its items."""

    def spread(target: Condition, value: Any, hint: Hint) -> Condition:
        if not isinstance(value, list):
            return build(target, value, hint)
        if not value:
            return TRUE
        return join([build(target, each, hint) for each in value])

    return spread


_OPERATORS: dict[str, Callable[[Condition, Any, Hint], Condition]] = {
    "exact": _exact,
    "is_cleaned_path_exact": _exact,
    "is_not": _is_not,
    "in": _in,
    "not_in": _not_in,
    "icontains": _contains,
    "not_icontains": _contains_not,
    "icontains_multi": _contains_multi,
    "not_icontains_multi": _contains_none,
    "regex": _any_of(_matches, some),
    "not_regex": _any_of(_matches_not, every),
    "gt": _any_of(_ordered(">"), some),
    "lt": _any_of(_ordered("<"), some),
    "gte": _any_of(_ordered(">="), some),
    "lte": _any_of(_ordered("<="), some),
    "min": _any_of(_ordered(">="), some),
    "max": _any_of(_ordered("<="), some),
    "between": _between,
    "not_between": _not_between,
    "is_set": _is_set,
    "is_not_set": _is_not_set,
    "is_date_exact": _dated("=="),
    "is_date_before": _dated("<"),
    "is_date_after": _dated(">"),
}
