"""Ingestion warnings: counts of what was dropped from accepted requests.

They are aggregated in memory and written every few seconds, so that a flood of invalid events does
not become a flood of rows. A crash may lose the last seconds.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from hoglet.events.repository import EventsRepository
from hoglet.events.tables import WarningExample
from hoglet.kit.clock import Clock
from hoglet.kit.errors import HogletError
from hoglet.store.database import Database

_EXAMPLE_LENGTH = 200


class WarningCount(msgspec.Struct):
    """Number of occurrences of a problem in a project, and the latest case."""

    project_id: int
    kind: str
    count: int
    example: WarningExample


class IngestionWarnings:
    """Counts warnings; ``flush`` writes them."""

    def __init__(self, database: Database, repository: EventsRepository, clock: Clock) -> None:
        self._database = database
        self._repository = repository
        self._clock = clock
        self._counts: dict[tuple[int, str], WarningCount] = {}

    def note(self, project_id: int, kind: str, example: WarningExample) -> None:
        """Count an occurrence, e.g. ``kind`` ``missing_distinct_id``; the example is truncated."""
        warning = self._counts.get((project_id, kind))
        if warning is None:
            warning = self._counts[project_id, kind] = WarningCount(project_id, kind, 0, {})
        warning.count += 1
        warning.example = {key: _cut(value) for key, value in example.items()}

    def note_refusals(self, project_id: int, refusals: Sequence[HogletError]) -> None:
        """Count events dropped from an accepted batch."""
        for refusal in refusals:
            self.note(project_id, refusal.error_code, {"detail": refusal.detail})

    async def flush(self) -> None:
        """Write the counts since the last flush."""
        if not self._counts:
            return
        counts, self._counts = list(self._counts.values()), {}
        async with self._database.write() as session:
            await self._repository.add_warnings(session, counts, self._clock.now())


def _cut(value: Any) -> Any:
    return value[:_EXAMPLE_LENGTH] if isinstance(value, str) else value
