"""Arrays and objects of literals are made once for all runs; programs cannot tell."""

import json
from typing import Any

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program
from support.hog_reading_programs import ReadingPrograms
from support.seeds import thinned

TABLE = "let t := {'a': {'x': 1, 'y': [1, 2]}, 'b': {'x': 2}, 'n': 3}\n"

RANDOM_TABLES = """
let event := {'name': 'paid', 'properties': {'a': {'x': 1, 'y': [1, 2]}, 'b': {'x': 1}, 'n': 3, 't': 'text', 'z': null},
  'list': [{'x': 1, 'y': {'x': 5}}, {'x': 2, 'y': {'x': 6}}, 's', 7, [1, 2], null]}
let person := {'properties': {'t': 'text', 'a': {'x': 1}}}
"""  # noqa: E501


@pytest.mark.parametrize(
    "source",
    [
        "print(t.a.x, t['b'].x, t.c)",
        "for (let k, v in t) { print(k, v) }",
        "let o := t.c ?? {'x': 9} print(o.x)",
        "fun f(row) { return row.x } print(f(t.a), f(t.b))",
        "print(arrayMap(n -> n + 1, t.a.y))",
        "let names := ['a', 'b'] for (let n in names) { print(t[n].x, n in names) }",
    ],
)
def test_what_is_only_looked_at_is_made_once(source: str) -> None:
    program = compile_python(compile_program(TABLE + source))

    assert "\nc1 = " in program.source
    assert run_program(program).lines == run_program(TABLE + source, trace=True).lines


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("t.a.x := 9 print(t.a.x)", "9"),
        ("let a := t.a a.x := 9 print(t.a.x)", "9"),
        ("let o := {} o.a := t.a o.a.x := 9 print(t.a.x)", "9"),
        ("let o := t.c ?? {'x': 1} o.x := 9 print(o.x)", "9"),
        ("for (let k, v in t) { if (k = 'a') { v.x := 9 } } print(t.a.x)", "9"),
        ("fun f(o) { o.x := 9 } f(t.a) print(t.a.x)", "9"),
        ("t := {'a': 1} print(t.a)", "1"),
        ("let l := [t.a] print(l[1] = t.a, t.a = t.a)", "true true"),
        ("let l := [t] l[1].n := 9 print(t.n)", "9"),
    ],
)
def test_what_is_changed_or_compared_is_an_object_of_the_run(source: str, printed: str) -> None:
    program = compile_python(compile_program(TABLE + source))

    assert [run_program(program).lines for _ in range(2)] == [[printed], [printed]]


def test_a_result_is_not_part_of_a_table() -> None:
    program = compile_python(compile_program(TABLE + "return {'a': t.a, 'list': [t.a.y]}"))
    run_program(program).result["a"]["y"].append("changed")

    assert run_program(program).result == {"a": {"x": 1, "y": [1, 2]}, "list": [[1, 2]]}


@pytest.mark.parametrize("seed", thinned(range(400), 4))
def test_random_programs_print_what_they_print_without_tables(seed: int) -> None:
    source = RANDOM_TABLES + ReadingPrograms(seed).source()
    program = compile_python(compile_program(source))

    expected = _outcome(run_program(source, trace=True))  # which makes everything in each run
    assert [_outcome(run_program(program)) for _ in range(2)] == [expected, expected], source


def _outcome(run: Any) -> tuple[list[str], str | None, str]:
    return run.lines, run.error and run.error.text, json.dumps(run.result)
