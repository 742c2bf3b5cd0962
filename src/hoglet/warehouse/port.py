"""The interface of the warehouse.

One dialect (ClickHouse), in this process (chDB) or on a server. Implementations must pass the suite
in ``tests/contract/ports/test_warehouse.py``.

Source: docs/adr/0008-warehouse.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hoglet.warehouse.json_parts import JsonParts

MEGABYTE = 1024 * 1024

ROWS_PARAMETER = "rows_of_"
"""Prefix of parameters that contain a whole table as JSON and can be megabytes long."""

type QueryParameters = dict[str, Any]
"""Values of a query by name: ``{"project_id": 1, "uuids": ["…"]}`` for ``{project_id:Int64}``."""


@dataclass(frozen=True, slots=True)
class QueryBudget:
    """Limits of one query.

    Args:
        seconds: wall time, enforced by the engine.
        memory_bytes: working memory of the query; None: the warehouse's default.
        result_rows: maximum rows of the result; None means no limit. More rows are an error;
            results are never truncated.
        result_bytes: maximum bytes of the result.
        read_bytes: maximum bytes read from storage; None means no limit.
        block_rows: maximum rows per block in the engine; None: its default. Smaller blocks save
            memory when a result is read in blocks.
        read_only: allow only reads of this warehouse's own tables (no files, no network, no changed
            settings). Only hoglet's own statements may turn this off.
    """

    seconds: float = 10.0
    memory_bytes: int | None = None
    result_rows: int | None = None
    result_bytes: int = 128 * MEGABYTE
    read_bytes: int | None = None
    block_rows: int | None = None
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A result column, e.g. ``ResultColumn("count()", "UInt64")``; ``type`` is ClickHouse's."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Statistics:
    """Cost of a query: rows and bytes read, seconds spent in the engine."""

    rows_read: int = 0
    bytes_read: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a running query.

    Args:
        rows_read: rows read so far; ``rows_total`` is the engine's estimate of the total.
        bytes_read: uncompressed bytes read so far.
        seconds: time since the engine started the query.
        cpu_seconds: CPU time of all threads of the query.
    """

    rows_read: int = 0
    rows_total: int = 0
    bytes_read: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class QueryResult:
    """A result: ``rows`` are tuples in the order of ``columns``, e.g. ``[("$pageview", 10)]``.

    Values are Python objects: int, float, str, bool, None, aware ``datetime``, ``date``, ``UUID``,
    ``Decimal``, list, tuple, dict.
    """

    columns: list[ResultColumn]
    rows: Sequence[Sequence[Any]]
    statistics: Statistics = field(default_factory=Statistics)


@dataclass(frozen=True, slots=True)
class JsonRows:
    """A result encoded as JSON by the engine.

    ``count`` is the number of all rows, including those beyond ``most_rows`` that are not in
    ``parts``.
    """

    columns: list[ResultColumn]
    parts: JsonParts
    count: int
    statistics: Statistics = field(default_factory=Statistics)


class Warehouse(Protocol):
    """A ClickHouse database, embedded or on a server.

    Concurrency: safe to share within one event loop; queries run concurrently in threads.
    """

    async def query(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        budget: QueryBudget = ...,
        query_id: str | None = None,
    ) -> QueryResult:
        """Run one SELECT.

        Args:
            sql: text with a ``{name:Type}`` placeholder for every value.
            params: values by name, e.g. ``{"project_id": 1}``.
            budget: its limits.
            query_id: an id for ``cancel``; generated if omitted.

        Raises:
            QueryRefused: the query is wrong (author).
            QueryTooCostly: it exceeded its budget (author).
            QueryCancelled: ``cancel`` was called.
            WarehouseBusy, WarehouseDown: a later retry may succeed (operator).

        Cancellation: cancelling the task cancels the query in the engine.
        """
        ...

    async def query_json(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        zone: str,
        most_rows: int | None = None,
        budget: QueryBudget = ...,
        query_id: str | None = None,
    ) -> JsonRows | QueryResult:
        """Run one SELECT and let the engine encode the rows; otherwise like ``query``.

        Rows beyond ``most_rows`` are counted but not returned.

        Timestamps are ISO 8601 in ``zone`` (``Z`` for UTC, a fraction only if it is not zero), NaN
        and infinities are null, integers have no fraction.

        Returns:
            ``QueryResult`` if a column has a type that the engine encodes differently (decimals,
            tuples, maps, JSON, arrays of timestamps).
        """
        ...

    async def insert(
        self,
        table: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        *,
        dedup_token: str | None = None,
    ) -> None:
        """Insert rows as one block; they are on disk when this returns.

        Args:
            table: name of a table of ``ddl/``.
            columns: e.g. ``["project_id", "event"]``; others get their defaults.
            rows: values in that order; datetimes are aware.
            dedup_token: a block with the same token is inserted into the table once, even after a
                crash.

        Idempotency: with a token, within the last ``DEDUP_BLOCKS`` blocks of the table.
        """
        ...

    async def insert_block(
        self, table: str, columns: Sequence[str], block: bytes, *, dedup_token: str | None = None
    ) -> None:
        """Insert rows encoded by :func:`hoglet.warehouse.values.encode_block`.

        For rows encoded in another process; otherwise like ``insert``.
        """
        ...

    async def command(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        seconds: float | None = None,
    ) -> None:
        """Run one of hoglet's own statements (DDL, INSERT SELECT).

        ``seconds`` is the time limit of a long statement, which runs in a separate pool so that it
        does not delay inserts of events.
        """
        ...

    async def delete_rows(self, table: str, condition: str) -> None:
        """Delete rows of a table of ``ddl/``; invisible to readers when this returns.

        Args:
            table: its name.
            condition: SQL generated by hoglet, with numbers as the only values.
        """
        ...

    async def create_table(self, name: str, columns: str, *, order_by: str) -> None:
        """Create a table outside of the DDL files; in a cluster, every node has all of its rows.

        Args:
            name: generated by hoglet, e.g. ``endpoint_table_1f…``.
            columns: definitions, e.g. ``"project_id Int64, `day` Date"``.
            order_by: e.g. ``project_id``.
        """
        ...

    async def drop_table(self, name: str) -> None:
        """Drop a table created by ``create_table``; no effect if it does not exist."""
        ...

    async def erase_rows(
        self, table: str, where: str, params: Mapping[str, Any], *, seconds: float
    ) -> None:
        """Delete rows of a table physically; they are invisible to queries when this returns.

        This rewrites all parts that contain such rows, so use it for rare requests only.

        Args:
            table: name of a table of ``ddl/``.
            where: a condition generated by hoglet, with ``{name:Type}`` for every value.
            params: the values.
            seconds: time limit.
        """
        ...

    async def progress(self, query_id: str) -> Progress | None:
        """The progress of the queries with this id, in any process; None if none is running."""
        ...

    async def cancel(self, query_id: str) -> None:
        """Stop the queries with that id, in any process, and wait until they have ended.

        Unknown ids are ignored. A query that the engine cannot stop within 30 seconds is logged and
        runs until the end of its time budget.
        """
        ...

    async def close(self) -> None:
        """Stop running queries and close all connections."""
        ...
