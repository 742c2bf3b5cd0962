"""Query parameters of the dead-letter routes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hoglet.functions.dead_letters.repository import DeadLetterFilter
from hoglet.kit.errors import Invalid
from hoglet.kit.json_values import is_array
from hoglet.web.timestamps import parse_instant

CLASSES = ("filter", "inputs", "fetch", "timeout", "hog", "disabled")
_TRUE, _FALSE = frozenset({"true", "1"}), frozenset({"false", "0"})


def read_filters(query: Mapping[str, str]) -> DeadLetterFilter:
    """Parse the parameters of the list.

    Raises:
        Invalid: an unknown class or an invalid time; attr is the parameter.
    """
    return DeadLetterFilter(
        classes=read_classes(query.get("class")),
        after=read_instant(query.get("after") or None, "after"),
        before=read_instant(query.get("before") or None, "before"),
        redriven=_boolean(query.get("redriven")),
    )


def read_classes(value: Any) -> list[str]:
    """Parse classes, as a comma-separated or JSON list.

    Raises:
        Invalid: code ``invalid_choice``, attr ``class``.
    """
    parts = value.split(",") if isinstance(value, str) else value or []
    if not is_array(parts):
        raise Invalid("A list of classes is required.", attr="class")
    wanted = [part.strip() if isinstance(part, str) else part for part in parts]
    for item in wanted:
        if item and item not in CLASSES:
            detail = f'"{item}" is not a valid choice.'
            raise Invalid(detail, code="invalid_choice", attr="class")
    return [item for item in wanted if item]


def read_instant(value: Any, attr: str) -> datetime | None:
    """Parse an ISO time; None for None.

    Raises:
        Invalid: not a valid time.
    """
    if value is None:
        return None
    found = parse_instant(value) if isinstance(value, str) else None
    if found is None:
        raise Invalid("Enter an ISO 8601 time.", attr=attr)
    return found


def _boolean(text: str | None) -> bool | None:
    lowered = (text or "").lower()
    if lowered in _TRUE:
        return True
    return False if lowered in _FALSE else None
