"""Fails the n-th call of a port, for n = 1, 2, 3 … until a run has no more calls.

Whichever call it is, what was captured is stored once and triggers once.
"""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.kit.backoff import Backoff
from hoglet.kit.clock import FixedClock
from hoglet.store.database import Database
from hoglet.warehouse.errors import WarehouseDown
from support.pipeline import Line, at, open_line

FUNCTION = "0193e8c6-0000-7000-8000-0000000000aa"
PORTS = (
    ("warehouse", "insert_block"),
    ("warehouse", "insert"),
    ("spool_log", "read"),
    ("spool_log", "last_positions"),
    ("queue", "lease_group"),
    ("queue", "finish"),
    ("queue", "enqueue"),
    ("events", "load_persons"),
    ("events", "save_persons"),
    ("events", "add_seen"),
    ("copies", "add"),
    ("outbox", "add"),
)


class _NthCallFails:
    """Wraps the methods of :data:`PORTS`; call number ``n`` raises, after its work or before."""

    def __init__(self, line: Line, patch: pytest.MonkeyPatch, n: int, *, after: bool) -> None:
        self.calls = 0
        for part, method in PORTS:
            owner = getattr(line, part)
            patch.setattr(owner, method, self._wrapped(getattr(owner, method), n, after=after))

    def _wrapped(self, real: Any, n: int, *, after: bool) -> Any:
        async def wrapped(*arguments: Any, **more: Any) -> Any:
            self.calls += 1
            fails = self.calls == n
            if fails and not after:
                raise WarehouseDown("the n-th call failed")
            answer = await real(*arguments, **more)
            if fails:
                raise WarehouseDown("the n-th call failed after its work")
            return answer

        return wrapped


@pytest.fixture
async def line(
    database: Database, warehouse: Any, fresh_project_id: int, monkeypatch: Any
) -> AsyncGenerator[Line]:
    monkeypatch.setattr("hoglet.pipeline.ingest.worker._STORAGE_BACKOFF", Backoff(0, 0))
    monkeypatch.setattr("hoglet.pipeline.ingest.worker._SOURCE_PAUSE_S", 0)
    clock = FixedClock(at("2026-05-01T12:00:00+00:00"))
    async with open_line(database, warehouse, clock, fresh_project_id) as opened:
        yield opened


async def _work_until_quiet(line: Line) -> None:
    """What the workers' loops do: a failure is waited out and tried again."""
    for _ in range(6):
        for flush in (line.batches.work_once, line.copies.flush, line.outbox.flush):
            try:
                while await flush():
                    pass
            except WarehouseDown:
                continue
        line.clock.advance(seconds=90)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("tables_url", "after"),
    [
        ("sqlite", True),
        pytest.param("sqlite", False, marks=pytest.mark.slow),
        pytest.param("postgres", True, marks=pytest.mark.slow),
        pytest.param("postgres", False, marks=pytest.mark.slow),
    ],
    indirect=["tables_url"],
)
async def test_whichever_call_fails_nothing_is_lost_or_doubled(
    line: Line, monkeypatch: pytest.MonkeyPatch, *, after: bool
):
    import msgspec

    line.functions.functions = [
        ExecutableFunction(
            id=FUNCTION,
            project_id=line.project_id,
            type="destination",
            filter=msgspec.to_builtins(template_tree("{true}")),
        )
    ]
    stored = 0
    for n in range(1, 60):
        await line.capture(
            {"event": "e", "distinct_id": f"u{n}", "properties": {"$set": {"n": n}}},
            {"event": "$identify", "distinct_id": f"u{n}",
             "properties": {"$anon_distinct_id": f"anon{n}"}},
        )  # fmt: skip
        with monkeypatch.context() as patch:
            failing = _NthCallFails(line, patch, n, after=after)
            await _work_until_quiet(line)
        stored += 2

        assert await line.select("SELECT count() FROM events WHERE project_id = {p}") == [
            (stored,)
        ], f"call {n}"
        assert len(await line.runs()) == stored, f"call {n}"  # leases of earlier rounds are over
        if failing.calls < n:
            break
    else:
        pytest.fail("the sweep did not end")
    assert n > 8

    persons = "SELECT count() FROM persons FINAL WHERE project_id = {p} AND is_deleted = 0"
    assert await line.select(persons) == [(n,)]
    triggered = (await line.counts(FUNCTION))["triggered"]
    assert triggered == stored
