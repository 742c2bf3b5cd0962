"""A consistent copy of the SQLite database, made while writes continue.

Source: docs/adr/0020-online-backup.md.
"""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from hoglet.store.database import Database


class DatabaseSnapshot:
    """A read transaction on the database as of one moment; later commits are invisible."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def copy(self, target: Path) -> None:
        """Copy this state into a new database file."""
        await asyncio.to_thread(self._copy, target)

    def _copy(self, target: Path) -> None:
        with closing(sqlite3.connect(target)) as copied:
            self._connection.backup(copied)

    async def close(self) -> None:
        """End the read transaction; until then, SQLite cannot truncate its write-ahead log."""
        await asyncio.to_thread(self._connection.close)


@asynccontextmanager
async def frozen(database: Database) -> AsyncGenerator[DatabaseSnapshot]:
    """Block all writers within this context and take a snapshot, which outlives the context."""
    async with database.write():
        yield DatabaseSnapshot(await asyncio.to_thread(_begin, database.engine.url.database or ""))


def _begin(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # fixes the snapshot
    return connection
