"""The schema of criteria; reports the path of the first invalid key.

``{"properties": {"type": "OR", "values": [{"type": "person", "key": "email", "value": "x",
"operator": "icontains"}]}}``

Source: docs/spec/data-and-queries.md#34-dynamic-cohorts.
"""

from collections.abc import Callable, Mapping
from typing import Any

from hoglet.cohorts.criteria.model import BehaviorKind
from hoglet.kit.errors import Invalid
from hoglet.kit.property_operators import OPERATORS, WITHOUT_VALUE
from hoglet.kit.property_types import COHORT_TYPES
from hoglet.kit.suggestions import near

type CriteriaNode = dict[str, Any]
"""Criteria as JSON: a group ``{"type": "OR", "values": [...]}``, or a single criterion."""

MAX_CONDITIONS = 200
MAX_DEPTH = 20
MAX_NUMBER = 1_000_000
MAX_PERIODS = 1_000
INTERVALS = ("minute", "hour", "day", "week", "month", "year")
METADATA = ("created_at", "last_seen_at", "is_identified")
COUNT_OPERATORS = ("gte", "lte", "gt", "lt", "eq", "exact")
_EVENT_FILTERS = ("event", "element", "hogql")
_MADE_BY_SERVERS = frozenset({"bytecode", "bytecode_error", "conditionHash"})
_SEQUENCE_KEYS = ("seq_event", "seq_event_type")
_SPAN_KEYS = ("seq_time_value", "seq_time_interval")
_PERIOD_KEYS = ("min_periods", "total_periods")
_COUNT_KEYS = ("operator", "operator_value")
_DATE_KEYS = ("explicit_datetime", "explicit_datetime_to")
_OWN_KEYS: dict[BehaviorKind, tuple[str, ...]] = {
    BehaviorKind.PERFORMED: _DATE_KEYS,
    BehaviorKind.MULTIPLE: (*_DATE_KEYS, *_COUNT_KEYS),
    BehaviorKind.FIRST_TIME: _DATE_KEYS,
    BehaviorKind.SEQUENCE: (*_DATE_KEYS, *_SEQUENCE_KEYS, *_SPAN_KEYS),
    BehaviorKind.REGULARLY: (*_COUNT_KEYS, *_PERIOD_KEYS),
    BehaviorKind.STOPPED: (*_DATE_KEYS, *_SPAN_KEYS),
    BehaviorKind.RESTARTED: (*_DATE_KEYS, *_SPAN_KEYS),
}
_BEHAVIORAL_KEYS = frozenset(
    {
        "type", "value", "key", "event_type", "time_value", "time_interval", "event_filters",
        "negation", *_DATE_KEYS, *_COUNT_KEYS, *_SEQUENCE_KEYS, *_SPAN_KEYS, *_PERIOD_KEYS,
    }
)  # fmt: skip
_PERSON_KEYS = frozenset({"type", "key", "value", "operator", "negation"})
_COHORT_KEYS = _PERSON_KEYS | {"cohort_name"}


def read_criteria(filters: Any) -> CriteriaNode:
    """Validate criteria, convert numbers, and fill in defaults.

    Raises:
        Invalid: attr is the path of the invalid part: ``filters__properties__values__0__key``.
    """
    if not isinstance(filters, dict) or not isinstance(filters.get("properties"), dict):
        raise Invalid(
            "Criteria must be an object 'properties' with type and values.", attr="filters"
        )
    _closed(filters, frozenset({"properties", "filterTestAccounts"}), "filters")
    tests = filters.get("filterTestAccounts")
    if tests is not None and not isinstance(tests, bool):
        raise Invalid("Must be a valid boolean.", attr="filters__filterTestAccounts")
    root = _Reader().group(filters["properties"], "filters__properties", 0)
    if not is_positive(root):
        raise Invalid(
            "A cohort cannot consist of exclusions only: add a criterion without negation.",
            attr="filters",
        )
    return {"properties": root} | ({"filterTestAccounts": True} if tests else {})


def is_positive(node: Mapping[str, Any]) -> bool:
    """Whether a criterion is not negated; for a group, whether any of its criteria is not."""
    if "values" in node:
        return any(map(is_positive, node["values"]))
    return not node["negation"]


