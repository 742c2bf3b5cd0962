"""Look-ups that many requests repeat: loaded once, and not kept if they may be outdated."""

import asyncio

from hoglet.kit.cache import TTLCache


class Table:
    """Rows that are read slowly: each read returns what was there when it began."""

    def __init__(self) -> None:
        self.rows = {"a": 1}
        self.reads = 0
        self.answering = asyncio.Event()

    async def read(self, key: str) -> int | None:
        self.reads += 1
        row, answering = self.rows.get(key), self.answering
        await answering.wait()
        return row


async def started(calls: int, cache: TTLCache[str, int]) -> list[asyncio.Task[int | None]]:
    tasks = [asyncio.ensure_future(cache.get("a")) for _ in range(calls)]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


async def test_an_expired_row_is_read_once_for_all_who_wait() -> None:
    table = Table()
    cache = TTLCache(table.read, seconds=60)
    waiting = await started(16, cache)
    table.answering.set()
    assert await asyncio.gather(*waiting) == [1] * 16
    assert await cache.get("a") == 1
    assert table.reads == 1


async def test_a_row_that_changes_while_it_is_read_is_not_kept() -> None:
    table = Table()
    cache = TTLCache(table.read, seconds=60)
    before = await started(1, cache)
    slow, table.answering = table.answering, asyncio.Event()
    table.rows["a"] = 2
    cache.forget()
    after = await started(1, cache)
    table.answering.set()
    assert await asyncio.gather(*after) == [2]
    slow.set()
    assert await asyncio.gather(*before) == [1]
    assert await cache.get("a") == 2
    assert table.reads == 2


async def test_who_leaves_does_not_end_the_look_up_of_others() -> None:
    table = Table()
    cache = TTLCache(table.read, seconds=60)
    first, second = await started(2, cache)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    table.answering.set()
    assert await second == 1
    assert table.reads == 1


async def test_a_missing_row_is_read_again() -> None:
    table = Table()
    table.answering.set()
    cache = TTLCache(table.read, seconds=60)
    assert await cache.get("b") is None
    assert await cache.get("b") is None
    assert table.reads == 2
