"""Processor time from capture to queryable, by stage, in µs per event.

The flow of ``benchmarks.capture``, without deliveries, on a real server that samples its own
threads (``benchmarks.stages``). The server's calls of its pipeline worker are recorded and repeated
in this process, where they can be sampled: the server's workers are confined. Sums are exact,
stages accurate to about a tenth of the whole.

Run: ``make profile-capture`` or ``.venv/bin/python -m benchmarks.profile_capture [--events 15000]``
"""

import argparse
import json
import pickle
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.capture import BATCH, CLIENTS, bodies, count, send, set_up
from benchmarks.profiled_server import ProfiledServer, serve_profiled, show
from benchmarks.stages import StageSampler

ROUNDS = 3
SERVER_STAGES = {
    "events/spool.py": "spool: group commit",
    "hoglet/events/decode.py": "request: decode",
    "hoglet/events/parse.py": "request: check events",
    "hoglet/events/service.py": "request: other",
    "hoglet/events/api.py": "request: other",
    "starlette/": "request: HTTP",
    "granian/": "request: HTTP",
    "hoglet/web/": "request: HTTP",
    "ingest/group_processor.py:load": "pipeline: load state",
    "sandbox/pool.py": "pipeline: worker calls",
    "ingest/group_processor.py": "pipeline: worker calls",
    "queue/sql.py:lease_group": "pipeline: lease",
    "queue/consumers.py": "pipeline: lease",
    "definitions/tracker.py": "pipeline: definitions",
    "ingest/commit.py:enqueue_runs": "pipeline: enqueue runs",
    "ingest/commit.py": "pipeline: commit",
    "ingest/worker.py": "pipeline: other",
    "ingest/replication.py": "copies and telemetry",
    "pipeline/telemetry_outbox.py": "copies and telemetry",
    "pipeline/delivery/": "runs",
    "warehouse/clickhouse.py": "warehouse: calls of Python",
    "warehouse/clients.py": "warehouse: calls of Python",
    "aiosqlite/": "metadata: database threads",
    "sqlalchemy/": "metadata: SQLAlchemy",
    "endpoints/": "queries",
    "prometheus_client/": "metrics",
    "uvloop": "event loop",
    "asyncio/": "event loop",
    "concurrent/futures/": "idle threads",
}
WORKER_STAGES = {
    "ingest/parse.py:_accepted": "parse",
    "events/parse.py": "parse",
    "events/elements.py": "parse",
    "definitions/observer.py": "observe properties",
    "hog/python/": "transform: engine",
    "hog/runtime/": "transform: engine",
    "<hog>": "transform: program",
    "runtime/filter_globals.py": "filters",
    "executable/matching.py": "filters",
    "executable/transform.py": "transform: other",
    "ingest/transform.py": "transform: other",
    "functions/runtime/engine.py": "transform: engine",
    "runtime/redaction.py": "transform: other",
    "runtime/host.py": "transform: other",
    "runtime/inputs.py": "transform: other",
    "ingest/matching.py": "match: runs",
    "runtime/globals.py": "match: globals",
    "ingest/process.py:_globals": "match: globals",
    "persons/updates.py": "persons",
    "persons/model.py": "persons",
    "events/groups.py": "persons",
    "ingest/process.py:_line": "rows",
    "ingest/process.py:blocks_of": "rows",
    "kit/json.py:dump_storable_json": "rows",
    "kit/json.py:pack": "answer",
    "ingest/process.py": "process: other",
    "ingest/parse.py": "parse: other",
    "ingest/worker_operations.py": "messages",
}


class CaptureServer(ProfiledServer):
    module = "benchmarks.profile_capture"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=15_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="hoglet-profile-"))
    try:
        server, worker_s = capture(bodies(options.events), folder)
        worker = replay(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    table = {f"server: {name}": seconds for name, seconds in server.items()}
    table["worker: as measured in the server"] = worker_s
    figures = {name: round(s * 1e6 / options.events, 1) for name, s in table.items()}
    inside = {name: round(s * 1e6 / options.events, 1) for name, s in worker.items()}
    if options.json:
        print(json.dumps({"whole": figures, "worker": inside}))
        return
    show("Whole product, µs of processor time an event", figures)
    show("Worker, its requests repeated in this process", inside)


def capture(given: list[bytes], folder: Path) -> tuple[Counter[str], float]:
    """Send the bodies; the server's seconds by stage, and those of its workers."""
    server = CaptureServer(folder).start()
    try:
        set_up(server, deliveries=False)
        send(server, bodies(BATCH)[0])
        while count(server) < BATCH:
            time.sleep(0.1)
        server.begin()
        with ThreadPoolExecutor(CLIENTS) as clients:
            list(clients.map(lambda body: send(server, body), given))
        while count(server) < (len(given) + 1) * BATCH:
            time.sleep(0.5)
        return server.end()
    finally:
        server.stop()


def replay(folder: Path) -> Counter[str]:
    """The worker's seconds by stage for the recorded requests."""
    from hoglet.pipeline.ingest import worker_operations as operations
    from hoglet.sandbox import operation_path

    called = {
        operation_path(operations.read): operations.read,
        operation_path(operations.process): operations.process,
    }
    with (folder / "calls.pickle").open("rb") as file:
        calls = [pickle.load(file) for _ in range(pickle.load(file))]
    for operation, payload in calls[:4]:  # compile what is compiled once
        if operation in called:
            called[operation](payload)
    sampler = StageSampler(WORKER_STAGES)
    sampler.start()
    for _ in range(ROUNDS):
        for operation, payload in calls:
            if operation in called:
                called[operation](payload)
    sampler.stop()
    sampler.seconds.pop("sampling", None)
    return Counter({name: seconds / ROUNDS for name, seconds in sampler.seconds.items()})


def serve() -> None:
    """Serve, sampled; the calls of the pipeline's workers are recorded."""
    from hoglet.sandbox import Operation, Sandbox, operation_path

    calls: list[tuple[str, bytes]] = []
    call = Sandbox.call

    async def recorded(
        self: Sandbox, operation: Operation, payload: bytes, *, deadline: float
    ) -> object:
        path = operation_path(operation)
        if path.startswith("hoglet.pipeline."):
            calls.append((path, payload))
        return await call(self, operation, payload, deadline=deadline)

    def save(folder: Path) -> None:
        with (folder / "calls.pickle").open("wb") as file:
            pickle.dump(len(calls), file)
            for call in calls:
                pickle.dump(call, file)

    Sandbox.call = recorded
    serve_profiled(SERVER_STAGES, save)


if __name__ == "__main__":
    serve() if sys.argv[1:2] == ["serve"] else main()
