"""Backfills over stored events, with a real warehouse: spec/hog-functions.md section 9.1."""

from datetime import timedelta
from uuid import UUID

import msgspec
import pytest

from hoglet.functions.backfills import Window
from hoglet.functions.jobs import (
    BACKFILL_QUEUE,
    INVOKE_QUEUE,
    BackfillV1,
    decode_invoke,
    encode,
)
from hoglet.kit.clock import FixedClock
from hoglet.kit.ids import new_id
from hoglet.pipeline import backfilling
from hoglet.pipeline.backfilling import BackfillWorker
from hoglet.queue import NewJob
from hoglet.queue.sql import SqlQueue
from support.pipeline import at

NOW = at("2026-05-01T12:00:00+00:00")
COLUMNS = (
    "project_id", "uuid", "event", "properties", "timestamp", "distinct_id", "person_id",
    "person_properties",
)  # fmt: skip


class OneWindow:
    """The part of ``Backfills`` that a worker asks."""

    def __init__(self, window):
        self._window = window
        self.statuses = []

    async def window(self, _session, _id):
        return self._window

    async def settle(self, _session, _id, status):
        self.statuses.append(status)


class NoProjects:
    async def project(self, _id):
        return None


@pytest.mark.parametrize("page", [2, 500])
async def test_each_event_of_the_window_runs_once(
    database, warehouse, fresh_project_id, monkeypatch, page
):
    monkeypatch.setattr(backfilling, "PAGE_EVENTS", page)
    rows = [
        (fresh_project_id, new_id(), name, '{"n": 1}', NOW - timedelta(hours=hours), "ada", person,
         '{"email": "x@y.z"}')
        for name, hours, person in [
            ("paid", 1, new_id()), ("paid", 2, UUID(int=0)), ("paid", 2, new_id()),
            ("other", 2, new_id()), ("paid", 3, new_id()), ("paid", 30, new_id()),
        ]
    ]  # fmt: skip
    await warehouse.insert("events", COLUMNS, rows)
    queue, export = SqlQueue(database, FixedClock(NOW)), new_id()
    window = OneWindow(Window(NOW - timedelta(hours=24), NOW, ["paid"]))
    worker = BackfillWorker(
        queue=queue, database=database, warehouse=warehouse, backfills=window,
        access=NoProjects(), clock=FixedClock(NOW), site_url="http://hoglet",
    )  # fmt: skip
    job = BackfillV1(fresh_project_id, new_id(), export, new_id())
    async with database.write() as session:
        await queue.enqueue(session, [NewJob(queue=BACKFILL_QUEUE, payload=encode(job))])
    while leased := await queue.lease(BACKFILL_QUEUE, limit=1, duration=timedelta(minutes=1)):
        await worker._do(leased[0])

    found = await queue.lease(INVOKE_QUEUE, limit=100, duration=timedelta(minutes=1))
    runs = [decode_invoke(one.payload) for one in found]
    wanted = {str(row[1]) for row in rows if row[2] == "paid" and row[4] > NOW - timedelta(days=1)}
    assert len(runs) == len(wanted) == 4
    assert {run.globals["event"]["uuid"] for run in runs} == wanted
    assert {run.globals["source"]["name"] for run in runs} == {f"Batch export: {export}"}
    assert all(run.globals["groups"] == {} for run in runs)
    assert sum("person" in run.globals for run in runs) == 3
    assert window.statuses[-1] == "Completed"
    assert msgspec.msgpack.encode(runs[0].globals)
