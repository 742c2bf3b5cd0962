"""Reads the newest stored events in pages of bounded size."""

import time
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from hoglet.functions.json_types import Globals
from hoglet.kit.clock import Clock
from hoglet.pipeline.stored_events import EVENT_SIZE, StoredEventLookup
from hoglet.warehouse import QueryBudget, Warehouse
from hoglet.warehouse.errors import QueryTooCostly
from hoglet.warehouse.values import EARLIEST, instant_text

_PAGE_EVENTS = 1000
_PAGE_BYTES = 8_000_000
_MAX_BYTES = 64_000_000
_MIN_SECONDS = 0.1
_WINDOWS = (timedelta(hours=1), timedelta(days=1), timedelta(days=30))


class _Row(NamedTuple):
    """An event in the index of newest events; ``size`` is that of its texts in bytes."""

    timestamp: datetime
    uuid: UUID
    size: int


class RecentEvents:
    """Reads the newest events of a project.

    Args:
        warehouse: has the events.
        stored: reads them by UUID, with their persons and groups.
        clock: gives the time from which the search goes back.
    """

    def __init__(self, warehouse: Warehouse, stored: StoredEventLookup, clock: Clock) -> None:
        self._warehouse = warehouse
        self._stored = stored
        self._clock = clock

    async def pages(
        self, project_id: int, limit: int, seconds: float
    ) -> AsyncIterator[list[Globals]]:
        """Yield the globals of the newest events, newest first, each event once.

        Args:
            project_id: the project.
            limit: maximum number of events.
            seconds: time limit for all pages together.

        Raises:
            QueryTooCostly: the time is up, or the events are larger than 64 MB.
        """
        end = time.monotonic() + seconds
        oldest = await self._oldest(project_id, limit, end)
        rows = await self._index(project_id, oldest, limit, end)
        size = 0
        for page in _pages(rows):
            size += sum(row.size for row in page)
            if size > _MAX_BYTES:
                raise QueryTooCostly(f"The events are larger than {_MAX_BYTES} bytes.")
            yield await self._stored.find_all(
                project_id,
                [row.uuid for row in page],
                between=(page[-1].timestamp, page[0].timestamp),
                seconds=_left(end),
            )

    async def _oldest(self, project_id: int, limit: int, end: float) -> datetime:
        """The timestamp of the oldest of the newest events."""
        now = self._clock.now()
        for since in (*(now - window for window in _WINDOWS), EARLIEST):
            result = await self._warehouse.query(
                "SELECT count(), min(timestamp) FROM (SELECT timestamp FROM events "
                "WHERE project_id = {project_id:Int64} "
                "AND timestamp >= {since:DateTime64(6, 'UTC')} "
                "ORDER BY timestamp DESC LIMIT {limit:UInt32})",
                {"project_id": project_id, "since": instant_text(since), "limit": limit},
                budget=QueryBudget(seconds=_left(end)),
            )
            if result.rows[0][0] >= limit:
                return result.rows[0][1]
        return EARLIEST

    async def _index(self, project_id: int, oldest: datetime, limit: int, end: float) -> list[_Row]:
        result = await self._warehouse.query(
            f"SELECT timestamp, uuid, {EVENT_SIZE} FROM events "  # noqa: S608 (fixed texts)
            "WHERE project_id = {project_id:Int64} "
            "AND timestamp >= {oldest:DateTime64(6, 'UTC')} "
            "ORDER BY timestamp DESC, uuid DESC LIMIT 1 BY uuid LIMIT {limit:UInt32}",
            {"project_id": project_id, "oldest": instant_text(oldest), "limit": limit},
            budget=QueryBudget(seconds=_left(end)),
        )
        return [_Row(row[0], UUID(str(row[1])), int(row[2])) for row in result.rows]


def _pages(rows: list[_Row]) -> Iterator[list[_Row]]:
    """Split rows into pages to read together; a row larger than a page is read alone."""
    page: list[_Row] = []
    size = 0
    for row in rows:
        if page and (len(page) == _PAGE_EVENTS or size + row.size > _PAGE_BYTES):
            yield page
            page, size = [], 0
        page.append(row)
        size += row.size
    if page:
        yield page


def _left(end: float) -> float:
    """The seconds left until a deadline."""
    return max(end - time.monotonic(), _MIN_SECONDS)
