"""Resolution of names, all errors at once, hints and warnings."""

import inspect
import sys

import pytest

from hoglet.hog.bind import tree as bound
from hoglet.hog.bind.diagnostics import CompileError, suggestion
from hoglet.hog.compile import (
    compile_expression,
    compile_program,
    compile_template,
)
from hoglet.kit.errors import SourceError


def test_all_errors_are_reported_in_source_order() -> None:
    with pytest.raises(CompileError) as caught:
        compile_program("let a := 1\nlet a := 2\nzz := 3\nprint([1][0])")

    assert [(e.line, e.column) for e in caught.value.errors] == [(2, 1), (3, 1), (4, 7)]


def test_hint_names_the_near_variable() -> None:
    with pytest.raises(SourceError) as caught:
        compile_program("let total := 1\ntotl := 2")

    assert caught.value.hint == "Did you mean `total`?"


def test_span_is_the_statement_at_fault() -> None:
    source = "let a := 1; let a := 2"
    with pytest.raises(SourceError) as caught:
        compile_program(source)

    assert source[caught.value.start : caught.value.end] == "let a := 2"


@pytest.mark.parametrize(
    ("name", "near"),
    [("totl", "total"), ("toatl", "total"), ("prnt", "print"), ("baz", "bar"), ("len", None)],
)
def test_suggestions_are_a_few_edits_away(name: str, near: str | None) -> None:
    known = ["total", "print", "bar", "length", "event"]

    assert suggestion(name, known) == (near and f"Did you mean `{near}`?")


@pytest.mark.parametrize(
    ("source", "message", "hint"),
    [
        ("let a := 1\na = 2", "`:=` assigns", None),
        ("prnt(1)", "Unknown function `prnt`", "Did you mean `print`?"),
        ("print(evnt.x)", "Unknown global `evnt`", "Did you mean `event`?"),
    ],
)
def test_warnings(source: str, message: str, hint: str | None) -> None:
    warnings = compile_program(source).warnings

    assert len(warnings) == 1
    assert message in warnings[0].message
    assert warnings[0].hint == hint


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ('print("some text")', "single quotes: 'some text'"),
        ('print("text")', "single quotes: 'text'"),
        ("print(`a ${b}`)", "f'{name}'"),
        ("print(undefined)", "`null`"),
        ("console.log(1)", "`print(...)`"),
        ("function f() { return 1 }", "`fun f(x) { ... }`"),
        ("let f := function (x) { return x }", "`x -> { ... }`"),
        ("async fun f() {}", "waits"),
        ("let r := await fetch('https://a')", "waits"),
        ("print(Math.round(1.5))", "`round(x)`"),
        ("print(JSON.stringify(1))", "`jsonStringify(x)`"),
        ("import 'x'", "no imports"),
        ("return None", "`null`"),
    ],
)
def test_names_of_other_languages_warn_with_what_to_write(source: str, hint: str) -> None:
    warning, *_ = compile_program(source).warnings

    assert warning.message.startswith("Unknown ")
    assert hint in str(warning.hint)


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("const y := 5", "`let y := ...`"),
        ("event.properties.a := 1", "`let copy := event`"),
        ("let total := 1; totla := 2", "Did you mean `total`?"),
    ],
)
def test_an_assignment_to_an_undeclared_name_says_how_to_declare_it(source: str, hint: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_program(source)

    assert hint in str(caught.value.hint)


def test_known_names_do_not_warn() -> None:
    assert compile_program("fetch(inputs.url); print(event.x)").warnings == ()
    assert compile_program("mine(x)", known_globals={"mine", "x"}).warnings == ()


@pytest.mark.parametrize("name", ["continue", "break"])
def test_statements_of_other_languages_warn_with_what_to_write_instead(name: str) -> None:
    source = f"for (let i in [1, 2]) {{\n  if (i == 1) {{ {name} }}\n  print(i)\n}}"
    (warning,) = compile_program(source).warnings

    assert warning.message.startswith(f"Hog has no `{name}`: ")
    assert "`if`" in warning.message or "`return`" in warning.message
    assert (warning.line, warning.column) == (2, 17)


def test_names_of_statements_of_other_languages_may_be_declared() -> None:
    program = compile_program("let continue := 1; let break := 2; print(continue + break)")

    assert program.warnings == ()


def test_reads_and_calls_are_collected() -> None:
    program = compile_program("fun f() { return inputs.a } fetch(event.b, f(), arrayMap)")

    assert program.global_reads == {"inputs", "event", "arrayMap"}
    assert program.global_calls == {"fetch"}


def test_captures_pass_through_the_functions_between() -> None:
    program = compile_program("let a := 1 fun f() { fun g() { a := a + 1 } }")
    names = {f.name: [v.name for v in f.captures] for f in program.functions}

    assert names == {"root": [], "f": ["a"], "g": ["a"]}
    assert program.root.variables[0].captured
    assert program.root.variables[0].assigned


def test_functions_see_the_variable_whose_value_they_are_in() -> None:
    program = compile_program("let f := () -> f(); let o := {'f': [() -> o.f]} fun g() { g() }")

    assert program.global_calls == set()
    assert program.global_reads == set()


def test_a_value_outside_of_functions_does_not_see_its_own_variable() -> None:
    program = compile_program("let f := f(1); let g := arrayMap(h -> h, g)")

    assert program.global_calls == {"f", "arrayMap"}
    assert program.global_reads == {"g"}


@pytest.mark.parametrize(
    ("source", "early"),
    [
        ("let f := () -> f()", False),
        ("let f := {'a': [() -> f, (1, () -> f)]}", False),
        ("let f := 1 + g(() -> f)", True),
        ("let f := (() -> f)()", True),
        ("fun g(h) { return h } let f := [g(() -> f)]", True),
        ("let f := g(() -> 1)", False),
        ("let f := () -> g(() -> f)", False),
    ],
)
def test_a_call_in_the_value_may_run_its_functions_early(source: str, early: bool) -> None:
    declared = compile_program(source).root.body.statements[-1]

    assert isinstance(declared, bound.Declare)
    assert declared.early == early


def test_slots_are_shared_by_blocks_that_follow() -> None:
    program = compile_program("fun f(p) { { let a := 1 } { let b := 2 } let c := 3 }")
    function = program.functions[1]

    assert [(v.name, v.slot) for v in function.variables] == [
        ("p", 0),
        ("a", 1),
        ("b", 1),
        ("c", 1),
    ]


def test_single_expression_template_keeps_its_type() -> None:
    assert isinstance(compile_template("{1 + 1}").expression, bound.Arithmetic)
    assert isinstance(compile_template("a{1}").expression, bound.CallGlobal)


def test_expression_refuses_a_second_statement() -> None:
    with pytest.raises(SourceError):
        compile_expression("1; 2")


def test_what_is_nested_too_deeply_is_an_error_not_a_crash() -> None:
    source = "not " * 300 + "1"
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 150)
    try:
        with pytest.raises(SourceError, match="nested too deeply"):
            compile_program(source)
    finally:
        sys.setrecursionlimit(limit)
