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
        (BODY, {"compression": "base64"}, ""),
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
    unpacked = wire.unpack(pack(exact), query=query, content_encoding="", limit_bytes=LIMIT)
    assert unpacked == exact
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
        (b'\xef\xbb\xbf{"a": NaN}', {"a": None}),
        (b'{"a": [Infinity, -Infinity]}', {"a": [None, None]}),
        (b'{"a": [1e400, -1e400, 1E+400]}', {"a": ["1e400", "-1e400", "1E+400"]}),
        (b'{"a": ' + b"1" * 400 + b"}", {"a": "1" * 400}),
        (b'{"a": -' + b"1" * 5000 + b"}", {"a": "-" + "1" * 5000}),
        (b'{"a": [NaN, ' + b"1" * 309 + b"]}", {"a": [None, float("1" * 309)]}),
        (b'{"a": [NaN, 18446744073709551615]}', {"a": [None, 18446744073709551615]}),
        (b'{"a": [NaN, 18446744073709551616]}', {"a": [None, 18446744073709551616.0]}),
        (b'{"a": [NaN, -9223372036854775808]}', {"a": [None, -9223372036854775808]}),
        (b'{"a": [NaN, -0, -0.0, 1e-400]}', {"a": [None, 0, 0.0, 0.0]}),
    ],
)
def test_what_sloppy_clients_write_is_repaired(text: bytes, value: object):
    body = wire.parse(text)

    assert body.value == value
    assert orjson.loads(body.text) == value


def test_text_that_every_parser_reads_is_passed_on_as_it_is():
    text = b' {"a": [18446744073709551616, -0, 1.50]}'

    assert wire.parse(text).text is text


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"nope",
        b'{"a": 01}',
        b'{"a": NaN',
        b'{"a": 1e400}]',
        b"[" * 5000,
        b"[" * 5000 + b"]" * 5000,
        b"[" * 5000 + b"]" * 4999,
        b"[" * 5000 + b"]" * 5001,
        b'{"a":' * 300 + b"1e400" + b"}" * 300,
        b'"' + b"[" * 5000,
    ],
)
def test_what_is_not_json_is_refused(text: bytes):
    with pytest.raises(InvalidPayload):
        wire.parse(text)


def test_nesting_is_bounded():
    text = b'{"a":' * 127 + b"1" + b"}" * 127
    wire.parse(text)

    with pytest.raises(InvalidPayload):
        wire.parse(b'{"a":[' + text + b"]}")


@pytest.mark.parametrize("depth", [125, 126, 127, 250, 900, 1100, 20_000])
@pytest.mark.parametrize("odd", [b"", b"NaN, 1e400, "])
def test_only_the_event_that_is_nested_too_deeply_is_left_out(depth: int, odd: bytes):
    """The other events of its batch are kept, whatever brackets their texts hold."""
    deep = b'{"event": "deep", "x": ' + b"[" * depth + b"]" * depth + b"}"
    good = b'{"event": "[{\\"[", "x": [' + odd + b"1]}"
    value = {"event": '[{"[', "x": [None, "1e400", 1] if odd else [1]}

    batch = wire.parse(b'{"api_key": "k", "batch": [' + good + b", " + deep + b", " + good + b"]}")
    plain = wire.parse(b"[" + deep + b", " + good + b"]")

    is_left_out = depth + 1 > 126
    assert [each for each in batch.value["batch"] if each["event"] != "deep"] == [value, value]
    assert (batch.value["api_key"], batch.too_deep) == ("k", int(is_left_out))
    assert len(plain.value) == (1 if depth + 1 > 127 else 2)
    assert orjson.loads(batch.text) == batch.value


def test_a_large_body_that_is_nested_too_deeply_is_not_looked_through():
    deep = b'{"event": "deep", "x": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    large = b'{"event": "large", "x": "' + b"a" * 300_000 + b'"}'

    small = wire.parse(b'{"api_key": "k", "batch": [' + deep + b', {"event": "a"}]}')

    assert (small.value["batch"], small.too_deep) == ([{"event": "a"}], 1)
    with pytest.raises(InvalidPayload, match="nested too deeply"):
        wire.parse(b'{"api_key": "k", "batch": [' + deep + b", " + large + b"]}")
