"""Rows conform to the OpenAPI documents of endpoints, for every case and function example."""

import asyncio
from typing import Any

import orjson
import pytest
from jsonschema import FormatChecker
from openapi_schema_validator import OAS30Validator

from conformance.test_hogql import ANSWERED, compile_case
from hoglet.endpoints.encoding.json import encode_rows
from hoglet.endpoints.openapi.row_schemas import row_schema
from hoglet.hogql import compile_query
from hoglet.hogql.functions import functions
from support.hogql_cases import Case
from support.hogql_world import CONTEXT, HogqlWorld

_GROUPS = 12
_FORMATS = FormatChecker(["date", "date-time", "uuid"])  # not int64: hashes are beyond it


@pytest.mark.parametrize("case", ANSWERED, ids=repr)
def test_cases(case: Case, hogql_world: HogqlWorld) -> None:
    assert violations(compile_case(case), hogql_world, case.given.get("timezone", "UTC")) == []


@pytest.mark.parametrize("part", range(_GROUPS))
def test_examples(part: int, hogql_world: HogqlWorld) -> None:
    failed: list[str] = []
    for function in functions()[part::_GROUPS]:
        if function.name == "untuple":
            continue  # makes several columns of one, which only the engine can name
        compiled = compile_query(
            f"SELECT {function.example} AS x, toDate('2026-01-05') FROM numbers(5)",
            context=CONTEXT,
        )
        failed += [
            f"{function.name}: {violation}" for violation in violations(compiled, hogql_world)
        ]

    assert failed == []


def violations(compiled: Any, world: HogqlWorld, timezone: str = "UTC") -> list[str]:
    """What the rows hold that their schemas do not allow."""
    answer = asyncio.run(world.warehouse.query(compiled.sql, compiled.params))
    rows = orjson.loads(encode_rows(answer.columns, answer.rows, timezone))
    columns = [{"name": column.name, "type": column.type} for column in compiled.columns]
    types = [column.kind for column in compiled.columns]
    validator = OAS30Validator(row_schema(columns, types), format_checker=_FORMATS)
    cut = [row[: len(columns)] for row in rows]  # without the place of a page
    return [error.message[:200] for row in cut for error in validator.iter_errors(row)]
