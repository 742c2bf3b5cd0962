"""``filtered`` counts every non-matching event, with any number of functions."""

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import pytest

from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.tables import HogFunctionRow
from hoglet.kit.clock import FixedClock
from hoglet.pipeline.ingest.filtered_counts import DeferredFilteredCounts
from hoglet.pipeline.ingest.matching import COUNTED_FUNCTIONS
from hoglet.store.database import Database
from support.pipeline import Line, at, open_line

NOW = at("2026-05-01T12:00:30+00:00")
MATCHER = {"tree": msgspec.to_builtins(template_tree("{event = 'wanted'}")), "events": ["wanted"]}


@pytest.fixture
async def line(database: Database, warehouse: Any, fresh_project_id: int) -> AsyncGenerator[Line]:
    async with open_line(database, warehouse, FixedClock(NOW), fresh_project_id) as opened:
        yield opened


async def _add(line: Line, number: int, created_at: datetime) -> str:
    """A stored function that waits for one name, known to the pipeline as well."""
    identity = UUID(int=line.project_id << 64 | number)
    nothing: dict[str, Any] = dict.fromkeys(
        ("name", "created_by", "bytecode", "transpiled", "secrets")
    )
    row = HogFunctionRow(
        id=identity, project_id=line.project_id, type="destination", description="", hog="",
        created_at=created_at, updated_at=created_at, enabled=True, deleted=False,
        inputs_schema=[], inputs={}, filters={"source": "events"}, matcher=MATCHER, **nothing,
    )  # fmt: skip
    async with line.database.write() as session:
        session.add(row)
    runnable = ExecutableFunction(
        id=str(identity),
        project_id=line.project_id,
        type="destination",
        filter=MATCHER["tree"],
        events=["wanted"],
    )
    line.functions.functions = [*line.functions.functions, runnable]
    return str(identity)


async def _settle(line: Line) -> None:
    await DeferredFilteredCounts(line.database, line.outbox, line.clock).settle()
    await line.work()


async def test_very_many_functions_are_counted_later_and_exactly(line: Line):
    known = [await _add(line, number, NOW) for number in range(COUNTED_FUNCTIONS + 1)]
    events = [{"event": name, "distinct_id": "u"} for name in ("other", "wanted", "other", "more")]
    await line.capture(*events)
    await line.work()
    assert await line.counts(known[0]) == {"triggered": 1, "billable_invocation": 1}

    line.clock.advance(seconds=5)  # pyright: ignore[reportAttributeAccessIssue]
    young = await _add(line, 1000, line.clock.now())
    await line.capture(events[0])
    await line.work()
    await _settle(line)
    assert (await line.counts(known[0]))["filtered"] == 4
    assert (await line.counts(known[-1]))["filtered"] == 4
    assert await line.counts(young) == {"filtered": 1}

    await _settle(line)
    assert (await line.counts(known[0]))["filtered"] == 4
