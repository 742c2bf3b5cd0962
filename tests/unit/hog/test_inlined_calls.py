"""Calls of small functions that are printed in place behave as calls do."""

import copy
from typing import Any

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program

EVENT: dict[str, Any] = {
    "name": "paid", "n": 5, "big": 2**60, "whole": 2.0, "none": None, "list": [1, "x", {"k": "v"}],
    "date": {"__hogDate__": True, "year": 2024, "month": 1, "day": 2}, "p": {"a": {"b": [1, 2]}},
}  # fmt: skip
HEAD = """let n := 1
let o := {}
fun double(x) { return x * 2 }
fun both(a, b) { return [a, b, n] }
fun field(object, name) { return object[name] ?? 'none' }
fun fails(x) {

  return upper(x)
}
fun next() { n := n + 1; return n }
"""
PROGRAMS = [
    "print(double(3), double(event.n), double(event.big), double(event.whole), double('4'))",
    "print(both(), both(1), both(event.list, event.p), double(double(double(n))))",
    "print(both(double(n), both(next(), double(next()))), both(next(), n), double(n) + next())",
    "print(field(event, 'name'), field(event.p.a, 'b'), field(event.date, 'year'), field(1, 'x'))",
    "let x := both(event.p, o); o.k := 1; print(x); x[1].a := 2; print(x, event.p)",
    "for (let i := 0; double(i) < 6; i := i + 1) { n := i; print(both(i, double(i))) }",
    "let i := 0; while (double(i) < 6) { i := i + 1; if (double(i) = 4) { print('four') } }",
    "if (double(n) = 3) { print(1) } else if (double(n) = 2) { print(2) } else { print(3) }",
    "print(event.none ?? double(next()), event.name ?? double(next()), n)",
    "print(n = 1 ? double(next()) : both(next()), n = 1 ? both(next()) : double(next()), n)",
    "print(double(n) = 2 and double(next()) = 4 and double(next()) = 0 or double(next()) = 8, n)",
    "print(arrayMap(x -> both(x, double(x)), [1, 2]), arrayFilter(x -> double(x) > 2, [1, 2]))",
    "let later := () -> both(n, double(n)); n := 7; print(later()); { let n := 9; print(both(n)) }",
    (
        "let fs := []; for (let i in [1, 2]) { fun own(x) { return x + i }\n"
        "fs := arrayPushBack(fs, own); print(own(10)) } print(fs[1](1), fs[2](1))"
    ),
    "try { print(fails(event.n)) } catch (e) { print(e.message) } print(n)",
    "print(fails('a'),\n fails(event.n))",
    "fun deep(x) { return x = 0 ? both(0, fails(1)) : deep(x - 1) } print(deep(3))",
    "print(both(1, 2, 3))",
    "print(both(fetch(1), double(fetch(2, 3))), n)",
    "print(jsonStringify(both(event.whole, double(event.whole))), {'d': double(0.5)})",
]  # fmt: skip


def outcome(source: str, *, trace: bool, depth: int = 1000) -> tuple[Any, ...]:
    done = run_program(
        HEAD + source,
        globals={"event": copy.deepcopy(EVENT)},
        functions={"fetch": lambda *given: len(given)},
        async_functions={"fetch"},
        budget=Budget(call_depth=depth),
        trace=trace,
    )
    error = done.error
    return repr(done.result), done.lines, error and (error.text, error.line, error.frames)


@pytest.mark.parametrize("source", PROGRAMS)
def test_an_inlined_call_is_a_call(source: str) -> None:
    assert outcome(source, trace=False) == outcome(source, trace=True)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_inlined_call_is_a_frame(depth: int) -> None:
    source = "fun outer(x) { let y := double(x); return y }\nprint(1); print(double(2), outer(3))"

    assert outcome(source, trace=False, depth=depth) == outcome(source, trace=True, depth=depth)


def test_a_function_whose_calls_are_all_inlined_is_not_made() -> None:
    text = compile_python(compile_program(HEAD + "print(double(n), fails('x'))")).source

    assert "def f5" in text
    assert "def f1" not in text
    assert "def f4" not in text


def test_calls_far_inside_stay_calls() -> None:
    branches = "".join(f" else if (double(n) = {i}) {{ print({i}) }}" for i in range(95))
    source = f"n := 44; if (double(n) = 1) {{ print(0) }}{branches}"

    assert outcome(source, trace=False)[1] == ["88"]


def test_a_program_of_many_calls_does_not_multiply() -> None:
    body = " + ".join(["x"] * 15)
    source = f"fun sum(x) {{ return {body} }}\n" + "sum(n)\n" * 5_000

    text = compile_python(compile_program("let n := 1\n" + source)).source

    assert len(text) < 12 * len(source)  # with every call inlined, 60 times
    assert "def f1" in text


def test_frames_name_the_function_and_its_line() -> None:
    error = run_program(HEAD + "print(1)\nprint(fails(2))").error

    assert error is not None
    assert [(frame.function, frame.line) for frame in error.frames] == [("root", 12), ("fails", 8)]
