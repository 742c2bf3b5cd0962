"""Layouts of bytecode: the examples of the specification, and each layout of the format.

Source: docs/spec/hog-language.md#12-bytecode.
"""

import json

import pytest

from hoglet.hog.bytecode import (
    expression_bytecode,
    program_bytecode,
)
from hoglet.hog.compile import (
    bind_expression,
    compile_expression,
    compile_program,
    compile_template,
)
from hoglet.syntax import tree


def program(source: str) -> list:
    return program_bytecode(compile_program(source))[2:]


def expression(source: str) -> list:
    return expression_bytecode(compile_expression(source))[2:]


def test_program_of_the_functions_specification() -> None:
    assert program_bytecode(compile_program("fetch(inputs.url);")) == [
        "_H", 1, 32, "url", 32, "inputs", 1, 2, 2, "fetch", 1, 35,
    ]  # fmt: skip


def test_templates_of_the_functions_specification() -> None:
    assert expression_bytecode(compile_template("{event}")) == ["_H", 1, 32, "event", 1, 1]
    assert expression_bytecode(compile_template("plain")) == ["_H", 1, 32, "plain"]
    assert expression_bytecode(compile_template("v={event.properties.$lib_version}")) == [
        "_H", 1, 32, "v=", 32, "$lib_version", 32, "properties", 32, "event", 1, 3, 2, "concat", 2,
    ]  # fmt: skip


def test_filter_of_the_functions_specification() -> None:
    source = (
        "toString(person.properties.email) not ilike '%@posthog.com%' and (event = '$pageview' "
        "or (event = '$pageview' and properties.$current_url like '%docs%'))"
    )

    assert expression(source) == [
        32, "%@posthog.com%", 32, "email", 32, "properties", 32, "person", 1, 3, 2, "toString", 1,
        20, 32, "$pageview", 32, "event", 1, 1, 11, 32, "$pageview", 32, "event", 1, 1, 11, 32,
        "%docs%", 32, "$current_url", 32, "properties", 1, 2, 17, 3, 2, 4, 2, 3, 2,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "cells"),
    [
        ("1 - 2", [33, 2, 33, 1, 7]),
        ("a.b", [32, "b", 32, "a", 1, 2]),
        ("1.0", [34, 1.0]),
        ("true", [29]),
        ("null", [31]),
        ("inf", [33, 0, 33, 1, 9]),
        ("c ? 1 : 2", [32, "c", 1, 1, 40, 4, 33, 1, 39, 2, 33, 2]),
        ("if(c, 1)", [32, "c", 1, 1, 40, 4, 33, 1, 39, 1, 31]),
        ("a ?? 1", [32, "a", 1, 1, 47, 3, 35, 33, 1]),
        ("2 between 1 and 3", [33, 1, 33, 2, 14, 33, 3, 33, 2, 16, 3, 2]),
        ("2 not between 1 and 3", [33, 1, 33, 2, 15, 33, 3, 33, 2, 13, 4, 2]),
        ("not(1)", [33, 1, 5]),
        ("and(1, 2)", [33, 1, 33, 2, 3, 2]),
        ("and(1)", [33, 1, 2, "and", 1]),
        ("or(1)", [33, 1, 2, "or", 1]),
        ("f(1)(2)", [33, 2, 33, 1, 2, "f", 1, 54, 1]),
        ("(g)(1)", [33, 1, 32, "g", 1, 1, 54, 1]),
        ("a?.b", [32, "a", 1, 1, 32, "b", 48]),
        ("x -> x", [52, "lambda", 1, 0, 3, 36, 0, 38, 53, 0]),
        ("sql(a)", [32, "__hx_ast", 32, "Field", 32, "chain", 32, "a", 43, 1, 42, 2]),
        ("{'a': 1}", [32, "a", 33, 1, 42, 1]),
        ("<a b='c'/>", [32, "__hx_tag", 32, "a", 32, "b", 32, "c", 42, 2]),
    ],
)
def test_expression_layout(source: str, cells: list) -> None:
    assert expression(source) == cells


@pytest.mark.parametrize(
    ("source", "cells"),
    [
        ("let a", [31, 35]),
        ("let a := 1 return a", [33, 1, 36, 0, 38, 35]),
        ("if (1) 2", [33, 1, 40, 3, 33, 2, 35]),
        ("if (1) 2 else 3", [33, 1, 40, 5, 33, 2, 35, 39, 3, 33, 3, 35]),
        ("while (1) 2", [33, 1, 40, 5, 33, 2, 35, 39, -9]),
        ("for (;;) 2", [29, 40, 5, 33, 2, 35, 39, -8]),
        ("let a := {} a.b.c := 1", [42, 0, 36, 0, 32, "b", 45, 32, "c", 33, 1, 46, 35]),
        ("let a := [] a[1] := 2", [43, 0, 36, 0, 33, 1, 33, 2, 46, 35]),
        ("throw 1", [33, 1, 49]),
        (
            "fun f(a) { a }",
            [52, "f", 1, 0, 5, 36, 0, 35, 31, 38, 53, 0, 35],
        ),
        (
            "let n := 1 let f := () -> n",
            [33, 1, 52, "lambda", 0, 1, 3, 55, 0, 38, 53, 1, True, 0, 35, 57],
        ),
        (
            "try { 1 } catch (e: T) { 2 }",
            [50, 7, 33, 1, 35, 51, 39, 21, 36, 0, 32, "type", 45, 32, "T", 36, 1, 11, 40, 5, 33, 2,
             35, 39, 2, 35, 49, 35, 35],
        ),
        (
            "for (let v in xs) 1",
            [32, "xs", 1, 1, 36, 0, 2, "values", 1, 33, 1, 36, 1, 2, "length", 1, 31, 36, 3, 36, 2,
             16, 40, 19, 36, 1, 36, 2, 45, 37, 4, 33, 1, 35, 36, 2, 33, 1, 6, 37, 2, 39, -26, 35,
             35, 35, 35, 35],
        ),
    ],
)  # fmt: skip
def test_statement_layout(source: str, cells: list) -> None:
    assert program(source) == cells


def test_while_loop_jumps_back() -> None:
    cells = program("let i := 0 while (i < 3) { i := i + 1 }")

    assert cells[cells.index(39) + 1] < 0


def test_bytecode_is_json_and_deterministic() -> None:
    source = "let f := (a) -> { let g := () -> a; return g } print(f(inf)()(), nan, 1.5)"
    first, second = (json.dumps(program(source), allow_nan=False) for _ in range(2))

    assert first == second


def test_built_trees_print_like_written_ones() -> None:
    built = tree.CompareOperation(
        left=tree.Field(chain=("event",)), right=tree.Constant(value="$pageview"), op="=="
    )

    assert expression_bytecode(bind_expression(built))[2:] == expression("event = '$pageview'")


def test_long_chains_do_not_need_deep_calls() -> None:
    assert len(expression("1" + " + 1" * 300)) == 301 * 2 + 300
