"""SQLite in a thread, with one round trip to the thread per statement.

``aiosqlite`` uses four round trips, to create a cursor, execute, fetch and close. Each costs two
wake-ups, more than a small statement itself. This cursor does all four in one round trip; rows are
fetched eagerly, as SQLAlchemy does anyway. A plain ``BEGIN`` is sent with the first statement of
its transaction, and a rollback without an open transaction is not sent. ``BEGIN IMMEDIATE`` is
sent at once, since it takes the write lock.
"""

import sqlite3
from collections.abc import Callable
from typing import Any, Self

import aiosqlite


def connector(path: str) -> Callable[[], Any]:
    """The ``async_creator`` for ``create_async_engine``.

    Args:
        path: the database file, or ``:memory:``.
    """

    async def connect(*_: Any, **__: Any) -> aiosqlite.Connection:
        # Thread startup and SQLAlchemy's own calls use the base class.
        connection = SqliteConnection(lambda: sqlite3.connect(path, check_same_thread=False), 64)
        connection._thread.daemon = True  # noqa: SLF001 (a process that fails must still end)
        return await connection

    return connect


class SqliteConnection(aiosqlite.Connection):
    """An ``aiosqlite`` connection whose cursors are :class:`Cursor`."""

    _begins = False
    _is_open = False  # whether a statement was sent since the last commit or rollback

    def cursor(self) -> Any:
        """Create a cursor; does not visit the thread."""
        return Cursor(self)

    def begin(self) -> None:
        """Send ``BEGIN`` with the next statement."""
        self._begins = True

    async def commit(self) -> None:
        """Commit the transaction, if one is open."""
        self._begins = False
        if self._is_open:
            await super().commit()
            self._is_open = False

    async def rollback(self) -> None:
        """Roll back the transaction, if one is open; the pool calls this after every use."""
        self._begins = False
        if self._is_open:
            await super().rollback()
            self._is_open = False

    async def run(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Run a function in the thread."""
        begins, self._begins = self._begins, False
        self._is_open = True  # set first: if this task is cancelled, the statement still runs
        await self._execute(self._work, work, begins=begins)

    def _work(self, work: Callable[[sqlite3.Connection], None], *, begins: bool) -> None:
        if begins:
            self._conn.execute("BEGIN")
        work(self._conn)


class Cursor:
    """The cursor API that SQLAlchemy uses; rows are available after ``execute``."""

    def __init__(self, connection: SqliteConnection) -> None:
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
        if sql == "BEGIN":
            self._connection.begin()
            return self
        await self._connection.run(lambda raw: self._keep(raw.execute(sql, parameters)))
        return self

    async def executemany(self, sql: str, parameters: Any) -> Self:
        """Execute for many parameter sets."""
        await self._connection.run(lambda raw: self._keep(raw.executemany(sql, parameters)))
        return self

    async def fetchall(self) -> list[Any]:
        """The rows; empty on further calls."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Nothing to release."""

    def _keep(self, done: sqlite3.Cursor) -> None:
        self.description = done.description
        self._rows = done.fetchall() if done.description else []
        self.rowcount, self.lastrowid = done.rowcount, done.lastrowid  # set after the last row
        done.close()