class _Reader:
    """Parses groups and criteria, and counts them."""

    def __init__(self) -> None:
        self._count = 0

    def group(self, node: Any, path: str, depth: int) -> CriteriaNode:
        if depth > MAX_DEPTH:
            raise Invalid("Groups are nested too deeply.", attr=path)
        kind = _choice(node, "type", ("AND", "OR"), path)
        _closed(node, frozenset({"type", "values"}), path)
        values = node.get("values")
        if not isinstance(values, list):
            raise Invalid("A group needs a list of values.", attr=f"{path}__values")
        if not values:
            raise Invalid("A group needs at least one criterion.", attr=f"{path}__values")
        read: list[CriteriaNode] = []
        for index, each in enumerate(values):
            inner = f"{path}__values__{index}"
            criterion = self._value(each, inner, depth)
            if kind == "OR" and "values" in criterion and not is_positive(criterion):
                raise Invalid(
                    "A group of negations must be combined with a positive criterion "
                    "by AND: add a criterion without negation to it.",
                    attr=inner,
                )
            read.append(criterion)
        return {"type": kind, "values": read}

    def _value(self, node: Any, path: str, depth: int) -> CriteriaNode:
        if not isinstance(node, dict):
            raise Invalid("A criterion is an object with a type.", attr=path)
        if "values" in node or str(node.get("type")) in {"AND", "OR"}:
            return self.group(node, path, depth + 1)
        self._count += 1
        if self._count > MAX_CONDITIONS:
            raise Invalid(f"A cohort can have at most {MAX_CONDITIONS} criteria.", attr=path)
        kind = str(node.get("type"))
        read = _READERS.get("cohort" if kind in COHORT_TYPES else kind)
        if read is None:
            known = ", ".join(_READERS)
            hint = near(kind, _READERS) or f" Use one of {known}."
            raise Invalid(f"Unknown type of criterion '{kind[:60]}'.{hint}", attr=f"{path}__type")
        plain = {name: value for name, value in node.items() if name not in _MADE_BY_SERVERS}
        plain["negation"] = _flag(plain, "negation", path)
        return read(plain, path)


def _person(node: CriteriaNode, path: str) -> CriteriaNode:
    _closed(node, _PERSON_KEYS, path)
    operator = node.get("operator", "exact")
    operator = "exact" if operator is None or operator == "" else operator
    if not isinstance(operator, str) or operator not in OPERATORS:
        hint = near(str(operator), OPERATORS) or f" Use one of {', '.join(OPERATORS)}."
        raise Invalid(f"Unknown operator '{str(operator)[:60]}'.{hint}", attr=f"{path}__operator")
    needs_value = operator not in WITHOUT_VALUE
    if needs_value and (node.get("value") is None or node["value"] == []):
        raise Invalid(f"The operator '{operator}' needs a value.", attr=f"{path}__value")
    key = _text(node, "key", path)
    if node["type"] == "person_metadata" and key not in METADATA:
        hint = near(key, METADATA) or f" Use one of {', '.join(METADATA)}."
        raise Invalid(f"Persons have no field '{key[:60]}'.{hint}", attr=f"{path}__key")
    return {**node, "key": key, "operator": operator}


def _cohort(node: CriteriaNode, path: str) -> CriteriaNode:
    _closed(node, _COHORT_KEYS, path)
    if node.get("key") not in (None, "id"):
        raise Invalid("Cohorts are referenced by id: the key must be 'id'.", attr=f"{path}__key")
    operator = node.get("operator")
    if operator not in (None, "in", "not_in", "exact", "is_not"):
        raise Invalid("Cohorts support the operators in and not_in.", attr=f"{path}__operator")
    negation = node["negation"] or operator in ("not_in", "is_not")
    cohort_id = _number(node, "value", path)
    return {"type": "cohort", "key": "id", "value": cohort_id, "negation": negation}


def _behavioral(node: CriteriaNode, path: str) -> CriteriaNode:
    _closed(node, _BEHAVIORAL_KEYS, path)
    value = BehaviorKind(_choice(node, "value", tuple(BehaviorKind), path))
    read = {"type": "behavioral", "value": value.value, "negation": node["negation"]}
    read |= _event(node, "key", "event_type", path)
    foreign = (*_DATE_KEYS, "operator_value", *_SEQUENCE_KEYS, *_SPAN_KEYS, *_PERIOD_KEYS)
    for name in foreign:
        if name not in _OWN_KEYS[value] and node.get(name) is not None:
            raise Invalid(f"'{name}' is not supported for {value}.", attr=f"{path}__{name}")
    read |= _window(node, value, path)
    read["event_filters"] = _event_filters(node, path)
    if value is BehaviorKind.SEQUENCE:
        read |= _event(node, "seq_event", "seq_event_type", path)
    if "seq_time_value" in _OWN_KEYS[value]:
        read |= _span(node, "seq_time_value", "seq_time_interval", path)
    if value in {BehaviorKind.MULTIPLE, BehaviorKind.REGULARLY}:
        read |= _counted(node, value, path)
    if value is BehaviorKind.REGULARLY:
        read |= _periods(node, path)
    return read


def _event(node: CriteriaNode, key: str, type_key: str, path: str) -> CriteriaNode:
    """The event or action, e.g. ``{"key": "$pageview", "event_type": "events"}``."""
    given = node.get(key)
    is_number = isinstance(given, int) and not isinstance(given, bool)
    default = "actions" if is_number else "events"
    kind = _choice({type_key: default} | _sent(node), type_key, ("events", "actions"), path)
    if kind == "actions":
        return {key: _number(node, key, path), type_key: kind}
    return {key: _text(node, key, path), type_key: kind}


