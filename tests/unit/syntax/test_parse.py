"""Positions and errors of the parser."""

import pytest

from hoglet.kit.errors import SourceError
from hoglet.syntax import (
    parse_expression,
    parse_program,
    parse_query,
    parse_template,
    tree,
)


def test_error_has_line_column_and_span() -> None:
    with pytest.raises(SourceError) as caught:
        parse_program("let a := 1\n  let é := 2")

    error = caught.value
    assert (error.line, error.column, error.start, error.end) == (2, 7, 17, 18)
    assert str(error).startswith("2:7: ")


@pytest.mark.parametrize("parse", [parse_program, parse_expression, parse_query, parse_template])
def test_lone_surrogate_is_a_syntax_error(parse) -> None:
    with pytest.raises(SourceError, match="surrogate") as caught:
        parse("a\n b\ud800")

    assert (caught.value.line, caught.value.column) == (2, 3)


def test_template_of_one_part_is_the_bare_expression() -> None:
    parsed = parse_template("{event.name}")

    assert isinstance(parsed, tree.Field)
    assert parsed.chain == ("event", "name")
    assert parsed.start == tree.Position(line=1, column=1, offset=1)


def test_template_of_text_is_a_constant() -> None:
    parsed = parse_template("it's plain")

    assert isinstance(parsed, tree.Constant)
    assert parsed.value == "it's plain"


def test_template_positions_are_those_of_the_text() -> None:
    text = "one {a}\ntwo {b.c}"
    parsed = parse_template(text)

    assert isinstance(parsed, tree.Call)
    last = parsed.args[-1]
    assert last.start is not None
    assert last.end is not None
    assert text[last.start.offset : last.end.offset] == "b.c"
    assert (last.start.line, last.start.column) == (2, 5)


def test_template_error_is_placed_in_the_text() -> None:
    with pytest.raises(SourceError) as caught:
        parse_template("ab {a +}")

    assert caught.value.start == 7


def test_empty_template_is_the_empty_text() -> None:
    parsed = parse_template("")

    assert isinstance(parsed, tree.Constant)
    assert parsed.value == ""


@pytest.mark.parametrize("text", ["{", "{a", "{}", "{1 +}", "a {b", "{f'{'}"])
def test_broken_templates_are_refused(text: str) -> None:
    with pytest.raises(SourceError):
        parse_template(text)


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("let a = 1", "`:=` assigns"),
        ("let f := (x) => x", "x -> ..."),
        ("if (a && b) {}", "`and`"),
        ("print(!a)", "`not x`"),
        ("a++", "a + 1".replace("a", "x")),
        ("let é := 1", "backticks"),
        ("print(a at time zone 1)", "toTimeZone"),
        ("print(1", None),
    ],
)
def test_hints_for_habits_of_other_languages(source: str, hint: str | None) -> None:
    with pytest.raises(SourceError) as caught:
        parse_program(source)

    assert (caught.value.hint is None) == (hint is None)
    assert hint is None or hint in str(caught.value.hint)
