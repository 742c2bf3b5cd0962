"""Property filter cases from ``operators.yaml``, evaluated by every engine."""

import asyncio
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from hoglet.functions.filters.build import build_filter
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.filters.javascript import for_browsers
from hoglet.functions.runtime import engine
from hoglet.hog.compile import bind_program
from hoglet.hog.javascript import program_javascript
from hoglet.hogql import QueryContext, compile_query
from hoglet.syntax import tree
from hoglet.warehouse import ClickHouseWarehouse
from support.oracle import Server, need, why_no_node
from support.yaml_tables import read_table

TABLE = Path(__file__).parent.parent / "conformance" / "filters" / "operators.yaml"
NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
PROJECT = 880_031


_ENGINES = ("functions", "browsers", "queries")


@dataclass(frozen=True)
class FilterCase:
    """A filter on the property ``k`` and the names of the values that match it.

    ``functions``, ``browsers`` and ``queries`` differ only where ``why`` says so.
    """

    operator: str | None
    value: Any
    functions: frozenset[str]
    browsers: frozenset[str]
    queries: frozenset[str]
    why: str | None
    type: str | None

    def __repr__(self) -> str:
        kind = f" of a {self.type}" if self.type else ""
        return f"{self.operator} {json.dumps(self.value)}{kind}"

    @property
    def item(self) -> dict[str, Any]:
        operator = {} if self.operator is None else {"operator": self.operator}
        return {"key": "k", "type": "event", "value": self.value, **operator}


def values() -> dict[str, dict[str, Any]]:
    """The properties of each event by its name."""
    return read_table(TABLE)["values"]


def filter_cases() -> list[FilterCase]:
    """Every case of the table."""
    return [_case(row) for row in read_table(TABLE)["cases"]]


def _case(row: dict[str, Any]) -> FilterCase:
    names = set(values())
    keys = [key for key in _ENGINES if key in row]
    if ("why" in row) != bool(keys):
        raise ValueError(f"differences need a reason: {row}")
    usual = _names(row["finds" if "finds" in row else "functions"], names)
    expectations = [_names(row[key], names) if key in row else usual for key in _ENGINES]
    return FilterCase(row["operator"], row["value"], *expectations, row.get("why"), row.get("type"))


def _names(text: str, names: set[str]) -> frozenset[str]:
    """``a b``, ``all``, or ``all but a b``."""
    words = text.split()
    inverted = words[:1] == ["all"]
    listed = frozenset(word for word in words if word not in {"all", "but"})
    if not listed <= names:
        raise ValueError(f"unknown values: {listed - names}")
    return frozenset(names - listed) if inverted else listed


def condition_of(case: FilterCase) -> "tree.Expression":
    """The filter as compiled for a function."""
    booleans = ["event:k"] if case.type == "Boolean" else []
    context = FilterContext(now=NOW, boolean_properties=booleans)
    return build_filter({"properties": [case.item]}, context)


def found_by_python(case: FilterCase) -> set[str]:
    """The values that match when hoglet runs the filter of a function."""
    predicate = engine.compile_filter(msgspec.to_builtins(condition_of(case)))
    events = {name: {"event": "a", "properties": each} for name, each in values().items()}
    return {name for name, event in events.items() if predicate(event) is True}


_node: list[Server] = []


def found_by_javascript(case: FilterCase) -> set[str]:
    """The values that match the filter of a site function."""
    need(why_no_node())
    if not _node:
        _node.append(Server("javascript.js"))
    printing = tree.Call(name="print", args=(for_browsers(condition_of(case)),))
    program = tree.Program(declarations=(tree.ExprStatement(expr=printing),))
    code = program_javascript(bind_program(program))
    matching: set[str] = set()
    for name, each in values().items():
        answer = _node[0].ask(code=code, globals={"event": "a", "properties": each})
        assert answer["error"] is None, answer
        if answer["output"] == ["true"]:
            matching.add(name)
    return matching


class FilterWorld:
    """One event for each value of the table, in the warehouse."""

    def __init__(self, warehouse: ClickHouseWarehouse) -> None:
        self._warehouse = warehouse

    def matching(self, case: FilterCase) -> set[str]:
        """The values that match the filter of a query."""
        types = {("event", "k"): case.type} if case.type else {}
        context = QueryContext(project_id=PROJECT, now=NOW, property_types=types)
        filters = {"properties": [case.item]}
        query = "SELECT event FROM events WHERE {filters}"
        compiled = compile_query(query, context=context, filters=filters)
        answer = asyncio.run(self._warehouse.query(compiled.sql, compiled.params))
        return {str(name) for (name,) in answer.rows}


@pytest.fixture(scope="session")
def filter_world(warehouse: ClickHouseWarehouse) -> FilterWorld:
    """The filled world; tests only read it."""
    columns = ["project_id", "uuid", "event", "properties", "timestamp", "distinct_id", "person_id"]
    rows = [
        [PROJECT, UUID(int=number + 1), name, json.dumps(each), NOW, "d", UUID(int=1)]
        for number, (name, each) in enumerate(values().items())
    ]
    asyncio.run(warehouse.insert("events", columns, rows))
    return FilterWorld(warehouse)
