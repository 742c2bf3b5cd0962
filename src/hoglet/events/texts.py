"""JSON text that every part of hoglet can read again, whatever a program made of the value."""

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


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value - value != 0:
        return None
    return value
