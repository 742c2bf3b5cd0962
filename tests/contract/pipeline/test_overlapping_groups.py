"""Groups that overlap leave what they leave one after another, whatever fails in between."""

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

import msgspec
import pytest
from sqlalchemy import select

from hoglet.events.errors import StateChanged
from hoglet.events.persons.model import person_id_of
from hoglet.events.spool import SPOOL_QUEUE
from hoglet.events.tables import DistinctIdRow, GroupRow, PersonRow
from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import decode_invoke
from hoglet.kit.backoff import Backoff
from hoglet.kit.clock import FixedClock
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.queue.tables import JobRow
from hoglet.store.database import Database
from hoglet.warehouse.errors import WarehouseDown
from support.pipeline import Line, at, open_line

NOW = at("2026-05-01T12:00:00+00:00")
NAMES = [f"user-{number}" for number in range(6)] + [f"anon-{number}" for number in range(12)]
UUIDS = [str(UUID(int=number + 1)) for number in range(60)]
type Batch = list[dict[str, Any]]


CASES = [
    pytest.param(seed, GroupLimits(batches=1 + seed % 3), marks=[pytest.mark.slow] * (seed != 1))
    for seed in range(2)
]
"""Seeds, and the batches of a group: two in ``make test``, one in ``make slow``."""


def batches(seed: int, count: int = 25) -> list[Batch]:
    """Batches of events that merge persons, change them and groups, and repeat UUIDs."""
    rng = random.Random(seed)  # noqa: S311
    return [[_event(rng) for _ in range(rng.randint(1, 5))] for _ in range(count)]


def _event(rng: random.Random) -> dict[str, Any]:
    who, other = rng.sample(NAMES, 2)
    minute = rng.randrange(60)
    event: dict[str, Any] = {
        "event": "seen",
        "distinct_id": who,
        "timestamp": f"2026-05-01T11:{minute:02}:00Z",
        "properties": {"number": rng.randrange(5)},
    }
    if rng.random() < 0.3:
        event["uuid"] = rng.choice(UUIDS)
    kind = rng.choice(["plain", "plain", "set", "once", "identify", "alias", "group", "anonymous"])
    properties = event["properties"]
    if kind == "set":
        properties["$set"] = {rng.choice("ab"): rng.randrange(9)}
    elif kind == "once":
        properties["$set_once"] = {rng.choice("abc"): rng.randrange(9)}
    elif kind == "identify":
        event["event"], properties["$anon_distinct_id"] = "$identify", other
    elif kind == "alias":
        event["event"], properties["alias"] = "$create_alias", other
    elif kind == "group":
        event["event"] = "$groupidentify"
        properties |= {"$group_type": rng.choice(["company", "team"]), "$group_key": other[:6]}
        properties["$group_set"] = {rng.choice("ab"): rng.randrange(9)}
    elif kind == "anonymous":
        properties["$process_person_profile"] = False
    properties["$groups"] = {rng.choice(["company", "team"]): who[:6]}
    return event


async def spool(line: Line, given: list[Batch]) -> None:
    for batch in given:
        await line.capture(*batch)
        line.clock.advance(seconds=0.001)  # pyright: ignore[reportAttributeAccessIssue]


async def one_after_another(line: Line) -> None:
    while await line.batches.work_once():
        pass


async def overlapping(line: Line) -> None:
    working = asyncio.create_task(line.batches.run())
    async with asyncio.timeout(120):
        while await _waiting(line):  # noqa: ASYNC110 (the queue has no event for this)
            await asyncio.sleep(0.05)
        line.batches.stop()
        await working


async def _waiting(line: Line) -> int:
    depth = await line.queue.depth(SPOOL_QUEUE)
    return depth.ready + depth.delayed + depth.leased


async def left_by(line: Line) -> dict[str, Any]:
    """What a project's events have left, with persons named by the distinct id they began with."""
    project = line.project_id
    names = {
        person_id_of(project, name, version): f"{name}@{version}"
        for name in NAMES
        for version in (None, *range(40))
    }
    events = await line.select(
        "SELECT event, distinct_id, toString(timestamp), person_id, person_properties, "
        "properties, `$group_0`, `$group_1` FROM events WHERE project_id = {p}"
    )
    async with line.database.read() as session:
        ids = await session.scalars(
            select(DistinctIdRow).where(DistinctIdRow.project_id == project)
        )
        persons = await session.scalars(select(PersonRow).where(PersonRow.project_id == project))
        groups = await session.scalars(select(GroupRow).where(GroupRow.project_id == project))
        mine = JobRow.lane == _destination(project).id
        runs = await session.scalars(select(JobRow.payload).where(mine))
        return {
            "events": Counter(
                (*row[:3], names.get(row[3], str(row[3].int == 0)), *row[4:]) for row in events
            ),
            "runs": Counter(_event_of(payload) for payload in runs),
            "ids": {row.distinct_id: (names[row.person_id], row.version) for row in ids},
            "persons": {
                names[row.id]: (row.properties, row.created_at, row.is_identified, row.version)
                for row in persons
            },
            "groups": {
                (row.group_index, row.group_key): (row.properties, row.version) for row in groups
            },
        }


