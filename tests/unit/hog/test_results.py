"""Results that are literals: tested value by value, they are what a copy of the value would be."""

# ruff: noqa: E501 (many values a line)
import random
from typing import Any

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.python.steps import Failed, Finished
from hoglet.hog.runtime.plain_data import is_plain

pytestmark = pytest.mark.engine

GLOBALS: dict[str, Any] = {
    "event": {
        "short": "text",
        "long": "x" * 2000,
        "half": "\ud83d",
        "int": 7,
        "big": 2**60,
        "negative": -(2**60),
        "edge": 2**53,
        "whole": 2.0,
        "zero": -0.0,
        "float": 0.5,
        "huge": 1e300,
        "yes": True,
        "none": None,
        "list": ["a", 1.0, {"b": [2.0]}],
        "object": {"a": {"b": 1}},
        "at": {"__hogDateTime__": True, "dt": 1714739696.5, "zone": "UTC"},
        "error": {"__hogError__": True, "type": "Bad", "message": "no"},
    }
}
READS = [f"event.{name}" for name in GLOBALS["event"]] + ["event.absent", "event.list[3].b"]
VALUES = [
    *READS,
    "1", "1.5", "'a'", "null", "true", "2.0", "now", "x -> x", "(1, 'b')", "[1, [2.0]]", "count", "rows", "names",
    "count + 1", "count / 2", "count * 1.5", "lower(event.short)", "event.short ?? 'none'", "event.absent ?? event.list",
    "event.yes ? 1 : 'no'", "f'{event.int} of {event.short}'", "toDateTime('2024-05-03 12:00:00')", "length(event.list)",
    "event.int * 2", "event.whole * 2", "toInt('7')", "toFloat('2')", "change()", "concat(event.long, event.long)",
    "arrayMap(i -> i, event.list)", "arrayMap(i -> ({'id': i, 'n': event.whole}), event.list)", "{}", "[]", "{1: 2}",
    "{'a': event.whole}", "jsonParse('[1.0, 2e3]')", "toInt('x')", "event.big + 1", "event.big = event.negative",
]  # fmt: skip
HEAD = """
let count := 3
let names := {'first': event.short}
let rows := []
fun change() { count := count + 1; names.last := count; rows := arrayPushBack(rows, names); return count }
"""


def literal(chance: random.Random, depth: int = 0) -> str:
    kind = chance.random()
    if kind < 0.6 or depth > 4:
        return chance.choice(VALUES)
    items = [literal(chance, depth + 1) for _ in range(chance.randrange(5))]
    if kind < 0.75:
        return f"[{', '.join(items)}]"
    return "{" + ", ".join(f"'{chance.choice('abcd')}': {item}" for item in items) + "}"


def outcome(source: str, *, trace: bool) -> tuple[str, str | None]:
    done = run_program(source, globals=GLOBALS, trace=trace)
    return repr(done.result), done.error and done.error.message


@pytest.mark.parametrize("seed", range(150))
def test_a_literal_is_returned_as_a_traced_run_returns_it(seed: int) -> None:
    chance, before = random.Random(seed), repr(GLOBALS)  # noqa: S311
    inner = literal(chance)
    source = f"{HEAD}return {{'result': {inner}, 'n': {chance.choice(VALUES)}}}"

    assert outcome(source, trace=False) == outcome(source, trace=True), source
    assert repr(GLOBALS) == before


@pytest.mark.parametrize("value", VALUES)
def test_each_kind_of_value_in_a_literal(value: str) -> None:
    for source in (f"return {{'a': {value}}}", f"return [{value}, 'b']", f"return {value}"):
        assert outcome(HEAD + source, trace=False) == outcome(HEAD + source, trace=True), source


def result_of(source: str, budget: Budget | None = None) -> Any:
    program = compile_python(compile_program(source))
    return Execution(program, globals=GLOBALS, budget=budget or Budget()).start()


def test_a_result_shares_nothing_with_the_globals() -> None:
    step = result_of("return {'list': event.list, 'object': event.object.a, 'text': event.short}")

    assert isinstance(step, Finished)
    assert step.result["list"] is not GLOBALS["event"]["list"]
    assert step.result["object"] is not GLOBALS["event"]["object"]["a"]


def test_a_long_string_in_many_places_is_charged() -> None:
    source = (
        "let s := 'x'; for (let i := 0; i < 22; i := i + 1) { s := concat(s, s) }\n"
        f"return [{', '.join(['s'] * 40)}]"
    )
    step = result_of(source)

    assert isinstance(step, Failed)
    assert step.error.kind == "memory"


def test_a_literal_around_a_deep_part_may_not_nest_too_deeply() -> None:
    def source(levels: int) -> str:
        grown = f"for (let i := 0; i < {levels}; i := i + 1) {{ a := [a] }}"
        return f"let a := 1; {grown} return {{'a': {{'b': {{'c': a}}}}}}"

    assert isinstance(result_of(source(190)), Finished)
    assert isinstance(result_of(source(201)), Failed)


def test_an_array_is_plain_unless_it_holds_a_whole_float_or_too_much() -> None:
    assert is_plain(["a", 1, None, True, 0.5])
    assert not is_plain(["a", 1.0])
    assert not is_plain(["a", "x" * 5000])
    assert is_plain([["a"], {"b": 1}])
