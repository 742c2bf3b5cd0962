"""Positions and errors of the parser."""

from collections.abc import Callable

import pytest

from hoglet.kit.errors import SourceError
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_expression, parse_program, parse_query, parse_template


def test_error_has_line_column_and_span() -> None:
    with pytest.raises(SourceError) as caught:
        parse_program("let a := 1\n  let é := 2")

    error = caught.value
    assert (error.line, error.column, error.start, error.end) == (2, 7, 17, 18)
    assert str(error).startswith("2:7: ")


@pytest.mark.parametrize(
    ("source", "position"),
    [
        ("if (a) {\n  throw Error('x')\n  let b := := 2\n}", "3:12: "),
        ("if (a) {\n  print('🦔')\n  let b := 2 +\n}", "4:2: "),
        ("if (a) {\n  return f(x)\n  print(1\n}\nprint(2)", "4:1: "),
        ("if (a) { b() } else {\n  let c := 1\n  print(c +)\n}", "3:11: "),
        ("fun f() {\n  while (a) {\n    if (b) {\n      c()\n      d := := 2\n    }}}", "5:12: "),
        ("for (let i := 0; i < 3; i := i + 1) {\n  let x := 1\n  x := )\n}", "3:8: "),
        ("for (let i := 0; i < 3 i := i + 1) {\n  let x := 1\n}", "1:6: "),
        ("try {\n  a()\n} catch (e) {\n  b()\n  print(e +)\n}", "5:11: "),
        ("let f := x -> {\n  print(1)\n  print(1 +)\n}", "3:11: "),
        ("if (a) {\n  b()\n  let c := {'d': 1,, }\n}", "3:20: "),
        ("if (a) {\n  b()\n  c()", "3:6: "),
        ("if (a) { b() }\nprint(1 +)\nif (a) { b() }", "2:9: "),
    ],
)
def test_an_error_in_a_block_is_at_its_statement(source: str, position: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_program(source)

    assert str(caught.value).startswith(position)


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
        ("if (a === b) {}", "`==`"),
        ("if (a !== b) {}", "`!=`"),
        ("x += 1", "`x := x + 1`"),
        ("x -= 1", "`x := x - 1`"),
        ("for (let x of [1]) {}", "`for (let x in list)`"),
        ("let f := fun (x) { return x }", "`x -> { ... }`"),
        ('print(f"{a}")', "single quotes"),
    ],
)
def test_hints_for_habits_of_other_languages(source: str, hint: str | None) -> None:
    with pytest.raises(SourceError) as caught:
        parse_program(source)

    assert (caught.value.hint is None) == (hint is None)
    assert hint is None or hint in str(caught.value.hint)


@pytest.mark.parametrize(
    ("parse", "source", "column"),
    [
        (parse_program, "print(a and b, !c)", 16),
        (parse_program, "if (a and b and !c) {}", 17),
        (parse_program, "let x := [a or 'it is', b & c]", 27),
        (parse_program, "print(f'{a and b}' and !c, f'{1}')", 24),
        (parse_program, "fun f(a) { return g(a and 1, !a) }", 30),
        (parse_query, "select count() from events where a and b and !c", 46),
        (parse_query, "select a and 'x & y', c && d from events", 25),
    ],
)
def test_a_sign_that_the_language_lacks_is_where_the_error_is(
    parse: Callable[[str], object], source: str, column: int
) -> None:
    with pytest.raises(SourceError) as caught:
        parse(source)

    assert caught.value.message.startswith("unexpected character")
    assert caught.value.column == column
    assert caught.value.hint


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("select top 5 event from events", "LIMIT 5"),
        ("select count(distinct event) over () from events", "uniqExact"),
        ("select * from (values (1))", "UNION ALL"),
    ],
)
def test_unsupported_clauses_name_what_to_write_instead(query: str, hint: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_query(query)

    assert hint in str(caught.value.hint)
