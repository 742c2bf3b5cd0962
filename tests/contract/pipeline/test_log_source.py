"""Groups of the spool log: their members, and what happens when one cannot be begun or stored."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import event, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from hoglet.access.bootstrap import ensure_first_project
from hoglet.events.spool import SPOOL_QUEUE
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.kit.clock import SystemClock
from hoglet.pipeline.ingest.sources import GroupLimits, SpooledGroup, is_large
from hoglet.queue.tables import JobRow
from hoglet.spool import SpoolUnavailable, positions
from hoglet.spool.tables import SpoolOwnerRow, SpoolPositionRow
from support.databases import open_database
from support.pipeline import PARTITIONS, Line, open_line

TABLES = ["jobs", "spool_positions", "spool_entries"]


@pytest.mark.parametrize("table", TABLES)
async def test_a_partition_is_not_held_after_a_failure(
    postgres_tables_url: str, warehouse: Any, table: str
) -> None:
    async with open_database(postgres_tables_url) as database:
        await ensure_first_project(database, SystemClock())
        async with open_line(database, warehouse, SystemClock(), 1) as line:
            await line.capture({"event": "e", "distinct_id": "u"})

            async def rename(before: str, after: str) -> None:
                async with database.write() as session:
                    await session.execute(text(f"ALTER TABLE {before} RENAME TO {after}"))

            await rename(table, "away")
            try:
                with pytest.raises((SQLAlchemyError, SpoolUnavailable)):
                    await line.log_source.begin(GroupLimits())
            finally:
                await rename("away", table)

            line.log_source.wake()
            line.log_source._polled_at = 0.0  # looks every few seconds
            assert await line.log_source.begin(GroupLimits()) is not None


@pytest.fixture
def line(postgres_line: Line) -> Line:
    return postgres_line


PEOPLE = [{"event": "e", "distinct_id": f"u{number}"} for number in range(40)]


async def _groups_in_progress(line: Line) -> int:
    begun = SpoolPositionRow.group_to.is_not(None)
    async with line.database.read() as session:
        return await session.scalar(select(func.count()).where(begun)) or 0


async def test_a_request_of_many_people_is_one_group(line: Line) -> None:
    await line.capture(*PEOPLE)
    await line.capture(*PEOPLE)

    group = await line.log_source.begin(GroupLimits())

    assert group is not None
    assert (group.events, len(group.projects[0].parts)) == (80, 2 * PARTITIONS)
    assert await _groups_in_progress(line) == PARTITIONS
    assert await line.log_source.begin(GroupLimits()) is None


async def test_a_group_has_the_same_members_for_another_server(line: Line) -> None:
    await line.capture(*PEOPLE)
    begun = await line.log_source.begin(GroupLimits())
    assert begun is not None
    await begun.release()
    await line.capture(*PEOPLE)
    async with open_line(line.database, line.warehouse, line.clock, 1) as other:
        await other.own_partitions()

        again = await other.log_source.begin(GroupLimits())

        assert again is not None
        assert (again.id, again.projects) == (begun.id, begun.projects)
        async with line.database.write() as session:
            await again.finish(session)
        await again.ended()
        following = await other.log_source.begin(GroupLimits())
        assert following is not None
        assert following.events == len(PEOPLE)
        assert following.id != begun.id


async def test_no_statement_of_a_group_is_a_pipeline(line: Line) -> None:
    """PostgreSQL would keep the locks of a server that is frozen in the middle of one."""
    pipelines: list[str] = []

    def note(*given: Any) -> None:
        pipelines.append(given[1])

    dialect = line.database.engine.dialect
    name = str(uuid4())  # other tests store events in the same warehouse
    event.listen(dialect, "do_executemany", note)
    try:
        for properties in ({}, {"$set": {"n": 1}}):
            people = [{**each, "event": name, "properties": properties} for each in PEOPLE]
            await line.capture(*people)
            assert await line.batches.work_once()
    finally:
        event.remove(dialect, "do_executemany", note)

    assert pipelines == []
    stored = await line.select(f"SELECT count() FROM events WHERE event = '{name}'")
    assert stored == [(2 * len(PEOPLE),)]


async def test_a_former_owner_stores_nothing_of_a_group(line: Line) -> None:
    name = str(uuid4())  # other tests store events in the same warehouse
    people = [{**each, "event": name} for each in PEOPLE]
    await line.capture(*people)
    assert await line.batches.work_once()
    await line.capture(*people)
    run = await line.batches._begin()
    assert run is not None
    async with open_line(line.database, line.warehouse, line.clock, 1) as other:
        await other.own_partitions()
        await other.work()
    await line.batches._store(run)

    stored = await line.select(f"SELECT count() FROM events WHERE event = '{name}'")
    assert stored == [(2 * len(PEOPLE),)]
    async with line.database.read() as session:
        assert await session.scalar(select(func.count()).select_from(JobRow)) == 0
    assert line.owner.owned == frozenset()


async def _stored_together(line: Line, limits: GroupLimits) -> list[list[tuple[int, int]]]:
    """The projects of each group and their batches, as they are stored one after another."""
    groups: list[list[tuple[int, int]]] = []
    while (group := await line.log_source.begin(limits)) is not None:
        groups.append([(each.project_id, len(each.parts)) for each in group.projects])
        async with line.database.write() as session:
            await group.finish(session)
        await group.ended()
    return groups


async def _capture_for(line: Line, *projects: int) -> None:
    for line.project_id in projects:
        await line.capture({"event": "e", "distinct_id": f"u{line.project_id}"})


async def test_projects_with_few_events_are_stored_together(line: Line) -> None:
    await line.capture(*PEOPLE)
    await _capture_for(line, 2, 3, 3, 4, 5)

    groups = await _stored_together(line, GroupLimits(small=3))

    assert groups == [[(1, PARTITIONS)], [(2, 1), (3, 2)], [(4, 1), (5, 1)]]
    assert await _groups_in_progress(line) == 0


async def test_each_project_is_stored_by_itself_beside_the_version_before(line: Line) -> None:
    await line.own_partitions()
    async with line.database.write() as session:
        seen_at = line.clock.now() - timedelta(minutes=1)  # it may be frozen
        session.add(SpoolOwnerRow(name="old", seen_at=seen_at, shares_groups=True))
    await line.owner.divide()
    await _capture_for(line, 1, 2)

    assert await _stored_together(line, GroupLimits()) == [[(1, 1)], [(2, 1)]]


async def test_projects_are_stored_together_by_another_server_with_other_limits(line: Line) -> None:
    """Blocks of the first server may be in the warehouse under the names of its groups."""
    await _capture_for(line, 1, 2, 3)
    begun = await line.log_source.begin(GroupLimits(small=2))
    assert begun is not None
    assert begun.is_divisible
    async with open_line(line.database, line.warehouse, line.clock, 1) as other:
        await other.own_partitions()

        again = await other.log_source.begin(GroupLimits())

    assert again is not None
    assert (again.id, again.projects) == (begun.id, begun.projects)
    assert [each.project_id for each in again.projects] == [1, 2]
    assert not again.is_divisible


async def test_projects_that_were_tried_together_fail_together(line: Line) -> None:
    await _capture_for(line, 1, 2)
    group = await line.log_source.begin(GroupLimits())
    assert group is not None
    await group.release()
    group = await line.log_source.begin(GroupLimits())
    assert group is not None
    assert not group.is_divisible
    await group.postpone(timedelta(0))

    [job_source] = [each for each in line.batches._sources if each is not line.log_source]
    jobs = await job_source.begin(GroupLimits())

    assert jobs is not None
    assert (jobs.id, jobs.projects) == (group.id, group.projects)
    assert not jobs.is_divisible


async def test_projects_of_a_new_group_that_fails_are_stored_one_by_one(line: Line) -> None:
    await _capture_for(line, 1, 2, 3)
    group = await line.log_source.begin(GroupLimits())
    assert group is not None
    assert len(group.projects) == 3
    await group.postpone_project(2, timedelta(0))

    assert await _stored_together(line, GroupLimits()) == [[(1, 1)], [(2, 1)], [(3, 1)]]


async def test_a_project_whose_functions_cannot_be_loaded_delays_no_other(line: Line) -> None:
    load = line.functions.load_runnable

    async def load_runnable(project_id: int, kinds: Any) -> Any:
        return [_unusable(2)] if project_id == 2 else await load(project_id, kinds)

    line.functions.load_runnable = load_runnable
    await _capture_for(line, 1, 2, 3)

    for _ in range(5):  # together, then each by itself, and the second again as a job
        assert await line.batches.work_once()
    assert not await line.batches.work_once()

    assert await _groups_in_progress(line) == 0
    async with line.database.read() as session:
        jobs = list(await session.scalars(select(JobRow).where(JobRow.queue == SPOOL_QUEUE)))
    assert [(job.ordering_key, job.retries) for job in jobs] == [("project:2", 1)]


def _unusable(project_id: int) -> ExecutableFunction:
    return ExecutableFunction(
        id=str(project_id), project_id=project_id, type="destination", filter={"no": "tree"}
    )


async def test_a_group_that_cannot_be_made_jobs_is_tried_again(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then no other worker can begin it, as this process owns its partition."""
    enqueue = line.queue.enqueue

    async def fail(*_arguments: Any) -> None:
        raise SQLAlchemyError("the server closed the connection")

    monkeypatch.setattr(line.queue, "enqueue", fail)
    line.functions.functions = [_unusable(line.project_id)]
    await line.capture({"event": "e", "distinct_id": "of an unusable function"})

    assert await line.batches.work_once()
    line.functions.functions = []
    monkeypatch.setattr(line.queue, "enqueue", enqueue)
    assert await line.batches.work_once()
    assert not await line.batches.work_once()

    stored = "SELECT count() FROM events WHERE distinct_id = 'of an unusable function'"
    assert await line.select(stored) == [(1,)]