def _window(node: CriteriaNode, value: BehaviorKind, path: str) -> CriteriaNode:
    explicit = {name: _text(node, name, path) for name in _DATE_KEYS if node.get(name) is not None}
    if "explicit_datetime" in explicit:
        return explicit
    if explicit:
        raise Invalid("An end requires a start.", attr=f"{path}__explicit_datetime")
    if value is not BehaviorKind.REGULARLY and node.get("time_value") is None:
        raise Invalid(
            "Specify the start: time_value with time_interval, or explicit_datetime.",
            attr=f"{path}__time_value",
            code="required",
        )
    return _span(node, "time_value", "time_interval", path)


def _span(node: CriteriaNode, number: str, interval: str, path: str) -> CriteriaNode:
    return {
        number: _number(node, number, path),
        interval: _choice(node, interval, INTERVALS, path),
    }


def _counted(node: CriteriaNode, value: BehaviorKind, path: str) -> CriteriaNode:
    if value is BehaviorKind.REGULARLY and node.get("operator_value") is None:
        return {"operator": "gte", "operator_value": 1}
    operator = _choice({"operator": "eq"} | _sent(node), "operator", COUNT_OPERATORS, path)
    return {"operator": operator, "operator_value": _number(node, "operator_value", path)}


def _periods(node: CriteriaNode, path: str) -> CriteriaNode:
    least, total = (_number(node, name, path) for name in _PERIOD_KEYS)
    if total > MAX_PERIODS:
        raise Invalid(f"At most {MAX_PERIODS} periods.", attr=f"{path}__total_periods")
    if least > total:
        raise Invalid("Must not be greater than total_periods.", attr=f"{path}__min_periods")
    return {"min_periods": least, "total_periods": total}


def _event_filters(node: CriteriaNode, path: str) -> list[CriteriaNode]:
    items = node.get("event_filters")
    items = [] if items is None else items
    filters_path = f"{path}__event_filters"
    if not isinstance(items, list):
        raise Invalid("Expected a list of filters.", attr=filters_path)
    if len(items) > MAX_CONDITIONS:
        raise Invalid(f"At most {MAX_CONDITIONS} filters.", attr=filters_path)
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise Invalid("A filter must be an object.", attr=f"{filters_path}__{index}")
        _choice({"type": "event"} | _sent(item), "type", _EVENT_FILTERS, f"{filters_path}__{index}")
    return items


_READERS: dict[str, Callable[[CriteriaNode, str], CriteriaNode]] = {
    "person": _person,
    "person_metadata": _person,
    "behavioral": _behavioral,
    "cohort": _cohort,
}


def _sent(node: Mapping[str, Any]) -> CriteriaNode:
    return {name: value for name, value in node.items() if value is not None}


def _closed(node: Mapping[str, Any], known: frozenset[str], path: str) -> None:
    for name in node:
        if name not in known:
            hint = near(name, known)
            raise Invalid(f'"{name[:60]}" is not a known field.{hint}', attr=f"{path}__{name[:60]}")


def _choice(node: Any, name: str, choices: tuple[str, ...], path: str) -> str:
    if not isinstance(node, dict):
        raise Invalid("Expected an object.", attr=path)
    value = node.get(name)
    if value is None:
        raise Invalid("This field is required.", attr=f"{path}__{name}", code="required")
    if not isinstance(value, str) or value not in choices:
        hint = near(str(value), choices) or f" Use one of {', '.join(choices)}."
        detail = f'"{str(value)[:60]}" is not a valid choice.{hint}'
        raise Invalid(detail, attr=f"{path}__{name}", code="invalid_choice")
    return value


def _flag(node: CriteriaNode, name: str, path: str) -> bool:
    value = node.get(name)
    if value is not None and not isinstance(value, bool):
        raise Invalid("Must be a valid boolean.", attr=f"{path}__{name}")
    return bool(value)


def _text(node: CriteriaNode, name: str, path: str) -> str:
    value = node.get(name)
    if not isinstance(value, str) or not value or "\x00" in value:
        code = "required" if value is None else None
        raise Invalid("A string is required.", attr=f"{path}__{name}", code=code)
    return value


def _number(node: CriteriaNode, name: str, path: str) -> int:
    """A positive integer, given as a number or a string."""
    value = node.get(name)
    if value is None:
        raise Invalid("This field is required.", attr=f"{path}__{name}", code="required")
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        value = int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise Invalid("A positive integer is required.", attr=f"{path}__{name}")
    if value > MAX_NUMBER and name != "value" and "key" not in name:
        raise Invalid(f"At most {MAX_NUMBER}.", attr=f"{path}__{name}")
    return value
