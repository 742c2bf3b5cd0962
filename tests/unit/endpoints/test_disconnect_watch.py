"""A run ends when its client disconnects, and leaves the request's task as it was."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hoglet.kit.errors import NotFound
from hoglet.web.router import unless_disconnected


class Client:
    """A client that disconnects when told."""

    def __init__(self) -> None:
        self.is_gone = asyncio.Event()
        self.listened = asyncio.Event()

    async def receive(self) -> Any:
        self.listened.set()
        await self.is_gone.wait()
        return {"type": "http.disconnect"}


class Work:
    """Work that waits for ever, and tells how it ended."""

    def __init__(self, at_end: Callable[[], object] = lambda: None) -> None:
        self.is_cancelled = False
        self.is_cleaned = False
        self._at_end = at_end

    async def run(self) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.is_cancelled = True
            await asyncio.sleep(0.02)  # stopping a query takes a moment
            self.is_cleaned = True
            self._at_end()
            raise
        return "never"


def cancelling() -> int:
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()


async def test_work_that_ends_at_once_is_not_listened_for() -> None:
    client = Client()

    async def work() -> int:
        return 5

    assert await unless_disconnected(client.receive, work()) == 5
    await asyncio.sleep(0.03)
    assert not client.listened.is_set()


async def test_longer_work_ends_while_the_client_waits() -> None:
    client = Client()

    async def work() -> int:
        await client.listened.wait()
        return 5

    assert await unless_disconnected(client.receive, work()) == 5
    client.is_gone.set()
    await asyncio.sleep(0.03)
    assert cancelling() == 0


async def test_a_client_that_leaves_cancels_the_work_and_waits_for_its_end() -> None:
    client, work = Client(), Work()
    asyncio.get_running_loop().call_later(0.03, client.is_gone.set)
    assert await unless_disconnected(client.receive, work.run()) is None
    assert work.is_cancelled
    assert work.is_cleaned
    assert cancelling() == 0
    async with asyncio.timeout(5):  # the task can wait, and be timed out, as before
        await asyncio.sleep(0)


async def test_an_error_while_the_work_is_cancelled_is_not_answered() -> None:
    def fail() -> None:
        raise NotFound

    client, work = Client(), Work(fail)
    asyncio.get_running_loop().call_later(0.03, client.is_gone.set)
    assert await unless_disconnected(client.receive, work.run()) is None
    assert cancelling() == 0


async def test_an_error_of_the_work_is_raised() -> None:
    client = Client()

    async def work() -> int:
        await client.listened.wait()
        raise NotFound

    with pytest.raises(NotFound):
        await unless_disconnected(client.receive, work())
    assert cancelling() == 0


async def test_work_that_cancels_itself_is_not_a_client_that_left() -> None:
    client = Client()

    async def work() -> int:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await unless_disconnected(client.receive, work())


@pytest.mark.parametrize("leaves", [False, True])
async def test_a_request_that_is_cancelled_from_outside_ends(leaves: bool) -> None:
    client, work = Client(), Work()
    request = asyncio.ensure_future(unless_disconnected(client.receive, work.run()))
    await client.listened.wait()
    if leaves:
        client.is_gone.set()
        await asyncio.sleep(0.01)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert work.is_cancelled


async def test_work_that_goes_on_after_the_client_left_leaves_no_cancellation() -> None:
    client = Client()

    async def work() -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return 5
        return 0

    asyncio.get_running_loop().call_later(0.03, client.is_gone.set)
    assert await unless_disconnected(client.receive, work()) is None
    assert cancelling() == 0
