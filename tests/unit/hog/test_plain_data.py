"""Values are bounded before C code reads them, and numbers are written as Hog writes them."""

import math
from typing import Any

import pytest

from hoglet.hog.python.budget import Budget
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.runtime.convert import export_value
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.host_data import HostValue, exported
from hoglet.hog.runtime.json_text import write_host_json, write_json
from hoglet.hog.runtime.plain_data import is_moderate, is_plain
from hoglet.hog.runtime.values import HogDateTime, HogError, HogTuple


def doubled(times: int) -> Any:
    value: Any = "text"
    for _ in range(times):
        value = [value, value]
    return value


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_shared_parts_count_each_time() -> None:
    assert is_moderate(doubled(15))
    assert not is_moderate(doubled(40))
    assert not is_moderate([doubled(40), HogDateTime(0)])
    assert not is_moderate(HogError("Error", "m", doubled(40)))


def test_a_value_inside_itself_is_not_written_for_ever() -> None:
    value: list[Any] = [1]
    value.append(value)

    with pytest.raises(RecursionError):
        is_moderate(value)
    assert write_json(value) == "[1,null]"


def test_one_text_in_many_places_is_not_moderate() -> None:
    text = "x" * 100_000
    assert is_moderate([text] * 10)
    assert not is_moderate([text] * 100)


@pytest.mark.parametrize("call", ["jsonStringify(v)", "v", "toString(v)"])
def test_a_run_that_would_write_gigabytes_ends(call: str) -> None:
    source = (
        f"let v := ['text'] for (let i := 0; i < 60; i := i + 1) {{ v := [v, v] }} return {call}"
    )
    error = run_program(source, budget=Budget(memory_bytes=1_000_000)).error
    assert error is not None
    assert error.kind == "memory"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1.0, "b": [2.0, -0.0]}, '{"a":1,"b":[2,0]}'),
        ({"a": "1.0, e5] .0]", "b": 0.5}, '{"a":"1.0, e5] .0]","b":0.5}'),
        ([1e16, 1e21, 1e-5, 1e-7], "[10000000000000000,1e+21,0.00001,1e-7]"),
        ([1e16], "[10000000000000000]"),
        ([9866991087842674.0, 2.0**53 + 2], "[9866991087842674,9007199254740994]"),
        ({"a": 1e-7}, '{"a":1e-7}'),
        ({"a": -1.5e-7, "b": 1e300}, '{"a":-1.5e-7,"b":1e+300}'),
        ([1.5e16, "x" * 500], '[15000000000000000,"' + "x" * 500 + '"]'),
        ([math.nan, math.inf, 0.1], "[null,null,0.1]"),
        ({"a": HogTuple([1.5, HogTuple([])])}, '{"a":[1.5,[]]}'),
        ({1: "a", 2.5: "b", None: "c"}, '{"1":"a","2.5":"b","null":"c"}'),
        (["\ud83d"], '["\\ud83d"]'),
        (1.0, "1"),
        (nested(150), "[" * 150 + "1" + "]" * 150),
    ],
)
def test_json_is_written_as_hog_writes_it(value: Any, text: str) -> None:
    assert write_json(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1.0}, '{"a":1}'),
        ({"a": 1e21}, '{"a":1e+21}'),
        ({"a": "3e5,", "long": "x" * 500}, '{"a":"3e5,","long":"' + "x" * 500 + '"}'),
        (2.0, "2"),
        ([2**60], "[1152921504606847000]"),
    ],
)
def test_json_of_host_data_is_written_as_hog_writes_it(value: Any, text: str) -> None:
    assert write_host_json(value) == text


@pytest.mark.parametrize("padding", ["", "x" * 1000])
def test_whole_floats_of_results_are_ints(padding: str) -> None:
    value = {"a": 1.0, "b": [{"c": 2.0}, 2.5, 1e300], "text": f"1.0, {padding}"}
    expected = {"a": 1, "b": [{"c": 2}, 2.5, 1e300], "text": f"1.0, {padding}"}
    for result in (exported(HostValue(value)), export_value(value)):
        assert repr(result) == repr(expected)
    assert value["a"].is_integer()
    assert type(value["a"]) is float


@pytest.mark.parametrize(
    ("value", "is_shared"),
    [
        ({"price": 1.5, "tags": ["a"]}, True),
        ({"price": 1.0}, False),
        ({"at": {"__hogDateTime__": True, "dt": 1.0, "zone": "UTC"}}, False),
        ({"text": "\ud83d"}, False),
        ({1: "key"}, False),
    ],
)
def test_a_shared_result_is_the_hosts_data_where_a_copy_would_be_equal(
    value: dict[Any, Any], is_shared: bool
) -> None:
    shared, copy = exported(HostValue(value), shared=True), exported(HostValue(value))

    assert (shared is value) is is_shared
    assert copy is not value
    assert repr(shared) == repr(copy)


def with_itself() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value",
    [
        HogTuple([1]),
        {"a": HogTuple([1, "b"])},
        {"a": [], 1: "b", 2.5: "c", None: "d"},
        {1: "b"},
        {"a": 1.0, "b": "text"},
        {"a": [{"b": 1.0}]},
        {"at": HogDateTime(0.0)},
        [HogError("Error", "m", None)],
        nested(200),
        doubled(8),
        ["x" * 3000, "x" * 3000],
        {"a": "x" * 2000, "b": "\ud83d"},
        with_itself(),
        {"a": math.nan, "b": [math.inf]},
        {"a": None, "b": True, "c": ["text", 0.5, {"d": -3}]},
    ],
)
def test_a_result_is_what_a_copy_of_it_would_be(value: Any) -> None:
    copy = repr(export_value(value))

    assert repr(exported(value)) == copy


@pytest.mark.parametrize("levels", [202, 230, 300])
def test_a_result_may_not_nest_deeper_than_a_copy(levels: int) -> None:
    for value in (nested(levels), {"a": nested(levels)}):
        with pytest.raises(EngineError, match="too deeply"):
            exported(value)


def test_shared_parts_of_a_result_count_each_time() -> None:
    for value in (doubled(40), {"a": doubled(40)}, [{"a": "x" * 200}] * 1000):
        assert not is_plain(value)
    assert is_plain({"a": doubled(3)})
