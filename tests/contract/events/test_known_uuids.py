"""A repeated event is stored once within the window; afterwards its UUID is forgotten.

Source: docs/spec/hog-functions.md#14-capture, row uuid.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from sqlalchemy import func, insert, select, text

from hoglet.events.known_uuids import KnownUuids
from hoglet.events.tables import KnownUuidRow, SeenEventRow
from hoglet.kit.clock import FixedClock, new_id
from hoglet.store.database import Database
from support.databases import open_database

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class World:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.days = 0.0

    def known(self, window_days: int = 7) -> KnownUuids:
        clock = FixedClock(NOON + timedelta(days=self.days))
        return KnownUuids(clock, window_days=window_days)

    async def add(self, *uuids: UUID, project_id: int = 1) -> None:
        async with self.database.write() as session:
            await self.known().add(session, project_id, uuids)

    async def find(self, *uuids: UUID, project_id: int = 1, window_days: int = 7) -> set[UUID]:
        async with self.database.read() as session:
            return await self.known(window_days).find(session, project_id, uuids)

    async def rows(self, table: type = KnownUuidRow) -> int:
        async with self.database.read() as session:
            return await session.scalar(select(func.count()).select_from(table)) or 0


@pytest.fixture
def world(database: Database) -> World:
    return World(database)


async def test_uuids_are_known_in_their_project_only(world: World):
    event_uuid, other = new_id(), new_id()
    await world.add(event_uuid)

    assert await world.find(event_uuid, other) == {event_uuid}
    assert await world.find(event_uuid, other, project_id=2) == set()
    assert await world.find() == set()


@pytest.mark.parametrize(("days", "is_known"), [(0, True), (1, True), (7, True), (9, False)])
async def test_uuids_are_known_for_the_window(world: World, days: int, is_known: bool):
    event_uuid = new_id()
    await world.add(event_uuid)
    world.days = days

    assert (await world.find(event_uuid) == {event_uuid}) is is_known


async def test_a_shorter_window_takes_effect_at_once(world: World):
    event_uuid = new_id()
    await world.add(event_uuid)
    world.days = 3

    assert await world.find(event_uuid, window_days=1) == set()
    assert await world.find(event_uuid, window_days=3) == {event_uuid}


async def test_a_clock_that_goes_back_over_midnight_forgets_nothing(world: World):
    event_uuid = new_id()
    world.days = 0.51  # after midnight
    await world.add(event_uuid)
    world.days = 0.49

    assert await world.find(event_uuid) == {event_uuid}


async def test_days_before_the_window_are_deleted_and_the_others_stay(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("hoglet.events.known_uuids._ROWS_PER_DELETE", 3)
    old, new = [new_id() for _ in range(10)], [new_id() for _ in range(4)]
    await world.add(*old[:5])
    await world.add(*old[5:], project_id=2)
    world.days = 8
    await world.add(*new)

    await world.known().drop_expired(world.database)

    assert await world.rows() == len(new)
    assert await world.find(*new, *old) == set(new)
    await world.known().drop_expired(world.database)
    assert await world.rows() == len(new)


async def test_uuids_that_an_earlier_server_recorded_are_known_for_one_more_window(world: World):
    legacy, event_uuid = new_id(), new_id()
    async with world.database.write() as session:
        await session.execute(insert(SeenEventRow).values(project_id=1, event_uuid=legacy))
    await world.add(event_uuid)
    assert await world.find(legacy, event_uuid) == {legacy, event_uuid}

    world.days = 7
    await world.known().drop_expired(world.database)
    assert await world.find(legacy, event_uuid) == {legacy, event_uuid}

    world.days = 8
    await world.known().drop_expired(world.database)
    assert await world.find(legacy, event_uuid) == set()
    assert (await world.rows(), await world.rows(SeenEventRow)) == (0, 0)


async def test_more_uuids_than_parameters_are_found(world: World):
    uuids = [new_id() for _ in range(5000)]
    await world.add(*uuids)
    await world.add(*uuids)  # again, as after a lost commit

    assert await world.find(*uuids, new_id()) == set(uuids)


_ROWS_READ = """
    SELECT sum(idx_tup_read) + (SELECT sum(seq_tup_read) FROM pg_stat_user_tables)
    FROM pg_stat_user_indexes WHERE indexrelname = 'pk_known_uuids'
"""


async def test_postgres_does_not_read_the_other_uuids_of_a_day(postgres_url: str):
    """Also before it has statistics of a new table, with a plan made when the table was empty."""
    async with open_database(postgres_url) as database:
        world = World(database)
        async with database.write() as session:
            await session.execute(text("ALTER TABLE known_uuids SET (autovacuum_enabled = false)"))
        for _ in range(10):
            await world.find(new_id())
        others = [new_id() for _ in range(5000)]
        await world.add(*others)
        before = await _rows_read(database)
        for _ in range(10):
            assert await world.find(new_id(), others[0]) == {others[0]}
        assert await _rows_read(database) - before < 1000


async def _rows_read(database: Database) -> int:
    """Rows that were read so far: other connections report them when they close."""
    await database.engine.dispose()
    async with database.read() as session:
        return await session.scalar(text(_ROWS_READ)) or 0
