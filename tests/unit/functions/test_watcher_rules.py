"""When functions are degraded or disabled: docs/spec/hog-functions.md#7-status-and-the-watcher."""

from datetime import UTC, datetime, timedelta

import pytest

from hoglet.functions.watcher.rules import (
    Bucket,
    WatcherSettings,
    count_run,
    next_state,
    refilled,
    run_cost,
)

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
SETTINGS = WatcherSettings()


@pytest.mark.parametrize(
    ("timings", "cost"),
    [
        ([("hog", 50)], 0),
        ([("hog", 550)], 100),
        ([("hog", 300)], 50),
        ([("async", 100)], 0),
        ([("async", 5000)], 20),
        ([("async", 9900)], 40),
        ([("hog", 550), ("async", 5000)], 120),
    ],
)
def test_a_run_costs_by_its_times(timings, cost):
    assert run_cost(timings, SETTINGS) == cost


def test_buckets_fill_by_ten_a_second_up_to_their_capacity():
    assert refilled(Bucket(100, NOW - timedelta(seconds=5)), NOW, SETTINGS) == 150
    assert refilled(Bucket(9999, NOW - timedelta(seconds=5)), NOW, SETTINGS) == 10_000
    assert refilled(Bucket(-5e6, NOW - timedelta(hours=25)), NOW, SETTINGS) == 10_000


def state(before=1, *, tokens=10_000.0, finished=0, failed=0, locked=None, settings=SETTINGS):
    recent = count_run({}, NOW, finished=finished, failed=failed, settings=settings)
    return next_state(
        before, tokens=tokens, recent=recent, now=NOW, locked_until=locked, settings=settings
    )


def test_the_bounds_of_idle_time_lock_and_window():
    full_after_a_day = WatcherSettings(refill_per_second=0)
    day = timedelta(days=1)
    assert refilled(Bucket(7, NOW - day), NOW, full_after_a_day) == 7
    second = timedelta(seconds=1)
    assert refilled(Bucket(7, NOW - day - second), NOW, full_after_a_day) == 10_000

    assert state(tokens=0, locked=NOW + second) == 1
    assert state(tokens=0, locked=NOW) == 2

    minute = int(NOW.timestamp() // 60)
    for age, expected in ((SETTINGS.degrade_minutes - 1, 2), (SETTINGS.degrade_minutes, 1)):
        recent = {str(minute - age): [20, 20]}
        following = next_state(
            1, tokens=10_000, recent=recent, now=NOW, locked_until=None, settings=SETTINGS
        )
        assert following == expected


@pytest.mark.parametrize(
    ("tokens", "expected"), [(10_000, 1), (8001, 1), (8000, 2), (0, 2), (-1, 3)]
)
def test_tokens_decide(tokens, expected):
    assert state(tokens=tokens) == expected


@pytest.mark.parametrize(
    ("finished", "failed", "expected"),
    [(19, 19, 1), (20, 9, 1), (20, 10, 2), (99, 99, 2), (100, 89, 2), (100, 90, 3)],
)
def test_error_rates_decide(finished, failed, expected):
    assert state(finished=finished, failed=failed) == expected


@pytest.mark.parametrize("final", [0, 3, 11, 12])
def test_final_states_stay(final):
    assert state(final, tokens=-1) == final


def test_a_locked_state_stays_and_disabling_can_be_switched_off():
    assert state(locked=NOW + timedelta(seconds=1), tokens=-1) == 1
    assert state(tokens=-1, settings=WatcherSettings(disables=False)) == 2
    assert state(2) == 1


def test_old_minutes_are_forgotten():
    recent = count_run({}, NOW, finished=100, failed=100, settings=SETTINGS)
    later = NOW + timedelta(minutes=31)
    recent = count_run(recent, later, finished=1, failed=0, settings=SETTINGS)

    assert list(recent.values()) == [[1, 0]]
