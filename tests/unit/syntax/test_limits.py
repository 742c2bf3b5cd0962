"""The limits of docs/spec/hog-language.md#13-parser, at and above the bound."""

import pytest

from hoglet.kit.errors import SourceError
from hoglet.syntax.parse import parse_expression, parse_program, parse_query, parse_template

EDGES = [
    ("parentheses", lambda n: "(" * n + "1" + ")" * n, 64, "64 brackets"),
    ("templates", lambda n: "f'{" * n + "1" + "}'" * n, 64, "64 brackets"),
    ("tags", lambda n: "<a>" * n + "1" + "</a>" * n, 64, "64 brackets"),
    ("dicts as arguments", lambda n: "f({'a':" * n + "1" + "})" * n, 8, "8 braces"),
    ("operators", lambda n: "1" + " + 1" * n, 300, "300 operators"),
    ("calls", lambda n: "f" + "(1)" * n, 300, "300 operators"),
    ("indexes", lambda n: "a" + "[1]" * n, 300, "300 operators"),
    ("nullish", lambda n: "a" + "?.b" * n, 300, "300 operators"),
    ("lambdas", lambda n: "x -> " * n + "1", 300, "300 operators"),
    ("not", lambda n: "not " * n + "1", 300, "300 operators"),
    ("conditions", lambda n: "a ? b : " * n + "1", 300, "300 operators"),
    ("and", lambda n: "a" + " and b" * n, 1000, "1000 and"),
    ("joined text", lambda n: "a" + " || b" * n, 1000, "1000 and"),
    ("heads", lambda n: "if (a) " * n + "b", 100, "100 if"),
    ("else if", lambda n: "if (a) {}" + " else if (a) {}" * n, 300, "300 else if"),
]


@pytest.mark.parametrize(
    ("make", "cap", "named"), [e[1:] for e in EDGES], ids=[e[0] for e in EDGES]
)
def test_cap_holds_at_the_edge_and_refuses_one_more(make, cap: int, named: str) -> None:
    parse_program(make(cap))

    with pytest.raises(SourceError, match=named) as caught:
        parse_program(make(cap + 1))
    assert 0 < caught.value.start < len(make(cap + 1))


def test_length_is_counted_in_bytes() -> None:
    parse_program("'" + "é" * (50 * 1024 - 1) + "'")

    with pytest.raises(SourceError, match="100 KB"):
        parse_program("'" + "é" * (50 * 1024) + "'")


@pytest.mark.parametrize(
    "source",
    [
        "print(1)\n" * 2000,
        "if (a) b\n" * 500,
        "if (a) {} else if (b) {} else {}\n" * 500,
        "let a := [1, 2, {'a': 1}]\n" * 1000,
        "x := 1 + 2;" * 500,
        "f(a, 1 + 1, " + "b + c, " * 400 + "d)",
        "'((((' || \"[[[\" || f'(((((' -- ((((((\n" * 10,
        "// " + "(" * 200,
        "/* " + "[" * 200 + " */ 1",
        "if (a) {b} else {c}\n" * 200,
    ],
)
def test_ordinary_code_is_not_capped(source: str) -> None:
    parse_program(source)


def test_brackets_in_texts_and_comments_do_not_count() -> None:
    parse_program("print('" + "(" * 100 + "', `" + "[" * 100 + "`) # " + "{" * 100)


def test_caps_hold_for_every_kind_of_text() -> None:
    deep = "(" * 65 + "1" + ")" * 65

    for parse, text in [
        (parse_expression, deep),
        (parse_query, f"select {deep}"),
        (parse_template, "{" + deep + "}"),
    ]:
        with pytest.raises(SourceError, match="64 brackets"):
            parse(text)
