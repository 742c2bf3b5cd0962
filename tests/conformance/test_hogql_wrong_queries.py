"""Invalid queries: code, position and message, whichever stage finds the error.

``hogql/wrong_queries.txt`` holds a query in a line, and below it who refuses it (``compiled`` or
``run``), the code, the characters at fault and the message. Nothing of the engine's or hoglet's
inside may show: neither names of columns that hoglet made, nor types and functions of the engine.
"""

# ruff: noqa: E501 (a query reads best on one line)
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hoglet.endpoints.worker.query_errors import as_query_error
from hoglet.hogql import compile_query
from hoglet.hogql.diagnostics.engine_errors import explain, problem_of
from hoglet.hogql.frontend.preprocess import read_query
from hoglet.hogql.functions import functions
from hoglet.kit.errors import SourceError
from hoglet.warehouse.errors import QueryRefused
from support.hogql_world import CONTEXT, HogqlWorld
from support.seeds import thinned

_FILE = Path(__file__).parent / "hogql" / "wrong_queries.txt"
_LINE = re.compile(r"  (?P<who>compiled|run) (?P<code>\w+) `(?P<at>.*?)`: (?P<message>.*)")
INSIDE = re.compile(
    r"__|DB::|\b_?CAST\(|BestEffort|accurateCast|_json\b|project_id|ifNull\(|assumeNotNull|"
    r"OrNull\(|Nullable|LowCardinality|hoglet|U?Int(?:8|16|32|64|128)\b|DateTime64|Float64|"
    r"supertype|re2|github|[Ww]hile executing|In scope|Exception|setting|\bq0\b|Const\(|_String\b"
)


