"""Property filters as HogQL conditions: ``{key, value, operator, type}`` to a tree.

In SQL meaning: a missing property is NULL, so ``exact`` does not match it and ``is_not`` does.

Source: spec/hog-functions.md section 5.2.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.dates import as_text, resolve_date
from hoglet.hogql.errors import refused
from hoglet.hogql.semver import semver_condition
from hoglet.hogql.trees import call, compare, constant, every, field, negated, some
from hoglet.syntax import parse_expression, tree

type Condition = tree.Expression
type Prefix = tuple[str, ...]

TRUE = constant(True)


def property_condition(  # noqa: PLR0911 (one return a kind)
    item: Mapping[str, Any], context: QueryContext, prefix: Prefix = ()
) -> Condition:
    """The condition of one property filter, or of a group ``{type: "AND"|"OR", values: [...]}``.

    Args:
        item: the filter as clients send it.
        context: the project.
        prefix: alias of the events table where the query joins several, e.g. ``("e",)``.

    Raises:
        SourceError: an operator, type or value that hoglet does not know.
    """
    if isinstance(item.get("values"), list) and item.get("type") in {"AND", "OR"}:
        inner = [property_condition(each, context, prefix) for each in item["values"]]
        return every(inner) if item["type"] == "AND" else some(inner)
    kind = item.get("type") or "event"
    if kind == "hogql":
        return parse_expression(str(item.get("key") or "1"))
    if kind in {"cohort", "static-cohort", "dynamic-cohort"}:
        return _cohort(item, prefix)
    if not item.get("key"):
        return TRUE
    if kind == "element":
        return _element(item, context, prefix)
    value, operator = item.get("value"), item.get("operator") or "exact"
    if value is None and operator not in {"is_set", "is_not_set"}:
        return TRUE
    return operator_condition(_target(item, kind, prefix), operator, value, _Hint(item, context))


def conditions(
    items: Sequence[Mapping[str, Any]], context: QueryContext, prefix: Prefix = ()
) -> list[Condition]:
    """The conditions of a list of filters; all of them must hold."""
    if isinstance(items, Mapping):
        return [property_condition(items, context, prefix)]
    return [property_condition(item, context, prefix) for item in items]


class _Hint:
    """What the project knows of the property: its type, the clock for relative dates."""

    def __init__(self, item: Mapping[str, Any], context: QueryContext) -> None:
        kind = "event" if item.get("type") in {None, "feature"} else str(item.get("type"))
        self.declared = context.property_types.get((kind, str(item.get("key"))))
        self.context = context


def _target(  # noqa: PLR0911 (one return a kind)
    item: Mapping[str, Any], kind: str, prefix: Prefix
) -> Condition:
    key = str(item["key"])
    if kind in {"event", "feature"}:
        if key == "$elements_chain":
            return field(*prefix, "elements_chain")
        return field(*prefix, "properties", key)
    if kind == "person":
        if key == "distinct_id":
            return field(*prefix, "distinct_id")
        return field(*prefix, "person", "properties", key)
    if kind == "group":
        index = item.get("group_type_index") or 0
        if index not in range(5):
            raise refused(f"Unknown group type index: {index}")
        return field(*prefix, f"group_{index}", "properties", key)
    if kind == "session":
        return field(*prefix, "session", key)
    if kind == "event_metadata":
        return field(*prefix, key)
    raise refused(f"Property filters of type '{kind}' are not supported")


def _cohort(item: Mapping[str, Any], prefix: Prefix) -> Condition:
    try:
        cohort = int(str(item.get("value")))
    except ValueError:
        raise refused(f"Not a cohort id: {item.get('value')}") from None
    negative = item.get("negation") or item.get("operator") in {"not_in", "is_not"}
    operator = "not in cohort" if negative else "in cohort"
    return compare(operator, field(*prefix, "person_id"), constant(cohort))


_ELEMENTS = {"text": "elements_chain_texts", "tag_name": "elements_chain_elements"}


def _element(item: Mapping[str, Any], context: QueryContext, prefix: Prefix) -> Condition:
    key, operator = str(item["key"]), item.get("operator") or "exact"
    value = item.get("value")
    if key == "href":
        target = field(*prefix, "elements_chain_href")
        return operator_condition(target, operator, value, _Hint(item, context))
    values = value if isinstance(value, list) else [value]
    if key == "selector":
        found = [_selector(str(each), prefix) for each in values]
    elif key in _ELEMENTS:
        column = field(*prefix, _ELEMENTS[key])
        if operator in {"icontains", "not_icontains", "regex", "not_regex"}:
            column = call("arrayStringConcat", column, constant("\n"))
            return operator_condition(column, operator, value, _Hint(item, context))
        found = [call("has", column, constant(str(each))) for each in values]
    else:
        raise refused(f"Unknown element property '{key}'")
    return negated(some(found)) if operator in {"is_not", "not_in"} else some(found)


def _selector(selector: str, prefix: Prefix) -> Condition:
    """A simple CSS selector (``tag.class#id``, descendants by spaces) over ``elements_chain``."""
    steps: list[str] = []
    for step in reversed(selector.replace(">", " ").split()):
        text = step.replace("#", "\x00#").replace(".", "\x00.")
        tag, *marks = text.split("\x00")
        parts = [_escape(tag)] if tag not in {"", "*"} else ["[^;]*?"]
        for mark in marks:
            name = _escape(mark[1:])
            parts.append(f'[^;]*?attr_id="{name}"' if mark[0] == "#" else f"[^;]*?\\.{name}")
        steps.append("(^|;)" + "".join(parts) + "([^a-zA-Z0-9_-]|$)")
    pattern = ".*".join(steps)
    return call("match", field(*prefix, "elements_chain"), constant(pattern))


def _escape(text: str) -> str:
    return "".join(char if char.isalnum() or char in "_-" else f"\\{char}" for char in text)


# --- operators


def operator_condition(target: Condition, operator: str, value: Any, hint: _Hint) -> Condition:
    """The condition of one operator on a resolved target."""
    builder = _OPERATORS.get(operator)
    if builder is not None:
        return builder(target, value, hint)
    if operator.startswith("semver_"):
        return semver_condition(target, operator.removeprefix("semver_"), value)
    raise refused(f"Unknown property filter operator '{operator}'")


def _value(value: Any, hint: _Hint) -> Condition:
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


def _exact(target: Condition, value: Any, hint: _Hint) -> Condition:
    if not isinstance(value, list):
        return compare("==", target, _value(value, hint))
    if not value:
        return TRUE
    if len(value) == 1:
        return compare("==", target, _value(value[0], hint))
    return compare("in", target, _tuple(value, hint))


def _is_not(target: Condition, value: Any, hint: _Hint) -> Condition:
    if not isinstance(value, list):
        return compare("!=", target, _value(value, hint))
    if not value:
        return TRUE
    if len(value) == 1:
        return compare("!=", target, _value(value[0], hint))
    return compare("not in", target, _tuple(value, hint))


def _tuple(values: list[Any], hint: _Hint) -> tree.Tuple:
    return tree.Tuple(exprs=tuple(_value(value, hint) for value in values))


def _in(target: Condition, value: Any, hint: _Hint) -> Condition:
    values = value if isinstance(value, list) else [value]
    return compare("in", target, _tuple(values, hint))


def _not_in(target: Condition, value: Any, hint: _Hint) -> Condition:
    values = value if isinstance(value, list) else [value]
    return compare("not in", target, _tuple(values, hint))


def _text(target: Condition) -> Condition:
    return call("toString", target)


def _contains(target: Condition, value: Any, _hint: _Hint) -> Condition:
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


def _contains_not(target: Condition, value: Any, _hint: _Hint) -> Condition:
    if isinstance(value, list) and len(value) > 1:
        return negated(_search(target, value))
    value = value[0] if isinstance(value, list) and value else value
    return compare("not ilike", _text(target), constant(f"%{value}%"))


def _contains_multi(target: Condition, value: Any, _hint: _Hint) -> Condition:
    return _search(target, value)


def _contains_none(target: Condition, value: Any, _hint: _Hint) -> Condition:
    return negated(_search(target, value))


def _matches(target: Condition, value: Any, _hint: _Hint) -> Condition:
    return compare("=~", _text(target), constant(str(value)))


def _matches_not(target: Condition, value: Any, _hint: _Hint) -> Condition:
    return compare("!~", _text(target), constant(str(value)))


def _ordered(operator: str) -> Callable[[Condition, Any, _Hint], Condition]:
    def build(target: Condition, value: Any, _hint: _Hint) -> Condition:
        return compare(operator, target, constant(_as_number(value)))

    return build


def _between(target: Condition, value: Any, _hint: _Hint) -> Condition:
    if not isinstance(value, list) or len(value) != 2:
        raise refused("Operator 'between' needs a list of two numbers")
    low, high = (_as_number(each) for each in value)
    if not all(isinstance(each, int | float) for each in (low, high)) or low > high:
        raise refused("Operator 'between' needs two numbers, the smaller first")
    return every([compare(">=", target, constant(low)), compare("<=", target, constant(high))])


def _not_between(target: Condition, value: Any, hint: _Hint) -> Condition:
    return negated(_between(target, value, hint))


def _is_set(target: Condition, _value: Any, _hint: _Hint) -> Condition:
    return compare("!=", target, constant(None))


def _is_not_set(target: Condition, _value: Any, _hint: _Hint) -> Condition:
    return compare("==", target, constant(None))


def _dated(operator: str) -> Callable[[Condition, Any, _Hint], Condition]:
    def build(target: Condition, value: Any, hint: _Hint) -> Condition:
        text = str(value[0] if isinstance(value, list) and value else value)
        try:
            moment = resolve_date(text, hint.context.now, hint.context.timezone)
        except ValueError:
            raise refused(f"Not a date: {text}") from None
        if moment is None:
            return TRUE
        left = call("toDateTime", _text(target))
        return compare(operator, left, call("toDateTime", constant(as_text(moment))))

    return build


def _any_of(
    build: Callable[[Condition, Any, _Hint], Condition],
    join: Callable[[list[Condition]], Condition],
) -> Callable[[Condition, Any, _Hint], Condition]:
    """The operator for one value; a list joins the conditions of its items."""

    def spread(target: Condition, value: Any, hint: _Hint) -> Condition:
        if not isinstance(value, list):
            return build(target, value, hint)
        if not value:
            return TRUE
        return join([build(target, each, hint) for each in value])

    return spread


_OPERATORS: dict[str, Callable[[Condition, Any, _Hint], Condition]] = {
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
