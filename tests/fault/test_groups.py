"""Groups of batches that exceed the limits of their worker.

Whatever happens: each captured event is stored once, and each delivery that was due waits as a run
or is kept as a dead letter, of which the project is warned.
"""

import contextlib
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

import orjson
import pytest
from sqlalchemy import select

from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import decode_invoke
from hoglet.kit.backoff import Backoff
from hoglet.kit.clock import FixedClock, new_id
from hoglet.pipeline.ingest import worker_operations
from hoglet.pipeline.ingest.sources import GroupLimits
from hoglet.pipeline.ingest.spool_log.group import LogGroup
from hoglet.queue.dead_letters import failed_jobs
from hoglet.queue.tables import JobRow
from hoglet.sandbox import operation_path
from hoglet.spool import SpoolLog
from hoglet.spool.address import nats_address
from hoglet.spool.jetstream import open_jetstream
from hoglet.spool.rows import RowLog
from hoglet.store.database import Database
from hoglet.warehouse.errors import WarehouseDown
from support.nats_server import NatsServer
from support.pipeline import PARTITIONS, Line, at, open_line

NOW = at("2026-05-01T12:00:00+00:00")
FIRST = "0193e8c6-0000-7000-8000-0000000000aa"
SECOND = "0193e8c6-0000-7000-8000-0000000000bb"
MIB = 1024 * 1024

type Opened = Callable[..., AbstractAsyncContextManager[Line]]


@pytest.fixture
def opened(sqlite_database: Database, warehouse: Any, fresh_project_id: int) -> Opened:
    @contextlib.asynccontextmanager
    async def open_it(**more: Any) -> AsyncGenerator[Line]:
        clock = FixedClock(NOW)
        async with open_line(
            sqlite_database, warehouse, clock, fresh_project_id, shares_workers=False, **more
        ) as line:
            yield line

    return open_it


def _destination(line: Line, identity: str = FIRST, **more: Any) -> ExecutableFunction:
    import msgspec

    fields: dict[str, Any] = {
        "id": identity,
        "project_id": line.project_id,
        "type": "destination",
        "name": "d",
        "filter": msgspec.to_builtins(template_tree("{true}")),
        **more,
    }
    return ExecutableFunction(**fields)


def _slow(line: Line) -> ExecutableFunction:
    """A transformation that runs into its limit of 550 ms on some events, as users write them."""
    program = "if (event.properties.slow) { while (true) {} } return event"
    return _destination(line, SECOND, type="transformation", name="slow", hog=program)


def _event(number: int, **properties: Any) -> dict[str, Any]:
    return {"event": "e", "distinct_id": f"u{number}", "uuid": _uuid(number),
            "properties": properties}  # fmt: skip


def _uuid(number: int) -> str:
    return str(UUID(int=number + 1))


