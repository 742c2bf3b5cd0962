"""Group commits: shared transactions in which one failure does not take the others with it."""

import asyncio

import pytest
from sqlalchemy import text

from hoglet.pipeline.commits import GroupCommits


@pytest.fixture
async def commits(database):
    async with database.write() as session:
        await session.execute(text("CREATE TABLE notes (n INTEGER PRIMARY KEY)"))
    return GroupCommits(database)


async def notes(database):
    async with database.read() as session:
        return list(await session.scalars(text("SELECT n FROM notes ORDER BY n")))


def note(number):
    async def work(session):
        await session.execute(text("INSERT INTO notes VALUES (:n)"), {"n": number})

    return work


async def test_all_work_is_committed(commits, database):
    await asyncio.gather(*(commits.commit(note(number)) for number in range(300)))

    assert await notes(database) == list(range(300))


async def test_a_failing_piece_is_undone_alone(commits, database):
    async def fails(session):
        await note(7)(session)
        raise KeyError("no")

    outcomes = await asyncio.gather(
        commits.commit(note(1)),
        commits.commit(fails),
        commits.commit(note(2)),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes] == [type(None), KeyError, type(None)]
    assert await notes(database) == [1, 2]


async def test_a_statement_that_the_database_refuses_is_undone_alone(commits, database):
    await commits.commit(note(1))
    outcomes = await asyncio.gather(
        commits.commit(note(1)), commits.commit(note(2)), return_exceptions=True
    )

    assert isinstance(outcomes[0], Exception)
    assert await notes(database) == [1, 2]
