"""Executes a read plan: compiles, waits for a slot, queries the engine, encodes.

Source:
docs/spec/query-endpoints.md#55-which-source-is-read-and-the-cache,
docs/spec/query-endpoints.md#56-answer, docs/spec/query-endpoints.md#57-limit-offset-hasmore,
docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation and
docs/spec/query-endpoints.md#6-errors-keys-limits (concurrency cap).
"""

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

import msgspec
from msgspec.structs import replace

from hoglet.endpoints.encoding.json import encode_parts
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.insights.all_time import is_of_all_time, since_oldest
from hoglet.endpoints.insights.runs import compute_insight, read_items
from hoglet.endpoints.run.cache import ConcurrencyLimiter, Result, Turn
from hoglet.endpoints.run.plan import ReadPlan, effective_ttl_seconds
from hoglet.endpoints.run.system_rows import SystemRows
from hoglet.endpoints.run.targets import Materialization
from hoglet.endpoints.worker.compiler import CompiledInsight, QueryCompiler
from hoglet.endpoints.worker.messages import EndpointSql
from hoglet.hogql.paging.keyset import Key, RowPage
from hoglet.hogql.paging.limit import cut_page
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.clock import Clock
from hoglet.kit.json import dump_json
from hoglet.warehouse import JsonParts, JsonRows, QueryBudget, QueryResult, Statistics, Warehouse
from hoglet.warehouse.errors import QueryRefused
from hoglet.warehouse.json_parts import refuse_large

ROWS_AT_ONCE = 1_000  # larger results are encoded in a thread: 50,000 rows take 80 ms
_WIDE_TYPES = re.compile(r"\bDate32\b|\bDateTime64\(0(?:, ('[^']*'))?\)")


class ExecutionLimits(msgspec.Struct, frozen=True):
    """How many queries run at once, and how large a result may be.

    Args:
        inline: slots of queries on raw data.
        materialized: slots of reads of materialized tables.
        result_bytes: largest ``results``, as JSON, in every response format.
    """

    inline: ConcurrencyLimiter
    materialized: ConcurrencyLimiter
    result_bytes: int


