"""The state of a group that follows one whose changes are not committed yet."""

from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import delete

from hoglet.events.persons.model import DistinctIdState, PersonStoreState, person_id_of
from hoglet.events.tables import DistinctIdRow, PersonRow, RetiredDistinctIdRow
from hoglet.kit.clock import FixedClock
from hoglet.pipeline.ingest.group_processor import LoadedState
from hoglet.pipeline.ingest.ipc import BatchResult, LookupRequest
from hoglet.store.database import Database
from support.pipeline import Line, at, open_line

GROUP = UUID(int=1)


@pytest.fixture
async def line(database: Database, warehouse: Any, fresh_project_id: int) -> AsyncGenerator[Line]:
    """A project with the persons of ``user`` and ``anon``."""
    clock = FixedClock(at("2026-05-01T12:00:00+00:00"))
    async with open_line(database, warehouse, clock, fresh_project_id) as opened:
        await opened.capture(
            {"event": "e", "distinct_id": "user"}, {"event": "e", "distinct_id": "anon"}
        )
        await opened.work()
        yield opened


def lookups(*names: str, merging: list[str] | None = None) -> LookupRequest:
    return LookupRequest(list(names), merging or [], [], [])


async def loaded(line: Line, needed: LookupRequest) -> LoadedState:
    state = LoadedState(line.database, line.events, line.project_id)
    await state.load(needed)
    return state


async def test_a_merged_id_has_the_row_of_a_person_that_the_merge_did_not_change(line: Line):
    survivor, merged = (person_id_of(line.project_id, name) for name in ("user", "anon"))
    merging = lookups("user", merging=["user", "anon"])
    earlier = await loaded(line, merging)
    [gone] = [each for each in earlier.request(GROUP, merging).persons.persons if each.id == merged]
    moved = DistinctIdState("anon", survivor, 2, moved=True)
    earlier.apply(BatchResult(persons=PersonStoreState(ids=[moved], deleted=[gone])))

    state = await loaded(line, lookups("anon"))
    state.follow(earlier)
    persons = state.request(GROUP, lookups("anon")).persons

    assert persons.ids == [moved]
    assert [person.id for person in persons.persons] == [survivor]


async def test_a_later_merge_moves_every_id_of_that_person(line: Line):
    survivor, merged = (person_id_of(line.project_id, name) for name in ("user", "anon"))
    merging = lookups("user", merging=["user", "anon"])
    earlier = await loaded(line, merging)
    [gone] = [each for each in earlier.request(GROUP, merging).persons.persons if each.id == merged]
    moved = DistinctIdState("anon", survivor, 2, moved=True)
    earlier.apply(BatchResult(persons=PersonStoreState(ids=[moved], deleted=[gone])))

    needed = lookups("other", merging=["other", "anon"])
    state = await loaded(line, needed)
    state.follow(earlier)
    persons = state.request(GROUP, needed).persons

    assert {row.distinct_id: row.person_id for row in persons.ids} == {
        "anon": survivor,
        "user": survivor,
    }


async def test_a_person_that_was_deleted_since_stays_deleted(line: Line):
    """The earlier group loaded it, but did not change it."""
    needed = lookups("user")
    earlier = await loaded(line, needed)
    earlier.request(GROUP, needed)
    earlier.apply(BatchResult())
    async with line.database.write() as session:
        for table in (PersonRow, DistinctIdRow):
            await session.execute(delete(table).where(table.project_id == line.project_id))
        session.add(RetiredDistinctIdRow(project_id=line.project_id, distinct_id="user", version=7))

    state = await loaded(line, needed)
    state.follow(earlier)
    persons = state.request(GROUP, needed).persons

    assert (persons.persons, persons.ids, persons.retired) == ([], [], {"user": 7})


async def test_uuids_of_the_earlier_group_are_known(line: Line):
    earlier = await loaded(line, lookups())
    earlier.apply(BatchResult(new_uuids=[UUID(int=5)], new_group_types={"company": 0}))
    needed = LookupRequest([], [], [], [UUID(int=5), UUID(int=6)])
    state = await loaded(line, needed)
    state.follow(earlier)
    request = state.request(GROUP, needed)

    assert request.seen == [UUID(int=5)]
    assert request.group_types == {"company": 0}
