"""Decoding of capture bodies: every encoding of SDKs and browsers, and rejected ones."""

import base64
import gzip
import zlib
from urllib.parse import quote_plus

import orjson
import pytest

from hoglet.events import decode as wire
from hoglet.events.errors import InvalidPayload
from hoglet.kit.errors import TooLarge

BODY = orjson.dumps({"api_key": "phc_x", "event": "é+/", "distinct_id": "u"})
GZIPPED = gzip.compress(BODY, mtime=0)
BASE64 = base64.b64encode(BODY)


@pytest.mark.parametrize(
    ("body", "query", "encoding"),
    [
        (BODY, {}, ""),
        (GZIPPED, {}, "gzip"),
        (GZIPPED, {"compression": "gzip"}, ""),
        (GZIPPED, {"compression": "gzip-js"}, ""),
        (gzip.compress(BODY[:9]) + gzip.compress(BODY[9:]), {}, "gzip"),
        (gzip.compress(BODY[:9]) + gzip.compress(b"") + gzip.compress(BODY[9:]), {}, ""),
        (GZIPPED + b"\0" * 20, {}, "gzip"),
        (GZIPPED, {}, ""),
        (zlib.compress(BODY), {}, "deflate"),
        (BASE64, {"compression": "base64"}, ""),
        (b"data=" + quote_plus(BASE64).encode(), {}, ""),
        (b"data=" + BASE64, {"compression": "base64"}, ""),
        (b"compression=base64&data=" + quote_plus(BASE64).encode(), {}, ""),
        (b"data=" + quote_plus(BODY).encode(), {}, ""),
        (b"ip=1&data=" + quote_plus(BASE64).encode(), {}, ""),
        (b"verbose=1&data=" + quote_plus(BODY).encode(), {}, ""),
        (b"data=" + quote_plus(base64.b64encode(GZIPPED)).encode(), {"compression": "gzip"}, ""),
        (BODY, {"compression": "gzip"}, "gzip"),
    ],
)
def test_every_encoding_is_undone(body: bytes, query: dict[str, str], encoding: str):
    plain = wire.unpack(body, query=query, content_encoding=encoding, limit_bytes=10_000)

    assert plain == BODY


@pytest.mark.parametrize(
    ("body", "query", "encoding"),
    [
        (GZIPPED[:-9], {}, "gzip"),
        (GZIPPED + GZIPPED[:-9], {}, "gzip"),
        (GZIPPED + b"and more", {}, "gzip"),
        (gzip.compress(b"") * 10_000 + GZIPPED, {}, "gzip"),
        (b"\x1f\x8bnonsense", {}, ""),
        (b"!!!", {"compression": "base64"}, ""),
        (b"neither", {"compression": "gzip-js"}, ""),
        (BODY, {}, "br"),
    ],
)
def test_what_cannot_be_unpacked_is_refused(body: bytes, query: dict[str, str], encoding: str):
    with pytest.raises(InvalidPayload):
        wire.unpack(body, query=query, content_encoding=encoding, limit_bytes=10_000)


def _json_of(size: int) -> bytes:
    return b'{"a":"' + b"x" * (size - 8) + b'"}'


def _form(text: bytes) -> bytes:
    return b"data=" + base64.b64encode(text).replace(b"+", b"%2B").replace(b"=", b"%3D")


LIMIT = 1000
PACKED = {
    "plain": (lambda text: text, {}),
    "gzip": (gzip.compress, {}),
    "gzip, said in the query": (gzip.compress, {"compression": "gzip"}),
    "zlib": (zlib.compress, {"compression": "gzip"}),
    "base64": (base64.b64encode, {"compression": "base64"}),
    "form": (_form, {}),
    "gzip in base64": (
        lambda text: _form(gzip.compress(text)) + b"&compression=gzip",
        {},
    ),
}


@pytest.mark.parametrize("packing", PACKED)
def test_a_body_may_be_as_long_as_the_limit_and_no_longer(packing: str):
    pack, query = PACKED[packing]
    exact, longer = _json_of(LIMIT), _json_of(LIMIT + 1)

    assert len(exact) == LIMIT
    found = wire.unpack(pack(exact), query=query, content_encoding="", limit_bytes=LIMIT)
    assert found == exact
    with pytest.raises(TooLarge):
        wire.unpack(pack(longer), query=query, content_encoding="", limit_bytes=LIMIT)


def test_a_bomb_is_stopped_while_it_unpacks():
    bomb = gzip.compress(b" " * 10_000_000)

    with pytest.raises(TooLarge):
        wire.unpack(bomb, query={}, content_encoding="gzip", limit_bytes=1000)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": NaN}', {"a": None}),
        (b'{"a": "\\ud800"}', {"a": "�"}),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
        (b'{"a": "\xff"}', {"a": "�"}),
    ],
)
def test_what_sloppy_clients_write_is_repaired(text: bytes, value: object):
    found, rewritten = wire.parse(text)

    assert found == value
    assert orjson.loads(rewritten) == value


@pytest.mark.parametrize("text", [b"", b"{", b"nope", b"[" * 5000 + b"]" * 5000])
def test_what_is_not_json_is_refused(text: bytes):
    with pytest.raises(InvalidPayload):
        wire.parse(text)


def test_nesting_is_bounded():
    text = b'{"a":' * 127 + b"1" + b"}" * 127
    wire.parse(text)

    with pytest.raises(InvalidPayload):
        wire.parse(b'{"a":[' + text + b"]}")
