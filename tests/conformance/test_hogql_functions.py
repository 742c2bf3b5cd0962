"""The example of every allow-listed function runs on a real engine."""

import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.functions import find_function, functions
from hoglet.hogql.functions.registry import FunctionEntry
from support.hogql_world import CONTEXT, HogqlWorld
from support.row_schemas import violations

_GROUPS = 12
_KINDS = {
    "integer": ("Int", "UInt", "Bool"),
    "string": ("String", "UUID", "LowCardinality", "FixedString", "Enum", "Decimal"),
    "datetime": ("DateTime",),
    "array": ("Array", "Tuple"),
}
"""How the engine's types begin, by the type that the table promises."""


@pytest.mark.parametrize("part", range(_GROUPS))
def test_examples_run(part: int, hogql_world: HogqlWorld) -> None:
    """The values have the type that the table promises, and conform to the OpenAPI document."""
    failed: list[str] = []
    for function in functions()[part::_GROUPS]:
        try:
            problems = problems_of(function, hogql_world)
        except Exception as error:  # noqa: BLE001 (every failure is listed)
            problems = [str(error)[:200]]
        failed += [f"{function.name}: {problem}" for problem in problems]

    assert failed == []


def problems_of(function: FunctionEntry, world: HogqlWorld) -> list[str]:
    if function.name == "untuple":  # makes several columns of one, which only the engine can name
        return [] if world.rows(f"SELECT {function.example} FROM numbers(5)") else ["no rows"]
    query = f"SELECT {function.example} AS x, toDate('2026-01-05') FROM numbers(5)"
    compiled = compile_query(query, context=CONTEXT)
    answer = world.answer(compiled)
    problems = violations(compiled, answer)
    if not answer.rows:
        problems.append("no rows")
    promised, reported = compiled.columns[0].type, answer.columns[0].type
    if not reported.removeprefix("Nullable(").startswith(_KINDS.get(promised, "")):
        problems.append(f"{promised} but {reported}")
    return problems


def test_examples_call_their_function() -> None:
    assert [row.name for row in functions() if f"{row.name}(" not in row.example] == []


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("sumIf", "sumIf(number, number > 1)"),
        ("countIfState", "finalizeState"),
        ("uniqExactArray", "uniqExactArray([number])"),
        ("avgOrNull", "avgOrNull(number)"),
        ("quantileIf", "quantileIf(0.5)(number, number > 1)"),
        ("sumArrayIf", "sumArrayIf([number], number > 1)"),
        ("sumForEach", "sumForEach([number, 1])"),
        ("argMaxIf", "argMaxIf(number, number, number < 3)"),
        ("groupArrayIf", "groupArrayIf(number, number < 3)"),
    ],
)
def test_combinators(name: str, example: str, hogql_world: HogqlWorld) -> None:
    function = find_function(name)

    assert function is not None
    assert function.aggregate
    if example != "finalizeState":
        assert len(hogql_world.rows(f"SELECT {example} FROM numbers(5)")) == 1


@pytest.mark.parametrize("name", ["fileIf", "sleepState", "fooIf", "sumIfNope", "remote", "url"])
def test_no_way_around_the_list(name: str) -> None:
    assert find_function(name) is None
