"""The cost of a start, compared with an empty ASGI application on granian that opens the engine.

Both start in turns on existing folders. Processor time until the server answers 200, and memory two
seconds later, of the server's process; hoglet starts its workers on demand.

Not measured: the first start on an empty folder, PostgreSQL, workers.

Run: ``.venv/bin/python -m benchmarks.start [--turns 7]``
"""

import argparse
import contextlib
import os
import platform
import re
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

BARE = """
import asyncio, sys
import chdb.state
from granian.constants import Interfaces
from granian.server.embed import Server

async def application(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

connection = chdb.state.connect(sys.argv[1])
connection.query("SELECT 1")
server = Server(application, port=int(sys.argv[2]), interface=Interfaces.ASGI, log_enabled=False)
asyncio.run(server.serve())
"""
HOGLET = "from hoglet.cli.entry import main; main()"
DEADLINE_SECONDS = 120.0
SETTLED_SECONDS = 2.0


class Started(NamedTuple):
    """Processor time in seconds until ready; memory in MiB: resident, and private and written."""

    seconds: float
    resident: float
    private: float


def main() -> None:
    """Start both in turns; print medians, lowest values and the ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=7)
    turns = parser.parse_args().turns
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with TemporaryDirectory() as folder:
        start_hoglet(Path(folder))  # creates the folder's database and tables
        start_bare(Path(folder))
        pairs = [(start_bare(Path(folder)), start_hoglet(Path(folder))) for _ in range(turns)]
    for name, runs in zip(("bare", "hoglet"), zip(*pairs, strict=True), strict=True):
        print(f"{name:7}", *(_summary(field, runs) for field in Started._fields), sep="  ")
    ratios = [ours.seconds / bare.seconds for bare, ours in pairs]
    print(f"hoglet / bare, processor time: {statistics.median(ratios):.2f} (median of {turns})")


def start_bare(folder: Path) -> Started:
    """One start of the empty server."""
    port = free_port()
    return _measured([sys.executable, "-c", BARE, str(folder / "bare"), str(port)], port, "/")


def start_hoglet(folder: Path) -> Started:
    """One start of ``hoglet serve``."""
    port = free_port()
    words = ["serve", "--port", str(port), "--data-dir", str(folder / "hoglet")]
    return _measured([sys.executable, "-c", HOGLET, *words], port, "/_readyz")


def _measured(command: list[str], port: int, path: str) -> Started:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait(process, f"http://127.0.0.1:{port}{path}")
        seconds = _processor_seconds(process.pid)
        time.sleep(SETTLED_SECONDS)
        memory = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        return Started(seconds, _mebibytes(memory, "Rss"), _mebibytes(memory, "Private_Dirty"))
    finally:
        process.terminate()
        process.wait()


def _wait(process: "subprocess.Popen[bytes]", url: str) -> None:
    latest = time.monotonic() + DEADLINE_SECONDS
    while process.poll() is None and time.monotonic() < latest:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as response:
            if response.status == 200:
                return
        time.sleep(0.02)
    raise SystemExit(f"{url} did not become ready")


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _mebibytes(smaps: str, field: str) -> float:
    match = re.search(rf"^{field}:\s+(\d+)", smaps, re.MULTILINE)
    return int(match[1]) / 1024 if match else 0.0


def _summary(field: str, runs: tuple[Started, ...]) -> str:
    values = [getattr(each, field) for each in runs]
    return f"{field} {statistics.median(values):.2f} (lowest {min(values):.2f})"


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    main()
