"""Leaves out rows of events that the warehouse already has.

Normally a block is inserted once because of its deduplication token, which depends on the members
of its group. If the database has lost commits, a group may be begun anew with other members.

Source: docs/adr/0071-lost-writes.md.
"""

from collections.abc import Sequence
from itertools import batched
from uuid import UUID

import orjson

from hoglet.pipeline.ingest.ipc import EVENT_COLUMNS
from hoglet.warehouse.port import QueryBudget, Warehouse

_PROJECT, _UUID, _TIMESTAMP = map(EVENT_COLUMNS.index, ("project_id", "uuid", "timestamp"))
_BUDGET = QueryBudget(seconds=60)
_ROWS_PER_QUERY = 2_000
"""ClickHouse refuses parameters of more than 128 KiB, about 3,300 UUIDs."""
_STORED = """
SELECT DISTINCT project_id, uuid FROM events
WHERE project_id IN {projects:Array(Int64)} AND uuid IN {uuids:Array(UUID)}
  AND timestamp BETWEEN parseDateTime64BestEffort({first:String}, 6, 'UTC')
                    AND parseDateTime64BestEffort({last:String}, 6, 'UTC')
"""


async def unstored_rows(warehouse: Warehouse, block: bytes) -> bytes:
    """The rows of a block of events whose UUIDs the warehouse does not have; possibly none.

    Args:
        warehouse: has stored some of them, perhaps.
        block: a line of JSON for each row, with the values of ``EVENT_COLUMNS``.
    """
    unstored: list[bytes] = []
    for lines in batched(block.split(b"\n"), _ROWS_PER_QUERY):
        unstored += await _unstored(warehouse, lines)
    return b"\n".join(unstored)


async def _unstored(warehouse: Warehouse, lines: Sequence[bytes]) -> list[bytes]:
    rows = [orjson.loads(line) for line in lines]
    result = await warehouse.query(
        _STORED,
        {
            "projects": sorted({row[_PROJECT] for row in rows}),
            "uuids": sorted({row[_UUID] for row in rows}),
            "first": min(row[_TIMESTAMP] for row in rows),
            "last": max(row[_TIMESTAMP] for row in rows),
        },
        budget=_BUDGET,
    )
    stored = {(project_id, event_uuid) for project_id, event_uuid in result.rows}
    return [
        line
        for line, row in zip(lines, rows, strict=True)
        if (row[_PROJECT], UUID(row[_UUID])) not in stored
    ]
