"""Autocapture elements match in function filters and queries, whatever their format."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from hoglet.events.files import CsvColumns, read_events
from hoglet.events.importer import Importer
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.filters.properties import property_to_tree
from hoglet.hogql.compile import compile_query
from hoglet.hogql.context import QueryContext
from hoglet.kit.clock import FixedClock
from hoglet.store.database import Database
from support.pipeline import Line, at, open_line

NOW = at("2026-05-01T12:00:00+00:00")
FUNCTION = "0193e8c6-0000-7000-8000-0000000000aa"
ELEMENT = {
    "tag_name": "a",
    "$el_text": 'Say "go"; button',
    "attr__class": "b a",
    "attr__href": "/x",
    "attr__id": "buy",
    "nth_child": 2,
    "nth_of_type": 1,
}
EVENT = {
    "event": "$autocapture",
    "distinct_id": "u",
    "properties": {"$elements": [ELEMENT, {"tag_name": "label"}], "k": 1},
}
FILTERS = [
    {"key": "selector", "value": "a.b"},
    {"key": "tag_name", "value": "label"},
    {"key": "href", "value": "/x"},
    {"key": "text", "value": 'Say "go"; button'},
]


@pytest.fixture
async def line(database: Database, warehouse: Any, fresh_project_id: int) -> AsyncGenerator[Line]:
    async with open_line(database, warehouse, FixedClock(NOW), fresh_project_id) as opened:
        yield opened


def _function(line: Line, item: dict[str, Any], **more: Any) -> ExecutableFunction:
    context = FilterContext(now=NOW, timezone="UTC")
    tree = property_to_tree({"type": "element", "operator": "exact", **item}, context)
    fields: dict[str, Any] = {
        "id": FUNCTION,
        "project_id": line.project_id,
        "type": "destination",
        "name": "d",
        "filter": msgspec.to_builtins(tree),
        **more,
    }
    return ExecutableFunction(**fields)


async def _query(line: Line, expression: str, **filters: Any) -> list[Any]:
    query: dict[str, Any] = {"query": f"SELECT {expression} FROM events WHERE {{filters}}"}
    compiled = compile_query(
        query["query"], context=QueryContext(project_id=line.project_id, now=NOW), filters=filters
    )
    answer = await line.warehouse.query(compiled.sql, compiled.params)
    return [tuple(row) for row in answer.rows]


async def test_queries_find_the_elements(line: Line):
    await line.capture(EVENT)
    await line.work()

    rows = await _query(
        line,
        "elements_chain_href, elements_chain_texts, elements_chain_ids, elements_chain_elements, "
        "properties",
    )

    assert rows == [
        ("/x", ['Say "go"; button'], ["buy"], ["a", "label"], '{"k":1,"$ip":"9.8.7.6"}')
    ]


@pytest.mark.parametrize("item", FILTERS, ids=lambda item: item["key"])
async def test_filters_of_functions_and_queries_find_the_elements(line: Line, item: Any):
    line.functions.functions = [_function(line, item)]
    await line.capture(EVENT, {**EVENT, "properties": {}})
    await line.work()

    assert len(await line.runs()) == 1
    properties = [{"type": "element", "operator": "exact", **item}]
    assert await _query(line, "count()", properties=properties) == [(1,)]


@pytest.mark.parametrize(
    "properties", [EVENT["properties"], {"$elements_chain": 'a.b:nth-child="1"'}]
)
async def test_filters_of_transformations_find_them_and_programs_see_what_was_sent(
    line: Line, properties: dict[str, Any]
):
    mark = "let e := event; e.properties.had := keys(e.properties); return e"
    line.functions.functions = [
        _function(line, FILTERS[0], type="transformation", hog=mark),
    ]
    await line.capture({**EVENT, "properties": properties}, {**EVENT, "properties": {}})
    await line.work()

    rows = await _query(line, "properties.had is not null, elements_chain != ''")
    assert sorted(rows) == [(False, False), (True, True)]
    seen = await _query(line, "has(JSONExtract(properties, 'had', 'Array(String)'), '$elements')")
    assert ((True,) in seen) == ("$elements" in properties)


async def test_imported_events_have_a_chain(line: Line, tmp_path: Path):
    path = tmp_path / "events.ndjson"
    path.write_bytes(orjson.dumps({**EVENT, "timestamp": "2026-04-01T00:00:00Z"}))
    importer = Importer(
        database=line.database, queue=line.queue, clock=line.clock, project_id=line.project_id
    )
    await importer.run(read_events(path, "auto", CsvColumns()), lambda _read, _done: None)
    await line.work()

    assert await _query(line, "elements_chain_href") == [("/x",)]
