"""Equality as JSON, where Python takes true for 1."""

import json
from typing import Any

import pytest

from hoglet.kit.json import overwrites, parse_json, same_json

EQUAL = [
    (1, 1), (1, 1.0), (True, True), (None, None), ("a", "a"), ([], []), ({}, {}), (-0.0, 0),
    ({"a": [1, {"b": True}], "c": None}, {"c": None, "a": [1, {"b": True}]}),
]  # fmt: skip
DIFFERENT = [
    (1, True), (0, False), (1.0, True), (None, False), (None, 0), ("", False), ("1", 1), ([], {}),
    ([1], [True]), ({"a": 0}, {"a": False}), ({"a": {"b": [[1]]}}, {"a": {"b": [[True]]}}),
    ({"a": 1}, {"a": 1, "b": 2}), ([1], [1, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_values_that_are_equal_as_json(left: Any, right: Any) -> None:
    assert same_json(left, right)
    assert same_json(right, left)
    assert not overwrites({"k": left, "other": 1}, {"k": right})


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_values_that_differ_as_json(left: Any, right: Any) -> None:
    assert not same_json(left, right)
    assert not same_json(right, left)
    assert overwrites({"k": left}, {"k": right})
    assert overwrites({"k": right}, {"k": left})


def test_new_keys_change_an_object() -> None:
    assert overwrites({}, {"a": None})
    assert not overwrites({"a": 1}, {})


@pytest.mark.parametrize(
    "text", ["ok", "", " ", "\t\n x", "<html>", "\x0bx", "\ufeff{}", "nul", "-"]
)
@pytest.mark.parametrize("encode", [str, str.encode])
def test_errors_of_texts_that_are_not_json_are_those_of_the_standard_library(
    text: str, encode: Any
) -> None:
    with pytest.raises(ValueError) as expected:
        json.loads(text)
    with pytest.raises(ValueError) as error:
        parse_json(encode(text))
    assert str(error.value) == str(expected.value)
