"""Runs a SELECT and returns rows as Python values, or as JSON encoded by the engine.

With JSON, rows never become Python values: ten thousand rows of three columns take 14 ms, instead
of 22 ms as Python values plus JSON encoding, and other threads can run meanwhile. The embedded
engine returns large results in blocks, so that they are never in memory as a whole.

The engine's JSON matches the response format for most types, and for whole seconds in UTC. Other
timestamps need the project's time zone and no zero fraction, so a wrapping query formats them as
strings, which takes the engine 0.8 ms to plan. Types in neither list are returned as Python values.

Source: docs/spec/query-endpoints.md#105-values-in-json.
"""

import re
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
import orjson
from clickhouse_connect.driver.client import Client

from hoglet.kit.cache import BoundedCache
from hoglet.kit.clock import timezone_names
from hoglet.warehouse.errors import QueryRefused, WarehouseDown, from_engine
from hoglet.warehouse.json_parts import JsonPartsWriter
from hoglet.warehouse.port import (
    ROWS_PARAMETER,
    STARTUP,
    JsonRows,
    QueryResult,
    ResultColumn,
    Statistics,
    Warehouse,
)
from hoglet.warehouse.values import BLOCK_FORMAT, quoted_name

if TYPE_CHECKING:
    from hoglet.warehouse.embedded import EmbeddedClient  # needs the engine

FORMAT = "JSONCompact"
STREAMED_ROWS = 1_000
"""Results that may have more rows are read in blocks. Read as a whole, small ones are 70 µs
faster."""
SMALL_BLOCK_ROWS = 1_024
MANY_ROWS = 10_000
"""Rows per block of larger results. With four results of 131 MB, a server takes 1,000 MB with
65,409 rows per block and 180 MB with 1,024. In return, scans take longer: 1.8 to 3.2 times the
processor time for groupings and filters, 6 to 7 times for a filter that finds thousands of rows."""
READER_READONLY = 2  # allows changing settings, so that each query can set its limits
REMEMBERED = 2_000  # query texts with known columns; 0.5 to 10 MB
_UNHASHABLE = "A map whose keys are arrays or maps cannot be returned. Select toString(...) of it."
_FORMATS = {"Tuple": "tuple"}  # named tuples become arrays, too (10.5)
_TYPED_BY_TEXT = re.compile(r"dateTrunc\(|JSONExtract\(")

type Asked = tuple[str, ...]


def block_rows(most_rows: int | None) -> int | None:
    """The number of rows per block of a result; None for the engine's default."""
    return SMALL_BLOCK_ROWS if most_rows is None or most_rows > MANY_ROWS else None


_WRAPPERS = re.compile(r"(?:Nullable|LowCardinality)\((.*)\)", re.DOTALL)
_ARRAY = re.compile(r"Array\((.*)\)", re.DOTALL)
_PLAIN = re.compile(
    r"String|U?Int(?:8|16|32|64)|Float64|Bool|UUID|Date|Date32|IPv[46]|Nothing|Enum(?:8|16)\(.*\)",
    re.DOTALL,
)
_TIME = re.compile(r"DateTime(?:64)?(?:\(.*\))?")
_SECONDS = re.compile(r"DateTime(?:\(.*\)|64\(0(?:,.*)?\))?")
# Raw line ends and tabs are structure only: inside JSON strings they are escaped.
_ROWS_BEGIN = b'\n\t"data":\n\t[\n'
_ROWS_END = b"\n\t],\n"
_INDENT = b"\t\t"
_BETWEEN = b",\n" + _INDENT
_LINE_END = b"\n"
# A fraction of six digits unless it is zero; then Z, or the offset with a colon.
_UTC = "concat(replaceOne(formatDateTime({at}, '%FT%T.%f', 'UTC'), '.000000', ''), 'Z')"
_ELSEWHERE = (
    "concat(replaceOne(formatDateTime({at}, '%FT%T.%f', '{zone}'), '.000000', ''),"
    " replaceRegexpOne(formatDateTime({at}, '%z', '{zone}'), '^(...)', '\\\\1:'))"
)
_ZONE_NAME = re.compile(r"[A-Za-z0-9_+/-]+")


