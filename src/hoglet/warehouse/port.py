"""What hoglet asks of a warehouse.

One dialect (ClickHouse), two places it may run: in this process (chDB) or on a server. The suite
in ``tests/contract/ports/test_warehouse.py`` is what an implementation has to pass.

Source: docs/adr/0008-warehouse.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

MEGABYTE = 1024 * 1024

ROWS_PARAMETER = "rows_of_"
"""Begins the names of parameters that hold a whole table as JSON; they may be megabytes long."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one query may spend.

    Args:
        seconds: wall time; the engine stops by itself after it.
        memory_bytes: working memory of the query; None: what the warehouse was opened with.
        result_rows: most rows of the answer; None means no limit. One more is an error, not a cut.
        result_bytes: most bytes of the answer; it is held in memory as a whole.
        read_bytes: most bytes read from storage; None means no limit.
        read_only: refuse everything but reading this warehouse's own tables (no files, no
            network, no change of settings). Only hoglet's own statements may turn it off.
    """

    seconds: float = 10.0
    memory_bytes: int | None = None
    result_rows: int | None = None
    result_bytes: int = 128 * MEGABYTE
    read_bytes: int | None = None
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an answer, e.g. ``Column("count()", "UInt64")``; ``type`` is ClickHouse's."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a query cost: rows and bytes read, seconds inside the engine."""

    rows_read: int = 0
    bytes_read: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running query is.

    Args:
        rows_read: so far; ``rows_total`` is the engine's estimate of all of them.
        bytes_read: so far, uncompressed.
        seconds: since the engine began.
        cpu_seconds: of all its threads.
    """

    rows_read: int = 0
    rows_total: int = 0
    bytes_read: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class QueryResult:
    """An answer: ``rows`` are tuples in the order of ``columns``, e.g. ``[("$pageview", 10)]``.

    Values are Python's: int, float, str, bool, None, aware ``datetime``, ``date``, ``UUID``,
    ``Decimal``, list, tuple, dict.
    """

    columns: list[Column]
    rows: Sequence[Sequence[Any]]
    statistics: Statistics = field(default_factory=Statistics)


@dataclass(frozen=True, slots=True)
class JsonRows:
    """An answer that the engine wrote as JSON: a text for every row, e.g. ``[b'["a", 10]']``."""

    columns: list[Column]
    rows: Sequence[bytes]
    statistics: Statistics = field(default_factory=Statistics)


class Warehouse(Protocol):
    """A ClickHouse, wherever it runs.

    Concurrency: safe to share within one event loop; queries run side by side in threads.
    """

    async def query(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        budget: Budget = ...,
        query_id: str | None = None,
    ) -> QueryResult:
        """Run one SELECT.

        Args:
            sql: text with ``{name:Type}`` for every value; values are never printed into it.
            params: name → value, e.g. ``{"project_id": 1}``.
            budget: what it may spend.
            query_id: a name for ``cancel``; made when left out.

        Raises:
            QueryRefused: the query is wrong (author).
            QueryTooCostly: it went over its budget (author).
            QueryCancelled: ``cancel`` was called.
            WarehouseBusy, WarehouseDown: trying later helps (operator).

        Cancellation: cancelling the task cancels the query in the engine.
        """
        ...

    async def query_json(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        zone: str,
        budget: Budget = ...,
        query_id: str | None = None,
    ) -> JsonRows | QueryResult:
        """Run one SELECT and have the engine write the rows; otherwise as ``query``.

        Times are ISO 8601 in ``zone`` (``Z`` for UTC, a fraction when it is not zero), NaN and
        infinities null, whole numbers whole.

        Returns:
            ``QueryResult`` when a column is of a type that the engine would write differently
            (decimals, tuples, maps, JSON, arrays of times).
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
        """Insert rows as one block; when this returns they are on disk.

        Args:
            table: name of a table of ``ddl/``.
            columns: e.g. ``["project_id", "event"]``; the others take their defaults.
            rows: values in that order; datetimes aware.
            dedup_token: the same token for the same table is inserted once, also after a crash.

        Idempotency: with a token, within the last ``DEDUP_BLOCKS`` blocks of the table.
        """
        ...

    async def insert_block(
        self, table: str, columns: Sequence[str], block: bytes, *, dedup_token: str | None = None
    ) -> None:
        """Insert rows that are encoded already, as :func:`hoglet.warehouse.values.encode_block`.

        Otherwise as ``insert``. For rows made in other processes.
        """
        ...

    async def command(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        seconds: float | None = None,
    ) -> None:
        """Run a statement of hoglet's own (DDL, INSERT SELECT).

        One with ``seconds`` is a long one: it runs in a pool of its own, so that it does not hold
        up the inserts of events.
        """
        ...

    async def delete_rows(self, table: str, condition: str) -> None:
        """Delete rows of a table of ``ddl/``; readers no longer see them when this returns.

        Args:
            table: its name.
            condition: SQL of hoglet's own, with numbers only.
        """
        ...

    async def create_table(self, name: str, columns: str, *, order_by: str) -> None:
        """Make a table of hoglet's own; in a cluster every node holds all of it.

        Args:
            name: made by hoglet, e.g. ``endpoint_table_1f…``.
            columns: definitions, e.g. ``"project_id Int64, `day` Date"``.
            order_by: e.g. ``project_id``.
        """
        ...

    async def drop_table(self, name: str) -> None:
        """Drop a table made by ``create_table``; nothing happens when it is not there."""
        ...

    async def erase_rows(
        self, table: str, where: str, params: Mapping[str, Any], *, seconds: float
    ) -> None:
        """Delete rows of a table for good; when this returns no query sees them any more.

        The parts that hold such rows are written anew, so this is for rare requests.

        Args:
            table: name of a table of ``ddl/``.
            where: hoglet's own condition with ``{name:Type}`` for every value.
            params: the values.
            seconds: what it may take.
        """
        ...

    async def progress(self, query_id: str) -> Progress | None:
        """How far the queries of that id are, in whichever process; None when none runs."""
        ...

    async def cancel(self, query_id: str) -> None:
        """Stop the queries of that id, in whichever process, and wait for their end.

        Unknown ids are ignored. A query that the engine cannot end within half a minute is
        reported in the log and goes on up to the seconds of its budget.
        """
        ...

    async def close(self) -> None:
        """Stop what runs and close all connections."""
        ...
