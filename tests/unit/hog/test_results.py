"""Results that are literals: tested value by value, they are what a copy of the value would be."""

# ruff: noqa: E501 (many values a line)
import random
from itertools import pairwise
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
    budget = Budget(timeout_s=0.3)
    done = run_program(source, globals=GLOBALS, trace=trace, budget=budget)
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


NAMES = ["a", "b", "c"]
KEYS = ["'k'", "'a'", "event.short", "event.int", "lower(event.short)", "event.object", "event.absent", "name"]  # fmt: skip
FILLED = [
    "[]", "{}", "{'a': event.short, 'b': {}}", "{'b': {'c': []}}", "[event.int]", "[{'x': event.whole}]",
    "arrayMap(i -> i, event.list)", "arrayMap(i -> ({'id': event.short, 'v': i}), event.list)", "keys(event)",
    "arrayMap(k -> f'{k}!', keys(event))", "arrayMap(k -> [k, event[k]], keys(event))", "jsonParse('{\"a\":1.0}')",
    "event.object", "event.list ?? []", "arrayMap(i -> arrayMap(j -> j, [i, 1]), [event.float])", "values(event)",
]  # fmt: skip


class Writer:
    """Random programs that fill arrays and objects, and return them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 (it has to be repeatable)

    def value(self) -> str:
        if self.chance.random() < 0.25:
            return self.chance.choice(NAMES)
        if self.chance.random() < 0.2:
            return literal(self.chance, 3)
        return self.chance.choice(VALUES)

    def statement(self, depth: int = 0) -> str:  # noqa: C901, PLR0911 (one line a statement)
        choose, name, value = self.chance.choice, self.chance.choice(NAMES), self.value()
        match self.chance.randrange(15 if depth < 3 else 10):
            case 0 | 1 | 2:
                return f"{name} := arrayPushBack({name}, {value})"
            case 3 | 4:
                return f"{name}[{choose(KEYS)}] := {value}"
            case 5:
                return f"{name}.k := {value}"
            case 6:
                return f"{name}.b.c := {value}"
            case 7:
                return f"{name} := {choose(FILLED)}"
            case 8:
                return f"touch({name}, {value})"
            case 9:
                return f"if (event.yes) {{ let {name} := {choose(FILLED)}; {self.statement(3)} }}"
            case 10:
                return f"for (let name, item in event) {{ {self.block(depth)} }}"
            case 11:
                return f"if ({value}) {{ {self.block(depth)} }} else {{ {self.block(depth)} }}"
            case 12:
                return f"if (event.int = {choose('678')}) {{ return {self.result()} }}"
            case 13:
                return f"try {{ {self.block(depth)} }} catch (e) {{ {name}.k := e }}"
            case _:
                inner = f"let {name} := {choose(FILLED)}; {self.block(depth)}"
                return f"for (let name in ['x', 'y']) {{ {inner} }}"

    def block(self, depth: int) -> str:
        return "; ".join(self.statement(depth + 1) for _ in range(self.chance.randrange(1, 4)))

    def result(self) -> str:
        if self.chance.random() < 0.3:
            return self.chance.choice(NAMES)
        items = [self.value() for _ in range(self.chance.randrange(1, 4))]
        return (
            "{"
            + ", ".join(f"'{key}': {item}" for key, item in zip("xyz", items, strict=False))
            + "}"
        )

    def program(self) -> str:
        declared = [f"let {name} := {self.chance.choice(FILLED)}" for name in NAMES]
        touch = self.chance.choice(["", "target.k := item; ", "target := item; ", "a.k := item; "])
        lines = [
            "let count := 3; let names := {}; let rows := []; let name := 'n'",
            "fun change() { count := count + 1; return count }",
            *declared,
            f"fun touch(target, item) {{ {touch}return target }}",
            *(self.statement() for _ in range(self.chance.randrange(2, 9))),
            f"return {self.result()}",
        ]
        return "\n".join(lines)


class TidyWriter(Writer):
    """Programs that write only to an array and an object of their own, as most do."""

    def statement(self, depth: int = 0) -> str:
        choose, value = self.chance.choice, self.value()
        if depth < 3 and self.chance.random() < 0.3:
            head = choose(
                ["for (let name, item in event)", "if (event.yes)", "for (let item in [1, 2])"]
            )
            return f"{head} {{ {self.block(depth)} }}"
        if self.chance.random() < 0.5:
            return f"a := arrayPushBack(a, {value})"
        inner = "if (event.yes) { let c := VALUE; a := arrayPushBack(a, c) }"
        fields = ["b.k := VALUE", "b[name] := VALUE", "b.a := VALUE", "b.n.k := VALUE", inner]
        items = ["a[1] := VALUE", "a[count] := VALUE", "a[length(a) + 1] := VALUE", "a[2.0] := b"]
        return choose(fields + items).replace("VALUE", value)

    def value(self) -> str:
        tidy = [
            "event.short",
            "event.int",
            "lower(event.short)",
            "event.whole",
            "{'x': event.int}",
            "c",
            "b",
        ]
        return self.chance.choice(tidy) if self.chance.random() < 0.8 else super().value()

    def program(self) -> str:
        filled = self.chance.choice(
            ["[]", "[event.short]", "[{'x': 1}, 2]", "arrayMap(k -> {'k': k}, keys(event))"]
        )
        lines = [
            "let count := 3; let names := {}; let rows := []; let name := 'n'; let c := event.short",
            "fun change() { count := count + 1; return count }",
            f"let a := {filled}; let b := {self.chance.choice(['{}', '{1: 2}'])}",
            *(self.statement() for _ in range(self.chance.randrange(1, 7))),
            f"return {self.chance.choice(['a', 'b', '[a, b]', self.result()])}",
        ]
        return "\n".join(lines).replace("let b := {}", "let b := {'n': {}, 'list': []}")


@pytest.mark.parametrize("writer", [Writer, TidyWriter])
@pytest.mark.parametrize("seed", range(100))
def test_a_filled_value_is_returned_as_a_traced_run_returns_it(
    seed: int, writer: type[Writer]
) -> None:
    source, before = writer(seed).program(), repr(GLOBALS)

    results = outcome(source, trace=False), outcome(source, trace=True)
    if not any((error or "").startswith("Execution timed out") for _, error in results):
        assert results[0] == results[1], source
    assert repr(GLOBALS) == before


def test_an_array_filled_by_index_is_plain() -> None:
    fill = "let a := []; for (let i := 1; i <= 9; i := i + 1) { a[i] := i } a[1] := 'x'; return a"
    program = compile_python(compile_program(fill))

    assert result_of(fill) == Finished(["x", 2, 3, 4, 5, 6, 7, 8, 9])
    assert "append(" in program.source


@pytest.mark.parametrize(
    "grown",
    [
        # long strings, shared in many places
        "for (let i := 0; i < 500; i := i + 1) { rows := arrayPushBack(rows, {'s': s}) }",
        "for (let i := 0; i < 500; i := i + 1) { let o := {'a': []}; o.b := s; rows := arrayPushBack(rows, o) }",
        "rows := arrayMap(i -> ({'s': s}), range(500))",
        "for (let i := 1; i <= 500; i := i + 1) { rows[i] := {'s': s} }",
    ],
)
def test_a_filled_value_is_charged(grown: str) -> None:
    double = "for (let i := 0; i < 18; i := i + 1) { s := concat(s, s) }"
    step = result_of(f"let s := 'x'; {double} let rows := []; {grown} return {{'rows': rows}}")

    assert isinstance(step, Failed)
    assert step.error.kind == "memory"


def test_filled_values_inside_each_other_may_not_nest_too_deeply() -> None:
    def source(levels: int) -> str:
        names = [f"v{number}" for number in range(levels)]
        outer = [f"let {b} := {{'a': [[[{a}]]]}}" for a, b in pairwise(names)]
        return f"let v0 := {{}}; {'; '.join(outer)}; return [{names[-1]}]"

    assert isinstance(result_of(source(48)), Finished)
    assert isinstance(result_of(source(52)), Failed)