def rewritten(sql: str, columns: Sequence[ResultColumn], zone: str) -> str | None:
    """Wrap a query so that its JSON has the response format; None if the engine cannot produce it.

    Args:
        sql: a SELECT.
        columns: its columns.
        zone: time zone of timestamps, e.g. ``Europe/Berlin``.
    """
    others = [column for column in columns if not _is_plain(column.type, zone)]
    times = [column.name for column in others if _TIME.fullmatch(_unwrapped(column.type))]
    if len(times) < len(others) or not _ZONE_NAME.fullmatch(zone):
        return None
    if not times:
        return sql
    if len({column.name for column in columns}) < len(columns):
        return None
    view = ", ".join(f"{_display(name, zone)} AS {quoted_name(name)}" for name in times)
    return f"SELECT * REPLACE({view}) FROM ({sql})"  # noqa: S608 (names are quoted)


def read_rows(body: bytes, columns: list[ResultColumn], into: JsonPartsWriter) -> JsonRows:
    """Parse the engine's response; if the query aborted, raises the error of ``from_engine``.

    Pass the only reference to ``body``, so that its memory can be freed early: results are large.

    Raises:
        QueryTooCostly: the result is too large. The engine counts a constant column once, but in
            JSON it is repeated in every row.
    """
    begin = body.find(_ROWS_BEGIN) + len(_ROWS_BEGIN)
    begin += len(_INDENT) if body.startswith(_INDENT, begin) else 0
    end = body.rfind(_ROWS_END)
    reported = _tail(body, end)
    written = body[begin:end]
    del body
    if written:
        into.add(written, _BETWEEN)
    # An aborted query may report the rows that it wrote before its exception.
    if "exception" in reported or reported.get("rows") != into.count:
        raise from_engine(str(reported.get("exception", "The result was cut off.")), None)
    spent = reported.get("statistics", {})
    statistics = Statistics(
        spent.get("rows_read", 0), spent.get("bytes_read", 0), spent.get("elapsed", 0.0)
    )
    return JsonRows(columns, into.finish(), into.count, statistics)


def read_blocks(
    client: Client,
    sql: str,
    params: dict[str, Any],
    columns: list[ResultColumn],
    into: JsonPartsWriter,
) -> JsonRows:
    """Read rows from the embedded engine while it computes them.

    Raises:
        ClickHouseError: the query failed.
        QueryTooCostly: the result is too large.
    """
    began = time.perf_counter()
    progress: dict[str, int] = {}
    embedded = cast("EmbeddedClient", client)
    with closing(embedded.read_blocks(sql, params, BLOCK_FORMAT, progress)) as blocks:
        for block, count in blocks:
            into.add(block, _LINE_END, count)
    statistics = Statistics(
        progress.get("read_rows", 0), progress.get("read_bytes", 0), time.perf_counter() - began
    )
    return JsonRows(columns, into.finish(), into.count, statistics)


def _received(client: Client, sql: str, params: dict[str, Any]) -> bytes:
    """The result of a query of a server, as one text."""
    return client.raw_query(sql, parameters=params or None, fmt=FORMAT)


def _whole(client: Client, sql: str, params: dict[str, Any]) -> bytes:
    """The result of a query of the embedded engine, as one text."""
    return cast("EmbeddedClient", client).read_whole(sql, params, FORMAT)


def _tail(body: bytes, end: int) -> dict[str, Any]:
    try:
        return orjson.loads(b"{" + body[end + len(_ROWS_END) :])
    except orjson.JSONDecodeError:
        return {"exception": body[-2_000:].decode(errors="replace")}


def _is_plain(kind: str, zone: str) -> bool:
    inner = _unwrapped(kind)
    array = _ARRAY.fullmatch(inner)
    if array:
        return _is_plain(array[1], zone)
    return bool(_PLAIN.fullmatch(inner) or (zone == "UTC" and _SECONDS.fullmatch(inner)))


def _unwrapped(kind: str) -> str:
    while wrapped := _WRAPPERS.fullmatch(kind):
        kind = wrapped[1]
    return kind


def _display(name: str, zone: str) -> str:
    template = _UTC if zone == "UTC" else _ELSEWHERE
    return template.format(at=f"toDateTime64({quoted_name(name)}, 6)", zone=zone)


def select(client: Client, sql: str, params: dict[str, Any]) -> QueryResult:
    """Run a SELECT and return the rows as Python values.

    Raises:
        QueryRefused: the keys of a map are arrays or maps, which Python cannot hash.
    """
    rows, params = _split_rows(params)
    sql = _written_out(sql, rows)
    try:
        answer = client.query(sql, parameters=params or None, query_formats=_FORMATS)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        raise QueryRefused(_UNHASHABLE) from None
    if not answer.column_names:
        return QueryResult(_describe(client, sql, params), [], _statistics(answer.summary))
    columns = [
        ResultColumn(name, kind.name)
        for name, kind in zip(answer.column_names, answer.column_types, strict=True)
    ]
    return QueryResult(columns, answer.result_rows, _statistics(answer.summary))


