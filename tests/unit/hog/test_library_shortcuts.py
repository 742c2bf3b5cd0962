"""Shortcuts of library functions for short values give what their general paths give."""

import json
import math
import random
from base64 import b64decode
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest

from hoglet.hog.runtime.compare import index_of
from hoglet.hog.runtime.convert import export_value
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.json_text import _indented, write_json
from hoglet.hog.runtime.values import HogDateTime
from hoglet.hog.stdlib import dates
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


@pytest.mark.parametrize(
    "function",
    [
        dates.to_start_of_day,
        dates.to_start_of_hour,
        dates.to_start_of_month,
        *(partial(dates.date_trunc, unit) for unit in ("minute", "hour", "day", "month", "year")),
        partial(dates.date_add, "day", 3),
        partial(dates.date_add, "week", -1.5),
        partial(dates.date_add, "minute", 0.0001),
        partial(dates.date_add, "second", 10**12),
        *(
            partial(dates.date_diff, unit, HogDateTime(86_399.999))
            for unit in ("second", "minute", "hour", "day", "week", "month")
        ),
    ],
)
def test_dates_in_utc_are_as_those_of_the_calendar(function: Callable[[HogDateTime], Any]) -> None:
    numbers = random.Random(7)  # noqa: S311
    moments = [round(numbers.uniform(-6e10, 2.5e11), 3) for _ in range(200)]
    moments += [numbers.randrange(-70, 70) * 86_400 - part for part in (0, 1, 0.001) for _ in "abc"]
    moments += [
        -62_135_596_800,
        253_402_300_799.999,
        1e15,
        -0.004,
        86_399.997,
    ]
    for seconds in moments:
        moment = HogDateTime(seconds)
        fast, slow = function(moment), function(HogDateTime(seconds, "Etc/UTC"))
        if isinstance(fast, HogDateTime):
            fast, slow = (fast.seconds, type(fast.seconds)), (slow.seconds, type(slow.seconds))
        assert fast == slow, seconds


def test_fractions_of_milliseconds_are_cut_off_before_a_day_is() -> None:
    times = [86_399.9999, 86_399.9999999, 86_400.0001, -0.0001]

    starts = [dates.to_start_of_day(HogDateTime(time)).seconds for time in times]
    assert starts == [dates.to_start_of_day(HogDateTime(time, "Etc/UTC")).seconds for time in times]


def test_dates_in_unknown_zones_are_still_refused() -> None:
    moment = HogDateTime(0, "Nowhere")
    for call in (dates.to_start_of_day, partial(dates.date_diff, "day", moment)):
        with pytest.raises(EngineError, match="Nowhere"):
            call(moment)


@pytest.mark.parametrize(("needle", "position"), [("b", 2), ("x", 0), (1, 4), (True, 3), (None, 0)])
def test_an_index_is_that_of_the_first_same_item(needle: object, position: int) -> None:
    assert index_of(needle, ["a", "b", True, 1, 1.0, "b"]) == position
