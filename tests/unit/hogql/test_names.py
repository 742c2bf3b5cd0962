"""Unusual quoted names everywhere: they compile, or are refused with a position."""

import itertools
from collections.abc import Callable

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.run_to_end import run_program
from hoglet.hogql import compile_query
from hoglet.hogql.filters.properties import conditions
from hoglet.hogql.frontend.preprocess import read_query
from hoglet.kit.errors import SourceError
from support.hogql_world import CONTEXT

EMPTY = ("``", '""', "`\\0`", '"\\0\\0"')
ODD = (
    "` `", "`a``b`", '"a""b"', "`\\``", "`\0`", "`a\\0b`", "`.`", "`a.b`", "`*`", "`é`", "`😀`",
    "`\\n`", "`%`", "`{x}`", "`" + "x" * 300 + "`", "`$`", "`1`", "`-`", "`'`", '`"`', "`select`",
    "`a\nb`", "`\\x`", "`?`", "`;`", "`--`", "`/*`", "`__x`", "`null`",
)  # fmt: skip
QUERIES = (
    "select properties.NAME from events",
    "select properties.NAME.NAME as x from events",
    "select properties.a.NAME from events",
    "select properties[NAME] from events",
    "select person.properties.NAME from events",
    "select group_0.properties.NAME from events",
    "select properties.NAME from persons",
    "select NAME from events",
    "select e.NAME from events e",
    "select NAME.event from events",
    "select NAME(1)",
    "select 1 as NAME",
    "select * from NAME",
    "select 1 from events as NAME",
    "select 1 from (select 1 as NAME) as NAME",
    "select NAME.NAME from (select 1 as NAME) as NAME",
    "select t.NAME from (select properties.NAME from events) t",
    "with NAME as (select 1) select * from NAME",
    "with 1 as NAME select NAME",
    "select arrayMap(NAME -> NAME, [1])",
    "select sum(1) over NAME from events window NAME as ()",
    "select 1 from events array join [1] as NAME",
    "select properties.NAME as NAME, count() from events group by NAME order by NAME",
    "select * exclude NAME from events",
    "select {NAME}",
    "select {variables.NAME}",
    "select cast(1 as NAME)",
    "select 1 from events join persons NAME on NAME.id = person_id",
    "select 1 from events where NAME = 1 limit 1 by NAME",
    "select 1 union all select NAME",
)
PROGRAMS = (
    "let NAME := 1; return NAME",
    "return event.properties.NAME",
    "return event.properties?.NAME",
    "fun NAME() { return 1 } return NAME()",
    "fun f(NAME) { return NAME } return f(1)",
    "return (NAME -> NAME)(1)",
    "for (let NAME in [1]) { print(NAME) }",
    "try { throw Error('x') } catch (NAME) { return 1 }",
    "return {NAME: 1}",
    "return f'{NAME}'",
    "return NAME()",
)


def refusal(compile_text: Callable[[str], object], text: str) -> SourceError | None:
    """The error that a text is refused with; any other exception fails the test."""
    try:
        compile_text(text)
    except SourceError as error:
        return error
    except Exception as error:
        error.add_note(f"in: {text}")
        raise
    return None


def compile_sql(text: str) -> object:
    return compile_query(read_query(text), context=CONTEXT)


def is_placed(error: SourceError, text: str) -> bool:
    return 1 <= error.line <= text.count("\n") + 1 and error.column >= 1


@pytest.mark.parametrize("query", QUERIES)
def test_an_odd_name_compiles_or_is_refused_with_a_place(query: str) -> None:
    for name in ODD:
        text = query.replace("NAME", name)
        error = refusal(compile_sql, text)

        assert error is None or is_placed(error, text), text


@pytest.mark.parametrize(("query", "name"), list(itertools.product(QUERIES, EMPTY)))
def test_an_empty_name_is_refused_where_it_stands(query: str, name: str) -> None:
    text = query.replace("NAME", name)
    with pytest.raises(SourceError) as caught:
        compile_query(read_query(text), context=CONTEXT)

    error = caught.value
    if "must not be empty" in error.message:
        assert text[error.start : error.end] == name
        assert error.error_code == "hogql_syntax_error"
    else:  # the parser stopped before
        assert is_placed(error, text)


@pytest.mark.parametrize(
    "text",
    [
        "select '``', '\"\"', 'it''s ``' from events",
        "select `a``b` from (select 1 as `a``b`)",
        "select '' as a, concat('', 'as', '') as 'b'",
        "select 1 -- ``\n",
        'select 1 /* "" */',
    ],
)
def test_quotes_in_text_names_and_comments_are_no_empty_names(text: str) -> None:
    compile_query(read_query(text), context=CONTEXT)


@pytest.mark.parametrize("name", ["''", "'\\0'"])
@pytest.mark.parametrize(
    "query", ["select 1 as NAME", "select (select count() AS /* no name */ NAME from events)"]
)
def test_an_empty_text_is_refused_as_a_name(query: str, name: str) -> None:
    text = query.replace("NAME", name)
    with pytest.raises(SourceError, match="A quoted name must not be empty") as caught:
        compile_query(read_query(text), context=CONTEXT)

    assert text[caught.value.start : caught.value.end] == name


def test_an_empty_name_in_the_expression_of_a_filter_is_refused() -> None:
    with pytest.raises(SourceError) as caught:
        conditions([{"type": "hogql", "key": "properties.`` = 1"}], CONTEXT, ())

    assert caught.value.attr == "properties__0__key"
    assert caught.value.message.startswith("1:12: ")


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_odd_name_in_hog_runs_or_is_refused_with_a_place(program: str) -> None:
    for name in (*ODD, *EMPTY):
        text = program.replace("NAME", name)
        error = refusal(compile_program, text)
        if error is not None:
            assert is_placed(error, text), text
            continue
        outcome = run_program(text, globals={"event": {"properties": {}}}, budget=Budget())
        assert outcome.error is None or "internal" not in outcome.error.text.lower(), text
