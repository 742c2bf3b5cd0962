"""Runs one SELECT on one connection: rows as Python values, or as JSON encoded by the engine."""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clickhouse_connect.driver.client import Client

from hoglet.kit.cache import BoundedCache
from hoglet.kit.timezones import timezone_names
from hoglet.warehouse.errors import WarehouseDown
from hoglet.warehouse.json_parts import JsonPartsWriter
from hoglet.warehouse.json_rows import FORMAT, read_blocks, read_rows, rewritten
from hoglet.warehouse.port import (
    ROWS_PARAMETER,
    JsonRows,
    QueryResult,
    ResultColumn,
    Statistics,
    Warehouse,
)

READER_READONLY = 2  # settings may be changed, so that each query has its limits
REMEMBERED = 2_000  # query texts with known columns; 0.5 to 10 MB
_FORMATS = {"Tuple": "tuple"}  # also named tuples, as arrays (10.5)
_TYPED_BY_TEXT = re.compile(r"dateTrunc\(|JSONExtract\(")

type Asked = tuple[str, ...]


def select(client: Client, sql: str, params: dict[str, Any]) -> QueryResult:
    """The rows as Python values."""
    rows, params = _split_rows(params)
    sql = _written_out(sql, rows)
    answer = client.query(sql, parameters=params or None, query_formats=_FORMATS)
    if not answer.column_names:
        return QueryResult(_describe(client, sql, params), [], _statistics(answer.summary))
    columns = [
        ResultColumn(name, kind.name)
        for name, kind in zip(answer.column_names, answer.column_types, strict=True)
    ]
    return QueryResult(columns, answer.result_rows, _statistics(answer.summary))


async def check_reader(warehouse: Warehouse) -> None:
    """Check that the user for queries can change limits and nothing else.

    Raises:
        WarehouseDown: its profile does not have ``readonly = 2``.
    """
    rows = (await warehouse.query("SELECT getSetting('readonly')")).rows
    if int(rows[0][0]) != READER_READONLY:
        raise WarehouseDown(
            "The user of HOGLET_WAREHOUSE_READ_URL must have the setting readonly = 2."
        )


@dataclass(frozen=True, slots=True)
class JsonQuery:
    """Arguments of ``Warehouse.query_json``; ``is_streamed``: rows are read in blocks."""

    sql: str
    params: dict[str, Any]
    zone: str
    most_rows: int | None
    most_bytes: int
    is_streamed: bool


class JsonSelects:
    """Selects rows as JSON.

    The columns of a query are determined before its first run (1 ms) and cached by its text and the
    values that types depend on. Numbers are part of the text; other values are bound.

    Concurrency: thread-safe; each thread uses its own connection.
    """

    def __init__(self) -> None:
        self._known = BoundedCache[Asked, list[ResultColumn]](REMEMBERED)
        self._lock = threading.Lock()

    def select(self, client: Client, tag: str, query: JsonQuery) -> JsonRows | QueryResult:
        """See ``Warehouse.query_json``; ``tag`` is the comment that identifies the query.

        Raises:
            QueryTooCostly: the JSON is larger than ``most_bytes``.
            WarehouseDown: a large result cannot be written to a temporary file.
        """
        sql = query.sql
        rows, params = _split_rows(query.params)
        requested = (sql, *_deciding(sql, params))
        columns = self._known.get(requested)
        if columns is None:
            without_rows = _written_out(sql, dict.fromkeys(rows, "[]"))
            columns = _describe(client, f"{tag} {without_rows}", params)
            self._remember(requested, columns)
        sql = _written_out(sql, rows)
        written = rewritten(sql, columns, query.zone)
        if written is None:
            return select(client, f"{tag} {sql}", params)
        written = f"{tag} {written}"
        writer = JsonPartsWriter(query.most_rows, query.most_bytes)
        if query.is_streamed:
            answer = read_blocks(client, written, params, columns, writer)
            if answer is not None:
                return answer
        return read_rows(
            client.raw_query(written, parameters=params or None, fmt=FORMAT), columns, writer
        )

    def _remember(self, requested: Asked, columns: list[ResultColumn]) -> None:
        with self._lock:
            self._known.put(requested, columns)


def _split_rows(params: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Split parameters into those that hold whole tables and all others."""
    if not any(name.startswith(ROWS_PARAMETER) for name in params):
        return {}, params
    rows = {name: text for name, text in params.items() if name.startswith(ROWS_PARAMETER)}
    return rows, {name: value for name, value in params.items() if name not in rows}


def _written_out(sql: str, rows: Mapping[str, str]) -> str:
    """The query with its table parameters as string literals.

    A server accepts at most 128 KiB of parameters, because they are sent in the URL.
    """
    for name, text in rows.items():
        quoted = text.replace("\\", "\\\\").replace("'", "\\'")
        sql = sql.replace(f"{{{name}:String}}", f"'{quoted}'")
    return sql


def _deciding(sql: str, params: Mapping[str, Any]) -> list[str]:
    """The bound strings that types may depend on: units, type names, time zones."""
    texts = [value for value in params.values() if isinstance(value, str)]
    if _TYPED_BY_TEXT.search(sql):
        return texts
    return [text for text in texts if text in timezone_names()]


def _describe(client: Client, sql: str, params: dict[str, Any]) -> list[ResultColumn]:
    """The columns of a query, also if it returns no rows (for which chDB sends nothing at all)."""
    answer = client.query(f"DESCRIBE TABLE ({sql})", parameters=params or None)
    return [ResultColumn(row[0], row[1]) for row in answer.result_rows]


def _statistics(summary: Mapping[str, Any] | None) -> Statistics:
    read = summary or {}
    return Statistics(
        rows_read=int(read.get("read_rows", 0)),
        bytes_read=int(read.get("read_bytes", 0)),
        seconds=int(read.get("elapsed_ns", 0)) / 1e9,
    )
