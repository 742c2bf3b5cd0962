"""Which of the due jobs are leased together."""

import asyncio
from typing import Any, NamedTuple
from uuid import UUID

from hoglet.queue.consumers import Signals, of_light_keys, within_weight

GROUP = UUID(int=1)


class Due(NamedTuple):
    """A due job as its statement returns it."""

    id: int
    ordering_key: str
    weight: int = 1
    size: int = 10
    group_id: UUID | None = None


def _ids(rows: list[Any]) -> list[int]:
    return [row.id for row in rows]


def test_keys_join_as_long_as_all_of_their_jobs_fit() -> None:
    oldest: list[Any] = [Due(1, "a"), Due(2, "b", 3), Due(3, "a"), Due(4, "c", 2), Due(5, "d")]

    assert _ids(of_light_keys(oldest, 5)) == [1, 2, 3]
    assert _ids(of_light_keys(oldest, 6)) == [1, 2, 3, 5]  # not c, which weighs more than is left
    assert _ids(of_light_keys(oldest, 8)) == [1, 2, 3, 4, 5]


def test_a_key_in_an_earlier_group_does_not_join_another() -> None:
    oldest: list[Any] = [Due(1, "a"), Due(2, "b", group_id=GROUP), Due(3, "b"), Due(4, "c")]

    assert _ids(of_light_keys(oldest, 10)) == [1, 4]


def test_nothing_joins_if_the_oldest_key_is_too_heavy() -> None:
    oldest: list[Any] = [Due(1, "a", 4), Due(2, "b"), Due(3, "a", 4)]

    assert of_light_keys(oldest, 7) == []


def test_a_lease_ends_before_either_limit_is_exceeded() -> None:
    rows: list[Any] = [Due(1, "a", 2), Due(2, "a", 2), Due(3, "a", 2)]

    assert _ids(within_weight(rows, 4, None)) == [1, 2]
    assert _ids(within_weight(rows, 3, None)) == [1]
    assert _ids(within_weight(rows, None, 20)) == [1, 2]
    assert _ids(within_weight(rows, None, 19)) == [1]
    assert _ids(within_weight(rows, None, None)) == [1, 2, 3]


def test_the_first_job_is_leased_even_if_it_exceeds_the_limits() -> None:
    rows: list[Any] = [Due(1, "a", 9, 900), Due(2, "a")]

    assert _ids(within_weight(rows, 5, 500)) == [1]


async def test_a_wake_up_before_the_wait_ends_one_wait_only() -> None:
    signals = Signals()
    signals.wake("q")

    async with asyncio.timeout(10):
        await signals.wait("q", 60)

    following = asyncio.create_task(signals.wait("q", 60))
    await asyncio.sleep(0.01)
    assert not following.done()
    following.cancel()
