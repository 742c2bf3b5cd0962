"""Validates the type of an input value; templates in it are compiled elsewhere.

Source: docs/spec/hog-functions.md#42-value-validation.
"""

from collections.abc import Callable
from typing import Any

from hoglet.functions.json_types import InputSchema
from hoglet.kit.errors import Invalid
from hoglet.kit.json import is_array, is_object

REQUIRED = "This field is required."
_STATUS_WILDCARDS = frozenset({"4xx", "5xx"})


def check_value(item: InputSchema, value: Any, *, templating: str | None, attr: str) -> None:
    """Validate a non-falsy value against its schema item.

    Args:
        item: the schema item.
        value: any JSON.
        templating: ``"hog"``, ``"liquid"``, or None without templates.
        attr: the field of the error, ``inputs__url``.

    Raises:
        Invalid: the value is of the wrong type.
    """
    check = _CHECKS.get(item["type"])
    complaint = check(item, value, templating) if check else None
    if complaint:
        raise Invalid(complaint, attr=attr)


def _string(_item: InputSchema, value: Any, _templating: str | None) -> str | None:
    return None if isinstance(value, str) else "Value must be a string."


def _number(_item: InputSchema, value: Any, _templating: str | None) -> str | None:
    return None if isinstance(value, int | float) else "Value must be a number."


def _dictionary(_item: InputSchema, value: Any, _templating: str | None) -> str | None:
    return None if is_object(value) else "Value must be a dictionary."


def _boolean(item: InputSchema, value: Any, templating: str | None) -> str | None:
    if isinstance(value, bool):
        return None
    if item.get("templating") is False:
        return "Value must be a boolean."
    if not isinstance(value, str):
        return "Value must be a boolean or a template string."
    if templating == "liquid":
        return "Liquid templates are not supported for booleans."
    return None


def _integration(_item: InputSchema, value: Any, _templating: str | None) -> str | None:
    return None if _is_whole(value) else "Value must be the id of an integration."


def _integrations(_item: InputSchema, value: Any, _templating: str | None) -> str | None:
    if is_array(value) and all(_is_whole(entry) for entry in value):
        return None
    return "Value must be a list of integration ids."


def _email(_item: InputSchema, value: Any, _templating: str | None) -> str | None:
    if not is_object(value):
        return "Value must be an email object."
    missing = [name for name in ("from", "to", "subject") if not value.get(name)]
    if not value.get("text") and not value.get("html"):
        missing.append("text or html")
    return f"Missing value for {', '.join(missing)}." if missing else None


def _status_codes(_item: InputSchema, value: Any, _templating: str | None) -> str | None:
    if not is_array(value):
        return "Value must be a list of status codes."
    for entry in value:
        if isinstance(entry, str):
            if entry not in _STATUS_WILDCARDS:
                return f'"{entry}" is not a status code: the wildcards are 4xx and 5xx.'
        elif not _is_whole(entry):
            return "Status codes must be integers or the wildcards 4xx and 5xx."
        elif not 400 <= entry <= 599:
            return f"{entry} is out of range: status codes must be between 400 and 599."
    return None


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_CHECKS: dict[str, Callable[[InputSchema, Any, str | None], str | None]] = {
    "string": _string,
    "number": _number,
    "dictionary": _dictionary,
    "boolean": _boolean,
    "integration": _integration,
    "integration_multi": _integrations,
    "email": _email,
    "native_email": _email,
    "non_failure_status_codes": _status_codes,
}
