"""Runs every example of docs/hog-language.md and compares it with the comments beside it.

A line of output is ``// → text``. ``// error: text`` is an uncaught error, ``// compile error 1:5:
text`` one of the compiler, ``// warning`` says that compiling warns; ``*`` is any text.
"""

import re
from pathlib import Path

import msgspec
import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.run_to_end import run_program
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_program

PAGE = (Path(__file__).parents[2] / "docs" / "hog-language.md").read_text()
BLOCK = re.compile(r"^```hog\n(.*?)^```", re.DOTALL | re.MULTILINE)
GLOBALS = {
    "event": {
        "event": "plan_chosen",
        "uuid": "0199c7b2-0000-7000-8000-000000000001",
        "distinct_id": "ada",
        "properties": {"plan": "pro"},
    }
}


class Expected(msgspec.Struct):
    """What the comments of an example say."""

    lines: list[str]
    error: str | None
    compile_error: str | None
    warns: bool


def _comment(source: str, marker: str) -> list[str]:
    return [text.rstrip() for text in re.findall(rf"// {marker}(.*)$", source, re.MULTILINE)]


def _expected(source: str) -> Expected:
    return Expected(
        lines=[line.removeprefix(" ") for line in _comment(source, "→")],
        error=next(iter(_comment(source, "error: ")), None),
        compile_error=next(iter(_comment(source, "compile error ")), None),
        warns=bool(_comment(source, "warning$")),
    )


EXAMPLES = [
    pytest.param(match[1], id=f"line-{PAGE.count('\n', 0, match.start()) + 2}")
    for match in BLOCK.finditer(PAGE)
]


def _fetch(url: str, options: dict[str, object] | None = None) -> dict[str, object]:
    return {"status": 201, "body": {"id": 7}}


@pytest.mark.parametrize("source", EXAMPLES)
def test_an_example_prints_what_stands_beside_it(source: str) -> None:
    expected = _expected(source)
    if expected.compile_error is not None:
        with pytest.raises(SourceError) as caught:
            compile_program(source)
        assert str(caught.value) == expected.compile_error
        return

    ran = run_program(
        source, globals=GLOBALS, functions={"fetch": _fetch}, async_functions={"fetch"}
    )

    assert bool(compile_program(source).warnings) == expected.warns
    assert ran.lines == expected.lines
    if expected.error == "*":
        assert ran.error is not None
    else:
        assert (ran.error.text if ran.error else None) == expected.error


MISTAKES = {
    "a = 1": ("let a := 0\na = 1\nprint(a)", "0"),
    "'a' + 'b'": ("print('a' + 'b')", "NaN"),
    '"text"': ('print("text")', "Global variable not found: text"),
    "{key: 1}": ("let key := 'k'\nprint({key: 1})", "{'k': 1}"),
    "xs[0]": ("let xs := [1]\nprint(xs[0])", "2:7: Array access starts from 1"),
    "for (x in xs)": ("let xs := [1]\nfor (x in xs) { print(x) }", "Global variable not found: x"),
    "a and f()": ("fun f() { print('runs') }\nfalse and f()", "runs"),
    "break": ("while (true) { break }", "Global variable not found: break"),
}


@pytest.mark.parametrize("written", MISTAKES)
def test_a_common_mistake_does_what_the_table_says(written: str) -> None:
    source, result = MISTAKES[written]
    try:
        ran = run_program(source)
    except SourceError as error:
        printed = str(error)
    else:
        printed = ran.error.text if ran.error else "\n".join(ran.lines)

    assert printed == result
    assert f"| `{written}" in PAGE


def test_every_common_mistake_is_tried() -> None:
    table = PAGE.split("## Common mistakes")[1]

    assert len(re.findall(r"^\| `", table, re.MULTILINE)) == len(MISTAKES)


def test_no_example_is_without_a_result() -> None:
    examples = BLOCK.findall(PAGE)
    silent = [source for source in examples if "// →" not in source and "error" not in source]

    assert len(examples) > 40
    assert silent == []
    assert PAGE.count("```hog") == len(examples)


def _statements(source: str) -> set[str]:
    try:
        return set(re.findall(r"\b(\w+)\(", repr(parse_program(source))))
    except SourceError:
        return set()


STATEMENTS = {
    tree.Block,
    tree.ExprStatement,
    tree.ForInStatement,
    tree.ForStatement,
    tree.Function,
    tree.IfStatement,
    tree.ReturnStatement,
    tree.ThrowStatement,
    tree.TryCatchStatement,
    tree.VariableAssignment,
    tree.VariableDeclaration,
    tree.WhileStatement,
}


def test_the_examples_have_every_statement() -> None:
    statements = set().union(*map(_statements, BLOCK.findall(PAGE)))

    assert {node.__name__ for node in STATEMENTS} - statements == set()


def test_the_examples_have_every_type() -> None:
    types = "null boolean integer float string array tuple object function date datetime error sql"
    rows = re.findall(r"print\(typeof.*// → (.*)$", PAGE, re.MULTILINE)

    assert sorted(" ".join(rows).split()) == sorted(types.split())
