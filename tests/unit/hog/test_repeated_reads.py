"""What a condition reads and its branches read again is read once, and gives the same."""

from typing import Any

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program

VALUES: list[Any] = [
    None, True, 0, 2.0, 2**60, "", "pro", [1, {"k": "v"}], {"k": "v"},
    {"__hogDate__": True, "year": 2024, "month": 1, "day": 2},
]  # fmt: skip

PROGRAMS = {
    "null": "if (p.plan != null) { out.plan := p.plan }",
    "path": "if (event.properties.plan) { out.plan := event.properties.plan }",
    "and": "if (p.plan != null and p.plan != 'free') { out.plan := [p.plan, p.plan] }",
    "else if": "if (p.plan = 'a') { out.a := 1 } else if (p.plan = 'pro') { out.b := p.plan }",
    "else": "if (empty(p.plan)) { out.a := 1 } else { out.a := upper(toString(p.plan)) }",
    "nested": "if (p.plan != p.b) { if (p.plan != null) { if (p.plan) { out.plan := p.plan } } }",
    "loop": "for (let o in p.all) { if (o.plan != null) { out[o.name] := o.plan; print(o.plan) } }",
    "parts": "if (p.plan) { let x := p.plan; x.k := 1; out.x := x; out.y := p.plan }",
    "rounds": "for (let i in range(3)) { out[toString(i)] := event.properties.plan }",
    "while": "let i := 0\nwhile (i < 2) { i := i + 1\nif (p.plan = 'pro') { out.plan := i } }",
    "inner loop": "for (let i in [1, 2]) { for (let j in p.all) { out[toString(i)] := p.plan } }",
    "no rounds": "for (let i in []) { print(p.plan) }",
    "lambda in a loop": "for (let i in [1]) { out.m := arrayMap(x -> [x, p.plan], p.all) }",
    "changed in a loop": (
        "for (let i in [1, 2]) { let q := p.plan\n"
        "if (typeof(q) = 'object') { q.k := i }\nout.q := q\nout.r := p.plan }"
    ),
    "function": "fun f() { return p.plan }\nif (p.plan) { out := [f(), (() -> p.plan)()] }",
}


def given(value: Any) -> dict[str, Any]:
    every = [{"plan": value, "name": "a"}, {"plan": 1, "name": "b"}, "text", None]
    return {"event": {"properties": {"plan": value, "b": 1, "all": every}}}


def ending(source: str) -> str:
    return f"let p := event.properties\nlet out := {{}}\n{source}\nreturn [out, p.b]"


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_a_traced_run(name: str, value: Any) -> None:
    source = ending(PROGRAMS[name])
    ran = run_program(source, globals=given(value))
    traced = run_program(source, globals=given(value), trace=True)  # reads everything anew
    assert (ran.result, ran.lines, ran.error) == (traced.result, traced.lines, traced.error)


@pytest.mark.parametrize("name", ["null", "path", "and", "else if", "else", "nested", "loop"])
def test_read_once(name: str) -> None:
    text = compile_python(compile_program(ending(PROGRAMS[name]))).source
    assert text.count(".get('plan')") == 1


@pytest.mark.parametrize("name", ["rounds", "while", "inner loop"])
def test_read_before_the_first_round(name: str) -> None:
    text = compile_python(compile_program(ending(PROGRAMS[name]))).source
    before, _, rounds = text.partition("= h1.get('plan')")
    assert "for v" not in before
    assert "while " not in before
    assert ".get('plan')" not in rounds


@pytest.mark.parametrize("name", ["e.plan", "e.properties.plan"])
def test_what_the_program_changes_is_read_again(name: str) -> None:
    source = f"let e := event\nif ({name} != 'b') {{ {name} := 'b'\nreturn {name} }}"
    event = {"plan": "a", "properties": {"plan": "a"}}
    assert run_program(source, globals={"event": event}).result == "b"
