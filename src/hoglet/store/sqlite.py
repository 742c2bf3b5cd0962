"""SQLite in a thread, with one visit to the thread for each statement.

``aiosqlite`` visits its thread to make a cursor, to execute, to fetch and to close: four times two
wake-ups, which cost several times what a small statement does. This cursor does all four in one
visit; rows are fetched at once, as SQLAlchemy does anyway.
"""

import sqlite3
from collections.abc import Callable
from typing import Any, Self

import aiosqlite


def connector(path: str) -> Callable[[], Any]:
    """What ``create_async_engine(async_creator=…)`` is given.

    Args:
        path: the database file, or ``:memory:``.
    """

    async def connect(*_: Any, **__: Any) -> aiosqlite.Connection:
        # The thread's start and SQLAlchemy's own calls come from elsewhere.
        connection = Connection(lambda: sqlite3.connect(path, check_same_thread=False), 64)
        connection._thread.daemon = True  # noqa: SLF001 (a process that fails must still end)
        return await connection

    return connect


class Connection(aiosqlite.Connection):
    """An ``aiosqlite`` connection whose cursors are :class:`Cursor`."""

    def cursor(self) -> Any:
        """A cursor; nothing happens in the thread yet."""
        return Cursor(self)

    async def run(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do something in the thread."""
        await self._execute(lambda: work(self._conn))


class Cursor:
    """The part of a cursor that SQLAlchemy uses; the rows are there when ``execute`` returns."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.arraysize = 1
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, sql: str, parameters: Any = ()) -> Self:
        """Execute and fetch."""
        await self._connection.run(lambda raw: self._keep(raw.execute(sql, parameters)))
        return self

    async def executemany(self, sql: str, parameters: Any) -> Self:
        """Execute for each of many parameter sets."""
        await self._connection.run(lambda raw: self._keep(raw.executemany(sql, parameters)))
        return self

    async def fetchall(self) -> list[Any]:
        """The rows, once."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Nothing is left open."""

    def _keep(self, done: sqlite3.Cursor) -> None:
        self.description = done.description
        self._rows = done.fetchall() if done.description else []
        self.rowcount, self.lastrowid = done.rowcount, done.lastrowid  # known after the last row
        done.close()
