"""Cheap queries while a heavy one runs: sixteen clients, with and without it."""

import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.endpoints.http_calls import BASE, Client
from benchmarks.endpoints.runs import COMPUTE, create, runs
from benchmarks.endpoints.timing import Times, loop

CLIENTS = 16
CHEAP = "SELECT count() FROM events WHERE event = 'signup' AND timestamp < '2026-01-02'"
# Every event of one person against every event: billions of pairs, for longer than any budget.
HEAVY = (
    "SELECT count() FROM events AS a CROSS JOIN events AS b "
    "WHERE cityHash64(a.distinct_id, b.distinct_id) % 7 = 3"
)


@dataclass(frozen=True)
class Isolation:
    """Times of the cheap queries alone and beside the heavy one, and how the heavy one ended."""

    alone: Times
    beside: Times
    heavy_status: int
    heavy_code: str
    heavy_seconds: float
    peak_bytes: int


def isolation(port: int, pid: int, seconds: float) -> Isolation:
    """Measure; the heavy query is repeated while the cheap ones are timed."""
    create(port, "cheap", {"kind": "HogQLQuery", "query": CHEAP})
    create(port, "heavy", {"kind": "HogQLQuery", "query": HEAVY})
    alone = loop(runs(port, "cheap", COMPUTE), CLIENTS, seconds)
    heavy = Heavy(port)
    heavy.start()
    time.sleep(0.5)
    beside = loop(runs(port, "cheap", COMPUTE), CLIENTS, seconds)
    status, code, taken = heavy.stop()
    return Isolation(alone, beside, status, code, taken, peak(pid))


class Heavy(threading.Thread):
    """Repeats the heavy query until it is stopped."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.port = port
        self.ended = threading.Event()
        self.answers: list[tuple[int, str, float]] = []

    def run(self) -> None:
        client = Client(self.port)
        while not self.ended.is_set():
            started = time.perf_counter()
            status, body = client.ask("POST", f"{BASE}/heavy/run", COMPUTE)
            code = json.loads(body).get("code", "") if status != 200 else ""
            self.answers.append((status, code, time.perf_counter() - started))

    def stop(self) -> tuple[int, str, float]:
        self.ended.set()
        self.join()
        return self.answers[-1]


def peak(pid: int) -> int:
    """The peak memory of the process, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this system does not report the memory of a process")
