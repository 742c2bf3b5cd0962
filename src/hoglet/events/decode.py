"""Decodes capture requests to JSON: gzip, base64, form fields, beacons. Pure.

Undoes every encoding of SDKs and browsers; the content type is ignored, because beacons send
``text/plain``. Source: docs/spec/hog-functions.md#14-capture, rows Body and Encoding.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import orjson

from hoglet.events.errors import InvalidPayload
from hoglet.events.lenient_json import parse_leniently
from hoglet.kit.compression import ENCODINGS, InflatedTooLarge, NotCompressed, inflate
from hoglet.kit.errors import TooLarge
from hoglet.kit.json import is_deeper_than

NESTING_LIMIT = (
    128  # orjson parses 1024 levels but serializes only 254; stored values must be serializable
)
_GZIP_MAGIC = b"\x1f\x8b"
_KNOWN_ENCODINGS = ENCODINGS | {"", "identity"}


def unpack(
    body: bytes, *, query: Mapping[str, str], content_encoding: str, limit_bytes: int
) -> bytes:
    """Decompress and decode base64.

    Args:
        body: the body as received.
        query: the URL's parameters, of which ``compression`` is used.
        content_encoding: the header of that name, or ``""``.
        limit_bytes: maximum decompressed size.

    Returns:
        The expected JSON text.

    Raises:
        InvalidPayload: invalid gzip or base64, or an unknown encoding.
        TooLarge: more than ``limit_bytes`` decompressed.
    """
    if content_encoding.strip().lower() not in _KNOWN_ENCODINGS:
        raise InvalidPayload(f"Content-Encoding {content_encoding} is not supported; use gzip.")
    compression = query.get("compression", "").lower()
    if content_encoding.strip().lower() == "deflate" or body[:2] == _GZIP_MAGIC:
        body = _inflate(body, limit_bytes)
    if not _looks_like_json(body) and (body.startswith(b"data=") or b"&data=" in body):
        # As Latin-1, one character per byte: input must be ASCII before Python 3.12.3.
        fields = parse_qs(body.decode("latin-1"), encoding="latin-1")
        compression = fields.get("compression", [compression])[0].lower()
        body = _of_field(fields.get("data", [""])[0].encode("latin-1"))
    elif compression == "base64" and not _looks_like_json(body):
        body = _from_base64(body)
    if compression in {"gzip", "gzip-js"} and not _looks_like_json(body):
        body = _inflate(body, limit_bytes)
    if len(body) > limit_bytes:
        raise _too_large(limit_bytes)
    return body


class ParsedBody(NamedTuple):
    """A parsed body.

    Args:
        value: what :func:`hoglet.events.parse.batch_of` reads.
        text: JSON text that orjson parses to the same value.
        too_deep: number of events left out because they are nested deeper than ``NESTING_LIMIT``.
    """

    value: Any
    text: bytes
    too_deep: int


def parse(text: bytes) -> ParsedBody:
    """The value of JSON text, as :mod:`hoglet.events.lenient_json` reads it.

    Raises:
        InvalidPayload: not JSON, or every event is nested deeper than ``NESTING_LIMIT``.
    """
    try:
        value = orjson.loads(text)
        is_plain = True
    except orjson.JSONDecodeError:
        value = _parse_leniently(text)
        is_plain = False
    too_deep = 0
    if is_deeper_than(value, NESTING_LIMIT):
        value, too_deep = _without_deep_events(value)
    return ParsedBody(value, text if is_plain and not too_deep else orjson.dumps(value), too_deep)


def deep_event_refusal() -> InvalidPayload:
    """The error for an event that is nested too deeply."""
    return InvalidPayload(f"An event is nested deeper than {NESTING_LIMIT} levels.")


def _parse_leniently(text: bytes) -> Any:
    try:
        return parse_leniently(text)
    except ValueError as error:
        raise InvalidPayload(f"The body is not JSON: {error}") from None


def _without_deep_events(value: Any) -> tuple[Any, int]:
    """A batch without events that are nested too deeply, and the number of these events."""
    if isinstance(value, dict) and isinstance(value.get("batch"), list):
        events: list[Any] = value["batch"]
        head = {key: item for key, item in value.items() if not is_deeper_than(item, 0)}
        shallow = [event for event in events if not is_deeper_than(event, NESTING_LIMIT - 2)]
        batch: Any = {**head, "batch": shallow}
    elif isinstance(value, list):
        events = value
        batch = shallow = [
            event for event in events if not is_deeper_than(event, NESTING_LIMIT - 1)
        ]
    else:
        raise deep_event_refusal()
    if not shallow:
        raise deep_event_refusal()
    return batch, len(events) - len(shallow)


def _of_field(data: bytes) -> bytes:
    return data if _looks_like_json(data) else _from_base64(data)


def _from_base64(data: bytes) -> bytes:
    """Decode base64, even in the URL alphabet or with spaces in place of ``+``."""
    tidy = data.strip().replace(b" ", b"+").replace(b"-", b"+").replace(b"_", b"/")
    try:
        return base64.b64decode(tidy + b"=" * (-len(tidy) % 4), validate=True)
    except binascii.Error as error:
        raise InvalidPayload(f"The body is not base64: {error}") from None


def _inflate(data: bytes, limit_bytes: int) -> bytes:
    try:
        return inflate(data, limit_bytes)
    except NotCompressed as error:
        raise InvalidPayload(str(error)) from None
    except InflatedTooLarge:
        raise _too_large(limit_bytes) from None


def _looks_like_json(data: bytes) -> bool:
    return data.lstrip()[:1] in {b"{", b"["}


def _too_large(limit_bytes: int) -> TooLarge:
    return TooLarge(f"The request body is larger than {limit_bytes} bytes.")
