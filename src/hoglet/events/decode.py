"""Decodes capture requests to JSON: gzip, base64, form fields, beacons. Pure.

Undoes every encoding of SDKs and browsers; the content type is ignored, because beacons send
``text/plain``. Source: docs/spec/hog-functions.md#14-capture, rows Body and Encoding.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import orjson

from hoglet.events.errors import InvalidPayload
from hoglet.kit.errors import TooLarge
from hoglet.kit.nesting import is_deeper_than
from hoglet.kit.text import dump_storable_json

NESTING_LIMIT = (
    128  # orjson parses 1024 levels but serializes only 254; stored values must be serializable
)
_GZIP_MAGIC = b"\x1f\x8b"
_ANY_ZLIB = zlib.MAX_WBITS | 32  # gzip or zlib, detected by the header
_MOST_MEMBERS = 16  # each copies what follows it, so thousands would block the event loop
_PLAIN_ENCODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})


def unpack(
    body: bytes, *, query: Mapping[str, str], content_encoding: str, limit_bytes: int
) -> bytes:
    """Decompress and decode base64.

    Args:
        body: as received.
        query: the URL's parameters; ``compression`` counts.
        content_encoding: that header, or ``""``.
        limit_bytes: maximum decompressed size.

    Returns:
        The expected JSON text.

    Raises:
        InvalidPayload: invalid gzip or base64, or an unknown encoding.
        TooLarge: more than ``limit_bytes`` decompressed.
    """
    if content_encoding.strip().lower() not in _PLAIN_ENCODINGS:
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


def parse(text: bytes) -> tuple[Any, bytes]:
    """JSON text to its value, and text that orjson parses to the same value.

    Raises:
        InvalidPayload: not JSON, or nested deeper than ``NESTING_LIMIT``.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = _parse_leniently(text)
        text = orjson.dumps(value)
    if is_deeper_than(value, NESTING_LIMIT):
        raise InvalidPayload(f"The body is nested deeper than {NESTING_LIMIT} levels.")
    return value, text


def _parse_leniently(text: bytes) -> Any:
    """NaN and Infinity become null, lone surrogates and invalid UTF-8 become U+FFFD."""
    try:
        loose = json.loads(text.decode("utf-8", "replace"), parse_constant=_nothing)
        return orjson.loads(dump_storable_json(loose))
    except (ValueError, RecursionError) as error:
        raise InvalidPayload(f"The body is not JSON: {error}") from None


def _nothing(_constant: str) -> None:
    return None


def _of_field(data: bytes) -> bytes:
    return data if _looks_like_json(data) else _from_base64(data)


def _from_base64(data: bytes) -> bytes:
    """Base64, also with the URL alphabet or spaces in place of ``+``."""
    tidy = data.strip().replace(b" ", b"+").replace(b"-", b"+").replace(b"_", b"/")
    try:
        return base64.b64decode(tidy + b"=" * (-len(tidy) % 4), validate=True)
    except binascii.Error as error:
        raise InvalidPayload(f"The body is not base64: {error}") from None


def _inflate(data: bytes, limit_bytes: int) -> bytes:
    """The plain bytes of zlib data or of all members of a gzip file (``cat a.gz b.gz``)."""
    parts: list[bytes] = []
    size = 0
    for _ in range(_MOST_MEMBERS):
        decompressor = zlib.decompressobj(_ANY_ZLIB)
        try:
            parts.append(decompressor.decompress(data, limit_bytes - size + 1))
        except zlib.error as error:
            raise InvalidPayload(f"The body cannot be decompressed: {error}") from None
        size += len(parts[-1])
        if size > limit_bytes:
            raise _too_large(limit_bytes)
        if not decompressor.eof:
            raise InvalidPayload("The compressed body is truncated.")
        data = decompressor.unused_data.lstrip(b"\0")  # tools pad files with zeros
        if not data:
            return b"".join(parts)
    raise InvalidPayload(f"The body consists of more than {_MOST_MEMBERS} compressed parts.")


def _looks_like_json(data: bytes) -> bool:
    return data.lstrip()[:1] in {b"{", b"["}


def _too_large(limit_bytes: int) -> TooLarge:
    return TooLarge(f"The request body is larger than {limit_bytes} bytes.")
