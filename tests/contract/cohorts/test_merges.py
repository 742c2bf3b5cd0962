"""Static cohorts follow merges of persons, from the event to the members."""

from typing import Any

from sqlalchemy import func, select

from hoglet.cohorts.jobs import COHORTS
from hoglet.queue.tables import JobRow
from support.definitions import DefinitionWorld


async def test_whoever_takes_a_member_in_is_a_member(world: DefinitionWorld) -> None:
    async def jobs() -> int:
        expected = select(func.count()).where(JobRow.queue == COHORTS)
        async with world.services.database.read() as session:
            return await session.scalar(expected) or 0

    def merge(into: str, other: str) -> dict[str, Any]:
        return {"event": "$merge_dangerously", "distinct_id": into, "properties": {"alias": other}}

    async def person(distinct_id: str) -> str:
        return (await world.got("persons", distinct_id=distinct_id))["results"][0]["uuid"]

    await world.capture(*({"distinct_id": name} for name in "abcdef"))
    await world.capture(merge("f", "e"))
    assert await jobs() == 0  # no static cohort
    ids = [await person(name) for name in "ad"]
    body = {"name": "c", "is_static": True, "_create_static_person_ids": ids}
    _, cohort = await world.send("POST", "cohorts", body)
    await world.features.cohorts.worker.drain()

    await world.capture(merge("b", "a"), merge("c", "b"))
    await world.features.cohorts.worker.drain()

    assert (await world.got(f"cohorts/{cohort['id']}"))["count"] == 2
    members = await world.got(f"cohorts/{cohort['id']}/persons")
    assert {each["uuid"] for each in members["results"]} == {await person("c"), ids[1]}
    counted = f"SELECT count() FROM events WHERE person_id IN COHORT {cohort['id']}"
    assert await world.query(counted) == [[6]]
