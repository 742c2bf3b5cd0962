"""How a server stops: first what takes jobs, then the others in order, and within a limit."""

import asyncio
import subprocess
import sys

import pytest

from hoglet.app import workers as workers_module
from hoglet.app.workers import BackgroundWorker, running

BLOCKED = """
import time
from hoglet.app.http.stop_limit import StopLimit
StopLimit(0.1).begin()
time.sleep(60)  # as an event loop that is blocked
"""


class _Recorded:
    """A worker that records when it is stopped and when it ends, after some seconds."""

    def __init__(self, name: str, log: list[str], seconds: float = 0.0) -> None:
        self._name, self._log, self._seconds = name, log, seconds
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        await self._stopping.wait()
        await asyncio.sleep(self._seconds)
        self._log.append(f"{self._name} ended")

    def stop(self) -> None:
        if not self._stopping.is_set():
            self._log.append(f"{self._name} stops")
        self._stopping.set()

    def worker(self, *, stops_first: bool = False) -> BackgroundWorker:
        return BackgroundWorker(self._name, self.run, self.stop, stops_first)


async def test_what_takes_jobs_stops_first_and_the_others_in_order() -> None:
    log: list[str] = []
    workers = [
        _Recorded("batches", log, 0.05).worker(),
        _Recorded("telemetry", log).worker(),
        _Recorded("executor", log).worker(stops_first=True),
    ]
    async with running(workers) as stop_leasing:
        stop_leasing()
        await asyncio.sleep(0.01)
        assert log == ["executor stops", "executor ended"]

    assert log[2:] == ["batches stops", "batches ended", "telemetry stops", "telemetry ended"]


async def test_a_worker_that_does_not_end_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "STOP_SECONDS", 0.1)
    monkeypatch.setattr(workers_module, "LEAST_STOP_SECONDS", 0.1)
    log: list[str] = []
    workers = [_Recorded("stuck", log, 3600).worker(), _Recorded("lease owner", log).worker()]
    async with asyncio.timeout(60), running(workers):
        pass

    assert log == ["stuck stops", "lease owner stops", "lease owner ended"]


def test_a_process_that_does_not_stop_in_time_ends() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", BLOCKED], timeout=50, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 1
    assert "stop_cut_off" in ran.stdout + ran.stderr
