"""From the spool to the warehouse and to runs, exactly once, whatever fails."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

import msgspec
import pytest
from sqlalchemy.exc import OperationalError

from hoglet.events.errors import StateChanged
from hoglet.events.persons.model import PersonStoreState
from hoglet.functions.executable.model import ExecutableFunction, ExecutableMapping
from hoglet.functions.jobs import decode_invoke
from hoglet.kit.backoff import Backoff
from hoglet.kit.clock import FixedClock
from hoglet.kit.errors import Unavailable
from hoglet.pipeline.ingest.matching import invocation_id
from hoglet.store.database import Database
from hoglet.warehouse.errors import WarehouseDown
from support.pipeline import Line, at, open_line
from support.seeds import thinned

NOW = at("2026-05-01T12:00:00+00:00")
FUNCTION = "0193e8c6-0000-7000-8000-0000000000aa"
UUID_1 = "0193e8c6-0000-7000-8000-000000000001"
TRUE = {"kind": "Constant", "value": True}


@pytest.fixture
async def line(database: Database, warehouse: Any, fresh_project_id: int) -> AsyncGenerator[Line]:
    async with open_line(database, warehouse, FixedClock(NOW), fresh_project_id) as opened:
        yield opened


def _event(name: str = "e", who: str = "u", **more: Any) -> dict[str, Any]:
    properties = {key: value for key, value in more.items() if key != "uuid"}
    given = {"uuid": more["uuid"]} if "uuid" in more else {}
    return {"event": name, "distinct_id": who, "properties": properties, **given}


def _condition(source: str) -> dict[str, Any]:
    from hoglet.functions.compile.hog import template_tree

    return msgspec.to_builtins(template_tree("{" + source + "}"))


def _function(line: Line, **more: Any) -> ExecutableFunction:
    fields: dict[str, Any] = {
        "id": FUNCTION,
        "project_id": line.project_id,
        "type": "destination",
        "name": "d",
        "filter": _condition("true"),
        **more,
    }
    return ExecutableFunction(**fields)


@pytest.mark.parametrize(
    ("timestamp", "is_used"),
    [
        ("2026-05-01T10:00:00Z", True),
        (1777629600, True),
        (None, True),
        ("27/11/2026", False),
        ("2026-02-30T10:00:00Z", False),
        ("1969-12-31T23:59:59Z", False),
        ("2026-05-03T12:00:00Z", False),  # more than 23 hours ahead
        (1777629600000, True),  # milliseconds
        ({"at": 1}, False),
    ],
)
async def test_a_timestamp_that_is_not_used_is_reported(line: Line, timestamp: Any, is_used: bool):
    await line.capture(_event("e", "u") | {"timestamp": timestamp})
    await line.work()

    stored = await line.select("SELECT toString(timestamp) FROM events WHERE project_id = {p}")
    warnings = {item.kind: item.example for item in line.warnings._counts.values()}
    if is_used:
        assert warnings == {}
    else:
        example = {"event": "e", "distinct_id": "u", "timestamp": str(timestamp)}
        assert warnings == {"ignored_invalid_timestamp": example}
        assert stored == [("2026-05-01 12:00:00.000000",)]


async def test_events_are_stored_with_their_person_and_groups(line: Line):
    groups = {"$groups": {"company": "acme"}}
    await line.capture(
        _event("$groupidentify", **{"$group_type": "company", "$group_key": "acme",
                                    "$group_set": {"size": 5}}),
        _event("buy", price=5, **{"$set": {"plan": "pro"}}, **groups),
        _event("quiet", "ghost", **{"$process_person_profile": False}),
    )  # fmt: skip
    await line.work()

    rows = await line.select(
        "SELECT event, distinct_id, person_properties, person_mode, `$group_0`, "
        "properties_json.price, properties_json.`$ip` FROM events "
        "WHERE project_id = {p} ORDER BY event"
    )
    assert [row[:5] for row in rows] == [
        ("$groupidentify", "u", "{}", "full", ""),
        ("buy", "u", '{"plan":"pro"}', "full", "acme"),
        ("quiet", "ghost", "{}", "propertyless", ""),
    ]
    assert (rows[1][5], rows[1][6]) == (5, "9.8.7.6")
    persons = "SELECT properties, is_identified FROM persons FINAL WHERE project_id = {p}"
    assert await line.select(persons) == [('{"plan":"pro"}', 0)]
    stored = await line.select("SELECT key, properties FROM groups FINAL WHERE project_id = {p}")
    assert stored == [("acme", '{"size":5}')]


async def test_past_events_follow_a_merge(line: Line):
    await line.capture(_event("first", "anon"), _event("other", "user"))
    await line.work()
    await line.capture(_event("$identify", "user", **{"$anon_distinct_id": "anon"}))
    await line.work()

    overrides = await line.select(
        "SELECT distinct_id, person_id FROM person_distinct_id_overrides FINAL "
        "WHERE project_id = {p}"
    )
    survivor = await line.select(
        "SELECT id FROM persons FINAL WHERE project_id = {p} AND is_deleted = 0"
    )
    assert overrides == [("anon", survivor[0][0])]


async def test_a_uuid_is_stored_once_and_triggers_once(line: Line):
    line.functions.functions = [_function(line)]
    await line.capture(_event(uuid=UUID_1), _event(uuid=UUID_1))
    await line.work()
    await line.capture(_event(uuid=UUID_1))
    await line.work()

    assert await line.select("SELECT count() FROM events WHERE project_id = {p}") == [(1,)]
    assert len(await line.runs()) == 1


async def test_matching_sees_the_person_and_makes_a_stable_run(line: Line):
    expected = _condition("person.properties.plan = 'pro'")
    line.functions.functions = [_function(line, filter=expected, events=["buy"])]
    await line.capture(
        _event("buy", uuid=UUID_1, **{"$set": {"plan": "pro"}}),
        _event("buy", "other"),
        _event("view"),
    )
    await line.work()

    (job,) = await line.runs()
    invoke = decode_invoke(job.payload)
    assert job.id == invoke.invocation_id
    assert invoke.globals["person"]["properties"] == {"plan": "pro"}
    assert invoke.globals["event"]["uuid"] == UUID_1
    assert invoke.globals["source"]["name"] == "d"
    assert await line.counts(FUNCTION) == {
        "filtered": 2,
        "triggered": 1,
        "billable_invocation": 1,
    }


async def test_transformations_change_and_drop_events(line: Line):
    first = _function(
        line,
        type="transformation",
        name="mark",
        hog="let e := event; e.properties.seen := true; return e",
    )
    second = _function(
        line,
        id="0193e8c6-0000-7000-8000-0000000000bb",
        type="transformation",
        name="drop",
        hog="if (event.event == 'bad') { return null } return event",
    )
    line.functions.functions = [first, second]
    await line.capture(_event("good"), _event("bad"))
    await line.work()

    rows = await line.select("SELECT event, properties FROM events WHERE project_id = {p}")
    assert len(rows) == 1
    assert '"seen":true' in rows[0][1]
    assert '"$transformations_succeeded":["mark (' in rows[0][1]
    assert (await line.counts(second.id))["dropped"] == 1


@pytest.mark.parametrize("tables_url", thinned(["sqlite", "postgres"], 2), indirect=True)
async def test_an_endless_transformation_delays_a_group_by_seconds(line: Line):
    line.functions.functions = [
        _function(line, type="transformation", hog="while (true) {} return event")
    ]
    await line.capture(*[_event(str(number)) for number in range(50)])
    await line.work()

    rows = await line.select("SELECT count() FROM events WHERE project_id = {p}")
    assert rows == [(50,)]
    assert (await line.counts(FUNCTION))["failed"] == 50


async def test_a_historical_batch_triggers_nothing(line: Line):
    line.functions.functions = [_function(line)]
    await line.capture(_event(**{"$set": {"a": 1}}), historical=True)
    await line.work()

    assert await line.runs() == []
    assert len(await line.select("SELECT 1 FROM events WHERE project_id = {p}")) == 1


async def test_a_filter_that_raises_becomes_a_letter(line: Line):
    broken = _condition("match(event, '(')")
    line.functions.functions = [_function(line, filter=broken)]
    await line.capture(_event())
    await line.work()

    assert [letter.error_class for letter in line.dead_letters.recorded] == ["filter"]
    assert (await line.counts(FUNCTION))["filtering_failed"] == 1


async def test_a_group_that_cannot_start_is_released_and_starts_again(
    line: Line, monkeypatch: pytest.MonkeyPatch
):
    """The clock stands still, so its lease never expires."""
    access = line.batches._access
    load, failures = access.project, [Unavailable("away")]

    async def fail_once(project_id: int):
        if failures:
            raise failures.pop()
        return await load(project_id)

    monkeypatch.setattr(access, "project", fail_once)
    await line.capture(_event("buy", price=5))
    await line.work()
    assert not failures
    await line.work()

    assert await line.select("SELECT event FROM events WHERE project_id = {p}") == [("buy",)]


@pytest.mark.parametrize("mappings", [False, True])
async def test_a_function_the_watcher_disabled_gets_dead_letters_instead_of_runs(
    line: Line, *, mappings: bool
):
    more: dict[str, Any] = {}
    if mappings:
        never = _condition("false")
        more["mappings"] = (
            ExecutableMapping(number=4, filter=never),
            ExecutableMapping(number=7, filter=_condition("true")),
        )
    line.functions.functions = [_function(line, state=3, enabled=False, **more)]
    await line.capture(_event("buy", uuid=UUID_1, price=5))
    await line.work()

    (letter,) = line.dead_letters.recorded
    mapping = 7 if mappings else None
    assert (letter.error_class, letter.mapping) == ("disabled", mapping)
    assert letter.invocation_id == invocation_id(UUID(UUID_1), FUNCTION, mapping)
    assert letter.globals["event"]["properties"]["price"] == 5
    assert letter.globals["source"]["name"] == "d"
    assert "was disabled" in letter.error
    assert await line.runs() == []
    assert await line.counts(FUNCTION) == {"disabled_permanently": 1, "dead_lettered": 1}


async def test_a_function_an_administrator_disabled_gets_neither(line: Line):
    line.functions.functions = [_function(line, state=12, enabled=False)]
    await line.capture(_event())
    await line.work()

    assert line.dead_letters.recorded == []
    assert await line.runs() == []
    assert await line.counts(FUNCTION) == {"disabled_permanently": 1}


async def test_a_disabled_function_gets_no_letter_of_what_it_does_not_want(line: Line):
    line.functions.functions = [
        _function(line, state=3, enabled=False, filter=_condition("event = 'other'"))
    ]
    await line.capture(_event())
    await line.work()

    assert line.dead_letters.recorded == []
    assert await line.counts(FUNCTION) == {"filtered": 1}


async def test_a_crash_between_insert_and_commit_changes_nothing(
    line: Line, monkeypatch: pytest.MonkeyPatch
):
    """The rows are in the warehouse, but the commit is lost: the group is processed again."""
    line.functions.functions = [_function(line)]
    await line.capture(*[_event(uuid=str(UUID(int=number + 1))) for number in range(20)])

    async def crash(*_arguments: Any, **_more: Any) -> None:
        raise WarehouseDown("gone")

    with monkeypatch.context() as patch:
        patch.setattr(line.committer, "commit", crash)
        patch.setattr("hoglet.pipeline.ingest.worker._STORAGE_BACKOFF", Backoff(0, 0))
        await line.batches.work_once()
    assert await line.select("SELECT count() FROM events WHERE project_id = {p}") == [(20,)]
    await line.work()

    assert await line.select("SELECT count() FROM events WHERE project_id = {p}") == [(20,)]
    assert len(await line.runs()) == 20


@pytest.mark.parametrize("error", [WarehouseDown("gone"), StateChanged("changed")])
async def test_events_belong_to_their_person_if_their_group_merges_it_no_more(
    line: Line, monkeypatch: pytest.MonkeyPatch, error: Exception
):
    """The rows are inserted after a merge, which another group prevents before the commit."""
    await line.capture(_event("first", "anon"), _event("first", "user"))
    await line.work()
    await line.capture(
        _event("$identify", "user", **{"$anon_distinct_id": "anon"}), _event("later", "anon")
    )
    commit, failures = line.committer.commit, iter([error])

    async def be_late(*arguments: Any, **more: Any) -> None:
        if (failure := next(failures, None)) is not None:
            await _identify(line, "anon")
            raise failure
        await commit(*arguments, **more)

    monkeypatch.setattr(line.committer, "commit", be_late)
    monkeypatch.setattr("hoglet.pipeline.ingest.worker._STORAGE_BACKOFF", Backoff(0, 0))
    await line.batches.work_once()
    await line.work()

    owners = await line.select(
        "SELECT distinct_id, person_id FROM person_distinct_ids FINAL WHERE project_id = {p}"
    )
    assert len({person for _, person in owners}) == 2
    visible = await line.select(
        "SELECT DISTINCT events.distinct_id, if(notEmpty(o.distinct_id), o.person_id, "
        "events.person_id) FROM events LEFT JOIN (SELECT * FROM person_distinct_id_overrides FINAL "
        "WHERE project_id = {p}) AS o USING distinct_id WHERE events.project_id = {p}"
    )
    assert sorted(visible) == sorted(owners)


async def _identify(line: Line, distinct_id: str) -> None:
    """Store what a group of another server would: the person of a distinct id is identified."""
    async with line.database.write() as session:
        state = await line.events.load_persons(session, line.project_id, [distinct_id], [])
        [person] = state.persons
        identified = msgspec.structs.replace(person, is_identified=True, version=person.version + 1)
        changes = PersonStoreState(persons=[identified])
        await line.events.save_persons(session, line.project_id, changes)


async def test_events_are_stored_soon_after_the_warehouse_is_back(
    line: Line, monkeypatch: pytest.MonkeyPatch
):
    await line.capture(_event())
    failures = iter([WarehouseDown("full"), WarehouseDown("full"), None])

    async def fail(*_arguments: Any, **_more: Any) -> None:
        if (failure := next(failures)) is not None:
            raise failure

    with monkeypatch.context() as patch:
        patch.setattr(line.warehouse, "insert_block", fail)
        patch.setattr(line.warehouse, "check_writes", fail)
        patch.setattr("hoglet.pipeline.ingest.worker._STORAGE_BACKOFF", Backoff(3600, 3600))
        patch.setattr("hoglet.pipeline.ingest.worker._CHECK_SECONDS", 0.001)
        async with asyncio.timeout(60):
            await line.batches.work_once()
    await line.work()

    assert await line.select("SELECT count() FROM events WHERE project_id = {p}") == [(1,)]


async def test_a_database_that_fails_for_long_costs_no_delivery(
    line: Line, monkeypatch: pytest.MonkeyPatch
):
    line.functions.functions = [_function(line)]
    await line.capture(_event())

    async def locked(*_arguments: Any, **_more: Any) -> None:
        raise OperationalError("statement", {}, Exception("database is locked"))

    with monkeypatch.context() as patch:
        patch.setattr(line.committer, "commit", locked)
        patch.setattr("hoglet.pipeline.ingest.worker._STORAGE_BACKOFF", Backoff(0, 0))
        await _work_again_and_again(line)
    await line.work()

    assert len(await line.runs()) == 1


async def _work_again_and_again(line: Line) -> None:
    for _ in range(8):
        await line.batches.work_once()
        line.clock.advance(seconds=300)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("tables_url", thinned(["sqlite", "postgres"], 2), indirect=True)
async def test_events_of_many_years_fit(line: Line):
    months = [
        (1990 + number // 12, number % 12 + 1) for number in range(130)
    ]  # the engine takes 100 in an insert
    times = [f"{year}-{month:02}-01T00:00:00Z" for year, month in months]
    await line.capture(*[{**_event("old"), "timestamp": time} for time in times])
    await line.work()

    assert await line.select("SELECT count() FROM events WHERE project_id = {p}") == [(130,)]
    # Each month is a partition, and all tests share the table: every later query would open them.
    partitions = ", ".join(f"DROP PARTITION {year}{month:02}" for year, month in months)
    await line.warehouse.command(f"ALTER TABLE events {partitions}")


async def test_groups_are_smaller_if_events_trigger_many_runs(
    line: Line, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("hoglet.pipeline.ingest.worker._RUNS_PER_GROUP", 6)
    functions = [_function(line, id=str(UUID(int=number + 1))) for number in range(3)]
    line.functions.functions = functions
    for _ in range(5):
        await line.capture(_event())
    assert line.batches._next_limits().events == 6
    await line.batches.work_once()  # all five batches: nothing is known about their runs
    assert line.batches._next_limits().events == 2

    line.functions.functions = []
    await line.capture(_event())
    await line.work()
    assert line.batches._next_limits().events == 6
