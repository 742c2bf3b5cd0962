"""Rows of persons and groups on their way to the warehouse."""

from hoglet.kit.clock import FixedClock, new_id
from support.pipeline import at, open_line

NOW = at("2026-05-01T12:00:00+00:00")


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
