"""Processor time of endpoint runs, by stage, in µs per run.

A cached run, a forced ``SELECT 1`` and 10,000 rows, one client each, on a server that samples its
own threads (``benchmarks.stages``). Each is compared with the same SQL by a bare client of the same
engine, the cached run with a bare route of the same body, in processor time of a separate process.
The rows of every pair are compared. Sums are exact, stages accurate to about a tenth of the whole.

Run: ``make profile-endpoints`` or ``.venv/bin/python -m benchmarks.profile_endpoints [--runs 500]``
"""

import argparse
import json
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from benchmarks.endpoints.http_calls import BASE, Client
from benchmarks.endpoints.runs import create
from benchmarks.profiled_server import ProfiledServer, serve_profiled, show

WARM_UP = 50
STAGES = {
    "access/auth.py": "request: key and limits",
    "access/rate_limit.py": "request: key and limits",
    "endpoints/run/api.py": "request: route",
    "endpoints/run/request.py": "request: route",
    "endpoints/run/response": "response",
    "endpoints/encoding/": "response",
    "endpoints/run/targets.py": "run: find the version",
    "endpoints/run/plan.py": "run: plan",
    "endpoints/run/executor.py": "run: compute",
    "endpoints/run/runner.py": "run: compute",
    "endpoints/query_log/": "query log",
    "endpoints/worker/": "run: compile",
    "endpoints/": "run: other",
    "clickhouse_connect/": "engine: client",
    "chdb/": "engine: client",
    "hoglet/warehouse/": "engine: calls of Python",
    "hoglet/pipeline/": "pipeline beside it",
    "hoglet/queue/": "pipeline beside it",
    "hoglet/sandbox/": "worker calls",
    "sqlalchemy/": "metadata",
    "aiosqlite/": "metadata",
    "starlette/": "request: HTTP",
    "granian/": "request: HTTP",
    "hoglet/web/": "request: HTTP",
    "uvloop": "event loop",
    "asyncio/": "event loop",
    "concurrent/futures/": "thread pools",
}
_ROWS = (
    "SELECT number, concat('text ', toString(number)) AS t, (number + 0.5) / 3 AS third "
    "FROM numbers(10000) LIMIT 10000"
)
QUERIES = {
    "cached": ("SELECT 1 AS one", {}),
    "SELECT 1": ("SELECT 1 AS one", {"refresh": "force_blocking"}),
    "10,000 rows": (
        _ROWS,
        {"refresh": "force_blocking"},
    ),
}


class EndpointServer(ProfiledServer):
    module = "benchmarks.profile_endpoints"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--only", choices=list(QUERIES))
    options = parser.parse_args()
    for name in [options.only] if options.only else QUERIES:
        query, body = QUERIES[name]
        runs = options.runs if name != "10,000 rows" else max(options.runs // 10, 10)
        folder = Path(tempfile.mkdtemp(prefix="hoglet-profile-"))
        try:
            seconds, rows = profiled(folder, query, body, runs)
            bare_s, bare_rows = bare(query, runs)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if rows != bare_rows:
            raise RuntimeError(f"{name}: {str(rows)[:80]} is not {str(bare_rows)[:80]}")
        figures = {stage: round(s * 1e6 / runs, 1) for stage, s in seconds.items()}
        show(f"{name}, µs of processor time a run", figures)
        print(f"  bare engine client: {bare_s * 1e6 / runs:.0f} µs a run")


def profiled(
    folder: Path, query: str, body: dict[str, Any], runs: int
) -> tuple[Counter[str], list[list[Any]]]:
    """The server's seconds by stage for the runs, and their rows."""
    server = EndpointServer(folder).start()
    try:
        create(server.port, "profiled", {"kind": "HogQLQuery", "query": query})
        client = Client(server.port)
        path = f"{BASE}/profiled/run"
        for _ in range(WARM_UP):
            answer = client.post(path, body)
        time.sleep(1)
        server.begin()
        for _ in range(runs):
            client.post(path, body)
        seconds, workers_s = server.end()
        seconds["worker processes"] = workers_s
        return seconds, json.loads(answer)["results"]
    finally:
        server.stop()


def bare(query: str, runs: int) -> tuple[float, list[list[Any]]]:
    """Processor seconds of a bare client in a separate process, and the rows."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_bare, (query, runs))


def _bare(query: str, runs: int) -> tuple[float, list[list[Any]]]:
    import clickhouse_connect

    with tempfile.TemporaryDirectory() as folder:
        client = clickhouse_connect.get_client(dsn=f"chdb://{folder}")
        client.command("SET max_threads = 2")
        for _ in range(WARM_UP):
            rows = client.query(query).result_rows
        began = time.process_time()
        for _ in range(runs):
            rows = client.query(query).result_rows
        return time.process_time() - began, [list(row) for row in rows]


def serve() -> None:
    """Serve, sampled."""
    serve_profiled(STAGES)


if __name__ == "__main__":
    serve() if sys.argv[1:2] == ["serve"] else main()
