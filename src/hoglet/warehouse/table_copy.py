"""Copies all tables of an embedded warehouse into an empty database of a ClickHouse server.

The rows of each part are read by their position in it and inserted as one block after another,
encoded by the engine. Nothing is decoded in between, and the memory needed does not depend on the
size of a table.

Source: docs/adr/0076-moving-a-warehouse.md.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from hoglet.hogql.schema.properties import quote_name
from hoglet.kit.errors import HogletError
from hoglet.warehouse.clickhouse import QUERY_MEMORY_BYTES, WRITE
from hoglet.warehouse.clients import ConnectionPool
from hoglet.warehouse.errors import engine_message, from_engine
from hoglet.warehouse.schema import own_table

_BLOCK_BYTES = 32 * 1024 * 1024  # uncompressed
_BLOCK_ROWS = 500_000
_FORMAT = "Native"
# The target has rows of its own in them: its migrations, and an identity when all else is there.
_NOT_COPIED = ("hoglet_ddl", "hoglet_identity")
_TABLES = """SELECT name, sorting_key FROM system.tables
WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree') ORDER BY name"""
# JSON columns with a default are computed from the text beside them, others by each read.
_COLUMNS = """SELECT name, type FROM system.columns
WHERE database = currentDatabase() AND table = {table:String}
AND (default_kind = '' OR default_kind = 'DEFAULT' AND NOT startsWith(type, 'JSON'))
ORDER BY position"""
_PARTS = """SELECT name, rows, data_uncompressed_bytes FROM system.parts
WHERE database = currentDatabase() AND table = {table:String} AND active ORDER BY name"""

type RowsCopied = Callable[[str, int], None]
"""Called with a table's name and the number of rows just copied."""


class CopyRefused(HogletError):
    """The target already has rows."""

    code = "copy_refused"
    blame = "operator"


class _Table(msgspec.Struct, frozen=True):
    """A table of the source; the columns are names and types: ``[("day", "Date")]``."""

    name: str
    columns: list[tuple[str, str]]
    order_by: str

    def names(self) -> list[str]:
        return [quote_name(name) for name, _ in self.columns]

    def definition(self) -> str:
        columns = ", ".join(f"{quote_name(name)} {kind}" for name, kind in self.columns)
        return own_table(self.name, columns, f"({self.order_by})", None)


def copy_tables(source_url: str, target_url: str, advance: RowsCopied) -> dict[str, int]:
    """Copy the rows of all tables, and create those that the target lacks. Blocking.

    If it fails, the target has some of the rows, and no identity, so no server uses it.

    Args:
        source_url: ``chdb:///folder/warehouse``; no server uses it.
        target_url: ``clickhouse://…``; it has hoglet's schema and no rows.
        advance: reports progress.

    Returns:
        Rows by table: ``{"events": 1000, "persons": 10}``.

    Raises:
        CopyRefused: the target already has rows.
        WarehouseDown, WarehouseBusy: the target cannot be written.
    """
    source, target = (
        ConnectionPool(url, query_memory_bytes=QUERY_MEMORY_BYTES)
        for url in (source_url, target_url)
    )
    try:
        return _copy_all(source.take(WRITE, 1), target.take(WRITE, 1), advance)
    except ClickHouseError as error:
        raise from_engine(engine_message(error), getattr(error, "code", None)) from None
    finally:
        source.close()
        target.close()


def _copy_all(source: Client, target: Client, advance: RowsCopied) -> dict[str, int]:
    source.command("SYSTEM STOP MERGES")  # they replace parts
    tables = list(_tables(source))
    existing = {str(name) for name, _ in _rows(target, _TABLES)}
    _check_empty(target, existing - {"hoglet_ddl"})
    for table in tables:
        if table.name not in existing:
            target.command(table.definition())
    return {table.name: _copy(source, target, table, advance) for table in tables}


def _tables(source: Client) -> Iterator[_Table]:
    for name, order_by in _rows(source, _TABLES):
        if name not in _NOT_COPIED:
            columns = _rows(source, _COLUMNS, {"table": name})
            yield _Table(str(name), [(str(each), str(kind)) for each, kind in columns], order_by)


def _check_empty(target: Client, names: set[str]) -> None:
    for name in sorted(names):
        if _rows(target, f"SELECT 1 FROM {name} LIMIT 1"):  # noqa: S608
            raise CopyRefused(
                f"The target already has rows in {name}: create an empty database for it."
            )


def _copy(source: Client, target: Client, table: _Table, advance: RowsCopied) -> int:
    columns = ", ".join(table.names())
    count = 0
    for part, rows, size in _rows(source, _PARTS, {"table": table.name}):
        step = max(1, min(_BLOCK_ROWS, _BLOCK_BYTES * rows // max(size, 1)))
        for start in range(0, rows, step):
            where = {"part": part, "start": start, "end": start + step}
            block = source.raw_query(
                f"SELECT {columns} FROM {table.name} WHERE _part = {{part:String}} "  # noqa: S608
                "AND _part_offset >= {start:UInt64} AND _part_offset < {end:UInt64}",
                where,
                fmt=_FORMAT,
            )
            # Without a token, the engine ignores a block that has the same rows as another one.
            token = {"insert_deduplication_token": f"copy:{part}:{start}"}
            target.raw_insert(table.name, table.names(), block, settings=token, fmt=_FORMAT)
            copied = min(step, rows - start)
            count += copied
            advance(table.name, copied)
    return count


def _rows(client: Client, sql: str, params: dict[str, Any] | None = None) -> list[Any]:
    return list(client.query(sql, params).result_rows)
