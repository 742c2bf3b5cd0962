"""Rows that the warehouse already has are left out (hoglet.pipeline.ingest.unstored_rows)."""

from typing import Any
from uuid import UUID

import orjson

from hoglet.kit.clock import new_id
from hoglet.pipeline.ingest.ipc import EVENT_COLUMNS
from hoglet.pipeline.ingest.unstored_rows import unstored_rows

ROWS = 4_500  # more than one query asks for
PROJECT = 977


def _line(uuid: UUID, project: int = PROJECT) -> bytes:
    values = {
        "uuid": str(uuid),
        "project_id": project,
        "event": "e",
        "timestamp": "2026-05-01 12:00:00.000001",
        "created_at": "2026-05-01 12:00:00.000001",
        "properties": {},
        "person_properties": {},
    }
    return orjson.dumps([values.get(column, "") for column in EVENT_COLUMNS])


async def test_rows_of_a_large_block_are_left_out(warehouse: Any) -> None:
    uuids = [new_id() for _ in range(ROWS)]
    stored = [1, 1_999, 2_000, 4_499]
    columns = ("uuid", "project_id", "event", "timestamp")
    await warehouse.insert(
        "events",
        columns,
        [[uuids[at], PROJECT, "e", "2026-05-01 12:00:00.000001"] for at in stored],
    )

    left = await unstored_rows(warehouse, b"\n".join(_line(each) for each in uuids))

    expected = [_line(each) for at, each in enumerate(uuids) if at not in stored]
    assert left.split(b"\n") == expected


async def test_the_same_uuids_of_another_project_stay(warehouse: Any) -> None:
    uuid = new_id()
    columns = ("uuid", "project_id", "event", "timestamp")
    await warehouse.insert("events", columns, [[uuid, PROJECT, "e", "2026-05-01 12:00:00.000001"]])
    other = _line(uuid, PROJECT + 1)

    assert await unstored_rows(warehouse, b"\n".join([_line(uuid), other])) == other
    assert await unstored_rows(warehouse, _line(uuid)) == b""
