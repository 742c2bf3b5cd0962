"""How many concurrent requests are sent to hosts of several kinds, in simulated time."""

import heapq
import random
from collections.abc import Callable

import pytest

from hoglet.pipeline.delivery.adaptive_concurrency import FREE_SECONDS, AdaptiveConcurrency

MOST = 256
TIMEOUT = 3.0
RANDOM = random.Random(5)  # noqa: S311 (a sample)

type Serve = Callable[[float], float]
"""When a request that arrives at a time is answered."""


def in_turn(seconds: float, workers: int = 1) -> Serve:
    """A host with a few workers; further requests wait there."""
    free = [0.0] * workers

    def serve(now: float) -> float:
        return_at = max(now, heapq.heappop(free)) + seconds
        heapq.heappush(free, return_at)
        return return_at

    return serve


def at_once(seconds: Callable[[], float]) -> Serve:
    """A host that is as fast for many requests as for one."""
    return lambda now: now + seconds()


class Simulation:
    """Requests to a host, as many as allowed of those that wait.

    ``first`` are allowed until 256 have ended, like those of a new process.
    """

    def __init__(self, serve: Serve, first: int = MOST) -> None:
        self.first = first
        self.serve = serve
        self.adaptive = AdaptiveConcurrency(MOST)
        self.now = 0.0
        self.answered = 0
        self.timed_out = 0
        self.waits: list[float] = []
        self.waiting = 10**9
        self._under_way: list[tuple[float, float, bool]] = []

    def run(self, until: float) -> None:
        """Go on until a time."""
        while self.now < until:
            first = self.first if len(self.waits) < 256 else MOST
            while self.waiting and len(self._under_way) < min(self.adaptive.limit, first):
                self._begin()
            if not self._under_way or self._under_way[0][0] > until:
                self.now = until
            else:
                self._end()

    def _begin(self) -> None:
        self.waiting -= 1
        self.adaptive.begin(self.now)
        end, latest = self.serve(self.now), self.now + TIMEOUT
        heapq.heappush(self._under_way, (min(end, latest), self.now, end <= latest))

    def _end(self) -> None:
        self.now, began, answered = heapq.heappop(self._under_way)
        self.adaptive.end(began, self.now, answered=answered)
        self.waits.append(self.now - began)
        self.answered += answered
        self.timed_out += not answered


@pytest.mark.parametrize(
    ("serve", "per_second"),
    [(in_turn(0.005), 200), (in_turn(0.05, workers=8), 160), (in_turn(0.02), 50)],
    ids=["one worker", "eight workers", "a slower worker"],
)
def test_a_host_with_few_workers_gets_few_requests_at_once(serve: Serve, per_second: int) -> None:
    simulation = Simulation(serve, first=32)
    simulation.run(until=10)
    simulation.waits.clear()
    before = simulation.answered
    simulation.run(until=60)

    assert simulation.answered - before >= 0.95 * 50 * per_second
    assert sum(simulation.waits) / len(simulation.waits) < 2 * FREE_SECONDS


@pytest.mark.parametrize(("seconds", "first"), [(0.02, MOST), (0.1, 32), (0.2, 16)])
def test_a_host_that_many_requests_made_too_slow_recovers(seconds: float, first: int) -> None:
    """At first most of its responses are too late, and it goes on with requests that timed out."""
    simulation = Simulation(in_turn(seconds), first)
    simulation.run(until=120)
    answered, late = simulation.answered, simulation.timed_out
    simulation.run(until=240)

    assert simulation.answered - answered >= 0.9 * 120 / seconds
    assert simulation.timed_out - late < 0.1 * 120 / seconds


@pytest.mark.parametrize(
    "seconds",
    [lambda: 1.0, lambda: 0.15, lambda: RANDOM.expovariate(3)],
    ids=["slow", "fast", "random"],
)
def test_a_host_that_serves_all_at_once_gets_as_many_as_allowed(
    seconds: Callable[[], float],
) -> None:
    simulation = Simulation(at_once(seconds))
    simulation.run(until=600)
    mean = sum(simulation.waits) / len(simulation.waits)

    assert len(simulation.waits) >= 0.94 * 600 * MOST / mean
    assert simulation.adaptive.limit == MOST


def test_a_host_that_gets_more_workers_gets_more_requests() -> None:
    simulation = Simulation(in_turn(0.005))
    simulation.run(until=30)
    few = simulation.adaptive.limit
    simulation.serve = at_once(lambda: 0.3)
    simulation.run(until=400)

    assert few < 64
    assert simulation.adaptive.limit == MOST


def test_a_host_that_does_not_answer_gets_few_requests_until_it_does() -> None:
    simulation = Simulation(at_once(lambda: 60.0))
    simulation.run(until=120)
    few = simulation.adaptive.limit
    simulation.serve = at_once(lambda: 0.3)
    simulation.run(until=140)

    assert few == 8
    assert simulation.adaptive.limit == MOST


def test_bursts_are_not_delayed_for_long() -> None:
    simulation = Simulation(at_once(lambda: 0.3))
    simulation.waiting = 0
    behind = list[float]()
    for second in range(1, 600):
        simulation.waiting += 100
        simulation.run(until=second)
        behind.append(simulation.waiting / 100)

    assert max(behind) < 3
    assert sum(behind) < 30


def test_no_more_requests_than_the_operator_allows() -> None:
    assert AdaptiveConcurrency(3).limit == 3