class QueryExecutor:
    """Computes results.

    Args:
        compiler: compiles queries.
        warehouse: the engine.
        clock: the time.
        limits: limits of the queries.
        system_rows: loads the rows of ``system`` tables.
    """

    def __init__(
        self,
        compiler: QueryCompiler,
        warehouse: Warehouse,
        clock: Clock,
        *,
        limits: ExecutionLimits,
        system_rows: SystemRows,
    ) -> None:
        self._system_rows = system_rows
        self._compiler = compiler
        self._warehouse = warehouse
        self._clock = clock
        self._limits = limits

    async def compute(self, read_plan: ReadPlan, *, query_id: str, seconds: float) -> Result:
        """Execute a read plan.

        Args:
            read_plan: the plan.
            query_id: the id of the query in the engine.
            seconds: time limit in the engine.

        Raises:
            QueryError: the query is invalid; QueryTooCostly: it exceeded its budget;
                TooManyQueries: no slot; WarehouseBusy, WarehouseDown: retry later.
        """
        try:
            return await self._compute(read_plan, query_id=query_id, seconds=seconds)
        except QueryRefused as error:
            raise await self._compiler.explained(read_plan.query, error) from error

    async def _compute(self, read_plan: ReadPlan, *, query_id: str, seconds: float) -> Result:
        materialization = read_plan.materialization
        if read_plan.query["kind"] != HOGQL:
            if materialization is None:
                return await self._compute_insight(read_plan, query_id=query_id, seconds=seconds)
            return await self._read_insight(
                read_plan, materialization, query_id=query_id, seconds=seconds
            )
        slots = self._limits.inline if materialization is None else self._limits.materialized
        compiled = await self._with_system_rows(read_plan, await self._compile(read_plan))
        async with Turn(slots, query_id, self.stop):
            started_at = self._clock.now()
            budget = QueryBudget(seconds=seconds, result_bytes=self._limits.result_bytes)
            answer = await self._query(read_plan, compiled, query_id, budget)
        cache_seconds = effective_ttl_seconds(read_plan, started_at)
        if isinstance(answer, QueryResult) and len(answer.rows) > ROWS_AT_ONCE:
            result = await asyncio.to_thread(
                _result, read_plan, compiled, answer, started_at, cache_seconds
            )
        else:
            result = _result(read_plan, compiled, answer, started_at, cache_seconds)
        refuse_large(result.rows_bytes, self._limits.result_bytes)
        return result

    async def _with_system_rows(self, read_plan: ReadPlan, compiled: EndpointSql) -> EndpointSql:
        """The query with the project's rows of its ``system`` tables."""
        if not compiled.system_tables:
            return compiled
        rows = await self._system_rows.load(read_plan.project, compiled.system_tables)
        return msgspec.structs.replace(compiled, params=compiled.params | rows)

    async def stop(self, query_id: str) -> None:
        """Stop the queries with this id and wait until the engine has ended them."""
        await self._warehouse.cancel(query_id)

    async def _query(
        self, read_plan: ReadPlan, compiled: EndpointSql, query_id: str, budget: QueryBudget
    ) -> JsonRows | QueryResult:
        """The engine's result; rows are Python values if a cursor needs the last one."""
        sql, params = compiled.sql, compiled.params
        if compiled.keys:
            return await self._warehouse.query(sql, params, budget=budget, query_id=query_id)
        zone = read_plan.project.timezone
        return await self._warehouse.query_json(
            sql,
            params,
            zone=zone,
            most_rows=compiled.limits.limit,
            budget=budget,
            query_id=query_id,
        )

    async def _read_insight(
        self,
        read_plan: ReadPlan,
        materialization: Materialization,
        *,
        query_id: str,
        seconds: float,
    ) -> Result:
        """Read an insight from its materialized table."""
        started_at = self._clock.now()
        budget = QueryBudget(seconds=seconds)
        select = partial(self._warehouse.query, budget=budget, query_id=query_id)
        table = materialization.table or ""
        async with Turn(self._limits.materialized, query_id, self.stop):
            rows_json, count, spent = await read_items(
                select, table, read_plan.project, read_plan.query, read_plan.variables
            )
        return self._insight_result(read_plan, rows_json, count, spent, started_at)

    async def _compute_insight(
        self, read_plan: ReadPlan, *, query_id: str, seconds: float
    ) -> Result:
        """Compute an insight from raw data."""
        started_at = self._clock.now()
        slots = self._limits.inline
        query = read_plan.query
        if is_of_all_time(query):
            async with Turn(slots, query_id, self.stop):
                query = await since_oldest(
                    self._compiler, self._warehouse, read_plan.project, query, query_id=query_id
                )
        compiled = await self._compile_insight(read_plan, query)
        async with Turn(slots, query_id, self.stop):
            computed = await compute_insight(
                self._warehouse, query, compiled, query_id=query_id, seconds=seconds
            )
        result = self._insight_result(
            read_plan,
            dump_json(computed.results),
            len(computed.results),
            computed.statistics,
            started_at,
        )
        is_live = any(each.system_tables for each in compiled.queries)
        hogql = "; ".join(each.hogql for each in compiled.queries)
        dates = {"resolved_date_range": compiled.date_range, "hogql": hogql}
        return replace(
            result,
            has_more=computed.has_more,
            is_live=is_live,
            cache_seconds=0 if is_live else result.cache_seconds,
            debug=result.debug | dates,
        )

    async def _compile_insight(self, read_plan: ReadPlan, query: QueryNode) -> CompiledInsight:
        """The queries of an insight, with the rows of the ``system`` tables that they read."""
        compiled = await self._compiler.compile_insight(
            read_plan.project, query, system_tables=read_plan.system_tables
        )
        queries = [await self._with_system_rows(read_plan, each) for each in compiled.queries]
        return msgspec.structs.replace(compiled, queries=queries)

    def _insight_result(
        self,
        read_plan: ReadPlan,
        rows_json: bytes,
        count: int,
        spent: Statistics,
        computed_at: datetime,
    ) -> Result:
        materialization = read_plan.materialization
        refuse_large(len(rows_json), self._limits.result_bytes)
        return Result(
            parts=JsonParts((rows_json,)),
            columns=[],
            types=[],
            row_count=count,
            limit=None,
            offset=0,
            has_more=False,
            computed_at=computed_at,
            cache_seconds=effective_ttl_seconds(read_plan, computed_at),
            is_materialized=materialization is not None,
            materialized_at=None if materialization is None else materialization.built_at,
            rows_read=spent.rows_read,
            bytes_read=spent.bytes_read,
            engine_seconds=spent.seconds,
            debug=_debug(read_plan, spent, hogql=None),
            is_insight=True,
        )

    async def _compile(self, read_plan: ReadPlan) -> EndpointSql:
        page = RowPage(read_plan.limit, read_plan.offset, read_plan.seek)
        if read_plan.materialization is None:
            return await self._compiler.compile(
                read_plan.project,
                read_plan.query,
                variables=read_plan.variables,
                page=page,
                system_tables=read_plan.system_tables,
            )
        materialization = read_plan.materialization
        return await self._compiler.compile_read(
            read_plan.project,
            read_plan.query,
            materialization.plan.table(materialization.table or ""),
            variables=read_plan.variables,
            buckets=materialization.buckets,
            page=page,
        )