async def test_it_is_not_tried_together_if_recording_that_gets_no_answer(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _capture_for(line, 1, 2)
    group = await line.log_source.begin(GroupLimits())
    assert group is not None
    store = positions.store

    async def store_and_fail(session: Any, changes: Any) -> None:
        await store(session, changes)
        await session.commit()
        raise SQLAlchemyError("no answer")

    monkeypatch.setattr(positions, "store", store_and_fail)
    with pytest.raises(SQLAlchemyError):
        await group.postpone_project(2, timedelta(0))
    monkeypatch.setattr(positions, "store", store)
    assert await line.log_source.begin(GroupLimits()) is None
    await line.owner.divide()

    assert await _stored_together(line, GroupLimits()) == [[(1, 1)], [(2, 1)]]


async def test_groups_stay_within_the_limits_and_partitions_take_turns(line: Line) -> None:
    for _ in range(3):
        await line.capture(*PEOPLE)

    groups = [await line.log_source.begin(GroupLimits(events=30)) for _ in range(PARTITIONS)]

    begun = [group for group in groups if group is not None]
    assert all(0 < group.events <= 30 for group in begun)
    assert await _groups_in_progress(line) == PARTITIONS


async def test_a_partition_behind_jobs_does_not_divert_the_others(line: Line) -> None:
    await line.capture({"event": "e", "distinct_id": "u1"})
    failed = await line.log_source.begin(GroupLimits())
    assert failed is not None
    await failed.postpone(timedelta(seconds=60))
    await line.capture(*PEOPLE)

    group = await line.log_source.begin(GroupLimits())
    assert await line.log_source.begin(GroupLimits()) is None

    assert group is not None
    async with line.database.read() as session:
        jobs = list(await session.scalars(select(JobRow)))
    assert len(jobs) == 2  # the failed group and what follows it in its partition
    assert len({job.lane for job in jobs}) == 1
    assert group.events + sum(job.weight for job in jobs) == len(PEOPLE) + 1


async def test_a_group_that_fails_is_repeated_as_one(line: Line) -> None:
    await line.capture(*PEOPLE)
    group = await line.log_source.begin(GroupLimits())
    assert group is not None
    await group.postpone(timedelta(0))

    async with line.database.read() as session:
        jobs = list(await session.scalars(select(JobRow)))
    assert {job.group_id for job in jobs} == {group.id}
    assert len({job.lane for job in jobs}) == PARTITIONS
    assert await _groups_in_progress(line) == 0


async def test_looking_for_entries_takes_one_statement(line: Line) -> None:
    await line.own_partitions()
    for _ in range(2):  # at first, it checks the log and trims it
        assert await line.log_source.begin(GroupLimits()) is None
    statements: list[str] = []
    engine = line.database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    line.log_source._polled_at = 0.0

    assert await line.log_source.begin(GroupLimits()) is None

    assert len(statements) == 1


async def test_a_group_whose_begin_got_no_answer_is_begun_whole(line: Line) -> None:
    """The server knows nothing of the group, then only of the partition that it tries next."""
    await line.capture(*PEOPLE)
    known = dict(line.owner._positions)
    begun = await line.log_source.begin(GroupLimits())
    assert begun is not None
    await begun.release()
    for partition, position in known.items():
        line.log_source._ranges.forget(partition)
        line.owner.moved(position)

    groups: list[SpooledGroup] = []
    for _ in range(4):
        group = await line.log_source.begin(GroupLimits(events=1))
        groups += [group] if group else []
        await line.owner.divide()

    assert [(group.id, group.projects) for group in groups] == [(begun.id, begun.projects)]


async def test_requests_of_many_people_are_no_backlog(line: Line) -> None:
    """Each of them is an entry in every partition."""
    limits = GroupLimits(batches=8 * PARTITIONS)
    for _ in range(7):
        await line.capture(*PEOPLE)
    group = await line.log_source.begin(limits)
    assert group is not None
    assert len(group.projects[0].parts) > limits.batches / 2
    assert not is_large(group, limits)
    await group.release()
    line.log_source.taken(set(line.owner.owned))
    group = await line.log_source.begin(GroupLimits(events=group.events))
    assert group is not None
    assert is_large(group, GroupLimits(events=group.events))
