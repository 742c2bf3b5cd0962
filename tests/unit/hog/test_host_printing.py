"""``print`` of the host's data in place prints the same as of an imported copy."""

from random import Random
from typing import Any

import pytest

from hoglet.hog.python.budget import Budget
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.runtime.convert import import_value
from hoglet.hog.runtime.formatting import printed
from hoglet.hog.runtime.host_data import printed_host

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


@pytest.mark.parametrize("seed", range(20))
def test_data_prints_like_its_imported_copy(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (a seed asks for it)
    for _ in range(300):
        value = a_value(random, 4)
        assert printed_host(value) == printed(import_value(value)), repr(value)


@pytest.mark.parametrize("value", [*TEXTS, *NUMBERS, *SPECIAL])
def test_each_kind_alone_and_inside(value: Any) -> None:
    for data in (value, [value], {"k": value}, [[{"k": [value]}]]):
        assert printed_host(data) == printed(import_value(data))


def test_data_that_nests_too_deeply_for_the_fast_writer() -> None:
    value: Any = 1
    for _ in range(300):
        value = [value]
    assert printed_host(value) == "[" * 300 + "1" + "]" * 300


def test_arguments_are_references_that_a_later_argument_may_change() -> None:
    source = """
    let e := event
    fun change() { e.properties.a := 2 return 'changed' }
    print(e.properties, change(), e.properties.a)
    """
    outcome = run_program(source, globals={"event": {"properties": {"a": 1}}})
    assert outcome.lines == ["{'a': 2} changed 2"]


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
