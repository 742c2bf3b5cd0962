"""Checks the property filters of a project's test-account setting when they are saved.

They are compiled into every function and query that excludes test accounts. Without the check, an
invalid filter would be saved and then fail all of these.
"""

from datetime import UTC, datetime
from typing import Any

from hoglet.kit.property_operators import WITHOUT_VALUE, BadOperator, read_operator
from hoglet.kit.property_types import COHORT_TYPES, QUERY_TYPES
from hoglet.kit.relative_dates import DateClock
from hoglet.kit.suggestions import near

_COHORT_OPERATORS = frozenset({None, "in", "exact", "not_in", "is_not"})
_GROUPS = frozenset({"AND", "OR"})
_MAX_LEVELS = 10
_CLOCK = DateClock(datetime(2026, 1, 5, tzinfo=UTC))
"""Any time will do: whether a relative date is valid does not depend on it."""


def check_filter(item: dict[str, Any], level: int = 0) -> dict[str, Any]:
    """The filter ``{key, value, operator, type}``, or group of filters, unchanged.

    Raises:
        ValueError: an unknown type or operator, a missing key, or a value that the operator does
            not take.
    """
    kind = item.get("type") or "event"
    if isinstance(kind, str) and kind in _GROUPS and isinstance(item.get("values"), list):
        _check_members(item["values"], level)
        return item
    if not isinstance(kind, str) or kind not in QUERY_TYPES:
        hint = near(str(kind), QUERY_TYPES) or f" Use one of {', '.join(QUERY_TYPES)}."
        raise ValueError(f"Property filters of type '{str(kind)[:60]}' are not supported.{hint}")
    if kind in COHORT_TYPES:
        _check_cohort(item)
        return item
    key = item.get("key")
    if not isinstance(key, str) or not key.strip():
        raise ValueError("A property filter needs a key, the name of the property.")
    if kind != "hogql":
        _check_operator(item)
    return item


def _check_members(members: list[Any], level: int) -> None:
    if level >= _MAX_LEVELS:
        raise ValueError("The property groups are nested too deeply.")
    for member in members:
        if not isinstance(member, dict):
            raise ValueError("Every property filter must be an object.")  # noqa: TRY004 (read by pydantic)
        check_filter(member, level + 1)


def _check_operator(item: dict[str, Any]) -> None:
    operator, value = item.get("operator"), item.get("value")
    if value is None and operator not in WITHOUT_VALUE:
        value = []  # may be saved while incomplete; it has no effect until it has a value
        if operator in {"between", "not_between"}:
            return
    try:
        read_operator(operator, value, _CLOCK)
    except BadOperator as error:
        raise ValueError(str(error)) from None


def _check_cohort(item: dict[str, Any]) -> None:
    if not str(item.get("value")).isdecimal():
        raise ValueError(f"Not a cohort id: {str(item.get('value'))[:60]}")
    operator = item.get("operator")
    if not isinstance(operator, str | None) or operator not in _COHORT_OPERATORS:
        excerpt = str(operator)[:60]
        raise ValueError(f"Cohorts support only the operators 'in' and 'not_in', not '{excerpt}'.")
