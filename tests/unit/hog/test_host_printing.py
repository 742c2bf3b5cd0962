"""``print`` by C code, of values and of the host's data, prints the same as by Python code."""

import math
from random import Random
from typing import Any

import pytest

from hoglet.hog.python.budget import Budget
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.runtime.convert import import_value
from hoglet.hog.runtime.formatting import as_text, nested, printed
from hoglet.hog.runtime.host_data import printed_host
from hoglet.hog.runtime.values import HogDate, HogDateTime, HogError, HogTuple, stored_key

TEXTS = [
    "a", "it's", 'say "x"', "back\\slash", '\\"', "\\'", "line\nx\ttab", "\0", "\1", "\v", "\b\f\r",
    "\x1f", "\x7f", "é", "😀", "\u2028", "x, y: z", "True", "null", "a\\u0041", "\ud83d", "'", "",
    "{}", "1.0,", "[1.0]", "1e5]", "`", "__hogDate__", "__hx_ast",
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 2**53, 2**53 + 1, 2**70, 1.5, 1.0, -0.0, 1e-4, 1e-5, 1.5e15, 1e16, 1e21, 1e22, 0.1,
    float("nan"), float("inf"), True, False, None,
]  # fmt: skip
SPECIAL: list[Any] = [
    (1, "a"), {"__hogDate__": True, "year": 2024, "month": 1, "day": 2}, {"__hx_ast": "Constant"},
    {"__hogDate__": 1}, {1: 2}, {None: True},
]  # fmt: skip


def a_value(random: Random, depth: int) -> Any:
    kind = random.random()
    if depth == 0 or kind < 0.5:
        return random.choice(random.choice([TEXTS, NUMBERS]))
    if kind < 0.98:
        items = [a_value(random, depth - 1) for _ in range(random.randrange(4))]
        return items if kind < 0.75 else {random.choice(TEXTS): item for item in items}
    return random.choice(SPECIAL)


def by_python(value: Any) -> str:
    return value if type(value) is str else nested(value, [])


@pytest.mark.parametrize("seed", range(20))
def test_data_prints_like_its_imported_copy(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (a seed asks for it)
    for _ in range(300):
        value = a_value(random, 4)
        assert printed_host(value) == by_python(import_value(value)), repr(value)


@pytest.mark.parametrize("value", [*TEXTS, *NUMBERS, *SPECIAL])
def test_each_kind_alone_and_inside(value: Any) -> None:
    for data in (value, [value], {"k": value}, [[{"k": [value]}]]):
        assert printed_host(data) == by_python(import_value(data))


VALUES: list[Any] = [
    *TEXTS, *NUMBERS, HogTuple([1, "a"]), HogTuple([]), HogDate(2024, 1, 2), HogError("Error", "x"),
    HogDateTime(1.5), {"__hx_ast": "Constant"}, {stored_key(True): 1}, {1: 2}, {1.5: 2}, {None: 3},
    399.0, -12.0, 100.0, 2.0**53, 2.0**53 + 2, 1e15, {"a": 1.0, "b": "1.0,"}, ["1.0]", 2.0], "x.0}",
    {stored_key([1]): 2}, {stored_key(math.nan): 1}, [0.0], {"-0.0": -0.0}, ["e5]", 1e-7], {1.0: 1},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_values_of_programs_print_as_python_code_prints_them(value: Any) -> None:
    for data in (value, [value], {"k": value}, [[{"k": [value]}]], [value, value, None]):
        assert printed(data) == by_python(data)
        assert as_text([data]) == by_python([data])


@pytest.mark.parametrize("seed", range(10))
def test_random_values_of_programs(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (a seed asks for it)
    for _ in range(300):
        value = import_value(a_value(random, 4))
        holder = {"value": value, random.choice(TEXTS): [random.choice(VALUES), value]}
        assert printed(holder) == by_python(holder)


def test_a_value_inside_itself_prints_as_null() -> None:
    value: list[Any] = [1]
    value.append({"again": value})
    assert printed(value) == "[1, {'again': null}]"


@pytest.mark.parametrize("count", [256, 300, 5000, 60_000])
def test_large_values(count: int) -> None:
    rows = [{"id": i, "name": f"it's {i}", "price": i / 4} for i in range(count)]
    assert printed(rows) == by_python(rows)


def test_data_that_nests_too_deeply_for_the_fast_writer() -> None:
    value: Any = 1
    for _ in range(300):
        value = [value]
    assert printed_host(value) == "[" * 300 + "1" + "]" * 300


@pytest.mark.parametrize(
    "call",
    [
        "e.properties, ' ', change(), ' ', e.properties.a",
        "concat(e.properties, ' ', change(), ' ', e.properties.a)",
        "f'{e.properties} {change()} {e.properties.a}'",
    ],
)
def test_arguments_are_references_that_a_later_argument_may_change(call: str) -> None:
    source = f"""
    let e := event
    fun change() {{ e.properties.a := 2 return 'changed' }}
    print({call})
    """
    outcome = run_program(source, globals={"event": {"properties": {"a": 1}}})
    assert " ".join(outcome.lines[0].split()) == "{'a': 2} changed 2"


@pytest.mark.parametrize("printed_values", ["shared, event", "event, shared", "event, [shared]"])
def test_values_of_the_program_stay_within_the_budget(printed_values: str) -> None:
    """They may have shared parts, so that printing them takes for ever."""
    source = f"""
    let shared := event.properties
    let i := 0
    while (i < 40) {{ shared := [shared, shared] i := i + 1 }}
    print({printed_values})
    """
    budget = Budget(timeout_s=0.2)
    outcome = run_program(source, globals={"event": {"properties": {"a": 1}}}, budget=budget)
    assert outcome.error is not None
    assert outcome.error.kind == "timeout"
