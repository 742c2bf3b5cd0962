"""Rows of persons and groups on their way to the warehouse."""

import asyncio

from hoglet.kit.clock import FixedClock, new_id
from hoglet.pipeline.ingest.replication import COPIES_QUEUE, WarehouseReplicator
from support.pipeline import at, open_line

NOW = at("2026-05-01T12:00:00+00:00")
STORED = "SELECT count() FROM persons FINAL WHERE project_id = {p}"


async def test_inserts_are_bounded_by_bytes(
    sqlite_database, warehouse, fresh_project_id, monkeypatch
):
    """After an outage of the warehouse, hundreds of commits with large persons wait."""
    monkeypatch.setattr("hoglet.pipeline.ingest.replication._MAX_BYTES", 10_000)
    clock = FixedClock(NOW)
    async with open_line(
        sqlite_database, warehouse, clock, fresh_project_id, uses_log=False
    ) as line:
        for size in (4000, 4000, 4000, 30_000, 100):
            text = '{"t": "' + "x" * size + '"}'
            row = (fresh_project_id, new_id(), NOW, text, 0, 0, 1)
            async with line.database.write() as session:
                await line.copies.add(session, {"persons": [row]})
            clock.advance(seconds=1)  # jobs of the same moment have no order

        assert [await line.copies.flush() for _ in range(5)] == [2, 1, 1, 1, 0]
        stored = "SELECT count(), max(length(properties)) FROM persons FINAL WHERE project_id = {p}"
        assert await line.select(stored) == [(5, 30_009)]


async def test_small_changes_that_follow_one_another_share_an_insert(
    sqlite_database, warehouse, fresh_project_id
):
    clock = FixedClock(NOW)
    async with open_line(
        sqlite_database, warehouse, clock, fresh_project_id, uses_log=False
    ) as line:
        copies = WarehouseReplicator(
            line.database, line.queue, warehouse, seconds_between_flushes=3600
        )

        async def change() -> None:
            async with line.database.write() as session:
                row = (fresh_project_id, new_id(), NOW, "{}", 0, 0, 1)
                await copies.add(session, {"persons": [row]})

        await change()
        task = asyncio.create_task(copies.run())
        async with asyncio.timeout(60):
            while await line.queue.unfinished([COPIES_QUEUE]):  # noqa: ASYNC110 (a queue has no event for its end)
                await asyncio.sleep(0.01)
            assert await line.select(STORED) == [(1,)]
            for _ in range(5):
                await change()
            await asyncio.sleep(0)
            assert (await line.queue.depth(COPIES_QUEUE)).ready == 5
            copies.stop()
            await task
        assert await line.select(STORED) == [(6,)]
