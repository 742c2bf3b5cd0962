"""Counters and items whose kind is known need no tests, and calculate as any other number."""

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program


def text_of(source: str) -> str:
    return compile_python(compile_program(source)).source


@pytest.mark.parametrize(
    "loop",
    [
        "for (let i in range(5)) { SHOW }",
        "for (let i in range(2, 5)) { SHOW }",
        "for (let i := 0; i < 5; i := i + 1) { SHOW }",
        "let xs := range(5) for (let i in xs) { SHOW }",
        "let xs := arrayFilter(x -> x != 1, range(5)) for (let i in xs) { SHOW }",
    ],
)
def test_counters_are_calculated_without_tests(loop: str) -> None:
    text = text_of(loop.replace("SHOW", "print(i % 3, i * 7 % 4 + 1, toString(i))"))

    assert "mod(" not in text
    assert "settle(" not in text
    assert "L_toString(" not in text


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("for (let i := -2; i < 1; i := i + 2) { print(1 / (i % 2)) }", "-Infinity Infinity"),
        ("for (let i in range(-2, 1)) { print(1 / (i % 2)) }", "-Infinity -1 Infinity"),
        ("for (let i in range(2)) { i := i - 5 print(1 / (i % 5)) }", "-Infinity -0.25"),
        ("for (let i in range(1.5, 3)) { print(i % 1, toString(i * 2)) }", "0.5 3"),
        ("for (let i in range('2')) { print(i % 2) }", "0 1"),
        ("for (let i in range(2.5)) { print(i * 64 % 100) }", "0 64"),
        ("for (let i in range(null)) { print(i) }", ""),
        ("for (let i, c in splitByString('', 'ab')) { print(i % 2, c) }", "0 a,1 b"),
        ("for (let k, v in {'a': 1}) { print(concat(k, v)) }", "a1"),
        ("print(arrayMap(x -> x % 2, range(3)))", "[0; 1; 0]"),
        ("print(arrayMap(x -> 1 / (x % 2), range(-2, 0)))", "[-Infinity; -1]"),
        ("print(arrayReduce((a, x) -> a + x % 2, range(4), 'n'))", "NaN"),
        ("let xs := range(2) xs[1] := 'a' for (let x in xs) { print(concat(x, '!')) }", "a! 1!"),
        (
            "let a := range(2) let b := a b[1] := -2 print(arrayMap(x -> 1 / (x % 2), a))",
            "[-Infinity; 1]",
        ),
        ("let p := splitByString('=', 'a=b') p[1] := 7 print(p[1] + 1, p[2], p[3])", "8 b null"),
        ("let p := splitByString('=', null) print(p[1] ?? 'none')", "none"),
        ("let p := splitByString('=', 'key=v') print(substring(p[1], 2, length(p[1])))", "ey"),
        ("let p := splitByString('=', 'key') print(substring(p[2], 2, length(p[2])))", "null"),
    ],
)
def test_numbers_of_any_sign_and_kind(source: str, lines: str) -> None:
    outcome = run_program(source)

    assert outcome.error is None
    printed = ",".join(outcome.lines) if "," in lines else " ".join(outcome.lines)
    assert printed.replace(", ", "; ") == lines


def test_a_function_of_the_host_hides_range() -> None:
    source = "for (let i in range(2)) { print(concat(i, '!'), i % 2) }"

    outcome = run_program(source, functions={"range": lambda _: ["a", -3]})

    assert outcome.lines == ["a! NaN", "-3! -1"]
