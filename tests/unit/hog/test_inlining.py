"""Lambdas that are printed as loops behave as calls do."""

from typing import Any

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program

GLOBALS = {
    "event": {
        "properties": {
            "items": [
                {"name": "Oil", "price": 10.0, "quantity": 3, "tags": ["a", "b"]},
                {"name": None, "price": "7", "quantity": 2**60, "tags": {"x": "c"}},
                {"price": 1.5, "at": {"__hogDate__": True, "year": 2024, "month": 5, "day": 3}},
                "text",
                None,
            ],
            "map": {"a": 1, "b": 2},
            "none": None,
            "big": [2**60, -(2**60) + 1, 5],
        }
    }
}
INLINED = [
    "arrayMap(i -> i.price * i.quantity, p.items)",
    "arrayMap(i -> i.price + i.quantity, p.items)",
    "arrayMap(i -> i.price - 1, p.items)",
    "arrayMap(b -> b + 1, p.big)",
    "arrayReduce((s, b) -> s + b, p.big, 0)",
    "arrayReduce((s, i) -> s + i.quantity, p.items, 0)",
    "arrayReduce((s, i) -> concat(s, i.name ?? '-'), p.items, '')",
    "arrayMap(i -> f'{i.name}: {i.price} {i.at} {i}', p.items)",
    "arrayMap(i -> toString(i.quantity), p.items)",
    "arrayMap(i -> i.name ?? i.price ?? 0, p.items)",
    "arrayMap(i -> i.at.year, p.items)",
    "arrayMap(i -> typeof(i), p.items)",
    "arrayFilter(i -> i.price, p.items)",
    "arrayFilter(i -> not i.name, p.items)",
    "arrayCount(i -> i.price > 5, p.items)",
    "arrayExists(i -> i.name = 'Oil', p.items)",
    "arrayExists(i -> i.name = 'Water', p.items)",
    "arrayMap(i -> i, p.map)",
    "arrayMap(i -> i, p.none)",
    "arrayMap(i -> i, 'text')",
    "arrayMap(i -> i.price * i.quantity, p.none ?? [])",
    "arrayMap(i -> i.price * i.quantity, event.properties.items ?? [])",
    "arrayFilter(i -> i.price > 1, event.properties.items ?? [])",
    "arrayMap(i -> i, event.properties.nothing ?? [])",
    "[event.properties.none ?? {}, event.properties.map ?? {}, (event.properties.map ?? {}).a]",
    "arrayMap(i -> i * 2, (1, 2))",
    "arrayMap(i -> arrayMap(t -> concat(t, i.name), i.tags), p.items)",
    "arrayMap(i -> arrayFilter(j -> j.price = i.price, p.items), p.items)",
    "arrayMap(i -> arrayCount(t -> t = 'a', i.tags ?? []), p.items)",
    "[length(p.items), arrayMap(i -> i.price, p.items), p.items[1].name]",
    "p.none ?? arrayMap(i -> i.price, p.items)",
    "p.map.a = 1 ? arrayMap(i -> i.price, p.items) : arrayMap(i -> i.name, p.items)",
    "arrayExists(i -> i.price > 9, p.items) and arrayExists(i -> i.price > 99, p.items)",
]
CALLED = [
    "arrayMap(i -> j -> i, [1])",
    "arrayMap(() -> 1, [1])",
    "arrayMap((i, j) -> j, [1])",
    "arrayMap(i -> { let x := i return x }, [1, 2])",
    "arrayMap(i -> (j -> i + j)(1), [1, 2])",
    "arrayMap(f -> f(), arrayMap(i -> () -> i, [1, 2]))",
]


@pytest.mark.parametrize("expression", [*INLINED, *CALLED])
def test_an_inlined_lambda_returns_what_a_called_one_does(expression: str) -> None:
    source = f"let p := event.properties return {expression}"
    inlined = run_program(source, globals=GLOBALS)
    called = run_program(source, globals=GLOBALS, trace=True)

    assert repr(inlined.result) == repr(called.result)
    assert (inlined.error and inlined.error.text) == (called.error and called.error.text)


