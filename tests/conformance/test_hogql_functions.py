"""The example of every allow-listed function runs on a real engine."""

import msgspec
import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.functions import find_function, functions
from support.hogql_world import CONTEXT, HogqlWorld

_GROUPS = 12


@pytest.mark.parametrize("part", range(_GROUPS))
def test_examples_run(part: int, hogql_world: HogqlWorld) -> None:
    failed: list[str] = []
    for function in functions()[part::_GROUPS]:
        try:
            rows = hogql_world.rows(f"SELECT {function.example} FROM numbers(5)")
        except Exception as error:  # noqa: BLE001 (every failure is listed)
            failed.append(f"{function.name}: {str(error)[:200]}")
        else:
            if not rows:
                failed.append(f"{function.name}: no rows")

    assert failed == []


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
    found = find_function(name)

    assert found is not None
    assert found.aggregate
    if example != "finalizeState":
        assert len(hogql_world.rows(f"SELECT {example} FROM numbers(5)")) == 1


@pytest.mark.parametrize("name", ["fileIf", "sleepState", "fooIf", "sumIfNope", "remote", "url"])
def test_no_way_around_the_list(name: str) -> None:
    assert find_function(name) is None


def test_types_that_the_table_promises_fit_what_the_engine_says(hogql_world: HogqlWorld) -> None:
    """Not exact types, but the kind: a promised integer is no text."""
    kinds = {
        "integer": ("Int", "UInt", "Bool"),
        "string": ("String", "UUID", "LowCardinality", "FixedString", "Enum", "Decimal"),
        "datetime": ("DateTime",),
        "array": ("Array", "Tuple"),
    }
    wrong: list[str] = []
    for function in functions():
        compiled = compile_query(f"SELECT {function.example} AS x FROM numbers(5)", context=CONTEXT)
        expected = kinds.get(compiled.columns[0].type)
        if expected is None:
            continue
        wrapped = f"SELECT toTypeName(x) FROM ({compiled.sql}) LIMIT 1"
        typed = msgspec.structs.replace(compiled, sql=wrapped)
        found = hogql_world.raw(typed)[0][0]
        if not found.removeprefix("Nullable(").startswith(expected):
            wrong.append(f"{function.name}: {compiled.columns[0].type} but {found}")

    assert wrong == []
