"""Rate limits and pauses per host, on a test clock."""

from datetime import UTC, datetime, timedelta

import pytest

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.kit.clock import FixedClock
from hoglet.pipeline.delivery.host_limits import (
    WAITING_AT_A_GATE,
    HostGate,
    HostLimiter,
    HostSettings,
)


def test_requests_of_a_second_begin_together_and_others_at_even_spaces() -> None:
    gate, now, began = HostGate(), 0.0, list[float]()
    for _ in range(15):
        now += gate.wait_seconds(now, concurrency=100, per_second=5)
        gate.begin(now, per_second=5)
        began.append(now)

    assert began == pytest.approx([0.0] * 5 + [number / 5 for number in range(1, 11)])


def test_a_pause_lasts_until_its_end_and_is_never_shortened() -> None:
    clock = FixedClock(datetime(2026, 1, 5, tzinfo=UTC))
    limiter = HostLimiter(clock)
    end = clock.now() + timedelta(seconds=10)
    limiter.pause("f", "a.example", end)
    limiter.pause("f", "a.example", end - timedelta(seconds=5))

    assert limiter.paused_until("f", "a.example") == end
    assert limiter.paused_until("f", "b.example") is None
    assert limiter.paused_until("g", "a.example") is None
    clock.advance(seconds=10)
    assert limiter.paused_until("f", "a.example") is None


def test_a_slow_target_has_capacity_for_free_slots_only_and_a_quick_one_for_those_in_time() -> None:
    quick, slow = HostGate(), HostGate()
    for gate, seconds in ((quick, 0.5), (slow, 3.0)):
        for _ in range(30):
            gate.end(gate.begin(0.0, per_second=0), seconds, answered=True)

    assert [slow.free_capacity(runs, 8, waits=False) for runs in (0, 7, 8, 20)] == [8, 1, 0, 0]
    assert quick.free_capacity(0, 8, waits=True) == 24  # three in turn within a second and a half
    assert [quick.free_capacity(runs, 8, waits=True) for runs in (12, 13, 24)] == [12, 0, 0]


def test_a_target_of_which_nothing_is_known_has_capacity_for_all_that_may_wait() -> None:
    assert HostGate().free_capacity(0, 8, waits=True) == 8 + WAITING_AT_A_GATE


async def test_runs_wait_for_capacity_once_their_function_sends_to_one_host_only() -> None:
    """A function with several hosts goes on although one of them does not respond."""
    clock = FixedClock(datetime(2026, 1, 5, tzinfo=UTC))
    limiter = HostLimiter(clock, HostSettings(concurrency=8))
    limiter._gate("host slow.example").average_seconds = 3.0
    function = ExecutableFunction(id="f", project_id=1, type="destination")
    jobs: list[int] = []
    for _ in range(64):
        async with limiter.acquire(function, "slow.example", "f"):
            limiter._gate("host slow.example").average_seconds = 3.0
        limits = limiter.lane_limits({"f": 8})
        jobs.append(limits["f"].jobs if limits else 99)

    assert jobs[62] > 0
    assert jobs[63] == 0
