"""The metadata database: the base and column types of its tables, connections, transactions.

Column types and statements work on SQLite and PostgreSQL. Only this module commits. A request or a
job is one transaction: ``async with database.write() as session``. It commits at the end of the
block, or rolls back if it raises. Read blocks never commit.

SQLite has one writer at a time. Writers queue on an asyncio lock rather than on SQLite's busy
handler, which sleeps in steps and starves; ``BEGIN IMMEDIATE`` then never has to upgrade a lock.
``synchronous=FULL``: a returned commit survives a power failure.

SQLite works in a thread, with one round trip to it per statement. ``aiosqlite`` uses four, to
create a cursor, execute, fetch and close. Each costs two wake-ups, more than a small statement
itself. The cursor here does all four in one round trip; rows are fetched eagerly, as SQLAlchemy
does anyway. A plain ``BEGIN`` is sent with the first statement of its transaction, and a rollback
without an open transaction is not sent. ``BEGIN IMMEDIATE`` is sent at once, since it takes the
write lock.
"""

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, override
from weakref import WeakValueDictionary

import aiosqlite
import msgspec
import orjson
from sqlalchemy import (
    ARRAY,
    DateTime,
    Dialect,
    MetaData,
    Select,
    String,
    Text,
    bindparam,
    event,
    func,
    make_url,
    select,
    type_coerce,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute
from sqlalchemy.types import TypeDecorator, TypeEngine

from hoglet.kit.json import dump_storable_json
from hoglet.store.lost_peers import client_limits
from hoglet.store.pooler import PoolerDetector
from hoglet.store.row_arrays import arrays_of, from_arrays

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
type ConflictInsert = sqlite.Insert | postgresql.Insert
_encoder = msgspec.json.Encoder(uuid_format="hex")  # as the columns hold them


type ChangeMark = tuple[int, int, int, int]
"""Modification time (ns) and size of the database file and of its write-ahead log."""

SETTLED_NS: Final = 3_000_000_000
"""Two commits may leave the same mark if they are within the resolution of file times, which is at
most two seconds; so a mark that is younger is not used."""
_TURNS = "turns"
"""Key of the locks that a transaction holds within this process."""
BUSY_TIMEOUT_MS = 30_000  # another process (hoglet events import) may hold the write lock


class Base(DeclarativeBase):
    """Base of all tables; each is declared in the ``tables.py`` of the package that owns it."""

    metadata = MetaData(naming_convention=_NAMES)


class JsonText(TypeDecorator[Any]):
    """JSON stored as text: preserves key order and number formats.

    PostgreSQL's ``json`` types do not; hoglet never queries inside JSON columns.
    """

    impl = Text
    cache_ok = True

    @override
    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else dump_storable_json(value)

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else orjson.loads(value)

    @override
    def compare_values(self, x: Any, y: Any) -> bool:
        """Compare values as JSON text, because in Python ``[True] == [1]``."""
        return x is y or dump_storable_json(x) == dump_storable_json(y)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime in UTC: sortable text on SQLite, timestamptz on PostgreSQL."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @override
    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        kind = String(27) if dialect.name == "sqlite" else DateTime(timezone=True)
        return dialect.type_descriptor(kind)

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None or dialect.name != "sqlite":
            return value
        naive = value.astimezone(UTC).replace(tzinfo=None)  # strftime does not pad early years
        return naive.isoformat(timespec="microseconds") + "Z"

    @override
    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None or dialect.name != "sqlite":
            return value if value is None else value.astimezone(UTC)
        return datetime.fromisoformat(value)


def insert_into(session: AsyncSession, table: type[Base]) -> ConflictInsert:
    """An ``INSERT`` that supports ``ON CONFLICT``."""
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # takes 30 ms to import and is not needed on SQLite

    return postgresql.insert(table)


async def insert_rows(
    session: AsyncSession, insert: ConflictInsert, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Execute an ``INSERT`` for rows with the same columns; on PostgreSQL as one statement.

    Rows must not have the same key if the statement updates those that exist.
    """
    connection = await session.connection()
    if len(rows) == 1 or connection.dialect.name == "sqlite":
        await connection.execute(insert, rows)
    else:
        await connection.execute(from_arrays(insert, list(rows[0])), arrays_of(rows))


def values_of(
    session: AsyncSession, column: InstrumentedAttribute[Any], values: Sequence[Any]
) -> Select[Any]:
    """A subquery that yields the values, bound as ONE parameter.

    SQLAlchemy needs about 4 us for each bound parameter, so for a list of 2,000 values it would
    take longer than the database takes to find the rows.
    """
    if session.get_bind().dialect.name == "sqlite":
        listed = func.json_each(_encoder.encode(values).decode()).table_valued("value")
        return select(type_coerce(listed.c.value, column.type))
    return select(func.unnest(bindparam(None, list(values), type_=ARRAY(column.type))))


def change_mark(path: Path) -> ChangeMark | None:
    """Detect whether any process wrote to a SQLite file, without running a statement.

    Equal marks mean that nothing was committed in between. Idle consumers would otherwise query
    the database for work many times a second: a statement takes a millisecond of processor time,
    this takes 10 µs.

    Args:
        path: the database file, in WAL mode.

    Returns:
        None if unknown: just after a commit, or without a write-ahead log.
    """
    try:
        database, journal = os.stat(path), os.stat(f"{path}-wal")  # noqa: PTH116 (a tenth of the time)
    except OSError:
        return None
    if time.time_ns() - max(database.st_mtime_ns, journal.st_mtime_ns) < SETTLED_NS:
        return None
    return (database.st_mtime_ns, database.st_size, journal.st_mtime_ns, journal.st_size)


class Database:
    """The metadata database.

    Args:
        url: ``sqlite+aiosqlite:///data/hoglet.db`` or ``postgresql+psycopg://user@host/name``.

    Concurrency: safe to share within one event loop. Processes may share one SQLite file.
    """

    def __init__(self, url: str) -> None:
        self.engine = _engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._pooler = None if self.is_sqlite else PoolerDetector(self.engine.sync_engine)
        self._path = Path(self.engine.url.database or "") if self.is_sqlite else None
        self._sessions = async_sessionmaker(self.engine, expire_on_commit=False)
        self._reads = async_sessionmaker(
            self.engine if self.is_sqlite else _without_transactions(self.engine),
            expire_on_commit=False,
            autoflush=False,
        )
        self._writer = asyncio.Lock()
        self._turns = WeakValueDictionary[int | str, asyncio.Lock]()
        if self.is_sqlite:
            event.listen(self.engine.sync_engine, "connect", _configure_sqlite)
            event.listen(self.engine.sync_engine, "begin", _begin_sqlite)

    @property
    def is_pooled(self) -> bool:
        """Whether a pooler may lend each transaction another connection; known once connected."""
        return self._pooler is not None and self._pooler.is_pooled is True

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncSession]:
        """Open a read session; nothing that is added to it is stored.

        On PostgreSQL, each statement sees what was committed when it began, and takes one round
        trip: a transaction at the level READ COMMITTED sees the same and takes two more.
        """
        async with self._reads() as session:
            yield session

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncSession]:
        """Open a write transaction; commits at the end of the block, rolls back if it raises."""
        if not self.is_sqlite:
            async with self._sessions() as session:
                try:
                    async with session.begin():
                        yield session
                finally:
                    for turn in session.info.pop(_TURNS, {}).values():
                        turn.release()
            return
        async with self._writer, self._sessions() as session:
            await session.connection(execution_options={"sqlite_begin": "BEGIN IMMEDIATE"})
            yield session
            await session.commit()

    async def serialize(self, session: AsyncSession, lock: int | str) -> None:
        """Take a lock that all servers share; the end of the transaction releases it.

        No effect on SQLite, which has one writer at a time anyway. A transaction takes it first, so
        that none waits for it with locks of rows.

        Args:
            session: a write transaction.
            lock: an arbitrary number that nothing else in the database uses as a lock, or a text
                that names what is locked.
        """
        if self.is_sqlite:
            return
        # Those of one server wait here, without the connections that other requests need.
        held: dict[int | str, asyncio.Lock] = session.info.setdefault(_TURNS, {})
        if lock not in held:
            turn = self._turns.setdefault(lock, asyncio.Lock())
            await turn.acquire()
            held[lock] = turn
        await session.execute(select(func.pg_advisory_xact_lock(_number_of(lock))))

    async def share(self, session: AsyncSession, lock: int | str) -> None:
        """Take a lock of :meth:`serialize` together with others that only share it."""
        if not self.is_sqlite:
            await session.execute(select(func.pg_advisory_xact_lock_shared(_number_of(lock))))

    def change_mark(self) -> ChangeMark | None:
        """A mark of the database's state; equal marks mean that no process committed in between.

        None if that is unknown: on PostgreSQL, and within three seconds of a commit.
        """
        return None if self._path is None else change_mark(self._path)

    async def close(self) -> None:
        """Close all connections."""
        await self.engine.dispose()


def _number_of(lock: int | str) -> Any:
    return func.hashtextextended(lock, 0) if isinstance(lock, str) else lock


def _engine(url: str) -> AsyncEngine:
    path = make_url(url).database
    if not url.startswith("sqlite"):
        limits = client_limits(make_url(url))
        return create_async_engine(
            url,
            connect_args=limits,
            pool_size=5,
            max_overflow=10,  # closed again when idle; together the number in docs/growing.md
            hide_parameters=True,
        )
    if not path or path == ":memory:":
        return create_async_engine(url, hide_parameters=True)
    # Requests and workers come and go; a new connection costs a thread. The connection that was
    # used last has the newest pages in its cache.
    return create_async_engine(
        url,
        async_creator=connector(path),
        pool_size=12,
        max_overflow=8,
        pool_use_lifo=True,
        hide_parameters=True,
    )


def _without_transactions(engine: AsyncEngine) -> AsyncEngine:
    """An engine on the same connections, whose sessions execute only queries.

    Raises:
        TypeError: when another statement is executed: nothing would roll it back.
    """
    reads = engine.execution_options(isolation_level="AUTOCOMMIT")
    event.listen(reads.sync_engine, "before_execute", _check_is_query)
    return reads


def _check_is_query(_connection: Any, statement: Any, *_: Any) -> None:
    if getattr(statement, "is_dml", False):
        raise TypeError("a read session executes only queries; see Database.write")


def _configure_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we emit BEGIN ourselves, see _begin_sqlite
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    # The spool writes megabytes per second: checkpoints of 16 MB instead of 4 MB save disk writes.
    cursor.execute("PRAGMA wal_autocheckpoint=4000")
    cursor.execute(
        "PRAGMA cache_size=-16000"
    )  # 16 MB; the index of seen UUIDs is accessed randomly
    cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
    cursor.close()


def _begin_sqlite(connection: Any) -> None:
    begin = connection.get_execution_options().get("sqlite_begin", "BEGIN")
    connection.exec_driver_sql(begin)


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
    _only_reads = False  # whether the open transaction was begun without taking the write lock

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
        """Roll back the transaction, if one is open; the pool calls this after every use.

        The end of a read is sent without waiting for it: later statements of this connection come
        after it, and no other connection waits for it, as for the lock of a write.
        """
        self._begins = False
        if self._is_open and self._only_reads:
            self._tx.put_nowait((None, self._conn.rollback))
        elif self._is_open:
            await super().rollback()
        self._is_open = False

    async def run(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Run a function in the thread."""
        begins, self._begins = self._begins, False
        self._only_reads = begins or (self._is_open and self._only_reads)
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
