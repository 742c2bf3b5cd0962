"""Lone surrogates in every encoder; all other text is unchanged."""

import json
from datetime import UTC, datetime
from uuid import UUID

import msgspec
import orjson
import pytest

from hoglet.kit.json import (
    dump_json,
    dump_storable_json,
    encode_utf8,
    pack,
    parse_json,
    replace_surrogates,
    replace_surrogates_in,
    without_surrogates,
)

HALF = "a\ud83d"
WHOLE = "a\U0001f600"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("plain", "plain"),
        ("é\U0001f600", "é\U0001f600"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00b", "\ufffdb"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\udcff", "\ufffd"),
        ("", ""),
    ],
)
def test_lone_surrogates_become_the_replacement_character(given: str, expected: str) -> None:
    assert replace_surrogates(given) == expected
    assert encode_utf8(given) == expected.encode()
    assert replace_surrogates_in({given: [(given,)]}) == {expected: [[expected]]}


def test_json_keeps_a_half_as_an_escape_in_keys_and_values() -> None:
    written = dump_json({HALF: [HALF, {"b": HALF, WHOLE: "é"}]})

    written.decode()
    assert rb"a\ud83d" in written
    assert WHOLE.encode() in written
    assert json.loads(written) == {HALF: [HALF, {"b": HALF, WHOLE: "é"}]}


def test_json_of_halves_is_laid_out_as_json_without() -> None:
    value = {"a": [1, 2.5, None, True, {}], "b": {"c": []}, "t": "x"}

    for indent in (False, True):
        plain = dump_json(value, indent=indent)
        with_half = dump_json({**value, "t": "\ud83d"}, indent=indent)
        assert with_half == plain.replace(b'"x"', rb'"\ud83d"')


def test_json_with_a_half_still_writes_what_json_lacks() -> None:
    value = {7: float("nan"), None: float("-inf"), True: 2**70, "h": "\ud83d", "t": (1,)}

    assert orjson.loads(dump_storable_json(value)) == {
        "7": None,
        "null": None,
        "true": float(2**70),
        "h": "\ufffd",
        "t": [1],
    }


def test_stored_json_is_read_again_by_strict_readers() -> None:
    written = dump_storable_json({HALF: HALF})

    assert orjson.loads(written) == {"a\ufffd": "a\ufffd"}
    assert "\\ud" not in written


def test_json_nested_without_end_is_refused_not_a_crash() -> None:
    deep: list[object] = ["\ud83d"]
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(ValueError, match="nested"):
        dump_json(deep)
    with pytest.raises(ValueError, match=r"."):
        parse_json('["\\ud83d",' + "[" * 100_000)


@pytest.mark.parametrize("kind", [str, str.encode])
def test_json_with_a_half_is_read(kind: type) -> None:
    assert parse_json(kind('{"a\\ud83d": ["\\ude00", "\\ud83d\\ude00"]}')) == {
        "a\ufffd": ["\ufffd", "\U0001f600"]
    }


@pytest.mark.parametrize(
    "broken", ["", "{", "<html>\\u0020", '{"a": NaN, "b": "\\ud83d"}', "\\ud83d"]
)
def test_what_is_no_json_stays_none(broken: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(broken)


class Sample(msgspec.Struct):
    text: str
    body: bytes
    at: datetime
    id: UUID
    tags: dict[str, list[str]]


def test_msgpack_loses_nothing_but_the_half() -> None:
    at, uuid = datetime(2026, 1, 2, 3, tzinfo=UTC), UUID(int=7)
    sample = Sample(HALF, b"\x00\xff", at, uuid, {HALF: ["b", HALF]})

    packed = pack(msgspec.msgpack.Encoder(), sample)

    assert msgspec.msgpack.decode(packed, type=Sample) == Sample(
        "a\ufffd", b"\x00\xff", at, uuid, {"a\ufffd": ["b", "a\ufffd"]}
    )


def test_values_without_halves_are_not_copied() -> None:
    value = {"a": [WHOLE]}

    assert without_surrogates(value) is value
    assert without_surrogates({"a": HALF}) == {"a": "a\ufffd"}


def test_a_number_that_no_double_holds_is_parsed_as_its_text() -> None:
    """A response that held one was given to the program as text, as if it were not JSON."""
    digits = "9" * 5000

    assert parse_json(f'{{"a": [1e400, {digits}, -0, 18446744073709551616]}}') == {
        "a": ["1e400", digits, 0, 18446744073709551616.0]
    }
    with pytest.raises(ValueError, match="NaN"):
        parse_json("[1e400, NaN]")
    with pytest.raises(ValueError, match="utf-8"):
        parse_json(b'["\xff"]')
