"""``a := arrayPushBack(a, x)`` appends in place only where a copy could not be distinguished."""

import random
from typing import Any

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program

IN_PLACE = [
    ("let a := [] for (let i in [1, 2]) { a := arrayPushBack(a, i) } return a", [1, 2]),
    ("let a := keys({'x': 1}) a := arrayPushBack(a, 'y') a[1] := 'q' return a", ["q", "y"]),
    ("let a := [1] a := arrayPushBack(a, length(a)) return {'a': a}", {"a": [1, 1]}),
    (
        (
            "let out := [] for (let i in [1, 2]) { let a := [] a := arrayPushBack(a, i) "
            "out := arrayPushBack(out, a) } return out"
        ),
        [[1], [2]],
    ),
    (
        "let a := [1] for (let i in a) { a := arrayPushBack(a, i + 1) } return a",
        [1, 2],
    ),
    (
        "fun f(x) { let a := [x] a := arrayPushBack(a, 1) return a } return [f(1), f(2)]",
        [[1, 1], [2, 1]],
    ),
    (
        (
            "let a := [] try { a := arrayPushBack(a, 1) throw Error('e') } "
            "catch (e) { a := arrayPushBack(a, e.message) } return a"
        ),
        [1, "e"],
    ),
]
COPIED = [
    ("let a := [] let b := a a := arrayPushBack(a, 1) return [a, b]", [[1], []]),
    ("let a := [] for (let i in [1, 2]) { a := arrayPushBack(a, a) } return a", [[], [[]]]),
    ("let a := [1] let o := {'x': a} a := arrayPushBack(a, 2) return [a, o]", [[1, 2], {"x": [1]}]),
    (
        (
            "let a := [] let o := {} for (let i in [1, 2]) { a := arrayPushBack(a, i) o[i] := a } "
            "return o"
        ),
        {"1": [1], "2": [1, 2]},
    ),
    (
        "let a := [1] fun g() { return a } let b := g() a := arrayPushBack(a, 2) return [b, a]",
        [[1], [1, 2]],
    ),
    ("let a := [1] let b := ifNull(a, 2) a := arrayPushBack(a, 3) return [a, b]", [[1, 3], [1]]),
    ("let b := [1] let a := b a := arrayPushBack(a, 3) return [a, b]", [[1, 3], [1]]),
    (
        "let a := [1] let e := Error('m', a) a := arrayPushBack(a, 2) return [a, e.payload]",
        [[1, 2], [1]],
    ),
    ("let a := 'text' a := arrayPushBack(a, 2) return a", [2]),
    (
        (
            "let out := [] for (let a := [1]; length(a) < 3; a := arrayPushBack(a, 1)) "
            "{ out := arrayPushBack(out, a) } return out"
        ),
        [[1], [1, 1]],
    ),
]


@pytest.mark.parametrize(("source", "result"), [*IN_PLACE, *COPIED])
def test_the_result_is_that_of_copies(source: str, result: Any) -> None:
    assert run_program(source).result == result
    assert run_program(source, trace=True).result == result


@pytest.mark.parametrize("source", [source for source, _ in IN_PLACE])
def test_arrays_that_nothing_else_refers_to_are_appended_to(source: str) -> None:
    assert "L_arrayPushBack" not in compile_python(compile_program(source)).source


@pytest.mark.parametrize("source", [source for source, _ in COPIED])
def test_other_arrays_are_copied(source: str) -> None:
    assert "L_arrayPushBack" in compile_python(compile_program(source)).source


def test_an_array_that_grows_is_charged() -> None:
    source = "let a := [] while (true) { a := arrayPushBack(a, 'x') } return a"
    error = run_program(source, budget=Budget(memory_bytes=1_000_000)).error

    assert error is not None
    assert error.kind == "memory"


PUSH = "fun push(o, x) { o[length(o) + 1] := x } let o := [] "


