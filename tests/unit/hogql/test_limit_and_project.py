"""Saved limits and project plans, which no other test covers."""

import re

import msgspec
import pytest

from hoglet.hogql import Limits, QueryContext, compile_query, cut_page
from hoglet.hogql.enforce import enforce
from hoglet.hogql.paging.keyset import RowPage
from hoglet.hogql.paging.limit import ResolvedLimit
from hoglet.hogql.plan import Name, Scan, Value
from hoglet.hogql.types import INTEGER
from hoglet.kit.errors import Bug

CONTEXT = QueryContext(project_id=7)


@pytest.mark.parametrize(
    ("saved", "limit", "offset", "sql_limit", "page", "more"),
    [
        # saved LIMIT, request, rows the SQL asks for, rows of the page, hasMore with all of them
        (10, None, 0, 10, 10, False),
        (10, 4, 0, 5, 4, True),
        (10, 4, 4, 5, 4, True),
        (10, 4, 6, 4, 4, False),
        (10, 4, 8, 2, 2, False),
        (10, 4, 10, 0, 0, False),
        (10, 4, 11, 0, 0, False),
        (10, 10, 0, 10, 10, False),
        (10, 11, 0, 10, 10, False),
        (50_000, None, 0, 50_000, 50_000, False),
        (50_001, None, 0, 50_001, 50_000, True),
        (60_000, 60_000, 0, 50_001, 50_000, True),
    ],
)
def test_a_saved_limit_is_a_ceiling_over_all_pages(
    saved: int, limit: int | None, offset: int, sql_limit: int, page: int, more: bool
) -> None:
    query = f"SELECT number FROM numbers(100000) LIMIT {saved}"
    compiled = compile_query(query, context=CONTEXT, page=RowPage(limit, offset))

    assert bounds_of(compiled.sql) == (sql_limit, offset)
    rows, has_more = cut_page(list(range(sql_limit)), compiled.limits)
    assert (len(rows), has_more) == (page, more)


@pytest.mark.parametrize(
    ("offset", "sql_limit", "skipped"), [(0, 3, 3), (2, 3, 5), (4, 1, 7), (5, 0, 8)]
)
def test_the_offset_of_a_request_adds_to_the_saved_one(
    offset: int, sql_limit: int, skipped: int
) -> None:
    query = "SELECT number FROM numbers(100) LIMIT 5 OFFSET 3"
    compiled = compile_query(query, context=CONTEXT, page=RowPage(2, offset))

    assert bounds_of(compiled.sql) == (sql_limit, skipped)


def bounds_of(sql: str) -> tuple[int, int]:
    """LIMIT and OFFSET of the outermost query, which ends in them."""
    match = re.search(r"LIMIT (\d+)(?: OFFSET (\d+))?\s*(?:SETTINGS.*)?$", sql)
    assert match, sql
    return int(match[1]), int(match[2] or 0)


def test_a_page_beyond_its_end_has_no_more() -> None:
    compiled = compile_query("SELECT number FROM numbers(9)", context=CONTEXT, page=RowPage(5))

    assert cut_page([1, 2, 3, 4, 5], compiled.limits) == ([1, 2, 3, 4, 5], False)
    assert cut_page([1, 2, 3, 4, 5, 6], compiled.limits) == ([1, 2, 3, 4, 5], True)


def test_rows_beyond_a_page_that_was_not_probed_are_no_more() -> None:
    facts = ResolvedLimit(limit=2, saved=2, probing=False)

    assert cut_page([1, 2, 3], facts) == ([1, 2], False)


@pytest.mark.parametrize(
    ("end", "limit", "implicit"),
    [("", None, True), ("", 5, False), (" LIMIT 3", None, False), (" LIMIT 3", 5, False)],
)
def test_a_limit_is_implicit_only_if_nobody_gave_one(
    end: str, limit: int | None, implicit: bool
) -> None:
    query = f"SELECT number FROM numbers(9){end}"

    assert compile_query(query, context=CONTEXT, page=RowPage(limit)).limits.implicit is implicit


def test_ties_are_complete_before_a_page_is_cut() -> None:
    query = "SELECT number FROM numbers(9) ORDER BY number LIMIT 3 WITH TIES"
    compiled = compile_query(query, context=CONTEXT, page=RowPage(2, 1))

    assert "LIMIT 3 WITH TIES)" in compiled.sql
    assert bounds_of(compiled.sql) == (3, 1)


def test_without_a_bound_nothing_is_cut() -> None:
    context = msgspec.structs.replace(CONTEXT, limits=Limits(max_limit=None))
    compiled = compile_query("SELECT number FROM numbers(9)", context=context)

    assert cut_page(list(range(200)), compiled.limits) == (list(range(200)), False)


def scan(project: int | None) -> Scan:
    """A read of events of that project."""
    value = None if project is None else Value(value=project, bind="Project", type=INTEGER)
    return Scan(table="events", columns=(("event", Name(name="event")),), project=value)


def test_a_plan_of_another_project_is_refused() -> None:
    with pytest.raises(Bug, match="another project"):
        enforce(scan(8), CONTEXT)


def test_a_plan_gets_its_project() -> None:
    for given in (scan(None), scan(7)):
        enforced = enforce(given, CONTEXT)
        assert isinstance(enforced, Scan)
        assert isinstance(enforced.project, Value)
        assert enforced.project.value == 7
