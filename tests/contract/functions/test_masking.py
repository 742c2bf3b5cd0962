"""Masking of runs that one group of events triggers (docs/spec/hog-functions.md#6-masking)."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from hoglet.pipeline.ingest.commit import enqueue_runs
from hoglet.pipeline.ingest.ipc import BatchCounters, Invocation

NOW = datetime(2026, 5, 1, tzinfo=UTC)


async def _trigger(hoglet, function_id: str, number: int, threshold: int, at: datetime):
    """The counters of a group that triggers a function so often, with one masking hash."""
    tally = BatchCounters()
    invocations = [
        Invocation(
            id=uuid4(),
            function_id=str(UUID(function_id)),
            event_uuid=uuid4(),
            payload=b"",
            mask="same",
            mask_ttl=60,
            mask_threshold=threshold,
        )
        for _ in range(number)
    ]
    async with hoglet.database.write() as session:
        await enqueue_runs(session, hoglet.queue, invocations, tally, at)
    counts = tally.counts[str(UUID(function_id))]
    return counts.get("other/triggered", 0), counts.get("other/masked", 0)


@pytest.mark.parametrize(
    ("threshold", "first", "second"), [(0, (1, 4), (0, 5)), (2, (3, 2), (2, 3))]
)
async def test_runs_of_a_group_share_the_window(hoglet, threshold, first, second):
    """Of ten runs with a threshold of two, numbers 1, 3, 5 and 7, 9 pass."""
    function = await hoglet.create(hog="return 1", masking={"ttl": 60, "hash": "x"})

    assert await _trigger(hoglet, function["id"], 5, threshold, NOW) == first
    assert await _trigger(hoglet, function["id"], 5, threshold, NOW) == second
    later = NOW + timedelta(seconds=60)
    assert await _trigger(hoglet, function["id"], 1, threshold, later) == (1, 0)
