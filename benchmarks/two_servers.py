"""Two servers compared with one, on one project: events per second until a query counts them all.

PostgreSQL and the ClickHouse double run on this machine. A transformation, and destinations that do
not match; four clients send batches of 500 to each server in turn. One server and two servers take
turns on empty databases. Every event must be stored once.

Everything shares the machine's cores: the servers, their workers, PostgreSQL, the engine and the
clients. ``busy`` is the share of processor time in use with one server and with two: no ratio can
exceed the reciprocal of the first. ``servers_us`` is the processor time of the servers and their
workers per event: the difference is the price of sharing.

Not measured: a network, separate machines for the database and the warehouse.

Run: ``make bench-servers`` or ``.venv/bin/python -m benchmarks.two_servers [--events 40000]``
"""

import argparse
import contextlib
import itertools
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks.capture import BATCH, CLIENTS, bodies, count, send, set_up
from cryptography.fernet import Fernet

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.databases import new_postgres_database, running_postgres
from support.server import RunningServer
from support.warehouses import clickhouse_double, new_clickhouse_database

TAKEN_OVER_S = 12.0  # until partitions are shared evenly: two heartbeats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rates: dict[int, list[float]] = {1: [], 2: []}
    busy: dict[int, list[float]] = {1: [], 2: []}
    costs: dict[int, list[float]] = {1: [], 2: []}
    with (
        tempfile.TemporaryDirectory(prefix="hoglet-bench-") as folder,
        running_postgres() as postgres,
        clickhouse_double(Path(folder, "engine")) as engine,
    ):
        for number in range(options.rounds * 2):
            servers = number % 2 + 1
            round_folder = Path(folder, f"round-{number}")
            rate, share, cost = measure(servers, options.events, (postgres, engine), round_folder)
            rates[servers].append(rate)
            busy[servers].append(share)
            costs[servers].append(cost * 1e6)
    single, double = (statistics.median(rates[number]) for number in (1, 2))
    figures = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "events": options.events,
        "one_per_second": round(single),
        "two_per_second": round(double),
        "busy": [round(statistics.median(busy[number]), 2) for number in (1, 2)],
        "servers_us": [round(statistics.median(costs[number])) for number in (1, 2)],
        "ratio": round(double / single, 2),
    }
    print(json.dumps(figures, indent=None if options.json else 2))


class Measured(NamedTuple):
    """Events per second, the busy share of the cores, seconds of the servers an event."""

    rate: float
    busy: float
    cost_s: float


def measure(servers: int, events: int, parts: tuple[str, str], folder: Path) -> Measured:
    """Drive new servers on an empty database and warehouse.

    Raises:
        AssertionError: an event was stored twice.
    """
    postgres, engine = parts
    with new_postgres_database(postgres) as database, new_clickhouse_database(engine) as warehouse:
        shared = {
            "database_url": database.render_as_string(hide_password=False),
            "warehouse_url": warehouse,
            "secret_keys": Fernet.generate_key().decode(),
        }
        running = [RunningServer(folder / str(number), **shared) for number in range(servers)]
        try:
            for server in running:
                server.start()
            set_up(running[0], deliveries=False)
            return drive(running, bodies(events))
        finally:
            for server in running:
                server.stop()


def drive(servers: list[RunningServer], given: list[bytes]) -> Measured:
    """Send everything and wait until it is counted."""
    for server, body in zip(itertools.cycle(servers), bodies(8 * BATCH), strict=False):
        send(server, body)
    while count(servers[0]) < 8 * BATCH:
        time.sleep(0.1)
    time.sleep(TAKEN_OVER_S if len(servers) > 1 else 0)
    started, busy, own = time.perf_counter(), busy_seconds(), seconds_of(servers)
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(send, itertools.cycle(servers), given))
    while (stored := count(servers[0])) < (len(given) + 8) * BATCH:
        time.sleep(0.1)
    seconds = time.perf_counter() - started
    assert stored == (len(given) + 8) * BATCH, f"{stored} events are stored"
    events, cores = len(given) * BATCH, os.cpu_count() or 1
    return Measured(
        rate=events / seconds,
        busy=(busy_seconds() - busy) / seconds / cores,
        cost_s=(seconds_of(servers) - own) / events,
    )


def busy_seconds() -> float:
    """Processor time of all cores that was not idle."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def seconds_of(servers: list[RunningServer]) -> float:
    """Processor time of the servers and their workers."""
    pids = {server.process.pid for server in servers if server.process is not None}
    ticks = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text().rpartition(")")[2].split()
            if int(entry.parent.name) in pids or int(fields[1]) in pids:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
