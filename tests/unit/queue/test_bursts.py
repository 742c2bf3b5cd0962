"""For how long other consumers give way to bursts."""

import pytest

from hoglet.queue.consumers import Bursts


class Timeline:
    """Bursts at times that the test chooses."""

    def __init__(self) -> None:
        self.now = 100.0
        self.ended_at: list[float] = []
        self.bursts = Bursts(lambda: self.ended_at.append(self.now), lambda: self.now)

    def share(self, seconds: float) -> float:
        """The share of the next seconds in which a burst has precedence."""
        steps = round(seconds * 100)
        given = 0
        for _ in range(steps):
            self.now += 0.01
            given += self.bursts.has_precedence
        return given / steps


@pytest.fixture
def timeline() -> Timeline:
    return Timeline()


def test_a_burst_has_precedence_until_it_ends(timeline: Timeline):
    assert not timeline.bursts.has_precedence
    timeline.bursts.begin(0)
    assert timeline.share(2) == 1
    timeline.bursts.end(0)

    assert not timeline.bursts.has_precedence
    assert timeline.ended_at == [timeline.now]


def test_it_lasts_until_the_last_consumer_has_done_it(timeline: Timeline):
    timeline.bursts.begin(0)
    timeline.bursts.begin(1)
    timeline.bursts.end(0)
    assert timeline.bursts.has_precedence
    timeline.bursts.end(1)

    assert not timeline.bursts.has_precedence
    assert len(timeline.ended_at) == 1


def test_work_without_an_end_has_precedence_once(timeline: Timeline):
    timeline.bursts.begin(0)
    seconds = 60 * timeline.share(60)
    timeline.bursts.begin(0)

    assert seconds == pytest.approx(5, abs=0.1)
    assert timeline.share(60) == 0


def test_bursts_without_a_pause_leave_three_quarters_of_the_time(timeline: Timeline):
    given = 0.0
    for _ in range(300):
        timeline.bursts.begin(0)
        given += timeline.share(1) / 300
        timeline.bursts.end(0)

    assert given <= 0.26


def test_a_burst_after_a_long_one_has_precedence_again(timeline: Timeline):
    timeline.bursts.begin(0)
    timeline.share(60)
    timeline.bursts.end(0)
    first = timeline.bursts.number
    timeline.bursts.begin(0)

    assert timeline.bursts.has_precedence
    assert timeline.bursts.number == first + 1
