"""Validates JSON from clients against the shapes of ``nodes``.

Null means "not sent" everywhere. Errors have the path of the key as ``attr``:
``series__0__mth``.
"""

from collections.abc import Mapping
from typing import Any

from hoglet.hogql.errors import near, refused
from hoglet.hogql.query_json.nodes import (
    ANY,
    FLAG,
    NODES,
    PROPERTIES,
    WHOLE,
    Choice,
    EachValue,
    property_shape,
)
from hoglet.hogql.query_json.parts import MOST, Range
from hoglet.kit.errors import SourceError

MAX_DEPTH = 30

_NAMES = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}


def check_node(query: Mapping[str, Any]) -> None:
    """Validate a query: every key must belong to its kind and have a valid value.

    Raises:
        SourceError: ``attr`` is the path of the first invalid key.
    """
    check_shape(query, NODES[str(query.get("kind"))])


def check_shape(value: Any, shape: Any, path: str = "", depth: int = 0) -> None:
    """Reject a value that does not match the shape.

    Raises:
        SourceError: ``attr`` is the path of the invalid part, e.g. ``series__0__math``.
    """
    if value is None or shape is ANY:
        return
    if depth > MAX_DEPTH:
        raise _wrong(path, "is nested too deeply")
    if shape is PROPERTIES:
        shape = _properties_shape(value)
    if isinstance(shape, Choice):
        _check_choice(value, shape, path)
    elif isinstance(shape, EachValue):
        _check_values(value, shape[0], path, depth)
    elif isinstance(shape, tuple):
        _check_plain(value, shape, path)
    elif isinstance(shape, Range):
        _check_range(value, shape, path)
    elif isinstance(shape, list):
        _check_list(value, shape, path, depth)
    else:
        _check_object(value, shape, path, depth)


def _properties_shape(value: Any) -> Any:
    return [property_shape] if isinstance(value, list | tuple) else property_shape


def _check_list(value: Any, shape: list[Any], path: str, depth: int) -> None:
    if not isinstance(value, list | tuple):
        raise _wrong(path, "must be a list")
    if len(shape) > 1 and len(value) > shape[1]:
        raise _wrong(path, f"takes at most {shape[1]} items")
    for index, item in enumerate(value):
        if item is None and shape[0] is not property_shape:
            raise _wrong(f"{path}__{index}", "must not be null")
        check_shape(item, shape[0], f"{path}__{index}", depth + 1)


def _check_values(value: Any, shape: Any, path: str, depth: int) -> None:
    _check_map(value, path)
    for key, item in value.items():
        if item is None and shape is not ANY:
            raise _wrong(_join(path, str(key)), "must not be null")
        check_shape(item, shape, _join(path, str(key)), depth + 1)


def _check_choice(value: Any, choice: Choice, path: str) -> None:
    if not isinstance(value, str):
        raise _wrong(path, "must be a string")
    if value not in choice:
        hint = near(value, choice) or f" Use one of {', '.join(choice)}."
        text = f"{_name(path)}: unknown value '{value[:60]}'.{hint}"
        raise refused(text, code="invalid_choice", attr=path)


def _name(path: str) -> str:
    """The last key of a path, with the index for an item of a list: ``excludeEvents.0``."""
    parts = path.split("__")
    return ".".join(parts[-2:] if parts[-1].isdecimal() else parts[-1:])


def _check_plain(value: Any, kinds: tuple[type, ...], path: str) -> None:
    fits = isinstance(value, kinds) and (kinds == FLAG or not isinstance(value, bool))
    if not fits or (isinstance(value, int | float) and not -MOST <= value <= MOST):
        raise _wrong(path, f"must be {' or '.join(_NAMES[kind] for kind in kinds)}")


def _check_range(value: Any, allowed: Range, path: str) -> None:
    _check_plain(value, WHOLE, path)
    if value < allowed.low:
        raise _wrong(path, f"must be {allowed.low} or more")
    if value > allowed.high:
        raise _wrong(path, f"must be {allowed.high} or less")


def _check_map(value: Any, path: str) -> None:
    if not isinstance(value, Mapping):
        raise _wrong(path, "must be an object")


def _check_object(value: Any, shape: Any, path: str, depth: int) -> None:
    _check_map(value, path)
    if callable(shape):
        try:
            shape = shape(value)
        except SourceError as error:
            error.attr = _join(path, error.attr or "")
            raise
    for key, item in value.items():
        if key not in shape:
            raise _unknown(str(key), shape, path)
        check_shape(item, shape[key], _join(path, str(key)), depth + 1)


def _unknown(key: str, shape: Mapping[str, Any], path: str) -> SourceError:
    where = f"of {path.replace('__', '.')}" if path else "of the query"
    hint = near(key, shape) or f" Its keys are {', '.join(shape)}."
    text = f"'{key[:60]}' is not a key {where}.{hint}"
    return refused(text, code="invalid_input", attr=_join(path, key))


def _wrong(path: str, what: str) -> SourceError:
    name = path.replace("__", ".") or "The query"
    return refused(f"{name} {what}", code="invalid_input", attr=path or None)


def _join(path: str, key: str) -> str:
    return f"{path}__{key}" if path else key
