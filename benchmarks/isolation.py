"""The API's p99 beside badly behaved functions, compared with its p99 without them.

One server. One function receives ten events a second, while a client requests a function, the list
and a computed run in turn. First the function is well behaved, then it spins, allocates without end
and logs without end; at the end it is well behaved again, to show drift of the machine. Everything
shares this machine's cores.

Goal: at most 1.5 times.

Run: ``.venv/bin/python -m benchmarks.isolation [--seconds 20]``
"""

import argparse
import os
import platform
import shutil
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Self

import httpx

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.server import TOKEN, RunningServer

PROGRAMS = {
    "well-behaved": "return event.event",
    "spins": "while (true) {}",
    "allocates": "let all := []\nwhile (true) { all := arrayPushBack(all, repeat('x', 100000)) }",
    "logs": "while (true) { print('again', event.event) }",
    "well-behaved again": "return event.event",
}
EVENTS_PER_SECOND = 10
SETTLE_S = 2
# Otherwise the watcher would disable the bad functions after a few runs.
NO_WATCHER = '{"disables": false}'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="hoglet-bench-")
    server = RunningServer(Path(folder), watcher=NO_WATCHER).start()
    try:
        figures = measure(server, options.seconds)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    base = figures["well-behaved"][1]
    for name, (p50, p99, runs) in figures.items():
        print(
            f"{name:20} {runs:5} runs ended   p50 {p50:7.2f} ms   "
            f"p99 {p99:7.2f} ms   x{p99 / base:.2f}"
        )


def measure(server: RunningServer, seconds: float) -> dict[str, tuple[float, float, int]]:
    """Median and p99 of the API in milliseconds, and how many runs ended, for each program."""
    api = "/api/projects/1"
    body = {"type": "destination", "name": "it", "enabled": True, "hog": "return 1"}
    response = server.client.post(f"{api}/hog_functions/", json=body)
    response.raise_for_status()
    path = f"{api}/hog_functions/{response.json()['id']}"
    query = {"kind": "HogQLQuery", "query": "SELECT event, count() FROM events GROUP BY event"}
    server.client.post(f"{api}/endpoints/", json={"name": "n", "query": query}).raise_for_status()
    figures = {}
    for name, program in PROGRAMS.items():
        changed = server.client.patch(path, json={"hog": program, "enabled": True})
        changed.raise_for_status()
        before = ended(server, path)
        with Flow(server):
            time.sleep(SETTLE_S)
            p50, p99 = ask(server, path, f"{api}/endpoints/n/run", seconds)
            figures[name] = (p50, p99, ended(server, path) - before)
        drain(server, path)
    return figures


def ask(server: RunningServer, path: str, run: str, seconds: float) -> tuple[float, float]:
    calls = [
        ("GET", path, None),
        ("GET", "/api/projects/1/hog_functions/", None),
        ("POST", run, {"refresh": "force_blocking"}),
    ]
    times = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for method, where, body in calls:
            started = time.perf_counter()
            answer = server.client.request(method, where, json=body)
            times.append((time.perf_counter() - started) * 1000)
            answer.raise_for_status()
    return statistics.median(times), statistics.quantiles(times, n=100)[-1]


def ended(server: RunningServer, path: str) -> int:
    """The number of runs that have ended, successful or not."""
    query = {"breakdown_by": "name", "after": "-1d"}
    totals = server.client.get(f"{path}/metrics/totals", params=query).json()["totals"]
    return totals.get("succeeded", 0) + totals.get("failed", 0)


def drain(server: RunningServer, path: str) -> None:
    """Disable the function and wait for its runs, so that the next program has an idle machine."""
    server.client.patch(path, json={"enabled": False}).raise_for_status()
    seen = -1
    while (now := ended(server, path)) != seen:
        seen = now
        time.sleep(SETTLE_S)


class Flow:
    """Sends events while its block runs."""

    def __init__(self, server: RunningServer) -> None:
        self._url = f"{server.url}/batch/"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        self._over.set()
        self._thread.join()

    def _send(self) -> None:
        body = {"api_key": TOKEN, "batch": [{"event": "e", "distinct_id": "u"}]}
        with httpx.Client() as client:
            while not self._over.wait(1 / EVENTS_PER_SECOND):
                client.post(self._url, json=body).raise_for_status()


if __name__ == "__main__":
    main()
