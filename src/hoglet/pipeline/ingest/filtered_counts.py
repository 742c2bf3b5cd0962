"""Deferred ``filtered`` counts for functions that the index skipped.

An event counts as ``filtered`` for every function that listens to other event names only. Counting
this per group would write one row per function, so groups only store their number of events by
name, and once a minute one row per function is computed from these numbers.

If a function changes within that minute, its latest state is used.

Source: docs/spec/hog-functions.md#135-limits-logs-metrics (``other/filtered``, per non-matching
event).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec
from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions import repository
from hoglet.functions.logs.telemetry import LOG_SOURCE
from hoglet.functions.repository import WaitingFunction
from hoglet.kit.clock import Clock
from hoglet.pipeline.tables import DeferredFilteredRow
from hoglet.pipeline.telemetry_outbox import TelemetryBatch, TelemetryOutbox
from hoglet.store.database import Database
from hoglet.warehouse.telemetry import AppMetric

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(dict[str, int])

type Group = tuple[datetime, dict[str, int]]
"""When a group was processed, and its number of events by name."""


def defer_filtered_counts(
    session: AsyncSession, project_id: int, names: Mapping[str, int], now: datetime
) -> None:
    """Store a group's number of events by name, ``{"order": 3}``, in the caller's transaction."""
    session.add(DeferredFilteredRow(project_id=project_id, names=_encoder.encode(names), at=now))


class DeferredFilteredCounts:
    """Computes function metrics from the stored numbers.

    Concurrency: several processes may settle; each row is taken by only one of them.
    """

    def __init__(self, database: Database, outbox: TelemetryOutbox, clock: Clock) -> None:
        self._database = database
        self._outbox = outbox
        self._clock = clock

    async def settle(self) -> None:
        """Compute the metrics for everything stored so far, in one transaction."""
        async with self._database.write() as session:
            projects = await _take(session, self._clock.now())
            for project_id, minutes in projects.items():
                functions = await repository.waiting(session, project_id)
                metrics = list(_metrics(project_id, functions, minutes))
                await self._outbox.add(session, TelemetryBatch(metrics=metrics))


async def _take(session: AsyncSession, now: datetime) -> dict[int, dict[datetime, list[Group]]]:
    """Remove and return the stored groups, by project and by the minute of their processing."""
    taken = delete(DeferredFilteredRow).where(DeferredFilteredRow.at <= now)
    rows = await session.execute(
        taken.returning(
            DeferredFilteredRow.project_id, DeferredFilteredRow.at, DeferredFilteredRow.names
        )
    )
    groups: dict[int, dict[datetime, list[Group]]] = defaultdict(lambda: defaultdict(list))
    for project_id, at, names in rows:
        minute = at.replace(second=0, microsecond=0)
        groups[project_id][minute].append((at, _decoder.decode(names)))
    return groups


def _metrics(
    project_id: int,
    functions: Iterable[WaitingFunction],
    minutes: Mapping[datetime, Sequence[Group]],
) -> Iterable[AppMetric]:
    for minute, groups in minutes.items():
        first, all_of_it = min(at for at, _ in groups), _total(groups)
        for function in functions:
            names = all_of_it
            if function.created_at > first:
                names = _total([group for group in groups if group[0] >= function.created_at])
            missed = names.total() - sum(names[name] for name in function.events)
            if missed:
                identity = str(function.id)
                yield AppMetric(
                    project_id, LOG_SOURCE, identity, minute, "other", "filtered", missed
                )


def _total(groups: Sequence[Group]) -> Counter[str]:
    total: Counter[str] = Counter()
    for _, names in groups:
        total.update(names)
    return total