def _giant(number: int, size: int = 9 * MIB) -> dict[str, Any]:
    """An event whose objects take fifty times its text: too much for a worker of 400 MiB."""
    return _event(number, l=[{"a": 1}] * (size // 8))


async def _stored(line: Line) -> dict[str, int]:
    rows = await line.select(
        "SELECT toString(uuid), count() FROM events WHERE project_id = {p} GROUP BY 1"
    )
    return dict(rows)


async def _runs(line: Line) -> set[tuple[str, str]]:
    """``{(function, uuid)}`` of the runs that wait."""
    runs: set[tuple[str, str]] = set()
    while jobs := await line.runs():
        for job in jobs:
            invoke = decode_invoke(job.payload)
            runs.add((str(invoke.function_id), invoke.globals["event"]["uuid"]))
    return runs


def _dead_lettered(line: Line) -> set[tuple[str, str]]:
    return {
        (str(each.function_id), each.globals["event"]["uuid"])
        for each in line.dead_letters.recorded
    }


def _warnings(line: Line) -> dict[str, int]:
    return {kind: value.count for (_, kind), value in line.warnings._counts.items()}


@contextlib.asynccontextmanager
async def _spool_log(kind: str, database: Database, broker: NatsServer) -> AsyncGenerator[SpoolLog]:
    if kind == "rows":
        yield RowLog(database)
        return
    address = nats_address(broker.url(f"stream-{new_id()}"))
    log = await open_jetstream(address, payload_bytes=MIB)
    yield log
    await log.close()


@pytest.mark.parametrize("kind", ["rows", pytest.param("nats", marks=pytest.mark.slow)])
async def test_a_poisonous_event_is_isolated_in_a_group_of_several_partitions(
    postgres_database: Database,
    warehouse: Any,
    fresh_project_id: int,
    nats_broker: NatsServer,
    kind: str,
):
    more: dict[str, Any] = {"shares_workers": False, "deadline": 0.45}
    async with (
        _spool_log(kind, postgres_database, nats_broker) as log,
        open_line(
            postgres_database, warehouse, FixedClock(NOW), fresh_project_id, spool_log=log, **more
        ) as line,
    ):
        line.functions.functions = [_destination(line), _slow(line)]
        await line.capture(*(_event(number, slow=number == 11) for number in range(17)))
        group = await line.log_source.begin(GroupLimits())
        assert isinstance(group, LogGroup)
        assert len(group.partitions) > 1
        await group.release()
        await line.work()

        everything = {_uuid(number) for number in range(17)}
        poisonous = {(FIRST, _uuid(11))}
        assert await _stored(line) == dict.fromkeys(everything, 1)
        assert await _runs(line) == {(FIRST, each) for each in everything} - poisonous
        assert _dead_lettered(line) == poisonous
        last = await log.last_positions(range(PARTITIONS))
        assert {each: line.owner.position(each).done_upto for each in last} == last


@pytest.mark.parametrize("in_one_batch", [True, pytest.param(False, marks=pytest.mark.slow)])
async def test_one_poisonous_event_costs_only_its_own_deliveries(
    opened: Opened, *, in_one_batch: bool
):
    """The event makes the worker overrun its deadline."""
    async with opened(deadline=0.45) as line:
        line.functions.functions = [_destination(line), _slow(line)]
        events = [_event(number, slow=number == 11) for number in range(17)]
        if in_one_batch:
            await line.capture(*events)
        else:
            for event in events:
                await line.capture(event)
        await line.work()

        everything = {_uuid(number) for number in range(17)}
        poisonous = {(FIRST, _uuid(11))}
        assert await _stored(line) == dict.fromkeys(everything, 1)
        assert await _runs(line) == {(FIRST, each) for each in everything} - poisonous
        assert _dead_lettered(line) == poisonous
        assert _warnings(line) == {"functions_left_out": 1}
        (letter,) = line.dead_letters.recorded
        assert letter.error_class == "hog"  # the destination matched; run it from its inputs
        assert "ran longer than 0.45 seconds" in letter.error
        assert letter.globals["event"]["properties"]["slow"] is True
        assert letter.globals["source"]["name"] == "d"
        transformed = await line.select(
            "SELECT count() FROM events WHERE project_id = {p} "
            "AND properties LIKE '%$transformations_succeeded%'"
        )
        assert transformed == [(16,)]


@pytest.mark.slow
async def test_an_event_too_large_for_the_worker_is_stored_and_its_neighbours_delivered(
    opened: Opened,
):
    """The event exhausts the worker's memory even when it is only parsed."""
    async with opened(memory_bytes=400 * MIB) as line:
        line.functions.functions = [
            _destination(line),
            _destination(line, SECOND, events=["other"]),
        ]
        await line.capture(_event(0), _giant(1), _event(2))
        await line.work()

        assert await _stored(line) == {_uuid(number): 1 for number in range(3)}
        assert await _runs(line) == {(FIRST, _uuid(0)), (FIRST, _uuid(2))}
        assert _dead_lettered(line) == {(FIRST, _uuid(1))}  # SECOND does not wait for its name
        assert line.dead_letters.recorded[0].error_class == "filter"  # nobody could ask the filter
        assert _warnings(line) == {"functions_left_out": 1}
        lengths = "SELECT max(length(properties)) FROM events WHERE project_id = {p}"
        assert (await line.select(lengths))[0][0] > 9 * MIB


@pytest.mark.slow
async def test_many_giant_events_are_processed_with_all_functions(opened: Opened):
    """Together they exceed the worker's memory by far, alone they do not."""
    async with opened(memory_bytes=400 * MIB, limits=GroupLimits(size=1 << 40)) as line:
        line.functions.functions = [_destination(line)]
        for number in range(12):
            await line.capture(_giant(number, size=MIB))
        pieces = 0
        real = line.calls.process

        async def process(*arguments: Any, **named: Any) -> Any:
            nonlocal pieces
            pieces += 1
            return await real(*arguments, **named)

        line.calls.process = process
        await line.work()
        assert pieces > 1

        everything = {_uuid(number) for number in range(12)}
        assert await _stored(line) == dict.fromkeys(everything, 1)
        assert await _runs(line) == {(FIRST, each) for each in everything}
        assert _dead_lettered(line) == set()
        assert _warnings(line) == {}


@pytest.mark.slow
async def test_an_event_that_cannot_be_stored_stays_in_the_spool_and_is_reported(opened: Opened):
    """Not even the spare worker can parse it, as with a machine that has no memory left."""
    async with opened(memory_bytes=400 * MIB) as line:
        await line.capture(_event(0), _event(1, l=[{"a": 1}] * (50 * MIB // 8)), _event(2))
        await line.work()

        assert await _stored(line) == {_uuid(0): 1, _uuid(2): 1}
        async with line.database.read() as session:
            (job,) = await failed_jobs(session)
        assert job.queue == "spool"
        assert "cannot be stored" in (job.error or "")
        assert _warnings(line) == {"event_not_stored": 1}
        assert (await line.queue.depth("spool")).failed == 1

        line.spare._setup = line.spare._setup.replace(str(2 << 30), str(5 << 30))
        async with line.database.write() as session:
            await line.queue.requeue(session, "spool")
        await line.work()
        assert await _stored(line) == {_uuid(number): 1 for number in range(3)}


async def test_a_group_is_bounded_by_bytes_and_one_large_batch_goes_alone(opened: Opened):
    async with opened(limits=GroupLimits(size=100_000)) as line:
        groups: list[list[int]] = []
        real = line.batches._processor.process

        async def noting(group: Any, *more: Any) -> Any:
            groups.append([len(part.body) // 40_000 for part in group.parts])
            return await real(group, *more)

        line.batches._processor.process = noting  # pyright: ignore[reportAttributeAccessIssue]
        for number in range(8):
            await line.capture(_event(number, t="x" * 40_000))
        await line.capture(_event(8, t="x" * 300_000))
        await line.capture(_event(9))
        await line.work()

        assert len(await _stored(line)) == 10
        # Batches of other people that arrive in the same millisecond have no order.
        assert sorted(size for group in groups for size in group) == [0, *[1] * 8, 7]
        assert [7] in groups
        assert max(sum(group) for group in groups if group != [7]) == 2
        assert len(groups) in {6, 7}


@pytest.mark.parametrize(
    ("events", "times"),
    [
        (9, 1),
        pytest.param(9, 2, marks=pytest.mark.slow),
        pytest.param(1, 1, marks=pytest.mark.slow),
        pytest.param(1, 3, marks=pytest.mark.slow),
    ],
)
async def test_a_worker_killed_from_outside_costs_nothing(opened: Opened, events: int, times: int):
    async with opened() as line:
        line.functions.functions = [_destination(line)]
        await line.capture(*[_event(number) for number in range(events)])
        with _killing(line, times):
            await line.work()

        everything = {_uuid(number) for number in range(events)}
        assert await _stored(line) == dict.fromkeys(everything, 1)
        assert await _runs(line) == {(FIRST, each) for each in everything}
        assert (_dead_lettered(line), _warnings(line)) == (set(), {})
        assert line.sandbox.recent_deaths() == times


@contextlib.contextmanager
def _killing(line: Line, times: int) -> Generator[None]:
    """The worker is killed with -9 in its first calls, ``times`` of them."""
    real = line.sandbox._exchange
    left = times

    async def exchange(worker: Any, *arguments: Any) -> Any:
        nonlocal left
        if left:
            await worker.prepare(operation_path(worker_operations.read))
            left -= 1
            worker.process.kill()
        return await real(worker, *arguments)

    line.sandbox._exchange = exchange  # pyright: ignore[reportAttributeAccessIssue]
    yield
    line.sandbox._exchange = real
    assert left == 0


@pytest.mark.slow
async def test_pieces_act_as_one_group(opened: Opened):
    """Persons, merges, groups and repeated uuids across pieces are as without pieces."""
    async with opened(deadline=0.45) as line:
        line.functions.functions = [_slow(line)]
        group = {"$group_type": "company", "$group_key": "acme"}
        await line.capture(
            {**_event(0, **{"$set": {"plan": "free", "a": 1}}), "distinct_id": "anon"},
            {**_event(1), "distinct_id": "phone"},
            {**_event(2, **{"$anon_distinct_id": "anon"}), "event": "$identify",
             "distinct_id": "ada"},
            {**_event(3, slow=True, **{"$set": {"plan": "pro"}}), "distinct_id": "ada"},
            {**_event(4, **{"$anon_distinct_id": "phone"}), "event": "$identify",
             "distinct_id": "ada"},
            _event(0),
            {**_event(6, **group, **{"$group_set": {"size": 1}}), "event": "$groupidentify"},
            {**_event(7, **group, **{"$group_set": {"city": "x"}}), "event": "$groupidentify"},
            {**_event(8, **{"$groups": {"company": "acme"}}), "distinct_id": "phone"},
        )  # fmt: skip
        await line.work()

        assert sorted(await _stored(line)) == [_uuid(n) for n in (0, 1, 2, 3, 4, 6, 7, 8)]
        persons = await line.select(
            "SELECT id, properties FROM persons FINAL WHERE project_id = {p} AND is_deleted = 0"
        )
        by_properties = {orjson.loads(row[1])["plan"]: row[0] for row in persons if len(row[1]) > 2}
        assert list(by_properties) == ["pro"]
        ids = dict(
            await line.select(
                "SELECT distinct_id, person_id FROM person_distinct_ids FINAL "
                "WHERE project_id = {p}"
            )
        )
        assert {ids[name] for name in ("anon", "phone", "ada")} == {by_properties["pro"]}
        groups = "SELECT key, properties FROM groups FINAL WHERE project_id = {p}"
        assert [(row[0], orjson.loads(row[1])) for row in await line.select(groups)] == [
            ("acme", {"size": 1, "city": "x"})
        ]
        last = "SELECT `$group_0`, person_id FROM events WHERE project_id = {p} AND uuid = "
        assert await line.select(f"{last}'{_uuid(8)}'") == [("acme", by_properties["pro"])]


async def test_events_without_a_uuid_get_the_same_one_in_whichever_piece_they_are(opened: Opened):
    async with opened() as line:
        line.functions.functions = [_destination(line)]
        events = [{"event": f"e{number}", "distinct_id": "u"} for number in range(5)]
        await line.capture(*events)
        async with line.database.read() as session:
            job = await session.scalar(select(JobRow.id))
        assert job is not None
        with _killing(line, 1):
            await line.work()

        rows = await line.select("SELECT event, toString(uuid) FROM events WHERE project_id = {p}")
        assert dict(rows) == {f"e{n}": str(UUID(int=job.int + n)) for n in range(5)}
        assert {uuid for _, uuid in await _runs(line)} == {uuid for _, uuid in rows}


@pytest.mark.parametrize("is_halved_first", [True, pytest.param(False, marks=pytest.mark.slow)])
async def test_a_crash_between_insert_and_commit_stores_nothing_twice(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, *, is_halved_first: bool
):
    """The rows are inserted, the commit is lost; the next attempt falls into other pieces."""
    async with opened() as line:
        monkeypatch.setattr("hoglet.pipeline.ingest.worker._STORAGE_BACKOFF", Backoff(0, 0))
        line.functions.functions = [_destination(line)]
        for number in range(8):
            year = 1990 + 5 * number
            await line.capture({**_event(number), "timestamp": f"{min(year, 2026)}-01-01"})

        async def crash(*_arguments: Any, **_more: Any) -> None:
            raise WarehouseDown("gone")

        with monkeypatch.context() as patch:
            patch.setattr(line.committer, "commit", crash)
            with _killing(line, is_halved_first):
                await line.batches.work_once()
        assert len(await _stored(line)) == 8
        with _killing(line, not is_halved_first):
            await line.work()

        everything = {_uuid(number) for number in range(8)}
        assert await _stored(line) == dict.fromkeys(everything, 1)
        assert await _runs(line) == {(FIRST, each) for each in everything}


async def test_functions_that_no_worker_can_load_hold_the_events(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
):
    """No event is to blame: they wait, visibly, and are delivered once the functions load."""
    async with opened() as line:
        line.functions.functions = [_destination(line)]
        await line.capture(_event(0), _event(1))
        broken = [_destination(line, filter={"kind": "NoSuchNode"}, events="not a list")]
        monkeypatch.setattr(line.functions, "functions", broken)
        await line.batches.work_once()

        assert await _stored(line) == {}
        assert "functions of project" in (line.health.problem() or "")
        assert (await line.queue.depth("spool")).delayed == 1

        line.functions.functions = [_destination(line), _destination(line, SECOND)]
        line.clock.advance(seconds=10)  # pyright: ignore[reportAttributeAccessIssue]
        await line.work()
        assert await _stored(line) == {_uuid(0): 1, _uuid(1): 1}
        assert len(await _runs(line)) == 4
        assert line.health.problem() is None


@pytest.mark.slow
async def test_a_warehouse_that_does_not_write_is_no_event_s_fault(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
):
    async with opened() as line:
        monkeypatch.setattr("hoglet.pipeline.ingest.worker._STORAGE_BACKOFF", Backoff(0, 0))
        line.functions.functions = [_destination(line)]
        await line.capture(_event(0))

        async def full(*_arguments: Any, **_more: Any) -> None:
            raise WarehouseDown("No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(line.warehouse, "insert_block", full)
            for _ in range(30):
                await line.batches.work_once()
            assert line.health.problem() == (
                "events cannot be written: WarehouseDown: No space left on device"
            )
        await line.work()

        assert await _stored(line) == {_uuid(0): 1}
        assert await _runs(line) == {(FIRST, _uuid(0))}
        assert line.health.problem() is None
