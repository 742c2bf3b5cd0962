"""Runs the examples of HogQL functions and returns their results.

Many examples are columns of one query, so that the whole list takes a second.
"""

import asyncio
import json
import tempfile
from collections.abc import Iterator

from hoglet.endpoints.encoding.json import encode_rows
from hoglet.hogql import Limits, QueryContext, compile_query
from hoglet.hogql.functions import FunctionEntry, functions
from hoglet.warehouse import ClickHouseWarehouse, open_warehouse

_TOGETHER = 40
_LONGEST = 90
_CONTEXT = QueryContext(project_id=0, limits=Limits(max_limit=None))
_OTHER_EACH_TIME = ("now", "today", "yesterday", "current_", "curdate")
_SPREADING = frozenset({"arrayJoin", "unnest"})  # one row becomes several


def example_results() -> dict[str, str]:
    """The result of each example as JSON, by function name; all rows for window functions."""
    return asyncio.run(_results())


async def _results() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        warehouse = await open_warehouse(f"chdb://{folder}")
        try:
            results: dict[str, str] = {}
            for group in _groups():
                results |= await _run(warehouse, group)
            return results
        finally:
            await warehouse.close()


def _groups() -> Iterator[list[FunctionEntry]]:
    """The functions whose examples can be columns of one query."""
    rows = functions()
    alone = [row for row in rows if row.name in _SPREADING]
    rest = [row for row in rows if row.name not in _SPREADING]
    for kind in (
        [row for row in rest if not row.aggregate and not row.window],
        [row for row in rest if row.aggregate and not _is_over(row)],
        [row for row in rest if _is_over(row)],
    ):
        for start in range(0, len(kind), _TOGETHER):
            yield kind[start : start + _TOGETHER]
    yield from ([row] for row in alone)


def _is_over(row: FunctionEntry) -> bool:
    return row.window or " OVER (" in row.example


async def _run(warehouse: ClickHouseWarehouse, group: list[FunctionEntry]) -> dict[str, str]:
    columns = ", ".join(f"{row.example} AS c{index}" for index, row in enumerate(group))
    compiled = compile_query(f"SELECT {columns} FROM numbers(5)", context=_CONTEXT)  # noqa: S608
    answer = await warehouse.query(compiled.sql, compiled.params)
    rows = json.loads(encode_rows(answer.columns, answer.rows, "UTC"))
    results: dict[str, str] = {}
    for index, row in enumerate(group):
        values = [line[index] for line in rows]
        results[row.name] = _result_text(row, values)
    return results


def _result_text(row: FunctionEntry, values: list[object]) -> str:
    if row.name.startswith(_OTHER_EACH_TIME):
        return "differs"
    every = _is_over(row) or row.name in _SPREADING
    rounded = [_rounded(value) for value in (values if every else values[:1])]
    texts = [json.dumps(value, ensure_ascii=False) for value in rounded]
    text = "; ".join(texts)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _rounded(value: object) -> object:
    """Round floats to ten digits; the last ones differ between processors."""
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value
