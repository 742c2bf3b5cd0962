"""Functions that write to what they are given and return it: their calls are names of that."""

# ruff: noqa: E501 (a case a line)
import copy

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program
from support.hog_returning_programs import ReturningPrograms

pytestmark = pytest.mark.engine

GLOBALS = {
    "event": {
        "name": "paid",
        "at": {"__hogDateTime__": True, "dt": 1714739696.5, "zone": "UTC"},
        "whole": 2.0,
        "a": {"x": 4, "a": {"x": 1}},
        "properties": {"a": {"x": 1, "y": [1, 2]}, "b": {"x": 1}, "n": 3, "t": "text", "z": None},
        "list": [{"x": 1}, {"x": 2}],
    },
    "person": {"properties": {"t": "text", "a": {"x": 1}}, "a": {"x": 1}},
}

SET = "fun set(p) { p.n := 9; return p }"

CASES = [
    # the result is the object that was passed
    ("let e := event; let q := set(e.properties); q.t := 'x'; print(e.properties.n, e.properties.t)", "9 x"),
    ("let q := set(event.properties); q.a.x := 5; print(q.n, q.a.x, event.properties.n)", "9 5 3"),
    ("let e := event; e.properties := set(e.properties); e.properties.t := 'x'; print(e.properties)", "{'a': {'x': 1, 'y': [1, 2]}, 'b': {'x': 1}, 'n': 9, 't': 'x', 'z': null}"),
    ("let e := event; let p := e.properties; e.properties := set(e.properties); p.t := 'x'; print(e.properties.t)", "x"),
    ("let e := event; e.properties.a := set(e.properties.b); e.properties.b.x := 7; print(e.properties.a.x)", "7"),
    ("let a := set(event.properties); let b := set(event.properties); a.t := 'x'; print(a.t, b.t)", "x text"),
    ("let e := event; let q := set(set(e)); q.name := 'x'; print(e.name, e.n)", "x 9"),
    ("let o := {}; let q := set(event.properties); set(q).o := o; o.x := 1; print(q.o.x)", "1"),
    ("set(event.properties).a.x := 5; print(event.properties.a.x)", "1"),
    ("let l := [set(event.properties), set(person.properties)]; l[1].n := 1; print(l[1].n, l[2].n)", "1 9"),
    # a result that is put somewhere is changed there, the host's data is not
    ("let e := event; e.properties := set(event.properties); e.properties.a.x := 5; print(e.properties.a.x, event.properties.a.x)", "5 1"),
    ("let e := event; e.properties := set(event.properties); let q := e.properties; q.t := 'x'; print(e.properties.t)", "x"),
    ("let e := event; let p := event.properties; e.properties := set(p); p.t := 'x'; print(e.properties.t)", "x"),
    ("let e := event; let l := [e.properties]; e.properties := set(e.properties); print(l[1].n)", "9"),
    # parts of it may be referred to by others
    ("let o := {}; fun f(p) { p.o := o; return p } let e := event; e.properties := f(event.properties); let q := e.properties.o; q.x := 1; print(o.x)", "1"),
    ("let h := null; fun f(p) { p.n := 1; h := () -> { p.n := 5 }; return p } let r := [f(event.properties)]; h(); print(r[1].n)", "5"),
    ("let k := []; fun f(p) { p.n := 1; k := arrayPushBack(k, p.a); return p } let r := f(event.properties); r.a.x := 5; print(k[1].x)", "5"),
    ("let k := []; fun f(p) { p.a.x := 2; k := [p.a]; return p } let r := f(event.properties); k[1].x := 5; print(r.a.x)", "5"),
    # other results
    ("fun f(p) { p.n := 9; if (p.t = 'text') { return null } return p } print(f(event.properties), f(event).n)", "null 9"),
    ("fun f(p) { p.n := 9; if (p.t != 'text') { return p } } print(f(event.properties), f(event).n)", "null 9"),
    ("fun f() { let e := event; e.n := 9; return e } let a := f(); let b := f(); a.n := 8; print(a.n, b.n)", "8 9"),
    ("fun f(p, n) { p.n := n; if (n > 0) { f(p.a, n - 1) } return p } print(f(event, 2).a)", "{'x': 4, 'a': {'x': 1, 'n': 0}, 'n': 1}"),
    ("fun f(p) { p.x := 1; return p } print(f(event.list)[1].x ?? 'none')", None),
    ("print(set(event.at))", None),
    ("print(set(event.missing).n)", None),
    ("print(set(event, 1))", None),
    ("print(set().n)", None),
]  # fmt: skip


@pytest.mark.parametrize(("source", "printed"), CASES, ids=[source for source, _ in CASES])
def test_programs_print(source: str, printed: str | None) -> None:
    given = copy.deepcopy(GLOBALS)
    with_copies = run_program(f"{SET}\n{source}", globals=given, trace=True)
    outcome = run_program(f"{SET}\n{source}", globals=given)

    assert outcome.lines == (with_copies.lines if printed is None else [printed])
    assert (outcome.error and outcome.error.text) == (with_copies.error and with_copies.error.text)
    assert (outcome.error is None) == (printed is not None)
    assert given == GLOBALS


@pytest.mark.parametrize(
    ("source", "borrows"),
    [
        ("return set(event)", True),
        ("return {'p': set(event.properties)}", True),
        ("let e := event; e.properties := set(e.properties); return e", True),
        ("let e := event; e.properties := set(event.properties); return e", True),
        ("let e := event; e.properties := set(event.properties); e.properties.a.x := 1; return e", False),
        ("let q := set(event.properties); let o := [q]; q.n := 1; return o", False),
        ("let q := set(event.properties); return q.a", True),
        ("let q := set({}); return set(event)", False),
    ],
)  # fmt: skip
def test_what_functions_return_is_not_imported(source: str, *, borrows: bool) -> None:
    text = compile_python(compile_program(f"{SET}\n{source}")).source

    assert ("R_edited" in text and "imp(" not in text) == borrows


@pytest.mark.parametrize(
    ("source", "is_repeated"),
    [
        ("return set(event)", False),
        ("return set(set(set(event)))", False),
        ("for (let i in [1, 2]) { set(event) } return set(event)", True),
        ("fun f(p) { set(p); return p } return f(f(event))", False),
        ("fun f(n) { let e := event; e.n := n > 0 ? f(n - 1).n : 0; return e } return f(9)", True),
        ("let s := set; s(event); let e := event; e.n := 1; return e", True),
        ("let e := event; for (let i in [1, 2]) { e.n := i } return e", True),
        ("fun f(p) { " + "p.n := 1; " * 40 + "return p } f(person); return f(event)", True),
        ("fun f(p) { " + "p.n := 1; " * 40 + "return p } return f(event)", False),
    ],
)
def test_results_are_measured_if_much_may_have_been_put_into_them(
    source: str, *, is_repeated: bool
) -> None:
    text = compile_python(compile_program(f"{SET}\n{source}")).source

    assert ("R_edited_repeatedly" in text) == is_repeated


@pytest.mark.parametrize("seed", range(300))
def test_random_programs_return_what_they_return_with_copies(seed: int) -> None:
    source, given = ReturningPrograms(seed).source(), copy.deepcopy(GLOBALS)
    with_copies = run_program(source, globals=given, trace=True)  # a traced run borrows nothing
    borrowing = run_program(source, globals=given)

    assert borrowing.lines == with_copies.lines, source
    assert borrowing.result == with_copies.result, source
    assert (borrowing.error and borrowing.error.text) == (
        with_copies.error and with_copies.error.text
    ), source
    assert given == GLOBALS