def read() -> Iterator[tuple[str, re.Match[str]]]:
    """Queries and what is expected of them."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    for query, expected in zip(lines[::2], lines[1::2], strict=True):
        match = _LINE.fullmatch(expected)
        assert match is not None, expected
        yield query, match


CASES = list(read())


def error_of(query: str, world: HogqlWorld) -> tuple[str, SourceError] | None:
    """The part that refuses the query, and its error; None if the query is accepted."""
    try:
        compiled = compile_query(query, context=CONTEXT)
    except SourceError as error:
        return "compiled", error
    try:
        world.run(compiled)
    except QueryRefused as error:
        return "run", explain(error.detail, error.error_code, read_query(query))
    return None


def test_there_are_enough() -> None:
    assert len(CASES) > 380
    assert sum(not expected["at"] for _, expected in CASES) < 20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_wrong_query(case: tuple[str, re.Match[str]], hogql_world: HogqlWorld) -> None:
    query, expected = case
    message = error_of(query, hogql_world)
    assert message is not None
    who, error = message

    assert (who, error.error_code) == (expected["who"], expected["code"])
    assert query[error.start : error.end] == expected["at"]
    assert error.message == expected["message"]
    assert not INSIDE.search(error.advice), error.advice
    assert not error.advice.endswith("?."), error.advice
    problem = problem_of(error, query)
    if expected["at"]:
        assert query[problem.start : problem.end] == expected["at"]
        position = f"{error.line}:{error.column}: "
        assert str(as_query_error(error)).startswith(position)
    elif error.end == 0:
        assert (problem.start, problem.end) == (0, len(query))
        assert not str(as_query_error(error)).startswith("1:1")


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("select event form events", "did you mean FROM instead of 'form'?"),
        ("select count() last from events", "write AS before the name: AS last"),
        ("select x from (select count() time from events)", "write AS before the name: AS time"),
        ("select event from events wehre event = 'x'", "did you mean WHERE instead of 'wehre'?"),
        ("select event from events gruop by event", "did you mean GROUP instead of 'gruop'?"),
        ("select event from events oder by event", "did you mean ORDER instead of 'oder'?"),
        ("select event from events limt 5", "did you mean LIMIT instead of 'limt'?"),
        ("selct event from events", "did you mean SELECT instead of 'selct'?"),
        ("drop table events", "queries only read: SELECT event FROM events"),
        ("select case when event = 'a' then 1 from events", "write CASE WHEN a THEN b ELSE c END"),
        ("select toStartOfInterval(timestamp, 5 minute) from events", "write INTERVAL 5 MINUTE"),
        ("select event from events where event like %a%", "write event LIKE '%a%', the pattern as a string"),
        ("select event from events where event = any(['a'])", "= ANY (...) is written event IN ('a', 'b')"),
        ("select now() - '7 days'", "write interval 7 day"),
        ("select neighbor(event, -1) from events", "use lagInFrame(x) OVER (ORDER BY timestamp)"),
        ("select event from events where timestamp < tomorrow()", "use today() + 1"),
        ("select 1 except distinct select 2", "write SELECT DISTINCT x ... EXCEPT SELECT y"),
        ("select min(timestamp) first, max(timestamp) last from events", "write AS before the name: AS last"),
        ("select lag(event) over () as p, count() from events group by p", "compute it in a subquery in FROM"),
        ("select sum(row_number() over ()) from events", "compute it in a subquery in FROM"),
        ("select event, count() as n, n > 1 as many from events group by event, many", "compute it in a subquery in FROM"),
        ("select event, row_number() over () as r from events where r = 1", "use QUALIFY, which filters by window functions"),
        ("select event, row_number() over () as r from events having r = 1", "use QUALIFY, which filters by window functions"),
        ("select quantile(properties.price, 0.5) from events", "constants come first, in brackets of their own: quantile(0.9)(x)"),
        ("select p95(properties.price) from events", "use quantile(0.95)(x)"),
        ("select percentile(properties.price, 0.5) from events", "use quantile(0.9)(x)"),
        ("select timestamp + interval '1 day 2 hours' from events", "write interval 1 day + interval 2 hour"),
        ("select map(properties.$browser, 1) from events", "use ifNull(x, '')"),
        ("select sumMap(map(properties.$browser, 1)) from events", "use ifNull(x, '')"),
        ("select mapFromArrays([properties.$browser], [1]) from events", "use ifNull(x, '')"),
        ("select arrayFold((a, x) -> a + x, [1, 2], 0)", "begin with the type of the lambda's result: toInt(0), toFloat(0)"),
        ("select arrayFold((a, x) -> (a.1 + x, a.2), [1], (0, 0))", "begin with the type of the lambda's result: toInt(0), toFloat(0)"),
        ("select e from events, unnest(['a']) as t", "write ARRAY JOIN list AS item"),
        ("select e from events lateral view explode(properties.tags) t as e", "write ARRAY JOIN list AS item"),
        ("select 1 from events a left join lateral (select 1) b on true", "write (SELECT ...) as a column, which can use columns of the outer query"),
        ("explain select 1", "run SELECT with explain: true, which adds its plan"),
        ("show tables", "a DatabaseSchemaQuery lists tables and fields"),
        ("describe events", "a DatabaseSchemaQuery lists tables and fields"),
        ("select table_name from information_schema.tables", "a DatabaseSchemaQuery lists tables and fields"),
        ("select repeat('x', properties.price) from events", "use toInt(x)"),
        ("select [1, 2][properties.price] from events", "use toInt(x)"),
        ("select groupBitAnd(properties.price) from events", "use toInt(x)"),
        ("select substringIndex('a.b', '.', properties.price) from events", "use toInt(x)"),
        ("select bitAnd(properties.price, 1) from events", "use toInt(x)"),
        ("select lpad('1', properties.price, '0') from events", "use abs(toInt(x))"),
        ("select width_bucket(1, 0, 9, toInt(properties.price)) from events", "use abs(toInt(x))"),
        ("select arrayWithConstant(toInt(properties.price), 'a') from events", "use coalesce(x, 0)"),
        ("select lag(event, properties.price) over () from events", "use coalesce(toInt(x), 1)"),
        ("select (select 1 as x), (select 2 x y)", None),
        ("select a = from events", None),
        ("select else from events group", None),
        ("select event, orders is 5 from events", None),
    ],
)  # fmt: skip
def test_hints(query: str, hint: str | None, hogql_world: HogqlWorld) -> None:
    error = error_of(query, hogql_world)

    assert error is not None
    assert error[1].hint == hint


def test_places_count_characters(hogql_world: HogqlWorld) -> None:
    query = "select 'ä😀', sum(event)\nfrom events"
    error = error_of(query, hogql_world)

    assert error is not None
    assert query[error[1].start : error[1].end] == "sum(event)"
    assert (error[1].line, error[1].column) == (1, 14)


ARGUMENTS = ("5", "'a'", "[1]", "now()", "null", "(1, 'b')", "map('a', 1)", "toDate('2026-01-05')",
             "1.5", "x -> x", "event", "properties.price", "true", "interval 1 day")  # fmt: skip


@pytest.mark.parametrize("seed", thinned(range(3), 3))
def test_wrong_arguments_show_nothing_of_the_inside(seed: int, hogql_world: HogqlWorld) -> None:
    """Every function with arguments of random kinds and numbers."""
    chosen = random.Random(seed)  # noqa: S311 (a test)
    messages: dict[str, str] = {}
    for function in functions()[seed::3]:
        count = chosen.randint(0, 4)
        args = ", ".join(chosen.choice(ARGUMENTS) for _ in range(count))
        query = f"select {function.name}({args}) from events limit 1"
        error = error_of(query, hogql_world)
        if error is not None and INSIDE.search(error[1].advice.replace(function.name, "")):
            messages[query] = error[1].advice
    assert messages == {}
