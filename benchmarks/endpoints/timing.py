"""Closed loops: each client sends its next request as soon as the last one is answered."""

import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

WARM = 3


@dataclass(frozen=True)
class Times:
    """Milliseconds per call, and calls per second over all clients.

    With many clients, an engine that lets some wait has a low median, so the mean is part of it.
    """

    p50: float
    p95: float
    mean: float
    per_second: float


def loop(make: Callable[[], Callable[[], object]], clients: int, seconds: float) -> Times:
    """Run ``clients`` threads for a while.

    Args:
        make: called once in each thread; returns that client's call.
        clients: number of threads.
        seconds: duration, after three warm-up calls each.
    """
    taken: list[float] = []
    ready = threading.Barrier(clients + 1)
    ended = threading.Event()
    failures: list[BaseException] = []

    def client() -> None:
        try:
            call = make()
            for _ in range(WARM):
                call()
            ready.wait()
            taken.extend(_calls(call, ended))
        except BaseException as failure:
            failures.append(failure)
            ready.abort()
            raise

    threads = [threading.Thread(target=client, daemon=True) for _ in range(clients)]
    for thread in threads:
        thread.start()
    ready.wait()
    began = time.perf_counter()
    time.sleep(seconds)
    ended.set()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    per_second = len(taken) / (time.perf_counter() - began)
    return Times(*percentiles(taken), statistics.mean(taken), per_second)


def percentiles(taken: list[float]) -> tuple[float, float]:
    """The median and the 95th percentile."""
    if len(taken) < 2:
        return taken[0], taken[0]
    return statistics.median(taken), statistics.quantiles(taken, n=20)[-1]


def _calls(call: Callable[[], object], ended: threading.Event) -> list[float]:
    times = []
    while not ended.is_set():
        started = time.perf_counter()
        call()
        times.append((time.perf_counter() - started) * 1000)
    return times
