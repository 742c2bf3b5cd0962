"""JSON: parsing, writing, and looking inside."""

from typing import Any

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.runtime.json_text import parse_json, write_json
from hoglet.hog.runtime.member_access import get_property
from hoglet.hog.runtime.numbers import whole
from hoglet.hog.runtime.values import CONTAINERS, is_number, stored_key
from hoglet.hog.stdlib.arguments import integer, plain_text
from hoglet.hog.stdlib.types import to_float, to_int

_MISSING = object()


def json_parse(value: Any) -> Any:
    if value is None:
        return None
    try:
        return parse_json(value if type(value) is str else plain_text(value))
    except ValueError as error:
        raise EngineError(f"jsonParse: the argument text is not JSON ({error})") from None


def json_stringify(value: Any, indent: Any = None) -> str:
    if indent is None:
        return write_json(value)
    spaces = min(max(indent, 0), 10) if is_number(indent) else 0
    return write_json(value, integer(spaces))


def is_valid_json(value: Any) -> bool:
    try:
        parse_json(plain_text(value))
    except ValueError:
        return False
    return True


def _parsed(value: Any) -> Any:
    if type(value) is not str:
        return value
    try:
        return parse_json(value)
    except ValueError:
        return _MISSING


def _looked_at(value: Any) -> Any:
    """Like :func:`_parsed`, cached for the last text, for results that share no part of it."""
    run = meter.running.thread.run
    if type(value) is not str or run is None:
        return _parsed(value)
    text, parsed = run.parsed_json
    if text is not value:
        parsed = _parsed(value)
        run.parsed_json = (value, parsed)
    return parsed


def _step(value: Any, key: Any) -> Any:
    if type(value) is dict:
        return value.get(stored_key(key), _MISSING)
    if isinstance(value, list) and is_number(key):
        index = whole(key)
        if type(index) is int and index and abs(index) <= len(value):
            return get_property(value, index)
    return _MISSING


def _member(value: Any, path: tuple[Any, ...], *, parse: bool = False) -> Any:
    for key in path:
        if value is _MISSING:
            return _MISSING
        value = _step(_parsed(value) if parse else value, key)
    return value


def json_has(value: Any, *path: Any) -> bool:
    """Whether the path exists; without a path, whether the text is JSON."""
    return value is not None and _member(_looked_at(value), path, parse=True) is not _MISSING


def json_length(value: Any, *path: Any) -> int:
    container = _member(_looked_at(value), path)
    return len(container) if isinstance(container, CONTAINERS) else 0


def json_extract(value: Any, *path: Any) -> Any:
    member = _inside(_parsed(value), path[:-1])
    return None if member is _MISSING else member


def _inside(value: Any, path: tuple[Any, ...]) -> Any:
    """Like :func:`_member`; nothing is found inside a bare number, string or boolean."""
    return _member(value, path) if isinstance(value, CONTAINERS) else _MISSING


def json_extract_bool(value: Any, *path: Any) -> bool:
    return _member(_looked_at(value), path) is True


def json_extract_int(value: Any, *path: Any) -> Any:
    member = _inside(_looked_at(value), path)
    return None if member is _MISSING else to_int(member)


def json_extract_float(value: Any, *path: Any) -> Any:
    member = _inside(_looked_at(value), path)
    return None if member is _MISSING else to_float(member)


def json_extract_string(value: Any, *path: Any) -> Any:
    member = _inside(_looked_at(value), path)
    if member is _MISSING or member is None:
        return None
    return write_json(member) if isinstance(member, CONTAINERS) else as_text(member)


def json_extract_array_raw(value: Any, *path: Any) -> Any:
    member = _member(_parsed(value), path)
    return member if isinstance(member, list) else None