@pytest.mark.parametrize(
    "source",
    [
        "let a := ['x', 'y'] let m := {} for (let k in a) { m[k] := k } return m",
        "let m := {'a': 'b', 'c': 'd'} for (let k, v in m) { push(o, k || v) } return o",
        "let m := {'a': 1, 2: 'd'} for (let k, v in m) { push(o, [k, v]) } return o",
        "let a := ['x'] for (let k in a) { a[2] := k } return a",
        "let a := ['x', 'y'] let b := a b[1] := 5 for (let k in a) { push(o, k) } return o",
        "let a := ['x', 1, null] for (let i, k in a) { push(o, [i, k]) } return [o, a[1]]",
        "let m := {'a': 'b'} let n := m n.c := 1 for (let v in m) { push(o, v) } return o",
        "let m := {'a': 'b', 'a': 1} for (let k, v in m) { return [k, typeof(v)] }",
        "for (let k, v in {'a': 'b', 'c': 'd'}) { return [k in ['a'], v] }",
        "let m := {'a': 'b'} return [m['a'], m[1], m.b, m[null], 'a' in m, length(keys(m))]",
    ],
)
def test_literals_are_iterated_over_as_their_copies_are(source: str) -> None:
    fast, traced = run_program(PUSH + source), run_program(PUSH + source, trace=True)

    assert traced.error is None
    assert fast.result == traced.result


HEAD = """let out := {'k': [1]}
let all := [0]
fun same(x) { return x }
fun add(x) { all := arrayPushBack(all, x) return length(all) }
"""
ARRAYS = [
    "[]", "[{}]", "arrayMap(x -> [x], {})", "arrayFilter(x -> x != 1, {})", "arrayPopFront({})",
    "arrayReverse({})", "({} ?? [])", "(length({}) > 2 ? [2] : {})", "same({})", "(out.k ?? {})",
    "arrayPushBack({}, 3)", "{}",
]  # fmt: skip
ITEMS = ["1", "null", "{}", "length({})", "{}[1]", "add({})", "(() -> {})()", "concat({}, 'q')"]


class _Programs:
    """Random programs that append to arrays and store, pass on, change and loop over them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 (it has to be repeatable)
        self.names: list[str] = []
        self.count = 0

    def source(self) -> str:
        body = "".join(self.statement(0) for _ in range(9))
        return f"{HEAD}{body}print(out, all, {', '.join(self.names)})"

    def filled(self, forms: list[str]) -> str:
        form = self.random.choice(forms)
        return form.replace("{}", self.random.choice(self.names or ["[0]"]))

    def new_name(self) -> str:
        self.count += 1
        return f"a{self.count}"

    def statement(self, level: int) -> str:
        kind = self.random.randint(0, 11 if level < 3 else 7)
        if kind < 2 or not self.names:
            array, name = self.filled(ARRAYS), self.new_name()
            self.names.append(name)
            return f"let {name} := {array}\n"
        name = self.random.choice(self.names)
        if kind < 6:
            return f"{name} := arrayPushBack({name}, {self.filled(ITEMS)})\n"
        if kind == 6:
            return f"out.{self.random.choice('kl')} := {self.filled(ARRAYS)}\n"
        if kind == 7:
            return f"{name}[1] := {self.filled(ITEMS)}\nprint({name}, out)\n"
        return self.block(kind, name, level + 1)

    def block(self, kind: int, name: str, level: int) -> str:
        names, new = list(self.names), self.new_name()
        head = f"for (let {new} := 0; {new} < 2; {new} := {new} + 1)"
        if kind == 8:
            step = f"{new} := arrayPushBack({new}, 1)"
            head = f"for (let {new} := {self.filled(ARRAYS)}; length({new}) < 4; {step})"
            self.names.append(new)
        elif kind == 9:
            head = f"if (length({name}) < 6) for (let {new} in {name})"
        elif kind == 10:
            head = f"try {{ throw HogError('T', 'm', {name}) }} catch (e)"
        body = "".join(self.statement(level) for _ in range(2))
        self.names = names
        return f"{head} {{\n{body}}}\n"


@pytest.mark.parametrize("seed", range(160, 200))
def test_random_programs_print_what_they_print_with_copies(seed: int) -> None:
    source = _Programs(seed).source()
    with_copies = run_program(source, globals={}, trace=True)  # which appends to copies
    in_place = run_program(source, globals={})

    assert in_place.lines == with_copies.lines, source
    assert (in_place.error is None) == (with_copies.error is None), source
