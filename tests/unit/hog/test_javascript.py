"""Forms of docs/spec/hog-language.md#14-javascript, and the names of variables."""

import subprocess

import pytest

from hoglet.hog.compile import compile_expression, compile_program
from hoglet.hog.javascript import (
    expression_javascript,
    program_javascript,
    template_javascript,
)
from hoglet.hog.javascript.library import helpers, library_source, with_needs
from support.oracle import need, node, why_no_node


def code(source: str) -> str:
    return expression_javascript(compile_expression(source)).code


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 + 2", "(1 + 2)"),
        ("1 < 2", "__lt(1, 2)"),
        ("1 and 2", "!!(1 && 2)"),
        ("not 1", "(!1)"),
        ("1 = 2", "(1 == 2)"),
        ("1 != 2", "(1 != 2)"),
        ("1 in [1]", "([1].includes(1))"),
        ("a.b", '__getProperty(__getGlobal("a"), "b", true)'),
        ("[1][1]", "__getProperty([1], 1, false)"),
        ("a?.b", '__getProperty(__getGlobal("a"), "b", true)'),
        ("1 ? 2 : 3", "(1 ? 2 : 3)"),
        ("if(1, 2)", "(1 ? 2 : null)"),
        ("1 ?? 2", "(1 ?? 2)"),
        ("{'k': 1, 2: 3}", '{"k": 1, [2]: 3}'),
        ("(1, 2)", "tuple(1, 2)"),
        ("x -> x", "__lambda((x) => x)"),
        ("x -> {'a': x}", '__lambda((x) => ({"a": x}))'),
        ("sql(a)", '{"__hx_ast": "Field", "chain": ["a"]}'),
        ("<a b='c'/>", '{"__hx_tag": "a", "b": "c"}'),
        ("nothing(1)", "nothing(1)"),
        ("typeof(1)", "__x_typeof(1)"),
        ("'</script>'", '"<\\/script>"'),
    ],
)
def test_expression(source: str, expected: str) -> None:
    assert code(source) == expected


def test_template_of_the_functions_specification() -> None:
    printed = template_javascript("Hello, TypeScript {arrayMap(a -> a, [1, 2, 3])}!")

    assert printed.code == (
        'concat("Hello, TypeScript ", arrayMap(__lambda((a) => a), [1, 2, 3]), "!")'
    )
    assert set(printed.helpers) == {"__lambda", "arrayMap", "concat"}


def test_reserved_and_helper_names_get_a_prefix() -> None:
    text = program_javascript(compile_program("let class := 1 let __x_a := class let concat := 2"))

    assert text.endswith("let __x_class = 1;\nlet __x___x_a = __x_class;\nlet __x_concat = 2;\n")


def test_catch_takes_its_type_only() -> None:
    text = program_javascript(compile_program("try { f() } catch (e: T) { g(e) }"))

    assert 'if (__error.type === "T") {' in text
    assert "let e = __error;" in text
    assert "else { throw __error; }" in text


def test_print_formats_nothing() -> None:
    need(why_no_node())
    text = program_javascript(compile_program("print('%s and 100%', 1)"))
    ran = subprocess.run([str(node()), "-e", text], capture_output=True, text=True, check=True)

    assert ran.stdout == "%s and 100% 1\n"


def test_only_needed_helpers_are_given() -> None:
    assert set(with_needs(["__lt"])).isdisjoint({"less", "length", "values", "trim", "not"})
    assert with_needs(["tuple"]) == ("tuple",)
    assert "__STLToString" in with_needs(["concat"])
    assert library_source(["nothing of ours"]) == ""
    assert set(with_needs(helpers())) == set(helpers())
