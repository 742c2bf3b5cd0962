"""The SQLite database as of one moment, copied while writes continue.

Source: docs/adr/0020-online-backup.md.
"""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from hoglet.store.database import Database


class DatabaseSnapshot:
    """Reads the state of the moment it was made, whatever is committed later."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def copy(self, target: Path) -> None:
        """Write that state to a new database file."""
        await asyncio.to_thread(self._copy, target)

    def _copy(self, target: Path) -> None:
        with closing(sqlite3.connect(target)) as copied:
            self._connection.backup(copied)

    async def close(self) -> None:
        """Let go of the state; SQLite's log cannot shrink while it is held."""
        await asyncio.to_thread(self._connection.close)


@asynccontextmanager
async def frozen(database: Database) -> AsyncGenerator[DatabaseSnapshot]:
    """Nobody commits until the block ends; the snapshot is of this moment, and stays open."""
    async with database.write():
        yield DatabaseSnapshot(await asyncio.to_thread(_begin, database.engine.url.database or ""))


def _begin(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on it is fixed
    return connection
