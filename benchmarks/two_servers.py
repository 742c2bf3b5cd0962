"""Two servers compared with one, on one project: events per second until a query counts them all.

PostgreSQL and the ClickHouse double run on this machine. A transformation, and destinations that do
not match; four clients send batches of 500 to each server in turn. One server and two servers take
turns on empty databases. Every event must be stored once. There are two set-ups:

- ``shared``: all processes share all cores. A server uses more than one core by itself (it has a
  worker process), so with few cores one server takes most of what two could: ``busy`` is the share
  of processor time in use, and no ratio can exceed the reciprocal of its first figure.
- ``confined``: each server, with its worker processes, is confined to one core, as if it had a
  machine with one core; two servers have different cores. PostgreSQL, the engine and the clients
  may run on every core, with one server and with two. What they use is missing to the servers:
  ``ceiling`` is the ratio if all cores were busy with two servers, and one server's core with one.
- ``limited``: each server, with its worker processes, may use a part of a core (``--cores``), so
  that two of them, the database, the engine and the clients fit into two cores. This is nearest to
  servers with machines of their own. It needs the right to create control groups.

``cpu_us`` is the processor time of each part per event, with one server and with two. The servers'
difference is the price of sharing: smaller groups, heartbeats, contention. ``alone`` is the ratio
that follows from it if nothing but the servers' own processor time limits them, as when the other
parts have machines of their own: calculated, not measured.

Not measured: a network, machines of their own for database and warehouse (with them, two confined
servers would not wait for the core that these take), more than two servers.

Run: ``make bench-servers`` or ``.venv/bin/python -m benchmarks.two_servers [--events 40000]``
"""

import argparse
import contextlib
import itertools
import json
import os
import platform
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import httpx
import psycopg
from benchmarks import cpu_quota
from benchmarks.capture import BATCH, CLIENTS, bodies, count, send, set_up
from cryptography.fernet import Fernet

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.databases import new_postgres_database, running_postgres
from support.server import RunningServer
from support.warehouses import clickhouse_double, new_clickhouse_database

TAKEN_OVER_S = 12.0  # until partitions are shared evenly: two heartbeats
WARM_UP = 8  # batches
SETUPS = ("shared", "confined", "limited")
BLOCKS = re.compile(r"^hoglet_warehouse_insert_seconds_count(?:{.*})? (\S+)$", re.MULTILINE)
PARTS = ("server", "workers", "postgres", "engine", "clients")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--setup", choices=SETUPS, action="append")
    parser.add_argument("--cores", type=float, default=0.5, help="of a server, if limited")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    setups = options.setup or SETUPS[: 3 if cpu_quota.is_available() else 2]
    measured: dict[tuple[str, int], list[Measured]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="hoglet-bench-") as folder,
        running_postgres() as postgres,
        clickhouse_double(Path(folder, "engine")) as engine,
    ):
        for number, setup, servers in itertools.product(range(options.rounds), setups, (1, 2)):
            run_folder = Path(folder, f"{setup}-{servers}-{number}")
            parts = (postgres, engine)
            placing = Placing(setup, options.cores)
            result = measure(servers, options.events, parts, run_folder, placing)
            measured.setdefault((setup, servers), []).append(result)
    figures = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "events": options.events,
        **{setup: compared(*(measured[setup, servers] for servers in (1, 2))) for setup in setups},
    }
    print(json.dumps(figures, indent=None if options.json else 2))


class Placing(NamedTuple):
    """A set-up, and the cores of a server if they are limited."""

    setup: str
    cores: float

    @contextlib.contextmanager
    def started(self, server: RunningServer, number: int) -> Generator[None]:
        """Start a server in its place; at the end of the block, stop it."""
        with on_core(number) if self.setup == "confined" else contextlib.nullcontext():
            server.start()
        assert server.process is not None
        limit = cpu_quota.limited(server.process.pid, self.cores)
        with limit if self.setup == "limited" else contextlib.nullcontext():
            try:
                yield
            finally:
                server.stop()


class Measured(NamedTuple):
    """Events per second, busy share of the cores, events per block, seconds of parts per event."""

    rate: float
    busy: float
    block: float
    cost_s: Mapping[str, float]


