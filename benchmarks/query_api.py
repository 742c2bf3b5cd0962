"""The same HogQL by ``POST /query/`` and as an endpoint's run, in processor time of the server.

Both are asked in turns by one client on one server: cached, and computed by force. The rows are
compared. Processor time is the server process's, all threads, the engine and the query log
included.

What this does not measure: many clients, other kinds of queries.

Run: ``.venv/bin/python -m benchmarks.query_api [--turns 5] [--runs 400]``
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from benchmarks.endpoints.http_calls import BASE, Client
from benchmarks.endpoints.runs import create

from support.server import RunningServer

NODE = {"kind": "HogQLQuery", "query": "SELECT 1 AS one"}
REFRESH = {"cached": "blocking", "forced": "force_blocking"}
WARM_UP = 50
SETTLE_SECONDS = 2.5  # the query log is written every two


def main() -> None:
    """Print medians of both and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--runs", type=int, default=400)
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = RunningServer(Path(folder)).start()
        try:
            create(server.port, "compared", NODE)
            for name in REFRESH:
                compare(server, name, options.turns, options.runs)
        finally:
            server.stop()


def compare(server: RunningServer, name: str, turns: int, runs: int) -> None:
    """Ask both in turns."""
    client, refresh = Client(server.port), REFRESH[name]

    def endpoint() -> bytes:
        return client.post(f"{BASE}/compared/run", {"refresh": refresh})

    def query() -> bytes:
        return client.post("/api/projects/1/query/", {"query": NODE, "refresh": refresh})

    for _ in range(WARM_UP):
        answers = [json.loads(ask()) for ask in (endpoint, query)]
        if answers[0]["results"] != answers[1]["results"]:
            raise RuntimeError(f"{answers[0]['results']} is not {answers[1]['results']}")
    pairs = [
        (processor_us(server, endpoint, runs), processor_us(server, query, runs))
        for _ in range(turns)
    ]
    of_endpoint, of_query = (statistics.median(each) for each in zip(*pairs, strict=True))
    ratio = statistics.median(query / endpoint for endpoint, query in pairs)
    print(
        f"{name:7} endpoint {of_endpoint:5.0f} µs, query {of_query:5.0f} µs, "
        f"query / endpoint {ratio:.2f} (median of {turns})"
    )


def processor_us(server: RunningServer, ask: Callable[[], bytes], runs: int) -> float:
    """The server's processor time of a request in µs, with what it writes of it afterwards."""
    began = _seconds(server)
    for _ in range(runs):
        ask()
    time.sleep(SETTLE_SECONDS)
    return (_seconds(server) - began) / runs * 1e6


def _seconds(server: RunningServer) -> float:
    process = server.process
    if process is None:
        raise RuntimeError("The server does not run.")
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
