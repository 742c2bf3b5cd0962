"""Statements as people write them give what plain Python computes from the same events."""

from typing import Any

import msgspec
import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from support.hogql_generated import CONTEXT
from support.hogql_world import HogqlWorld, plain
from support.seeds import thinned
from support.statements import Statement, read_statements

STATEMENTS = read_statements()
PINNED = msgspec.structs.replace(CONTEXT, is_now_pinned=True)


def answer(world: HogqlWorld, statement: Statement, *, is_sharded: bool = False) -> Any:
    """The rows of a query, or what a case looks at in the answer of an insight."""
    zone = statement.zone
    context = msgspec.structs.replace(PINNED, timezone=zone, is_sharded=is_sharded)
    body = statement.insight
    if body is None:
        return world.rows(statement.query, context=context)
    plan = build_insight(body, context)
    parts = [world.raw(compile_query(each, context=context)) for each in plan.queries]
    return statement.compared(plan.shape(parts))


@pytest.mark.parametrize("statement", thinned(STATEMENTS, 2), ids=repr)
def test_answer_is_what_python_computes(statement: Statement, generated_world: HogqlWorld) -> None:
    assert_expected(answer(generated_world, statement), statement)


@pytest.mark.slow
def test_answers_are_the_same_from_shards(generated_world: HogqlWorld) -> None:
    for statement in STATEMENTS:
        assert_expected(answer(generated_world, statement, is_sharded=True), statement)


def assert_expected(actual: Any, statement: Statement) -> None:
    """Compare rows in their order where the statement gives one."""
    expected = statement.expected()
    if statement.insight is None:
        expected = plain(list(expected))
        if not statement.is_ordered:
            actual, expected = sorted(actual, key=repr), sorted(expected, key=repr)

    assert _rounded(actual) == _rounded(expected)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return value
