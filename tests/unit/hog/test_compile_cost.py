"""The work of compiling grows with the text, not with its square, whatever depends on what."""

import sys
from collections.abc import Callable

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.program import compile_python


def calls_made(action: Callable[[], object]) -> int:
    """How many Python functions an action calls: a measure of work that load does not change."""
    count = 0

    def profile(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def lines(first: str, line: str, last: str, count: int) -> str:
    """``line`` for each number, with the number before it as ``{before}``, between two others."""
    middle = (line.format(n=n, before=n - 1) for n in range(1, count))
    return "\n".join([first, *middle, last.format(last=count - 1)])


SHAPES = {
    "functions that call the one before": (
        "fun f0(x) { return x + 1 }",
        "fun f{n}(x) {{ let y := f{before}(x) if (y > 3) {{ return y }} return y + 1 }}",
        "return f{last}(1)",
    ),
    "lambdas that call the one before": (
        "let f0 := (x) -> x + 1",
        "let f{n} := (x) -> f{before}(x) + 1",
        "return f{last}(1)",
    ),
    "lambdas that wait": (
        "let f0 := (x) -> fetch(x)",
        "let f{n} := (x) -> f{before}(x)",
        "return f{last}('https://a.example')",
    ),
    "functions that pass host data on": (
        "fun f0(x) { x.a := 1 return x }",
        "fun f{n}(x) {{ let y := x.p{n} return f{before}(y) }}",
        "return f{last}(event)",
    ),
    "fields of a copy": (
        "let r := event",
        "r.properties.k{n} := event.p{n}\nr.a{n}.b := 1",
        "return r",
    ),
    "unknown names": ("let a := 1", "fun f{n}() {{ return g{n}() }}", "return a"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_four_times_the_text_takes_about_four_times_the_work(shape: str) -> None:
    first, line, last = SHAPES[shape]

    def compile_lines(count: int) -> Callable[[], object]:
        source = lines(first, line, last, count)
        return lambda: compile_python(compile_program(source))

    compile_lines(2)()  # fills the caches
    assert calls_made(compile_lines(200)) < 5 * calls_made(compile_lines(50))