async def check_reader(warehouse: Warehouse) -> None:
    """Check that the user for queries can change limits but nothing else.

    Raises:
        WarehouseDown: its profile does not have ``readonly = 2``.
    """
    rows = (await warehouse.query("SELECT getSetting('readonly')", budget=STARTUP)).rows
    if int(rows[0][0]) != READER_READONLY:
        raise WarehouseDown(
            "The user of HOGLET_WAREHOUSE_READ_URL must have the setting readonly = 2."
        )


class JsonQuery(msgspec.Struct, frozen=True):
    """Arguments of ``Warehouse.query_json``; ``is_streamed``: rows are read in blocks."""

    sql: str
    params: dict[str, Any]
    zone: str
    most_rows: int | None
    most_bytes: int
    is_streamed: bool


class _Described(NamedTuple):
    """The columns of a query, and the query that returns them as JSON, if there is one."""

    columns: list[ResultColumn]
    sql: str | None


class JsonSelects:
    """Runs SELECTs that return JSON.

    The columns of a query are determined before its first run (1 ms) and cached with the query that
    returns them as JSON, by its text, the values that types depend on, and the time zone. Numbers
    are part of the text; other values are bound parameters.

    Args:
        is_embedded: whether the engine runs in this process.

    Concurrency: thread-safe; each thread uses its own connection.
    """

    def __init__(self, *, is_embedded: bool) -> None:
        self._read = _whole if is_embedded else _received
        self._known = BoundedCache[Asked, _Described](REMEMBERED)
        self._lock = threading.Lock()

    def select(self, client: Client, tag: str, query: JsonQuery) -> JsonRows | QueryResult:
        """See ``Warehouse.query_json``; ``tag`` is the comment that identifies the query.

        Raises:
            QueryTooCostly: the JSON is larger than ``most_bytes``.
            WarehouseDown: a large result cannot be written to a temporary file.
        """
        sql = query.sql
        rows, params = _split_rows(query.params)
        requested = (query.zone, sql, *_deciding(sql, params))
        described = self._known.get(requested)
        if described is None:
            without_rows = _written_out(sql, dict.fromkeys(rows, "[]"))
            columns = _describe(client, f"{tag} {without_rows}", params)
            described = _Described(columns, rewritten(sql, columns, query.zone))
            self._remember(requested, described)
        columns, written = described
        if written is None:
            return select(client, f"{tag} {_written_out(sql, rows)}", params)
        written = f"{tag} {_written_out(written, rows)}"
        writer = JsonPartsWriter(query.most_rows, query.most_bytes)
        if query.is_streamed:
            return read_blocks(client, written, params, columns, writer)
        return read_rows(self._read(client, written, params), columns, writer)

    def _remember(self, requested: Asked, described: _Described) -> None:
        with self._lock:
            self._known.put(requested, described)


def _split_rows(params: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Split parameters into those that contain whole tables and all others."""
    rows = {name: text for name, text in params.items() if name.startswith(ROWS_PARAMETER)}
    if not rows:
        return rows, params
    return rows, {name: value for name, value in params.items() if name not in rows}


def _written_out(sql: str, rows: Mapping[str, str]) -> str:
    """Replace the table parameters of a query by string literals.

    A server accepts at most 128 KiB of parameters, because they are sent in the URL.
    """
    for name, text in rows.items():
        quoted = text.replace("\\", "\\\\").replace("'", "\\'")
        sql = sql.replace(f"{{{name}:String}}", f"'{quoted}'")
    return sql


def _deciding(sql: str, params: Mapping[str, Any]) -> list[str]:
    """The bound strings on which column types may depend: units, type names, time zones."""
    texts = [value for value in params.values() if isinstance(value, str)]
    if not texts:
        return texts
    if _TYPED_BY_TEXT.search(sql):
        return texts
    return [text for text in texts if text in timezone_names()]


def _describe(client: Client, sql: str, params: dict[str, Any]) -> list[ResultColumn]:
    """The columns of a query, even if it returns no rows (chDB then returns nothing at all)."""
    answer = client.query(f"DESCRIBE TABLE ({sql})", parameters=params or None)
    return [ResultColumn(row[0], row[1]) for row in answer.result_rows]


def _statistics(summary: Mapping[str, Any] | None) -> Statistics:
    read = summary or {}
    return Statistics(
        rows_read=int(read.get("read_rows", 0)),
        bytes_read=int(read.get("read_bytes", 0)),
        seconds=int(read.get("elapsed_ns", 0)) / 1e9,
    )
