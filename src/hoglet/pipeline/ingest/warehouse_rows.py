"""Rows of a group for the warehouse, besides its events. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from hoglet.events.groups import GroupState
from hoglet.events.persons.model import PersonStoreState
from hoglet.pipeline.ingest.ipc import BatchCounters
from hoglet.pipeline.telemetry_outbox import TelemetryBatch
from hoglet.warehouse.telemetry import AppMetric, LogEntry

SOURCE = "hog_function"
_ONE_MILLISECOND = timedelta(milliseconds=1)

type Rows = dict[str, Sequence[Sequence[Any]]]


def person_rows(project_id: int, changes: PersonStoreState) -> Rows:
    """Copies of persons, distinct ids and overrides."""
    persons = [
        (project_id, one.id, one.created_at, one.text, int(one.is_identified), 0, one.version)
        for one in changes.persons
    ]
    persons += [
        (project_id, one.id, one.created_at, "{}", int(one.is_identified), 1, one.version)
        for one in changes.deleted
    ]
    return {
        "persons": persons,
        "person_distinct_ids": [
            (project_id, one.distinct_id, one.person_id, 0, one.version) for one in changes.ids
        ],
        "person_distinct_id_overrides": [
            (project_id, one.distinct_id, one.person_id, 0, one.version)
            for one in changes.ids
            if one.moved
        ],
    }


def group_rows(project_id: int, groups: Iterable[GroupState]) -> Rows:
    """Copies of groups."""
    return {
        "groups": [
            (project_id, one.index, one.key, one.created_at, one.updated_at, one.text, one.version)
            for one in groups
        ]
    }


def messages_of(project_id: int, tally: BatchCounters, now: datetime) -> TelemetryBatch:
    """Counters and lines of functions; lines of one run are a millisecond apart, in order."""
    found = TelemetryBatch(
        metrics=[
            AppMetric(project_id, SOURCE, function_id, now, kind, name, count)
            for function_id, counters in tally.counts.items()
            for (kind, _, name), count in _parted(counters)
        ]
    )
    last: dict[tuple[str, str], datetime] = {}
    for line in tally.lines:
        run = (line.function_id, line.instance_id)
        at = last[run] + _ONE_MILLISECOND if run in last else now
        last[run] = at
        entry = LogEntry(
            project_id,
            SOURCE,
            line.function_id,
            line.instance_id,
            at,
            line.level.upper(),
            line.message,
        )
        found.logs.append(entry)
    return found


def _parted(counters: dict[str, int]) -> list[tuple[tuple[str, str, str], int]]:
    return [(key.partition("/"), count) for key, count in counters.items()]
