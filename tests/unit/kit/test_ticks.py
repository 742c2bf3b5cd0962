"""Pauses that begin at different moments end at the same ones."""

import pytest

from hoglet.kit.clock import until_tick


@pytest.mark.parametrize("seconds", [1.0, 2.0, 5.0, 30.0])
def test_long_pauses_end_at_whole_seconds(seconds: float) -> None:
    for begun in (100.0, 100.001, 100.25, 100.999):
        pause = until_tick(seconds, begun)

        assert seconds - 1 < pause <= seconds
        assert (begun + pause) % 1 == pytest.approx(0, abs=1e-6) or pause == seconds


def test_a_task_that_pauses_again_and_again_keeps_its_frequency() -> None:
    now, ends = 100.4, list[float]()
    while len(ends) < 5:
        now += until_tick(1.0, now) + 0.002  # and works for two milliseconds
        ends.append(now)

    assert ends == pytest.approx([101.002, 102.002, 103.002, 104.002, 105.002])


def test_half_seconds_end_with_whole_ones_and_short_pauses_are_exact() -> None:
    assert until_tick(0.5, 100.75) == pytest.approx(0.25)
    assert until_tick(0.25, 100.3) == 0.25
