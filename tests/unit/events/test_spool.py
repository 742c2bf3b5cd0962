"""Requests whose client is gone are committed all the same, and a failure concerns nobody then."""

import asyncio
import gc
from collections.abc import Sequence
from typing import Any

import pytest

from hoglet.events.spool import Spool, SpooledV1, SpoolUnavailable


class Disk:
    """A writer that waits until it is told to go on, and then may fail."""

    def __init__(self) -> None:
        self.goes_on = asyncio.Event()
        self.is_full = False
        self.written: list[str] = []

    def prepare(self, spooled: SpooledV1, raw_events: Sequence[Any]) -> tuple[str, int]:  # noqa: ARG002
        return raw_events[0], 1

    async def write(self, prepared: Sequence[str]) -> None:
        await self.goes_on.wait()
        if self.is_full:
            raise OSError("no space left")
        self.written += prepared


@pytest.fixture
def disk() -> Disk:
    return Disk()


async def _append(spool: Spool, *names: str) -> list[asyncio.Task[None]]:
    request: Any = None  # only the writer reads it
    tasks = [asyncio.create_task(spool.append(request, [name])) for name in names]
    await _callbacks()
    return tasks


async def _callbacks() -> None:
    """Let callbacks run, and those that they schedule."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_request_is_written_when_its_client_is_gone(disk: Disk) -> None:
    gone, patient = await _append(Spool(disk), "gone", "patient")
    gone.cancel()
    await _callbacks()
    disk.goes_on.set()
    await patient

    assert disk.written == ["gone", "patient"]


async def test_nobody_is_told_of_a_failure_after_the_client_is_gone(disk: Disk) -> None:
    unseen: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
    disk.is_full = True
    gone, patient = await _append(Spool(disk), "gone", "patient")
    gone.cancel()
    await _callbacks()
    disk.goes_on.set()
    with pytest.raises(SpoolUnavailable):
        await patient
    del gone, patient
    gc.collect()
    await _callbacks()

    assert unseen == []
