"""Endpoint runs compared with the bare engine, a bare route and other servers, in one session.

1. Computed runs over HTTP (``refresh: force_blocking``: no cache, no table) against the same
   SQL sent to the embedded engine by bare clients in a separate process, 1 to 16 clients.
2. A cached run against a bare Starlette route of the same bytes, both served by granian.
3. A materialized run with a variable against the same query computed.
4. A group by a property, once the server has given it a column, against the same on the JSON text.
5. Compiling a query of thirty lines.
6. Cheap queries of sixteen clients with and without a heavy one, which ends with a cost error.
7. With ``--neighbours``: ROAPI and Datasette serving an equivalent query of the same events.

Results are compared before anything is timed. Client and server share this machine's cores.
Not measured: TLS, a warehouse on another machine, cold files.

Run: ``.venv/bin/python -m benchmarks.endpoints [--rows 10000000] [--seconds 5] [--neighbours]``
"""

import argparse
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from benchmarks.endpoints import compiling, engine, isolation, neighbours, report, runs
from benchmarks.endpoints.dataset import fill, in_process

from support.server import RunningServer

CLIENTS = (1, 4, 16)
CACHED_CLIENTS = 4


def main() -> None:
    options = _arguments()
    folder = tempfile.mkdtemp(prefix="hoglet-bench-")
    try:
        _measure(folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(folder: str, options: argparse.Namespace) -> None:
    console, seconds = Console(), options.seconds
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"{options.rows:,} events"
    )
    report.compiling(console, in_process(compiling.compile_times))
    in_process(fill, folder, options.rows)
    _let_it_learn(folder)
    if not in_process(engine.same_rows, folder):
        raise SystemExit("the typed column and the text give different rows")
    bare = in_process(engine.bare_queries, folder, CLIENTS, seconds)
    server = RunningServer(Path(folder)).start()
    try:
        computed = runs.computed_runs(server.port, CLIENTS, seconds)
        report.computed(console, bare, computed)
        report.typed(console, bare["text", 1], computed["property", 1])
        report.cached(console, *runs.cached_run(server.port, CACHED_CLIENTS, seconds))
        report.materialised(console, *runs.materialised_run(server.port, seconds))
        pid = server.process.pid if server.process else 0
        report.isolation(console, isolation.isolation(server.port, pid, max(seconds, 15)))
    finally:
        server.stop()
    if options.neighbours:
        neighbours.install()
        parquet = Path(folder) / "events.parquet"
        in_process(neighbours.export, folder, str(parquet))
        report.neighbours(console, computed, neighbours.measure(parquet, seconds))


def _let_it_learn(folder: str) -> None:
    """A server detects the types of properties, and gives those that are read their columns."""
    server = RunningServer(Path(folder)).start()
    try:
        runs.let_it_learn(server.port)
        runs.let_it_add_columns(server.port)
    finally:
        server.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--neighbours", action="store_true", help="also ROAPI and Datasette")
    return parser.parse_args()


if __name__ == "__main__":
    main()
