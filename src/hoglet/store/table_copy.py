"""Copies all tables of one metadata database into another, empty one.

Source: docs/growing.md#2-postgresql.
"""

from collections.abc import Callable

from sqlalchemy import Column, Connection, Table, func, insert, inspect, select, text
from sqlalchemy.exc import DataError

from hoglet.kit.errors import HogletError
from hoglet.store.database import Base
from hoglet.store.pooler import blocking_engine

_ROWS = 1_000  # per statement
_SCHEMA_VERSION = "alembic_version"

type RowsCopied = Callable[[str, int], None]
"""Called with a table's name and the number of rows just copied."""


class CopyRefused(HogletError):
    """The tables cannot be copied; nothing was written."""

    code = "copy_refused"
    blame = "operator"


def copy_tables(source_url: str, target_url: str, advance: RowsCopied) -> dict[str, int]:
    """Copy every row, in one transaction on the target. Blocking.

    Args:
        source_url: a URL with a blocking driver; the database has the newest schema and no server
            uses it.
        target_url: like ``source_url``; the database has no rows.
        advance: reports progress.

    Returns:
        Rows by table: ``{"projects": 1, "jobs": 0}``.

    Raises:
        CopyRefused: the target already has rows, or rejects a row of the source.
    """
    source, target = blocking_engine(source_url), blocking_engine(target_url)
    try:
        with source.connect() as reading, target.begin() as writing:
            tables = _tables(reading)
            _check_empty(writing, tables)
            return {table.name: _copy(reading, writing, table, advance) for table in tables}
    finally:
        source.dispose()
        target.dispose()


def _tables(connection: Connection) -> list[Table]:
    """The declared tables; each comes after the tables that it references."""
    stored = set(inspect(connection).get_table_names())
    unknown = stored - set(Base.metadata.tables) - {_SCHEMA_VERSION}
    if unknown:
        raise CopyRefused(f"The source has unknown tables: {sorted(unknown)}")
    return Base.metadata.sorted_tables


def _check_empty(connection: Connection, tables: list[Table]) -> None:
    for table in tables:
        if connection.scalar(select(text("1")).select_from(table).limit(1)):
            raise CopyRefused(
                f"The target already has rows in {table.name}: create an empty database for it."
            )


def _copy(reading: Connection, writing: Connection, table: Table, advance: RowsCopied) -> int:
    count = 0
    rows = reading.execution_options(yield_per=_ROWS).execute(select(table))
    for block in rows.mappings().partitions():
        try:
            writing.execute(insert(table), [dict(row) for row in block])
        except DataError as error:
            raise CopyRefused(f"The target rejects a row of {table.name}: {error.orig}") from error
        count += len(block)
        advance(table.name, len(block))
    if count and table.autoincrement_column is not None:
        _continue_numbers(writing, table, table.autoincrement_column)
    return count


def _continue_numbers(connection: Connection, table: Table, column: Column[int]) -> None:
    """Set PostgreSQL's sequence to continue after the copied ids."""
    sequence = func.pg_get_serial_sequence(table.name, column.name)
    if connection.scalar(select(sequence)):
        highest = select(func.max(column)).scalar_subquery()
        connection.execute(select(func.setval(sequence, highest)))
