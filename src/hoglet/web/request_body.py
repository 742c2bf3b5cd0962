"""Reads request bodies with limits on size and depth; rejects invalid JSON.

Handlers call ``read_json`` or ``read_object`` instead of declaring body parameters, so that every
kind of invalid body gets the specified response.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits (``parse_error``,
``request_too_large``, ``unsupported_media_type``).
"""

import json
from typing import Any

import orjson
from starlette.requests import Request

from hoglet.kit.errors import Invalid, TooLarge, Unreadable, UnsupportedMediaType
from hoglet.kit.json import is_deeper_than
from hoglet.web.validation import not_a_dict

# docs/spec/hog-functions.md#12-errors-keys-rate-limits; create_application passes the setting
DEFAULT_BODY_BYTES = 20 * 1024 * 1024
NESTING_LIMIT = (
    128  # orjson parses 1024 levels but serializes only 254; stored values must be serializable
)
_BODY = "hoglet.body"
_JSON = "hoglet.json"
BODY_KEY = "personal_api_key"  # may carry the caller's key (hoglet.access.auth); never a field


async def read_body(request: Request, *, limit_bytes: int | None = None) -> bytes:
    """The raw body; read once per request and cached for both authorization and the handler.

    Raises:
        TooLarge: more than ``limit_bytes`` (default: the application's ``body_limit_bytes``).
    """
    retained: bytes | None = request.scope.get(_BODY)
    if retained is not None:
        return retained
    limit = limit_bytes or getattr(request.app.state, "body_limit_bytes", DEFAULT_BODY_BYTES)
    body = await _stream(request, limit)
    request.scope[_BODY] = body
    return body


async def read_json(request: Request) -> Any:
    """The parsed body; ``{}`` when it is empty.

    Raises:
        Unreadable: not JSON, or nested deeper than ``NESTING_LIMIT``.
        UnsupportedMediaType: the content type is not JSON.
        TooLarge: see ``read_body``.
    """
    if _JSON in request.scope:
        return request.scope[_JSON]
    body = await read_body(request)
    if body.strip():
        refuse_other_media(request.headers.get("content-type"))
    parsed = parse_json(body)
    request.scope[_JSON] = parsed
    return parsed


async def read_object(request: Request) -> dict[str, Any]:
    """The parsed body, which must be an object; the caller's API key is removed.

    Raises:
        Invalid: JSON, but not an object.
    """
    parsed = await read_json(request)
    if not isinstance(parsed, dict):
        raise Invalid(not_a_dict(parsed), code="not_a_dict")
    return {name: value for name, value in parsed.items() if name != BODY_KEY}


def parse_json(body: bytes) -> Any:
    """Parse JSON into dict, list, str, int, float, bool or None; ``{}`` if it is empty.

    Raises:
        Unreadable: not JSON (RFC 8259; no NaN, no lone surrogates), or nested too deeply.
    """
    if not body.strip():
        return {}
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _unreadable(body, error) from None
    if is_deeper_than(parsed, NESTING_LIMIT):
        raise Unreadable(f"JSON parse error - nested deeper than {NESTING_LIMIT} levels")
    return parsed


def _unreadable(body: bytes, error: ValueError) -> Unreadable:
    """The error of a body that is not JSON; for a lone surrogate it names the path."""
    message = f"JSON parse error - {error}"
    if "surrogate" not in str(error):
        return Unreadable(message)
    try:
        parsed = json.loads(body)
        path = None if is_deeper_than(parsed, NESTING_LIMIT) else _path_of_half_character(parsed)
    except (ValueError, RecursionError):
        return Unreadable(message)
    if path is None:
        return Unreadable(message)
    detail = "The text contains a lone surrogate (half of a character)."
    return Unreadable(f"JSON parse error - {detail}", attr="__".join(path) or None)


def _path_of_half_character(value: Any) -> list[str] | None:
    """Path of the first string with a lone surrogate, e.g. ``["inputs", "url"]``; else None."""
    match value:
        case str():
            return [] if is_half_character_in(value) else None
        case dict():
            items: dict[str, Any] = value
            pairs = items.items()
        case list():
            pairs = [(str(place), item) for place, item in enumerate(value)]
        case _:
            return None
    for name, item in pairs:
        if is_half_character_in(name):
            return []
        path = _path_of_half_character(item)
        if path is not None:
            return [name, *path]
    return None


def is_half_character_in(text: str) -> bool:
    """Whether a text contains a surrogate without its other half."""
    return any("\ud800" <= char <= "\udfff" for char in text)


def refuse_other_media(content_type: str | None) -> None:
    """Accept JSON, and bodies without a content type.

    Raises:
        UnsupportedMediaType: the content type is anything else.
    """
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaType(f'Unsupported media type "{content_type}" in request.')


async def _stream(request: Request, limit: int) -> bytes:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise _too_large(limit)
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        chunks.append(chunk)
    return b"".join(chunks)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The request body is larger than {limit} bytes.")
