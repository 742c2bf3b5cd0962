"""Text properties that are read often get columns of their own, which queries then read."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from prometheus_client import CollectorRegistry

from hoglet.definitions.text_columns import MAX_COLUMNS, UNUSED, TextColumnWorker
from hoglet.hogql import QueryContext, compile_query
from hoglet.kit.clock import FixedClock
from hoglet.warehouse import ClickHouseWarehouse
from hoglet.warehouse.errors import WarehouseDown
from hoglet.warehouse.text_columns import TextColumns

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PROJECT, SMALL = 880_601, 880_602
EVENTS = 120_000
SECONDS = 60
FILL = """INSERT INTO events
    (project_id, uuid, event, properties, timestamp, distinct_id, person_id)
SELECT {project:Int64}, generateUUIDv4(), 'e', concat('{"plan":', ['"pro"', '"free"', '7', 'null']
    [number % 4 + 1], ',"city":"', toString(number % 90), '","id":"', toString(number),
    '","mixed":"', toString(number % 7), '","rare":', if(number % 200 = 0, '"x"', '1'), '}'),
    toDateTime64('2026-05-01', 6, 'UTC'), 'd', generateUUIDv4()
FROM numbers({events:UInt64})"""

type Worker = Callable[[], TextColumnWorker]


@pytest.fixture
async def worker(warehouse: ClickHouseWarehouse) -> AsyncGenerator[Worker]:
    """Makes workers, each as after a start of the server; the table has no columns at first."""
    columns = TextColumns(warehouse)
    if await columns.size(PROJECT) == 0:
        for project, events in ((PROJECT, EVENTS), (SMALL, 2_000)):
            await warehouse.command(FILL, {"project": project, "events": events})
    yield lambda: TextColumnWorker(columns, FixedClock(NOW), lambda: None, CollectorRegistry())
    stored = await warehouse.query(
        "SELECT name FROM system.columns WHERE table = 'events' AND name LIKE 'property_text_%'"
    )
    drops = [f"DROP COLUMN `{name}`" for (name,) in stored.rows]
    if drops:
        statement = f"ALTER TABLE events {', '.join(drops)} SETTINGS mutations_sync = 2"
        await warehouse.command(statement)


async def _work(worker: TextColumnWorker, *names: str) -> None:
    """Let a worker work until queries can read the columns."""
    async with asyncio.timeout(SECONDS):
        while not worker.filled.issuperset(names):
            await worker.work()
            await asyncio.sleep(0.02)


async def _rows(warehouse: ClickHouseWarehouse, filled: frozenset[str]) -> tuple[str, list[object]]:
    context = QueryContext(
        project_id=PROJECT, property_forms={("event", "plan"): "text"}, text_columns=filled
    )
    query = "SELECT properties.plan AS p, count() FROM events GROUP BY p ORDER BY p"
    compiled = compile_query(query, context=context)
    answer = await warehouse.query(compiled.sql, compiled.params)
    return compiled.sql, list(map(tuple, answer.rows))


async def test_a_property_that_is_read_twice(worker: Worker, warehouse: ClickHouseWarehouse):
    tried = worker()
    _, before = await _rows(warehouse, tried.filled)
    tried.reads.update({(PROJECT, "plan"): 1})
    await tried.work()
    assert await TextColumns(warehouse).filled() == {}

    tried.reads.update({(PROJECT, "plan"): 1})
    await _work(tried, "plan")
    sql, after = await _rows(warehouse, tried.filled)

    assert "property_text_plan" in sql
    assert after == before == [("free", EVENTS // 4), ("pro", EVENTS // 4), (None, EVENTS // 2)]
    await warehouse.command(FILL, {"project": PROJECT, "events": 4})
    assert (await _rows(warehouse, tried.filled))[1] == (await _rows(warehouse, frozenset()))[1]


@pytest.mark.parametrize(
    ("project", "name"),
    [
        pytest.param(SMALL, "plan", id="few events"),
        pytest.param(PROJECT, "id", id="many different values"),
        pytest.param(PROJECT, "rare", id="few texts"),
        pytest.param(PROJECT, "missing", id="no value"),
        pytest.param(PROJECT, "a.b", id="a name with a dot"),
        pytest.param(PROJECT, "x" * 90, id="a long name"),
    ],
)
async def test_unsuitable_properties(
    worker: Worker, warehouse: ClickHouseWarehouse, project: int, name: str
):
    tried = worker()
    tried.reads.update({(project, name): 9})

    await tried.work()
    await tried.work()

    assert await TextColumns(warehouse).filled() == {}


async def test_a_column_that_a_killed_server_left_unfilled(
    worker: Worker, warehouse: ClickHouseWarehouse
):
    await TextColumns(warehouse).add(["city"], NOW.date())
    restarted = worker()
    await restarted.load()
    assert restarted.filled == frozenset()

    restarted.reads.update({(PROJECT, "city"): 2})
    await _work(restarted, "city")


async def test_a_look_that_fails_is_repeated(
    worker: Worker, warehouse: ClickHouseWarehouse, monkeypatch: pytest.MonkeyPatch
):
    tried = worker()
    tried.reads.update({(PROJECT, "city"): 2})
    await tried.work()

    async def away(*_: object, **__: object) -> None:
        raise WarehouseDown("away")

    with monkeypatch.context() as patched:
        patched.setattr(warehouse, "query", away)
        await tried._guarded(tried.work)

    await _work(tried, "city")


@pytest.mark.slow
async def test_a_server_that_starts_reads_filled_columns(worker: Worker):
    first, second = worker(), worker()
    first.reads.update({(PROJECT, "city"): 2})
    await _work(first, "city")

    await second.load()

    assert second.filled == {"city"}


@pytest.mark.slow
async def test_two_servers_at_once(worker: Worker):
    servers = [worker(), worker()]
    for server in servers:
        server.reads.update({(PROJECT, "city"): 2, (PROJECT, "plan"): 2})

    await asyncio.gather(*(_work(server, "city", "plan") for server in servers))


@pytest.mark.slow
async def test_the_table_has_a_limit_of_columns(worker: Worker, warehouse: ClickHouseWarehouse):
    tried, columns = worker(), TextColumns(warehouse)
    numbers = count()
    others = [f"other {next(numbers)}" for _ in range(MAX_COLUMNS - 1)]
    await columns.add(others, NOW.date())
    tried.reads.update({(PROJECT, "city"): 3, (PROJECT, "plan"): 2})

    await _work(tried, "city")

    assert len(await columns.filled()) == MAX_COLUMNS


async def test_a_new_column_replaces_the_one_that_was_not_read_for_longest(
    worker: Worker, warehouse: ClickHouseWarehouse
):
    tried, columns = worker(), TextColumns(warehouse)
    tried.reads.update({(PROJECT, "city"): 2})
    await _work(tried, "city")
    await columns.add(["old"], NOW.date() - UNUSED)
    older = NOW.date() - UNUSED - timedelta(days=1)
    await columns.add(["plan"], older)
    recent = NOW.date() - UNUSED + timedelta(days=1)
    await columns.add([f"other {number}" for number in range(MAX_COLUMNS - 3)], recent)
    statement = (
        "ALTER TABLE events MATERIALIZE COLUMN property_text_plan SETTINGS mutations_sync = 2"
    )
    await warehouse.command(statement)
    restarted = worker()
    await restarted.load()
    sql, before = await _rows(warehouse, restarted.filled)
    assert "property_text_plan" in sql

    restarted.reads.update({(PROJECT, "mixed"): 2})
    await _work(restarted, "mixed")

    names = set(await columns.filled())
    assert len(names) == MAX_COLUMNS
    assert {"old", "city", "mixed"} <= names
    assert restarted.filled == {"city", "mixed"}
    compiled = await warehouse.query(
        "SELECT property_text_plan AS p, count() FROM events WHERE project_id = {project:Int64} "
        "GROUP BY p ORDER BY p",
        {"project": PROJECT},
    )
    assert list(map(tuple, compiled.rows)) == before  # a query that was compiled earlier
    await columns.retire(["old"], NOW.date())
    restarted.reads.update({(PROJECT, "plan"): 2})
    await _work(restarted, "plan")
    assert (await _rows(warehouse, restarted.filled))[1] == before


async def test_columns_of_which_no_reads_are_known_are_not_replaced(
    worker: Worker, warehouse: ClickHouseWarehouse
):
    """An earlier version adds columns without a day."""
    tried, columns = worker(), TextColumns(warehouse)
    names = [f"other {number}" for number in range(MAX_COLUMNS)]
    await columns.add(names, NOW.date() - UNUSED)
    comments = ", ".join(f"COMMENT COLUMN `property_text_{name}` ''" for name in names)
    await warehouse.command(f"ALTER TABLE events {comments}")
    tried.reads.update({(PROJECT, "city"): 2})

    await tried.work()

    assert await columns.last_reads() == dict.fromkeys(names, NOW.date())


async def test_reads_are_stored_with_the_column_once_a_day(
    worker: Worker, warehouse: ClickHouseWarehouse
):
    tried, columns = worker(), TextColumns(warehouse)
    tried.reads.update({(PROJECT, "city"): 2})
    await _work(tried, "city")
    await columns.record_reads(["city"], NOW.date() - UNUSED)
    restarted = worker()
    await restarted.load()

    restarted.reads.update({(PROJECT, "city"): 1, (PROJECT, "plan"): 1})
    await restarted.work()

    assert await columns.last_reads() == {"city": NOW.date()}


@pytest.mark.slow
async def test_a_mutation_that_fails_is_withdrawn(worker: Worker, warehouse: ClickHouseWarehouse):
    """All later mutations would wait for it."""
    tried = worker()
    await warehouse.command(
        "ALTER TABLE events ADD COLUMN property_text_city LowCardinality(Nullable(String)) "
        "MATERIALIZED toString(throwIf(project_id > 0))"
    )
    tried.reads.update({(PROJECT, "city"): 2})

    with pytest.raises(WarehouseDown, match="could not be filled"):
        await _work(tried, "city")

    unfinished = await warehouse.query(
        "SELECT count() FROM system.mutations WHERE table = 'events' AND NOT is_done"
    )
    assert unfinished.rows[0][0] == 0
    assert tried.filled == frozenset()
