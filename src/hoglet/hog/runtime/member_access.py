"""Access to members of values: ``a.b``, ``a[1]``, ``a.b := c``.

Source: docs/spec/hog-language.md#5-semantics-of-operators.
"""

from typing import Any

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.runtime.numbers import whole
from hoglet.hog.runtime.values import (
    HogDate,
    HogDateTime,
    HogError,
    HogTuple,
    is_number,
    stored_key,
    type_name,
)

_REPORTED_TYPES = {"null": "object"}  # the official message
_STEP = 1024  # containers that grow item by item are charged in steps
START_AT_ONE = "Hog arrays start from index 1"


def get_property(target: Any, key: Any) -> Any:
    """``target[key]``; null for missing members.

    Raises:
        EngineError: the index 0 of an array or tuple.
    """
    kind = type(target)
    if kind is dict:
        return target.get(key if type(key) is str else stored_key(key))
    if kind is list or kind is HogTuple:
        return _item(target, key)
    if kind in _FIELDS and type(key) is str:
        return _FIELDS[kind](target, key)
    return None


def _item(items: list[Any], key: Any) -> Any:
    if not is_number(key):
        return None
    index = whole(key)
    if type(index) is not int:
        return None
    if index > 0:
        return items[index - 1] if index <= len(items) else None
    if index == 0:
        raise EngineError(START_AT_ONE)
    return items[index] if -index <= len(items) else None


def _error_field(error: HogError, key: str) -> Any:
    if key == "__hogError__":
        return True
    return getattr(error, key) if key in {"type", "message", "payload"} else None


def _date_field(value: HogDate, key: str) -> Any:
    if key == "__hogDate__":
        return True
    return getattr(value, key) if key in {"year", "month", "day"} else None


def _datetime_field(value: HogDateTime, key: str) -> Any:
    fields = {"__hogDateTime__": True, "dt": value.seconds, "zone": value.zone}
    return fields.get(key)


_FIELDS: dict[type, Any] = {
    HogError: _error_field,
    HogDate: _date_field,
    HogDateTime: _datetime_field,
}


def set_property(target: Any, key: Any, value: Any) -> None:
    """``target[key] := value``.

    Raises:
        EngineError: an index below 1, or a target without members.
    """
    kind = type(target)
    if kind is dict:
        key = key if type(key) is str else stored_key(key)
        target[key] = value
        if not len(target) & (_STEP - 1):
            meter.charge(24 * _STEP)
    elif kind is list or kind is HogTuple:
        _set_item(target, key, value)
    elif kind is HogError:
        raise EngineError(f"Can not set {as_text(key)} on an error: errors are read-only")
    else:
        name = (
            "number"
            if is_number(target)
            else _REPORTED_TYPES.get(type_name(target), type_name(target))
        )
        raise EngineError(f"Can not set {as_text(key)} on non-object: {name}")


def _set_item(items: list[Any], key: Any, value: Any) -> None:
    index = whole(key) if is_number(key) else key
    if type(index) is not int:
        raise EngineError(f"Can not set {as_text(key)} on element of type object")
    if index < 1:
        raise EngineError(START_AT_ONE)
    length = len(items)
    if index <= length:
        items[index - 1] = value
        return
    if index > length + 1:
        meter.charge(8 * index)
        items.extend([None] * (index - length - 1))
    elif not length & (_STEP - 1):
        meter.charge(8 * _STEP)
    items.append(value)
