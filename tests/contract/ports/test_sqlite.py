"""SQLite transactions, whose ``BEGIN`` is sent with the first statement."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url, text

from hoglet.store.database import Database

COUNT = text("SELECT count(*) FROM facts")
INSERT = text("INSERT INTO facts VALUES (1)")


@pytest.fixture
async def facts(sqlite_database: Database) -> Database:
    async with sqlite_database.write() as session:
        await session.execute(text("CREATE TABLE facts (number INTEGER)"))
    return sqlite_database


async def _count(database: Database) -> int:
    async with database.read() as session:
        return await session.scalar(COUNT)


async def test_a_write_that_raises_is_undone(facts: Database):
    async def write() -> None:
        async with facts.write() as session:
            await session.execute(INSERT)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await write()

    assert await _count(facts) == 0


async def test_a_read_is_of_one_state(facts: Database):
    async with facts.read() as reader:
        before = await reader.scalar(COUNT)
        async with facts.write() as session:
            await session.execute(INSERT)
        during = await reader.scalar(COUNT)

    assert (before, during, await _count(facts)) == (0, 0, 1)


async def test_a_write_cancelled_while_it_begins_leaves_no_transaction_open(facts: Database):
    path = make_url(str(facts.engine.url)).database or ""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    async def write() -> None:
        async with facts.write() as session:
            await session.execute(INSERT)

    waiting = asyncio.create_task(write())
    await asyncio.sleep(0.2)  # it waits for the lock of the other one, or has not begun yet
    waiting.cancel()
    other.execute("ROLLBACK")
    other.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    for _ in range(3):  # whichever connection of the pool it was
        await write()

    assert await _count(facts) == 3


async def test_a_write_without_statements_ends_well(facts: Database):
    async with facts.write():
        pass
    async with facts.write() as session:
        await session.execute(INSERT)

    assert await _count(facts) == 1


async def test_a_mark_changes_with_every_commit_of_any_process(
    facts: Database, monkeypatch: pytest.MonkeyPatch
):
    assert facts.change_mark() is None, "too soon after a commit"
    monkeypatch.setattr("hoglet.store.database.SETTLED_NS", -(10**18))
    path = make_url(str(facts.engine.url)).database or ""
    marks = [facts.change_mark()]
    async with facts.write() as session:
        await session.execute(INSERT)
    marks.append(facts.change_mark())
    with closing(sqlite3.connect(path)) as other:
        other.execute("INSERT INTO facts VALUES (2)")
        other.commit()
        marks.append(facts.change_mark())
        assert await _count(facts) == 2
        marks.append(facts.change_mark())

    assert None not in marks
    assert len(set(marks[:3])) == 3
    assert marks[2] == marks[3], "reading is no change"


async def test_a_mark_is_not_known_without_a_file(tmp_path: Path):
    assert Database("sqlite+aiosqlite:///:memory:").change_mark() is None
    assert Database(f"sqlite+aiosqlite:///{tmp_path}/none.db").change_mark() is None


async def test_reads_of_one_connection_see_the_writes_between_them(facts: Database):
    counts: list[int] = []
    for _ in range(20):  # the end of a read is not waited for
        counts.append(await _count(facts))
        async with facts.write() as session:
            await session.execute(INSERT)

    assert counts == list(range(20))


async def test_a_read_that_has_ended_holds_no_snapshot(facts: Database):
    async with facts.write() as session:
        await session.execute(INSERT)
    await _count(facts)

    path = make_url(str(facts.engine.url)).database or ""
    with closing(sqlite3.connect(path)) as other:  # waits five seconds for readers
        (is_busy, left, _) = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert (is_busy, left) == (0, 0)
