"""Processor time of an idle server, compared with an empty ASGI application with the engine open.

Both idle side by side, so that other work on the machine disturbs both. hoglet has stored an event
and delivered it to a function before, so its worker processes are running; their time is included.

Not measured: PostgreSQL, ClickHouse, NATS; an open page of the console.

Run: ``.venv/bin/python -m benchmarks.idle [--seconds 60]``
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from benchmarks.start import BARE, free_port

from support.receiver import Receiver
from support.server import TOKEN, RunningServer

SETTLED_SECONDS = 15.0  # until the merges and flushes after the event have ended


def main() -> None:
    """Start both, let them settle, and print milliseconds of processor time per second."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with TemporaryDirectory() as folder, ExitStack() as stack:
        bare = stack.enter_context(bare_server(Path(folder) / "bare"))
        hoglet = stack.enter_context(used_server(Path(folder) / "hoglet"))
        time.sleep(SETTLED_SECONDS)
        before = spent_ms(bare), spent_ms(hoglet)
        time.sleep(seconds)
        print(f"bare    {(spent_ms(bare) - before[0]) / seconds:.2f} ms a second")
        rate = (spent_ms(hoglet) - before[1]) / seconds
        print(f"hoglet  {rate:.2f} ms a second in {len(with_children(hoglet))} processes")


@contextmanager
def bare_server(folder: Path) -> Generator[int]:
    """The empty application, with the engine open; the id of its process."""
    process = subprocess.Popen([sys.executable, "-c", BARE, str(folder), str(free_port())])
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


@contextmanager
def used_server(folder: Path) -> Generator[int]:
    """A server that has delivered an event; the id of its process."""
    receiver, server = Receiver(), RunningServer(folder).start()
    try:
        function = {
            "type": "destination",
            "name": "idle",
            "enabled": True,
            "hog": f"fetch('{receiver.url}/' || event.uuid, {{'body': event.event}})",
        }
        path = "/api/projects/@current/hog_functions/"
        server.client.post(path, json=function).raise_for_status()
        event = {"api_key": TOKEN, "event": "used", "distinct_id": "idle"}
        httpx.post(f"{server.url}/i/v0/e/", json=event).raise_for_status()
        deadline = time.monotonic() + 60
        while not receiver.arrivals and time.monotonic() < deadline:
            time.sleep(0.1)
        if not receiver.arrivals:
            raise SystemExit("the event was not delivered")
        assert server.process is not None
        yield server.process.pid
    finally:
        server.stop()
        receiver.close()


def spent_ms(pid: int) -> float:
    """Processor time of a process and its children so far, to the nanosecond."""
    return sum(
        int(thread.joinpath("schedstat").read_text().split()[0]) / 1e6
        for process in with_children(pid)
        for thread in Path(f"/proc/{process}/task").iterdir()
    )


def with_children(pid: int) -> list[int]:
    """The process and all of its descendants."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in with_children(int(child)))]


if __name__ == "__main__":
    main()