def compared(first: list[Measured], second: list[Measured]) -> dict[str, object]:
    """The medians of both, and their ratio."""
    rates = [statistics.median(each.rate for each in runs) for runs in (first, second)]
    costs = [
        {part: statistics.median(each.cost_s[part] * 1e6 for each in runs) for part in PARTS}
        for runs in (first, second)
    ]
    own = [each["server"] + each["workers"] for each in costs]
    return {
        "per_second": [round(rate) for rate in rates],
        "ratio": round(rates[1] / rates[0], 2),
        "busy": [
            round(statistics.median(each.busy for each in runs), 2) for runs in (first, second)
        ],
        "block": [
            round(statistics.median(each.block for each in runs)) for runs in (first, second)
        ],
        "cpu_us": {part: [round(each[part]) for each in costs] for part in PARTS},
        "ceiling": round((os.cpu_count() or 1) * own[0] / sum(costs[1].values()), 2),
        "alone": round(2 * own[0] / own[1], 2),
    }


def measure(
    servers: int, events: int, parts: tuple[str, str], folder: Path, placing: Placing
) -> Measured:
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
        with contextlib.ExitStack() as stack:
            for number, server in enumerate(running):
                stack.enter_context(placing.started(server, number))
            set_up(running[0], deliveries=False)
            return drive(running, bodies(events), postmaster_of(postgres))


@contextlib.contextmanager
def on_core(number: int) -> Generator[None]:
    """Confine the processes that are started in this block, and their children, to one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(cores)[number % len(cores)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def drive(servers: list[RunningServer], given: list[bytes], postmaster: int) -> Measured:
    """Send everything and wait until it is counted; each server has stored events before."""
    for _ in servers:
        send_all(servers, bodies(WARM_UP * BATCH))
        time.sleep(TAKEN_OVER_S if len(servers) > 1 else 0)
    warm = len(servers) * WARM_UP * BATCH
    wait_for(servers[0], warm)
    started, busy, blocks = time.perf_counter(), busy_seconds(), blocks_of(servers)
    before = seconds_by_part(servers, postmaster)
    send_all(servers, given)
    wait_for(servers[0], warm + len(given) * BATCH)
    seconds = time.perf_counter() - started
    after = seconds_by_part(servers, postmaster)
    events, cores = len(given) * BATCH, os.cpu_count() or 1
    return Measured(
        rate=events / seconds,
        busy=(busy_seconds() - busy) / seconds / cores,
        block=events / (blocks_of(servers) - blocks),
        cost_s={part: (after[part] - before[part]) / events for part in PARTS},
    )


def send_all(servers: list[RunningServer], given: list[bytes]) -> None:
    """Send batches to the servers in turn."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(send, itertools.cycle(servers), given))


def wait_for(server: RunningServer, events: int) -> None:
    """Wait until this many events are counted; fails if there are more."""
    while (stored := count(server)) < events:
        time.sleep(0.1)
    assert stored == events, f"{stored} events are stored"


def busy_seconds() -> float:
    """Processor time of all cores that was not idle."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def seconds_by_part(servers: list[RunningServer], postmaster: int) -> Counter[str]:
    """Processor time of each part so far."""
    own = {server.process.pid for server in servers if server.process is not None}
    ticks: Counter[str] = Counter()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text().rpartition(")")[2].split()
            process, parent = int(entry.parent.name), int(fields[1])
            command = entry.with_name("cmdline").read_bytes()
            part = _part(process, parent, command, own, postmaster)
            ended = sum(map(int, fields[13:15])) if process == postmaster else 0
            ticks[part] += int(fields[11]) + int(fields[12]) + ended
    return Counter({part: ticks[part] / os.sysconf("SC_CLK_TCK") for part in ticks})


def _part(process: int, parent: int, command: bytes, servers: set[int], postmaster: int) -> str:
    if postmaster in {process, parent}:
        return "postgres"
    if process in servers:
        return "server"
    if parent in servers:
        return "workers"
    if process == os.getpid():
        return "clients"
    return "engine" if parent == os.getpid() and b"clickhouse_double" in command else ""


def postmaster_of(url: str) -> int:
    """The process that all processes of PostgreSQL are children of."""
    with psycopg.connect(url) as connection:
        backend = connection.info.backend_pid
        return int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])


def blocks_of(servers: list[RunningServer]) -> int:
    """The blocks of events that the servers have inserted."""
    pages = [httpx.get(server.url + "/metrics").text for server in servers]
    return sum(int(float(value)) for page in pages for value in BLOCKS.findall(page))


if __name__ == "__main__":
    main()
