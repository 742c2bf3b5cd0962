"""Computes insights from the rows of their queries, and reads materialized insights.

The table of a materialized insight has one row per item of the results: its ``position``, its
``breakdown_value`` (NULL for "not set") and the ``item`` as JSON text. A run reads the items of the
requested values and concatenates their texts; nothing is parsed.

Source: docs/spec/query-endpoints.md#56-answer,
docs/spec/query-endpoints.md#73-how-variables-are-stored and
docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from time import perf_counter
from typing import Any

import msgspec

from hoglet.access.principals import Project
from hoglet.endpoints.errors import NotMaterializable
from hoglet.endpoints.insights.variables import breakdown_names, text_of
from hoglet.endpoints.worker.compiler import CompiledInsight
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.json import dump_json, is_array, is_object, object_at
from hoglet.warehouse import QueryBudget, QueryResult, Statistics, Warehouse

_SHOWN_LIMIT = 25  # for breakdowns without a limit (10.6)
WHOLE = -1  # position of results that are a single object
TABLE_DEFINITION = (
    "position Int64, breakdown_value Array(Nullable(String)), item String CODEC(ZSTD(3))"
)
TABLE_COLUMNS = ("project_id", "position", "breakdown_value", "item")
_MIN_SECONDS = 1


class InsightResult(msgspec.Struct, frozen=True):
    """Results of an insight with their cost; ``has_more`` if a larger limit shows more."""

    results: list[Any] | dict[str, Any]
    has_more: bool
    statistics: Statistics


async def compute_insight(
    warehouse: Warehouse,
    query: QueryNode,
    compiled: CompiledInsight,
    *,
    query_id: str,
    seconds: float,
) -> InsightResult:
    """Run the queries of an insight one after the other and build its results.

    ``seconds`` is the limit for all of them together.
    """
    ends = perf_counter() + seconds
    answers: list[QueryResult] = []
    for each in compiled.queries:
        left = max(
            _MIN_SECONDS, math.ceil(ends - perf_counter())
        )  # whole seconds keep the number of distinct budgets small, see clients.py
        budget = QueryBudget(seconds=left)
        answers.append(
            await warehouse.query(each.sql, each.params, budget=budget, query_id=query_id)
        )
    rows = [answer.rows for answer in answers]
    results, has_more = await asyncio.to_thread(_shape, query, compiled, rows)
    return InsightResult(results, has_more, _sum([answer.statistics for answer in answers]))


type Select = Callable[[str, Mapping[str, Any]], Awaitable[QueryResult]]
"""Runs a statement with parameters, within a budget."""


async def read_items(
    select: Select, table: str, project: Project, query: QueryNode, variables: Mapping[str, Any]
) -> tuple[bytes, int, Statistics]:
    """The results of a materialized insight for some breakdown values, as JSON.

    Returns:
        The text of ``results``, the number of items, and the cost.

    Raises:
        NotMaterializable: an optional breakdown was omitted, and the inline run would combine
            values that are separate in the table.
    """
    conditions, params = _item_conditions(query, variables)
    answer = await select(
        f"SELECT position, item, breakdown_value FROM {table} "  # noqa: S608 (hoglet's own name)
        f"WHERE project_id = {{project_id:Int64}}{conditions} ORDER BY position",
        {"project_id": project.id, **params},
    )
    _refuse_too_many(query, variables, {tuple(values) for _, _, values in answer.rows})
    items = [item.encode() for _, item, _ in answer.rows]
    if answer.rows and answer.rows[0][0] == WHOLE:
        return items[0], 1, answer.statistics
    return b"[" + b",".join(items) + b"]", len(items), answer.statistics


def _refuse_too_many(
    query: QueryNode, variables: Mapping[str, Any], combinations: Collection[tuple[str | None, ...]]
) -> None:
    is_open = any(variables.get(name) is None for name in breakdown_names(query))
    if is_open and len(combinations) > _limit(query):
        raise NotMaterializable("The insight has more values than its breakdown limit.")


def items_of(project_id: int, computed: InsightResult) -> list[tuple[Any, ...]]:
    """The rows to store for some results.

    Raises:
        NotMaterializable: a breakdown has more values than a table can store.
    """
    results = computed.results
    if is_object(results):
        return [(project_id, WHOLE, [], dump_json(results).decode())]
    if computed.has_more:
        raise NotMaterializable("The query has more breakdown values than a table can store.")
    return [
        (project_id, position, _values_of(item), dump_json(item).decode())
        for position, item in enumerate(results)
    ]


def _limit(query: QueryNode) -> int:
    return object_at(query, "breakdownFilter").get("breakdown_limit") or _SHOWN_LIMIT


def _values_of(item: Any) -> list[str | None]:
    value = item.get("breakdown_value") if is_object(item) else None
    values = value if is_array(value) else [] if value is None else [value]
    if value is None and is_object(item) and "breakdown_value" in item:
        values = [None]
    return [None if each is None else str(each) for each in values]


def _item_conditions(
    query: QueryNode, variables: Mapping[str, Any]
) -> tuple[str, dict[str, list[str]]]:
    names = breakdown_names(query)
    conditions = ""
    params: dict[str, list[str]] = {}
    for index, name in enumerate(names):
        if variables.get(name) is None:
            continue
        value = f"breakdown_value[{index + 1}]"
        if variables[name] == "":
            conditions += f" AND isNull({value})"
            continue
        allowed = variables[name] if is_array(variables[name]) else [variables[name]]
        conditions += f" AND {value} IN {{value_{index}:Array(String)}}"
        params[f"value_{index}"] = [text_of(each) for each in allowed]
    return conditions, params


def _shape(
    query: QueryNode, compiled: CompiledInsight, rows: Sequence[Sequence[Sequence[Any]]]
) -> tuple[list[Any] | dict[str, Any], bool]:
    # Here, in a thread, so that a server without insights does not load their compiler.
    from hoglet.hogql.insights.breakdowns import has_rest
    from hoglet.hogql.insights.plan import build_insight

    results = build_insight(query, compiled.context.query_context()).shape(rows)
    return results, has_rest(rows)


def _sum(parts: Sequence[Statistics]) -> Statistics:
    return Statistics(
        sum(part.rows_read for part in parts),
        sum(part.bytes_read for part in parts),
        sum(part.seconds for part in parts),
    )