def _result(
    read_plan: ReadPlan,
    compiled: EndpointSql,
    answer: JsonRows | QueryResult,
    computed_at: datetime,
    cache_seconds: float,
) -> Result:
    limits = compiled.limits
    next_key = None
    if isinstance(answer, JsonRows):  # cut by the warehouse
        most = answer.count if limits.limit is None else limits.limit
        parts, row_count = answer.parts, min(answer.count, most)
        has_more = answer.count > most and limits.probing
    else:
        rows, has_more = cut_page(answer.rows, limits)
        parts, row_count = encode_parts(answer.columns, rows, read_plan.project.timezone), len(rows)
        if has_more and compiled.keys:
            next_key = _key_of(rows[-1], compiled.keys)
    materialization, spent = read_plan.materialization, answer.statistics
    types = _column_types(compiled, answer)
    return Result(
        parts=parts,
        columns=[name for name, _ in types],
        types=types,
        row_count=row_count,
        limit=limits.limit if read_plan.limit is None else read_plan.limit,
        offset=limits.offset,
        saved_offset=limits.saved_offset,
        has_more=has_more,
        computed_at=computed_at,
        cache_seconds=0 if compiled.system_tables else cache_seconds,
        is_materialized=materialization is not None,
        materialized_at=None if materialization is None else materialization.built_at,
        rows_read=spent.rows_read,
        bytes_read=spent.bytes_read,
        engine_seconds=spent.seconds,
        debug=_debug(read_plan, spent, hogql=compiled.hogql),
        is_live=bool(compiled.system_tables),
        next_key=next_key,
        rounded=compiled.rounded,
    )


def _column_types(compiled: EndpointSql, answer: JsonRows | QueryResult) -> list[list[str]]:
    """``[["plan", "String"], …]``."""
    names = [name for name, _ in compiled.columns]
    if len(names) != len(answer.columns):  # untuple() expands to several columns
        names = [column.name for column in answer.columns]
    return [
        [name, public_type(column.type)] for name, column in zip(names, answer.columns, strict=True)
    ]


@lru_cache(maxsize=4_096)
def public_type(kind: str) -> str:
    """The type of a column in responses: the range of dates and whole seconds is not part of it.

    Example:
        >>> public_type("Nullable(Date32)"), public_type("DateTime64(0, 'UTC')")
        ('Nullable(Date)', "DateTime('UTC')")
    """
    return _WIDE_TYPES.sub(_plain_type, kind)


def _plain_type(match: re.Match[str]) -> str:
    if match.group() == "Date32":
        return "Date"
    return f"DateTime({match.group(1)})" if match.group(1) else "DateTime"


def _key_of(row: Sequence[Any], keys: Sequence[Key]) -> list[Any]:
    """The sort values of a row, as text that the engine parses back exactly."""
    return [_exact(row[key.index]) for key in keys]


def _exact(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    return value if value is None or isinstance(value, int | str) else str(value)


def _debug(read_plan: ReadPlan, spent: Statistics, *, hogql: str | None) -> dict[str, Any]:
    """The keys that ``debug`` adds to a response."""
    return {
        "calculation_trigger": None,
        "cache_key": read_plan.key,
        "explain": None,
        "modifiers": read_plan.query.get("modifiers"),
        "resolved_date_range": None,
        "timings": [{"k": "./clickhouse_execute", "t": round(spent.seconds, 6)}],
        "hogql": hogql,
    }
