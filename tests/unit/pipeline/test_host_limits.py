"""Rate limits per host, on a test clock."""

import pytest

from hoglet.pipeline.delivery.host_limits import HostGate


def test_requests_of_a_second_begin_together_and_others_at_even_spaces() -> None:
    gate, now, began = HostGate(), 0.0, list[float]()
    for _ in range(15):
        now += gate.wait_seconds(now, concurrency=100, per_second=5)
        gate.begin(now, per_second=5)
        began.append(now)

    assert began == pytest.approx([0.0] * 5 + [number / 5 for number in range(1, 11)])
