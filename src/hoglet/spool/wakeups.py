"""Wakes readers of partitions in the same process, so that they need not poll."""

import asyncio
from collections.abc import Collection
from datetime import timedelta


class _Waiter:
    def __init__(self, partitions: frozenset[int]) -> None:
        self.partitions = partitions
        self.woken: set[int] = set()
        self.event = asyncio.Event()


class Wakeups:
    """Wakes all waiters of a partition; if there are none, the next wait returns at once."""

    def __init__(self) -> None:
        self._missed: set[int] = set()
        self._waiters: set[_Waiter] = set()

    def wake(self, partitions: Collection[int]) -> None:
        """End the current waits for these partitions, or the next one."""
        missed = set(partitions)
        for waiter in self._waiters:
            if not waiter.partitions.isdisjoint(partitions):
                waiter.woken |= waiter.partitions.intersection(partitions)
                waiter.event.set()
                missed -= waiter.partitions
        self._missed |= missed

    async def wait(
        self,
        partitions: Collection[int],
        timeout: timedelta,  # noqa: ASYNC109 (a ceiling, not a cancellation)
    ) -> set[int]:
        """Wait for one of these partitions; returns those woken, none after ``timeout``."""
        watched = frozenset(partitions)
        missed = self._missed & watched
        if missed or not timeout:
            self._missed -= missed
            return missed
        waiter = _Waiter(watched)
        self._waiters.add(waiter)
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                await waiter.event.wait()
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            self._missed |= waiter.woken
            raise
        finally:
            self._waiters.discard(waiter)
        return waiter.woken