def _event_of(payload: bytes) -> tuple[str, ...]:
    event = decode_invoke(payload).globals["event"]
    return event["event"], event["distinct_id"], event["timestamp"]


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hoglet.pipeline.ingest.worker._STORAGE_BACKOFF", Backoff(0, 0))


@pytest.fixture
async def lines(
    database: Database, warehouse: Any, fresh_project_id: int, limits: GroupLimits
) -> AsyncGenerator[tuple[Line, Line]]:
    """Two projects, fed by jobs: partitions of the log have no order among themselves."""
    projects = (fresh_project_id, fresh_project_id + 1_000_000_000)
    async with contextlib.AsyncExitStack() as stack:
        first, second = [
            await stack.enter_async_context(
                open_line(database, warehouse, FixedClock(NOW), each, limits=limits, uses_log=False)
            )
            for each in projects
        ]
        for line in (first, second):
            line.functions.functions = [_destination(line.project_id)]
        yield first, second


def _destination(project_id: int) -> ExecutableFunction:
    return ExecutableFunction(
        id=str(UUID(int=project_id)),
        project_id=project_id,
        type="destination",
        name="d",
        filter=msgspec.to_builtins(template_tree("{true}")),
    )


@pytest.mark.parametrize(("seed", "limits"), CASES)
async def test_overlapping_groups_leave_what_separate_ones_leave(
    lines: tuple[Line, Line], seed: int
):
    apart, together = lines
    await spool(apart, batches(seed))
    await one_after_another(apart)
    await spool(together, batches(seed))
    await overlapping(together)

    assert await left_by(together) == await left_by(apart)


@pytest.mark.parametrize(("seed", "limits"), CASES)
async def test_failures_in_between_change_nothing(
    lines: tuple[Line, Line], seed: int, monkeypatch: pytest.MonkeyPatch
):
    """Inserts and commits fail before or after their work, or report a conflict."""
    apart, together = lines
    await spool(apart, batches(seed))
    await one_after_another(apart)
    rng = random.Random(seed)  # noqa: S311
    gone = WarehouseDown("gone")
    commit = _failing(rng, together.committer.commit, gone, StateChanged("changed"))
    monkeypatch.setattr(together.committer, "commit", commit)
    insert = _failing(rng, together.warehouse.insert_block, gone)
    monkeypatch.setattr(together.warehouse, "insert_block", insert)
    await spool(together, batches(seed))
    await overlapping(together)

    assert await left_by(together) == await left_by(apart)


@pytest.mark.parametrize(("seed", "limits"), [(3, GroupLimits(batches=4))])
async def test_projects_that_share_groups_leave_what_each_leaves_alone(
    sqlite_database: Database,
    warehouse: Any,
    fresh_project_id: int,
    seed: int,
    limits: GroupLimits,
    monkeypatch: pytest.MonkeyPatch,
):
    """Also when inserts and commits fail in between."""
    clock, numbers = FixedClock(NOW), range(3)
    first, second = (range(fresh_project_id + n, 7 * 10**9, 2 * 10**9) for n in (0, 10**9))
    given = [batches(seed + number, 12) for number in numbers]
    async with open_line(
        sqlite_database, warehouse, clock, first, limits=limits, uses_log=False
    ) as line:
        for number in numbers:
            line.project_id = first[number]
            await spool(line, given[number])
            await one_after_another(line)

        rng, gone = random.Random(seed), WarehouseDown("gone")  # noqa: S311
        commit = _failing(rng, line.committer.commit, gone, StateChanged("changed"))
        monkeypatch.setattr(line.committer, "commit", commit)
        insert = _failing(rng, line.warehouse.insert_block, gone)
        monkeypatch.setattr(line.warehouse, "insert_block", insert)
        clock = FixedClock(NOW)
        line.clock = line.queue._clock = clock
        for turn in zip(*given, strict=True):
            for number in numbers:
                line.project_id = second[number]
                await spool(line, [turn[number]])
        await overlapping(line)

        for number in numbers:
            line.project_id = first[number]
            alone = _without_versions(await left_by(line))
            line.project_id = second[number]
            assert _without_versions(await left_by(line)) == alone


def _without_versions(left: dict[str, Any]) -> dict[str, Any]:
    """Versions count the groups that changed a row, which have other members here."""
    rows = {
        kind: {key: row[:-1] for key, row in left[kind].items()}
        for kind in ("ids", "persons", "groups")
    }
    return {**left, **rows}


def _failing(rng: random.Random, work: Any, *errors: Exception) -> Any:
    async def work_or_fail(*arguments: Any, **more: Any) -> None:
        fate = rng.random()
        if fate < 0.1:
            raise rng.choice(errors)
        await work(*arguments, **more)
        if fate > 0.95:
            raise errors[0]

    return work_or_fail
