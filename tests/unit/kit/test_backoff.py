"""Waits between retries: they grow, and end at the longest one."""

from datetime import timedelta

import pytest

from hoglet.kit.backoff import Backoff


@pytest.mark.parametrize(
    ("backoff", "expected"),
    [
        (Backoff(first=2, longest=10), [2, 4, 8, 10, 10]),
        (Backoff(first=0.5, longest=3, factor=3), [0.5, 1.5, 3, 3, 3]),
        (Backoff(first=5, longest=5), [5, 5, 5, 5, 5]),
        (Backoff(first=7, longest=100, factor=1), [7, 7, 7, 7, 7]),
        (Backoff(first=9, longest=4), [4, 4, 4, 4, 4]),
    ],
)
def test_waits_grow_to_the_longest(backoff: Backoff, expected: list[float]) -> None:
    assert [backoff.seconds(retries) for retries in range(5)] == expected


@pytest.mark.parametrize("factor", [2.0, 10.0, 1.01])
@pytest.mark.parametrize("retries", [1_000, 10**9])
def test_any_number_of_failures_has_a_wait(factor: float, retries: int) -> None:
    assert Backoff(first=1, longest=3_600, factor=factor).seconds(retries) == 3_600


def test_a_wait_is_a_duration() -> None:
    assert Backoff(first=0.25, longest=60).wait(1) == timedelta(milliseconds=500)