@pytest.mark.parametrize("expression", INLINED)
def test_lambdas_of_one_expression_are_inlined(expression: str) -> None:
    source = compile_python(compile_program(f"let p := event.properties return {expression}"))

    assert "def f1" not in source.source


@pytest.mark.parametrize(
    "source",
    [
        (
            "let a := [1, 2, 3] fun grow(x) { a[length(a) + 1] := x return x } "
            "return [arrayMap(x -> grow(x), a), a]"
        ),
        (
            "let n := 0 fun count() { n := n + 1 return n } "
            "return [n, arrayMap(x -> count() + x, [1, 2]), n]"
        ),
        "fun nest(n) { return n = 0 ? [] : arrayMap(x -> nest(n - 1), [1, 2]) } return nest(3)",
        (
            "let out := [] for (let i in [1, 2]) { let f := () -> i "
            "out := arrayPushBack(out, arrayMap(x -> x + f(), [1])) } return out"
        ),
        (
            "let fs := [] for (let i in [1, 2]) { fs := arrayPushBack(fs, () -> i) } "
            "return arrayMap(f -> f(), fs)"
        ),
        "let a := event.properties.items ?? [] a[1] := 1 return [a, event.properties.items]",
        "let a := event.properties.none ?? [] let b := a b[1] := 1 return [a, b]",
        "let a := event.properties.items ?? [] let o := {'a': a, 'b': a} o.a[1] := 2 return o",
        "let m := event.properties.map ?? {} for (let k, v in m) { if (v = m[k]) { return m } }",
        "let m := event.properties.no ?? {} fun f(x) { x.y := 1 return x } return [f(m), m]",
        "return arrayMap(x -> x.y[x.z], [{'y': [1], 'z': 0}])",
    ],
)
def test_effects_and_errors_are_those_of_calls(source: str) -> None:
    inlined = run_program(source, globals=GLOBALS)
    called = run_program(source, globals=GLOBALS, trace=True)

    assert inlined.result == called.result
    assert (inlined.error and inlined.error.text) == (called.error and called.error.text)


@pytest.mark.parametrize("levels", [30, 31, 32, 33, 34])
def test_an_inlined_lambda_counts_as_a_call_frame(levels: int) -> None:
    source = f"fun f(n) {{ return n = 0 ? 0 : arrayMap(x -> f(n - 1), [1]) }} return f({levels})"
    budget = Budget(call_depth=66)
    inlined = run_program(source, budget=budget)
    called = run_program(source, budget=budget, trace=True)

    assert (inlined.error and inlined.error.text) == (called.error and called.error.text)


def test_loops_nest_as_deep_after_inlined_lambdas_as_before() -> None:
    """Python allows 20 nested blocks; deeper loops become functions."""
    maps = "out := arrayMap(x -> x + 1, out) " * 15
    depth = 22
    loops = "".join(f"for (let i{level} in [1]) {{ " for level in range(depth))
    source = f"let out := [0] {maps} {loops} out := arrayMap(x -> x * 2, out) {'}' * depth}"
    outcome = run_program(f"{source} return out")

    assert (outcome.result, outcome.error) == ([30], None)


def many(size: int) -> dict[str, Any]:
    return {"items": [0] * size}


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("arrayMap(i -> arrayMap(j -> arrayCount(k -> true, items), items), items)", "timeout"),
        ("arrayMap(i -> concat(text, text), items)", "memory"),
        ("arrayReduce((s, i) -> concat(s, text), items, '')", "memory"),
        ("arrayReduce((s, i) -> [s, s], range(60), ['text'])", "memory"),
    ],
)
def test_loops_of_inlined_lambdas_are_bounded(expression: str, kind: str) -> None:
    source = f"let text := concat('{'x' * 500}', 'y') return {expression}"
    timeout_s = 0.2 if kind == "timeout" else 10.0
    budget = Budget(timeout_s=timeout_s, memory_bytes=1_000_000)
    error = run_program(source, globals=many(5000), budget=budget).error

    assert error is not None
    assert error.kind == kind
