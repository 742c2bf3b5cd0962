"""Shortcuts of library functions for short values give what their general paths give."""

import json
import math
import random
from base64 import b64decode
from urllib.parse import quote

import pytest

from hoglet.hog.runtime.convert import export_value
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.json_text import _indented, write_json
from hoglet.hog.stdlib.collections import make_range, sort
from hoglet.hog.stdlib.encoding import base64_decode, encode_url

_LEAVES = [None, True, False, 0, -1, 2**53, 1.5, 1e21, 1e-7, 0.1, "", "é", '"\\\n', "\u2028", "[{,"]


def json_value(numbers: random.Random, depth: int = 4) -> object:
    shape = numbers.random()
    size = numbers.randrange(4)
    if depth and shape < 0.3:
        return [json_value(numbers, depth - 1) for _ in range(size)]
    if depth and shape < 0.6:
        return {f"k{number}": json_value(numbers, depth - 1) for number in range(size)}
    return numbers.choice(_LEAVES)


def test_indented_json_is_what_the_writer_of_lines_writes() -> None:
    numbers = random.Random(5)  # noqa: S311
    for _ in range(400):
        value, indent = json_value(numbers), numbers.randrange(1, 11)
        text = write_json(value, indent)
        assert text == _indented(export_value(value), indent, 0)
        assert json.loads(text) == value


@pytest.mark.parametrize(
    "value", ["\ud800", ["a", "\udfff"], {"\ud800": 1}, math.nan, -0.0, [math.inf]]
)
def test_indented_json_of_unusual_values(value: object) -> None:
    assert write_json(value, 2) == _indented(export_value(value), 2, 0)


def test_indented_json_that_nests_a_lot() -> None:
    value: list[object] = []
    for _ in range(190):
        value = [value, 1]
    assert write_json(value, 10) == _indented(export_value(value), 10, 0)


def test_base64_is_decoded_up_to_the_first_padding() -> None:
    numbers = random.Random(6)  # noqa: S311
    for _ in range(2000):
        text = "".join(numbers.choices("QUJDaGVsbG8w=-_+/ \né", k=numbers.randrange(12)))
        digits = [c for c in text.partition("=")[0] if c not in " \né"]
        digits = digits[: len(digits) - (len(digits) % 4 == 1)]
        joined = "".join(digits).replace("-", "+").replace("_", "/")
        joined += "=" * (-len(joined) % 4)
        assert base64_decode(text) == b64decode(joined).decode(errors="replace"), text


def test_urls_are_encoded_byte_by_byte() -> None:
    for text in ["", "plain", "a b&c=d/é?", "".join(map(chr, range(128))), "😀" * 200, "x" * 1000]:
        assert encode_url(text) == quote(text, safe="-_.!~*'()")
    with pytest.raises(EngineError, match="surrogate"):
        encode_url("\ud800")


def test_numbers_are_sorted_as_numbers_and_nan_last() -> None:
    assert sort([10, 9, 1.5, -2]) == [-2, 1.5, 9, 10]
    assert str(sort([2, math.nan, 1])) == "[1, 2, nan]"
    assert sort([2, True, 10]) == [10, 2, True]  # as text


def test_ranges_of_integers_and_floats() -> None:
    assert make_range(3) == [0, 1, 2]
    assert make_range(-1, 2) == [-1, 0, 1]
    assert make_range(0.5, 3) == [0.5, 1.5]
    assert make_range(2, 1) == []
