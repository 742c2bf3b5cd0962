"""Loads a project's rows of ``system`` tables, bound to a query as JSON.

Source: docs/spec/data-and-queries.md#6-system-tables.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.endpoints.worker.query_errors import QueryError
from hoglet.hogql.schema.system import (
    PROJECT,
    ROW_SOURCES,
    SYSTEM_TABLES,
    RowSource,
)
from hoglet.kit.json import dump_storable_json
from hoglet.store.database import Database

type Row = dict[str, Any]
type RowReader = Callable[[AsyncSession, Project, int], Awaitable[Sequence[Row]]]
"""``await read(session, project, limit)``: at most ``limit`` rows of the project.

A row is ``{"id": …, "name": …, …}`` with every column except ``team_id``; objects and lists are not
encoded, and datetimes are timezone-aware.
"""

MAX_ROWS = 50_000
MAX_BYTES = 16 * 1024 * 1024


class SystemRows:
    """Loads the rows that a query is about to read.

    Args:
        database: stores the records.
        readers: readers by table name, e.g. ``{"system.actions": read_actions}``.
        max_rows: maximum number of rows of one table.
        max_bytes: maximum size of the JSON of all tables of a query.
    """

    def __init__(
        self,
        database: Database,
        readers: Mapping[str, RowReader],
        *,
        max_rows: int = MAX_ROWS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._database = database
        self._readers = readers
        self._max_rows = max_rows
        self._max_bytes = max_bytes

    async def load(self, project: Project, tables: Sequence[str]) -> dict[str, str]:
        """The parameters with the rows: ``{"rows_of_actions": '[{"id": 1, …}]'}``.

        Raises:
            QueryError: there are more rows than a query can read.
        """
        parameters: dict[str, str] = {}
        async with self._database.read() as session:
            for name in dict.fromkeys(tables):
                source = ROW_SOURCES.get(SYSTEM_TABLES[name].table.physical)
                reader = self._readers.get(name)
                if source is None or reader is None:
                    continue  # a warehouse table, or one of a feature that is not installed
                rows = await reader(session, project, self._max_rows + 1)
                self._refuse_many(name, len(rows))
                parameters[source.parameter] = await asyncio.to_thread(
                    _encoded, source, project.id, rows
                )
        if sum(map(len, parameters.values())) > self._max_bytes:
            raise _too_large(" and ".join(dict.fromkeys(tables)), f"{self._max_bytes:,} bytes")
        return parameters

    def _refuse_many(self, name: str, count: int) -> None:
        if count > self._max_rows:
            raise _too_large(name, f"{self._max_rows:,} rows")


def _too_large(name: str, limit: str) -> QueryError:
    return QueryError(
        f"{name} has more than {limit}, the maximum for a query. Use the API's list.",
        code="too_many_bytes",
    )


def _encoded(source: RowSource, project_id: int, rows: Sequence[Row]) -> str:
    return dump_storable_json([_plain(source, project_id, row) for row in rows])


def _plain(source: RowSource, project_id: int, row: Row) -> Row:
    return {PROJECT: project_id} | {
        column: _value(row[column], is_json=column in source.json)
        for column, _ in source.columns
        if column != PROJECT
    }


def _value(value: Any, *, is_json: bool) -> Any:
    if value is None:
        return None
    if is_json:
        return dump_storable_json(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    return value if isinstance(value, int | float) else str(value)
