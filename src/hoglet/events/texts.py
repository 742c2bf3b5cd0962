"""Texts that every part of hoglet can store and read again, whatever was sent or made."""

import json
from typing import Any

import orjson

_OPTIONS = orjson.OPT_NON_STR_KEYS


def dump_text(value: Any) -> str:
    """JSON text; what JSON lacks (NaN, lone surrogates, other types) is replaced.

    Example:
        >>> dump_text({"a": 1})
        '{"a":1}'
    """
    try:
        return orjson.dumps(value, option=_OPTIONS).decode()
    except TypeError:
        loose = json.dumps(_plain(value), ensure_ascii=False, default=str)
        return loose.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def id_text(value: Any) -> str:
    """An id as text, numbers and booleans as JSON writes them; ``""`` for anything else.

    Example:
        >>> id_text(12345678)
        '12345678'
    """
    if type(value) is str:
        return storable(value)
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value) if type(value) is int else ""


def storable(text: str) -> str:
    """PostgreSQL's text holds no NUL."""
    return text.replace("\0", "�") if "\0" in text else text


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value - value != 0:
        return None
    return value
