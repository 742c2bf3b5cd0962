"""Persons, groups and known UUIDs are stored, on both databases."""

from datetime import UTC, datetime

from hoglet.events.groups import GroupStore
from hoglet.events.persons.model import PersonStore, PersonStoreState
from hoglet.events.persons.updates import GroupUpdate, PersonUpdate
from hoglet.events.repository import EventsRepository
from hoglet.kit.clock import new_id
from hoglet.store.database import Database

AT = datetime(2026, 1, 1, tzinfo=UTC)
REPOSITORY = EventsRepository()


async def _send(database: Database, name: str, effect: PersonUpdate | None = None) -> None:
    merging = {name, effect.merge_from} if effect and effect.merge_from else set()
    async with database.write() as session:
        people = PersonStore(1, await REPOSITORY.load_persons(session, 1, {name}, merging))
        people.apply(name, AT, effect)
        await REPOSITORY.save_persons(session, 1, people.changes())


async def test_a_merge_moves_ids_that_the_batch_does_not_name(database: Database):
    await _send(database, "anon")
    await _send(database, "anon", PersonUpdate(merge_from="anon-2"))
    await _send(database, "user", PersonUpdate(overwrite={"plan": "pro"}))
    await _send(database, "user", PersonUpdate(merge_from="anon"))

    async with database.read() as session:
        state = await REPOSITORY.load_persons(session, 1, {"user", "anon", "anon-2"}, set())
    people = PersonStore(1, state)
    ids = {people.find(name).id for name in ("user", "anon", "anon-2")}  # pyright: ignore[reportOptionalMemberAccess]
    assert len(ids) == 1
    survivor = people.find("anon-2")
    assert survivor is not None
    assert (survivor.properties, survivor.version) == ({"plan": "pro"}, 2)


async def test_persons_of_another_project_are_apart(database: Database):
    await _send(database, "user", PersonUpdate(overwrite={"plan": "pro"}))
    async with database.read() as session:
        state = await REPOSITORY.load_persons(session, 2, {"user"}, set())

    assert state == PersonStoreState()


async def test_group_types_and_properties_are_kept(database: Database):
    async with database.write() as session:
        book = GroupStore(await REPOSITORY.group_types(session, 1), [])
        book.apply(GroupUpdate("company", "acme", {"size": 5}), AT)
        assert book.keys_of({"team": "red", "company": "acme"})[:2] == ["acme", "red"]
        await REPOSITORY.save_groups(session, 1, book.new_types, book.changes())

    async with database.read() as session:
        assert await REPOSITORY.group_types(session, 1) == {"company": 0, "team": 1}
        groups = await REPOSITORY.load_groups(session, 1, [(0, "acme"), (0, "other")])
    assert [(group.index, group.key, group.text) for group in groups] == [(0, "acme", '{"size":5}')]


def test_a_sixth_group_type_is_ignored():
    book = GroupStore({str(number): number for number in range(5)}, [])

    assert book.index_of("sixth") is None
    assert book.keys_of({"sixth": "x", "4": "y"}) == ["", "", "", "", "y"]


async def test_seen_uuids_are_found_again(database: Database):
    known = [new_id() for _ in range(1200)]
    async with database.write() as session:
        await REPOSITORY.add_seen(session, 1, known)
    async with database.write() as session:
        await REPOSITORY.add_seen(session, 1, known)  # again, as after a lost commit

    async with database.read() as session:
        assert await REPOSITORY.seen(session, 1, [*known, new_id()]) == set(known)
        assert await REPOSITORY.seen(session, 2, known) == set()
