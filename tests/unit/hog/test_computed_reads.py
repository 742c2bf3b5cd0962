"""Reads of fields and items whose place is computed, and searches in literals."""

# ruff: noqa: E501 (a case a line)
import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program

pytestmark = pytest.mark.engine

GLOBALS = {"event": {"k": "b", "n": 2, "t": "abc", "list": [1, 2, 3], "day": None}}

CASES = [
    ("let l := splitByString(' ', 'a b c'); print(l[-1], l[-3], l[-4])", "c a null"),
    ("let l := tuple(1, 2); print(l[-1], [1][-1], event.list[-2], event.t[-1])", "2 1 2 null"),
    ("let o := {'b': 1}; print(o[event.k], o[event.n], o[-1], o[event.t ?? 'b'])", "1 null null null"),
    ("let o := {'b': 1}; let l := [o]; let k := l[1]['b'] = 1 ? 'b' : 2; print(l[1][k], l[k])", "1 null"),
    ("let o := {'b': 1}; let f := () -> { o := {'b': 2}; return 'b' }; print(o[f()])", "1"),
    ("let o := null; print(o[event.k], o[event.n])", "null null"),
    ("let o := 'text'; print(o[event.k])", "null"),
    ("let l := event.list; print(l[event.n], l[event.k])", "2 null"),
    ("let t := ['a', 'b', 'c', 'd']; print(has(t, event.k), has(t, event.n), has(t, event.day))", "true false false"),
    ("let t := ['a', 'b', 'c', 'd']; print(event.k in t, event.n not in t, 'x' in t)", "true true false"),
    ("print(has(['a', 'b', 'b', '\\n'], '\\n'), event.k in tuple('a', 'b', 'c', 'd'))", "true true"),
    ("let t := ['a', 'b', 'c', 'd']; t[1] := event.n; print(has(t, event.n), has(t, 'a'))", "true false"),
    ("for (let k, v in {'a': 1, 'q': 2}) { print(has(['a', 'b', 'c', 'd'], k), k in ['x', 'y', 'q', 'z']) }", "true false\nfalse true"),
    ("print(event.list[1], event.list[2], event.t)", "1 2 abc"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "printed"), CASES, ids=[source for source, _ in CASES])
def test_programs_print(source: str, printed: str) -> None:
    with_trace = run_program(source, globals=GLOBALS, trace=True)  # without most shortcuts
    outcome = run_program(source, globals=GLOBALS)

    assert outcome.error is None, outcome.error
    assert "\n".join(outcome.lines) == printed
    assert outcome.lines == with_trace.lines


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("let l := splitByString(' ', event.t); return l[-1]", "[-1] if"),
        ("let o := jsonParse(event.t); return o[event.k]", "v1.get("),
        ("let t := ['a', 'b', 'c', 'd']; return has(t, event.k)", "in {'a', 'b', 'c', 'd', }"),
        ("return event.k in ['a', 'b', 'c', 'd']", "in {'a', 'b', 'c', 'd', }"),
        ("return event.p.list[1] + event.p.list[2]", "h1.get('list')"),
    ],
)
def test_usual_values_need_no_call(source: str, text: str) -> None:
    assert text in compile_python(compile_program(source)).source
