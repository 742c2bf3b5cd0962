"""Literals with host data in them print and become JSON as if the data had been imported."""

import copy
from typing import Any

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program
from hoglet.hog.runtime.plain_data import is_plain_host

EVENT: dict[str, Any] = {
    "name": "paid", "p": {"plan": "pro", "amount": 59.5, "items": [{"price": 2}]},
    "large": 2**60, "larger": 2**70, "whole": 1.0, "exponent": 1e21, "small": 1e-7, "zero": -0.0,
    "none": float("nan"), "pair": (1, 2), "keys": {1: "a"}, "half": "\ud800",
    "control": "a\u0001\n",
    "date": {"__hogDate__": True, "year": 2024, "month": 1, "day": 2},
    "time": {"__hogDateTime__": True, "dt": 1714557600.0, "zone": "UTC"},
    "text": "__hogDate__ .0] 1e5}", "long": "y" * 5000,
}  # fmt: skip
PROGRAMS = {
    "arguments": "print({'p': event.p}, jsonStringify([event.name, {'p': event.p}]))",
    "variable": "let b := {'p': event.p}\nprint(b, jsonStringify(b), jsonStringify(b))",
    "changed part": (
        "let a := [1]\nlet b := {'a': a, 'p': event.p}\na := arrayPushBack(a, 2)\n"
        "print(b)\nlet o := {}\nlet c := {'o': o, 'n': event.name}\no.x := 1\nprint(c)"
    ),
    "part assigned later": (
        "let n := 1\nlet b := {'n': n, 'v': event.exponent}\nlet c := [n, {'v': event.large}]\n"
        "n := 'other'\nprint(b, jsonStringify(b), c, jsonStringify(c))"
    ),
    "counted": (
        "let o := {}\nlet n := 3\n"
        "for (let k, v in event) { o[k] := v\nprint(jsonStringify(o), o) }\n"
        "let m := {'t': n / 3, 'h': n * 1e20, 's': n / 1e9, 'x': n / 0, 'z': -0.0, 'q': 'it\\'s'}\n"
        "print(m, jsonStringify(m), {'m': m, 'h': n * 1e20}, jsonStringify([n / 1e9, 0 / 0]))"
    ),
    "counted and grown": (
        "let a := []\nfor (let i := 0; i < 3; i := i + 1) {\n"
        "a := arrayPushBack(a, {'i': i / 2})\nprint(a, jsonStringify({'a': a})) }\n"
        "let all := {'a': a, 'n': event.name}\nprint(all)\na := [event.p]\nprint(all, a)\n"
        "for (let i in range(600)) { a := arrayPushBack(a, i) }\nprint(a)"
    ),
    "read elsewhere": "let b := {'p': event.p}\nprint(b)\nprint(b.p.plan, keys(b))",
    "written to": "let b := {'p': event.p}\nb.p.plan := 'free'\nprint(b, event.p)",
    "loop": "for (let i in event.p.items) { let b := {'i': i}\nprint(b, jsonStringify(b)) }",
    "later effect": (
        "let n := 0\nfun next() { n := n + 1\nreturn n }\n"
        "print({'n': n, 'p': event.p}, next(), {'n': n, 'e': event.name})"
    ),
    "branch": "print(event.name = 'paid' ? jsonStringify({'p': event.p}) : 'none')",
    "form of a date": (
        "let d := {'__hogDate__': true, 'year': 1, 'month': 2, 'day': 3}\n"
        "print({'d': d, 'p': event.p}, jsonStringify({'d': d, 'p': event.p}))"
    ),
    "inner function": "let b := {'p': event.p}\nlet f := () -> jsonStringify(b)\nprint(f(), b)",
    "returned by an inner function": (
        "let b := {'d': event.date, 'x': event.exponent}\nlet f := () -> b\n"
        "print(b)\nlet c := f()\nprint(toYear(c.d), c.x + 1, c = b)"
    ),
    "indented": "let b := {'p': event.p, 'd': event.date}\nprint(jsonStringify(b, 2), b)",
    "nested a lot": f"print({"{'a': [" * 14}event.p{']}' * 14})",
    **{
        f"event.{key}": f"let b := {{'v': event.{key}}}\nprint(b, jsonStringify(b), [event.{key}])"
        for key in EVENT
    },
}  # fmt: skip


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_the_text_is_that_of_imported_data(source: str) -> None:
    given = {"event": copy.deepcopy(EVENT)}
    outcome = run_program(source, globals=given)
    traced = run_program(source, globals={"event": copy.deepcopy(EVENT)}, trace=True)

    assert (outcome.error, outcome.lines) == (traced.error, traced.lines)
    assert outcome.lines
    assert repr(given) == repr({"event": EVENT})


def test_a_call_of_the_host_in_between_changes_nothing() -> None:
    source = "let b := {'p': event.p}\nlet n := fetch()\nprint(b, n)\nprint(jsonStringify(b))"
    outcome = run_program(
        source, globals={"event": EVENT}, functions={"fetch": lambda: 7}, async_functions={"fetch"}
    )

    assert outcome.lines[0].endswith(" 7")
    assert outcome.lines[1].startswith('{"p":{"plan":"pro"')


def test_a_function_of_the_host_gets_imported_data() -> None:
    """One that has the name of a library function hides it."""
    given: list[Any] = []
    source = "let b := {'v': [event.large, event.larger, event.whole]}\nreturn jsonStringify(b)"
    for trace in (False, True):
        run_program(
            source,
            globals={"event": copy.deepcopy(EVENT)},
            functions={"jsonStringify": given.append},
            trace=trace,
        )

    assert len(given) == 2
    assert repr(given[0]) == repr(given[1])


def test_plain_host_data_is_not_imported() -> None:
    source = "let b := {'p': event.p, 'n': event.name}\nprint(jsonStringify(b))"
    text = compile_python(compile_program(source)).source

    assert "M_jsonStringify(v1)" in text
    assert "v1 = {'p': t" in text
    assert "else plain_host(" in text  # small plain arrays and objects become JSON at once


@pytest.mark.parametrize(
    ("value", "is_plain"),
    [
        ([{"a": [1, "b", None, True, 1.5]}], True),
        ({"a": 1.0}, False),
        ([2**60], False),
        ({"a": {1: "b"}}, False),
        ((1, 2), False),
        ({"a": {"__hogDate__": True}}, False),
        (["x" * 2000], False),
        ({"x" * 2000: 1}, False),
        ([[0] * 60, [0] * 60], False),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_host_data_that_is_its_own_import(value: Any, *, is_plain: bool) -> None:
    assert is_plain_host(value) == is_plain


def test_host_data_that_contains_itself_is_not_plain() -> None:
    value: list[Any] = []
    value.append(value)

    assert not is_plain_host(value)


def test_shared_parts_do_not_expand() -> None:
    source = (
        "let a := []\nfor (let i := 0; i < 60; i := i + 1) { a := [a, a] }\n"
        "print(length(jsonStringify({'a': a, 'p': event.p})))"
    )
    budget = Budget(memory_bytes=1_000_000)
    error = run_program(source, globals={"event": EVENT}, budget=budget).error

    assert error is not None
    assert error.kind == "memory"
