"""The interface of spool logs. One contract suite tests every implementation.

A log keeps accepted requests in partitions; within a partition they are ordered by position. It
does not track its readers or their progress. The suite is tests/contract/ports/test_spool_log.py.

Source: docs/adr/0037-spool-log.md.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple, Protocol

import msgspec

from hoglet.kit.errors import Unavailable


class SpoolUnavailable(Unavailable):
    """The spool cannot be written or read now; a retry may succeed."""

    code = "storage_unavailable"


class SpoolEntry(msgspec.Struct, frozen=True, array_like=True):
    """An entry of the log.

    Args:
        position: starts at 1 and grows within a partition, possibly with gaps.
        payload: the appended bytes.
    """

    position: int
    payload: bytes


class SpoolLog(Protocol):
    """Durable payloads in partitions, which are numbered from 0.

    Concurrency: safe to share in one event loop, and between processes.
    """

    @property
    def losses(self) -> int:
        """How often the log was created again while it was open: then its entries are gone."""
        ...

    async def append(self, batches: Mapping[int, Sequence[bytes]]) -> dict[int, int]:
        """Return once the payloads of all partitions are durable.

        The payloads of one call keep their order within a partition; entries of other calls may
        come between them.

        Returns:
            The last position of each partition.

        Raises:
            SpoolUnavailable: some are not durable, or the outcome is unknown.
        """
        ...

    async def read(self, after: Mapping[int, int], limit_bytes: int) -> dict[int, list[SpoolEntry]]:
        """The entries behind these positions, in order, one partition after the other.

        A reader that has seen a position never sees a smaller one appear later.

        Args:
            after: for each partition, the last position already read; 0 reads from the beginning.
            limit_bytes: total size of the payloads; a larger first entry is returned alone.

        Returns:
            The partitions with entries, in the order of ``after``: at least one entry if there is
            one; possibly fewer than the limit allows. Partitions behind the
            last returned one may have entries, too.

        Raises:
            SpoolUnavailable: the log cannot be read.
        """
        ...

    async def trim(self, upto: Mapping[int, int]) -> None:
        """Delete the entries of partitions up to these positions, now or later. Idempotent.

        Raises:
            SpoolUnavailable: not everything was deleted, or the outcome is unknown.
        """
        ...

    def deleted(self, stored: Mapping[int, int]) -> set[int]:
        """Partitions whose entry at this position was deleted, as of the last :meth:`read`.

        ``trim`` keeps it, so somebody else deleted entries, perhaps also some behind it.
        """
        ...

    async def used_share(self) -> float:
        """The used share of the space that the log may take; 0 if there is no limit.

        Raises:
            SpoolUnavailable: the log cannot be read.
        """
        ...

    async def last_positions(self, partitions: Collection[int]) -> dict[int, int]:
        """The highest position ever appended to each, including trimmed ones; 0 if there is none.

        Raises:
            SpoolUnavailable: the log cannot be read.
        """
        ...

    async def wait(
        self,
        partitions: Collection[int],
        timeout: timedelta,  # noqa: ASYNC109 (a ceiling, not a cancellation)
    ) -> set[int]:
        """Wait until entries are appended to one of the partitions, or until ``timeout``.

        Appends by other processes do not necessarily end the wait. A wake-up without a waiter is
        remembered and ends the next wait, even one with a timeout of zero.

        Returns:
            The partitions with new entries; empty after the timeout.
        """
        ...

    def wake(self, partitions: Collection[int]) -> None:
        """End the current waits for these partitions, or the next one."""
        ...

    async def close(self) -> None:
        """Close the connections that the log opened."""
        ...


class NamedLog(NamedTuple):
    """A log and the name under which its positions are stored.

    Entries are kept for ``keep_seconds`` after they were stored, for a database that loses its last
    commits, unless the log is more than half full. A log in that database loses the same ones.
    """

    name: str
    log: SpoolLog
    keep_seconds: int = 0
