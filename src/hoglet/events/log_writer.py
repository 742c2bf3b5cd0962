"""Writes requests to the spool log, each split by the partitions of its distinct ids.

All events of a distinct id are in one partition: they stay in order although several servers store
the events of one project.

Source: docs/adr/0037-spool-log.md.
"""

import zlib
from collections.abc import Sequence
from typing import Any

import msgspec

from hoglet.events.parse import distinct_id_of
from hoglet.events.split_batch import split_batch
from hoglet.events.spool import SpooledV1, encode_spooled
from hoglet.kit.clock import new_id
from hoglet.spool import SpoolLog

type Entries = list[tuple[int, bytes]]
"""Pairs of a partition and a payload."""


def partition_of(project_id: int, distinct_id: str, partitions: int) -> int:
    """The partition of a distinct id; the same in every process and version."""
    key = f"{project_id}:{distinct_id}".encode("utf-8", "replace")
    return zlib.crc32(key) % partitions


class LogWriter:
    """Appends requests to a log.

    Args:
        spool_log: the log.
        partitions: number of partitions.
    """

    def __init__(self, spool_log: SpoolLog, partitions: int) -> None:
        self._log = spool_log
        self._partitions = partitions

    def prepare(self, spooled: SpooledV1, raw_events: Sequence[Any]) -> tuple[Entries, int]:
        """The entries of a request, and their size in bytes."""
        places = [self._partition(spooled.project_id, raw) for raw in raw_events]
        bodies = _bodies(spooled.body, places)
        entries = [
            (
                partition,
                encode_spooled(
                    msgspec.structs.replace(
                        spooled, id=new_id(), body=body, events=places.count(partition)
                    )
                ),
            )
            for partition, body in bodies.items()
        ]
        return entries, sum(len(payload) for _, payload in entries)

    async def write(self, prepared: Sequence[Entries]) -> None:
        """Append entries; returns once all are durable.

        Raises:
            SpoolUnavailable: some are not durable, or the outcome is unknown.
        """
        batches: dict[int, list[bytes]] = {}
        for entries in prepared:
            for partition, payload in entries:
                batches.setdefault(partition, []).append(payload)
        await self._log.append(batches)

    def _partition(self, project_id: int, raw: Any) -> int | None:
        """The partition of an event; None for one that was refused."""
        distinct_id = distinct_id_of(raw) if isinstance(raw, dict) else ""
        return partition_of(project_id, distinct_id, self._partitions) if distinct_id else None


def _bodies(body: bytes, places: Sequence[int | None]) -> dict[int, bytes]:
    different = {index for index in places if index is not None}
    if len(different) == 1:
        return {different.pop(): body}
    return split_batch(body, places)
