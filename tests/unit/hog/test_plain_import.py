"""Host data that is imported and tested at once: as if it was imported, then tested."""

import math
from typing import Any

import pytest

from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.runtime.convert import export_value, import_value
from hoglet.hog.runtime.plain_import import MANY, plain_import

pytestmark = pytest.mark.engine


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": [value]}
    return value


PLAIN: list[Any] = [
    "text",
    7,
    -0.5,
    None,
    True,
    [],
    {},
    {"a": 1, "b": ["c", {"d": None}], "e": {"f": 2**53}},
    [[1], {"a": "x" * 2000}],
    {"items": [{"n": number, "on": False} for number in range(30)]},
]
ODD: list[Any] = [
    2.0,
    2**60,
    "x" * 2000,
    {"a": -0.0},
    {"a": math.nan},
    {"a": {"b": 1e300}},
    {"a": {"b": 2**60}},
    {"a": [2.0]},
    {"a": "x" * 5000},
    {1: "a", 2.5: "b", None: "c"},
    {"at": {"__hogDateTime__": True, "dt": 1.5, "zone": "UTC"}},
    {"__hogDate__": True, "year": 2024, "month": 5, "day": 3},
    {"a": (1, 2)},
    nested(90),
    [[number] for number in range(1000)],
]


@pytest.mark.parametrize(
    ("value", "is_plain"), [(v, True) for v in PLAIN] + [(v, False) for v in ODD]
)
def test_it_returns_the_import_and_whether_it_is_plain(value: Any, is_plain: bool) -> None:
    copy, size = plain_import(value)

    assert repr(export_value(copy)) == repr(export_value(import_value(value)))
    assert (size < MANY) is is_plain


def test_it_shares_no_array_or_object_with_the_host() -> None:
    value = {"a": {"b": [{"c": 1}]}}
    copy, _ = plain_import(value)

    copy["a"]["b"][0]["c"] = copy["a"]["b"] = copy["a"] = 2
    assert value == {"a": {"b": [{"c": 1}]}}


def test_parts_and_levels_are_counted() -> None:
    assert plain_import({"a": {"b": 1, "c": 2}})[1] == 4 + 1 + 4 + 2
    assert plain_import(nested(20))[1] == 40 * (4 + 1)


def test_host_data_in_many_places_of_a_result_is_bounded() -> None:
    source = "let o := {}; for (let i := 0; i < 300; i := i + 1) { o[f'k{i}'] := event } return o"
    outcome = run_program(source, globals={"event": {"list": ["x" * 1000] * 300}})

    assert outcome.error is not None
    assert outcome.error.kind == "memory"
