"""Loops over ranges, short texts that are tested once, and comparisons that share a type test."""

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program

VALUES = "['12', '', 'é2', null, 5, [1, 2], {'a': 1}, repeat('7', 300)]"
DIGITS = """
fun digits(text) {
  let out := ''
  for (let i := 1; i <= length(text); i := i + 1) {
    let c := substring(text, i, 1)
    if (c >= '0' and c <= '9') { out := concat(out, c) }
  }
  return out
}
"""


def _is_the_same(source: str) -> bool:
    fast, slow = run_program(source), run_program(source, trace=True)
    return (fast.lines, fast.error and fast.error.text, fast.result) == (
        slow.lines,
        slow.error and slow.error.text,
        slow.result,
    )


def test_characters_are_read_in_a_range() -> None:
    text = compile_python(compile_program(DIGITS + "return digits('+1 2')")).source

    assert "in RANGE(1, " in text
    assert "isascii()" in text.split("RANGE")[0]  # tested once, before the loop
    assert _is_the_same(f"{DIGITS} for (let v in {VALUES}) {{ print(digits(v)) }}")


@pytest.mark.parametrize(
    ("loop", "is_range"),
    [
        ("for (let i := 0; i < 3; i := i + 1) { print(i) }", True),
        ("for (let i := 0; i <= length(a); i := i + 2) { print(i, a[i + 1]) }", True),
        ("for (let i := 0; i <= length(null); i := i + 1) { print(i) }", False),
        ("for (let i := 0; i <= length(nothing); i := i + 1) { print(i) }", True),
        ("for (let i := 1; i <= length(a) and i < 9; i := i + 1) { print(i) }", False),
        ("for (let i := 1; i <= length(a); i := i + 1) { if (i < 5) { a[i + 2] := i } }", False),
        ("for (let i := 1; i <= length(a); i := i + 1) { if (i < 5) { grow(a) } }", False),
        ("for (let i := 1; i < 9; i := i + 1) { i := i * 2 print(i) }", False),
        ("for (let i := length(a); i >= 1; i := i - 1) { print(i, a[i]) }", True),
        ("for (let i := length('abc'); i > -2; i := i - 2) { print(i) }", True),
        ("for (let i := length(nothing); i > -2; i := i - 2) { print(i) }", True),
        ("for (let i := 5; i > 2; i := i - 1) { print(i) }", True),
        ("for (let i := 5; i >= length(nothing); i := i - 1) { print(i) }", False),
        ("for (let i := length(a); i >= 1; i := i + 1) { print(i) if (i > 9) { i := -1 } }", False),
        ("for (let i := length(a); i < 5; i := i - 1) { print(i) if (i < 0) { i := 9 } }", False),
        ("for (let i := -2; i <= length(nothing); i := i + 1) { print(i) }", False),
        ("for (let i := -2; i <= 1; i := i + 1) { print(i) }", True),
        ("let m := length(a) for (let i := 0; i <= m; i := i + 1) { print(i) }", True),
        ("let m := length(nothing) for (let i := 0; i <= m; i := i + 1) { print(i) }", True),
        ("for (let i := 0; i <= n / 2; i := i + 1) { print(i) }", True),
        ("for (let i := 0; i < n / 2; i := i + 1) { print(i) }", True),
        ("for (let i := 9; i >= n / 2; i := i - 1) { print(i) }", True),
        ("for (let i := 9; i > n / 2; i := i - 1) { print(i) }", True),
        ("for (let i := n; i > n - 3; i := i - 1) { print(i) }", True),
        ("for (let i := n + 2; i > n - 3; i := i - 1) { n := n + 1 print(i) }", False),
        ("let s := 'a' s := 'abc' for (let i := 0; i < length(s); i := i + 1) { print(i) }", True),
        ("for (let i := 1; i < n; i := i + 1) { n := 3 print(i) }", False),
        ("let f := [] for (let i := 0; i < 2; i := i + 1) { f := [() -> i] } print(f[1]())", False),
    ],
)
def test_loops_with_a_fixed_bound_are_ranges(loop: str, *, is_range: bool) -> None:
    head = "let nothing := event.nothing let a := [4, 5] let n := 9 "
    head += "fun grow(x) { x[length(x) + 1] := 1 } "
    source = f"{head}{loop} print(a, n, grow([]))".replace("event.nothing", "jsonParse('null')")

    assert ("RANGE(" in compile_python(compile_program(source)).source) == is_range
    assert _is_the_same(source)


@pytest.mark.parametrize(
    "test",
    [
        "v = 'a' or v = '5' or v = 'b'",
        "v >= '0' and v <= '9'",
        "v != 'a' and v != 5 and v != 'b'",
        "length(v) > 1 and v > 'a' and v < 'z'",
        "v = '' or v = 'é' or v = '12'",
    ],
)
def test_comparisons_that_share_a_type_test(test: str) -> None:
    values = "['12', 'a', 'b', '', 'é', null, 5, 5.5, true, [1], {'a': 1}, toDate('2024-01-02')]"

    assert _is_the_same(
        f"for (let v in {values}) {{ try {{ print(v, {test}) }} catch (e) {{ print(e.message) }} }}"
    )
    assert _is_the_same(
        f"fun f(v) {{ return {test} ? 1 : 2 }} print(arrayMap(v -> f(v), {values}))"
    )


@pytest.mark.parametrize("position", ["1", "n", "0", "-1", "2.5", "'1'", "null", "n * 9"])
def test_a_character_at_any_position(position: str) -> None:
    body = f"print(substring(v, {position}, 1), length(v), upper(v), lower(v))"
    body = f"try {{ {body} }} catch (e) {{ print(e.message) }}"

    assert _is_the_same(f"let n := 2 for (let v in {VALUES}) {{ {body} }}")
