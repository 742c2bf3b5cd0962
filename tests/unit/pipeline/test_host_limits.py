"""Rate limits and pauses per host, on a test clock."""

from datetime import UTC, datetime, timedelta

import pytest

from hoglet.kit.clock import FixedClock
from hoglet.pipeline.delivery.host_limits import HostGate, HostLimiter


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
