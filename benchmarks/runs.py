"""Processor time of a delivered run, server and workers, by stage.

One destination, one event per run. After 500 warm-up runs, the others are enqueued while the
executor is paused; then it resumes and the clock starts. The clock stops when every run has ended
and its log line can be queried. Measured without requests, and with one request per run to an HTTP
receiver in a separate process, which must get every event exactly once. Sums are exact, stages
accurate to about a tenth of the whole.

Run: ``make profile-runs`` or ``.venv/bin/python -m benchmarks.runs [--runs 8000]``
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self

import orjson
from benchmarks.capture import BATCH, CLIENTS, bodies, send
from benchmarks.profiled_server import ProfiledServer, serve_profiled, show

STAGES = {
    "queue/sql.py:lease": "lease",
    "queue/statements.py": "lease",
    "delivery/completion.py": "outcomes",
    "pipeline/telemetry_outbox.py": "telemetry outbox",
    "warehouse/": "warehouse: calls of Python",
    "delivery/step_batcher.py": "steps: messages",
    "sandbox/": "steps: messages",
    "functions/loader.py": "load function",
    "delivery/run.py": "run",
    "delivery/executor.py": "run",
    "delivery/host_limits.py": "request: limits",
    "delivery/attempt.py": "request",
    "functions/runtime/host_calls.py": "request",
    "outbound/": "request: HTTP client",
    "aiohttp/": "request: HTTP client",
    "ada_url/": "request: HTTP client",
    "pipeline/ingest/": "ingestion",
    "aiosqlite/": "metadata: database threads",
    "store/database.py:_work": "metadata: database threads",
    "sqlalchemy/": "metadata: SQLAlchemy",
    "hoglet/queue/": "queue",
    "endpoints/": "queries",
    "prometheus_client/": "metrics",
    "granian/": "requests to the server",
    "uvloop": "event loop",
    "asyncio/": "event loop",
    "concurrent/futures/": "idle threads",
}
WITHOUT_REQUEST = "let total := event.properties.price * 2"
WITH_REQUEST = """
fetch('http://127.0.0.1:PORT/', {
  'method': 'POST', 'body': {'uuid': event.uuid, 'price': event.properties.price}
})
"""


class RunsServer(ProfiledServer):
    module = "benchmarks.runs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=8000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = {
        "without_request": measure(options.runs, WITHOUT_REQUEST),
        "with_request": measure(options.runs, WITH_REQUEST),
    }
    if options.json:
        print(json.dumps(figures))
        return
    for name, table in figures.items():
        show(f"{name}, µs of processor time a run", table)


def measure(runs: int, program: str) -> dict[str, float]:
    """µs a run by stage.

    Raises:
        AssertionError: a delivery was lost or repeated.
    """
    given = bodies(BATCH + runs)
    sent = Counter(event["uuid"] for body in given for event in orjson.loads(body)["batch"])
    folder = Path(tempfile.mkdtemp(prefix="hoglet-runs-"))
    with Receiver() as receiver:
        server = RunsServer(folder).start()
        try:
            set_up(server, program.replace("PORT", str(receiver.port)))
            stages, workers_s = deliver(server, given)
        finally:
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)
        if program == WITH_REQUEST:
            assert receiver.received() == sent, "a delivery was lost or repeated"
    stages["workers"] = workers_s
    return {name: round(s * 1e6 / (sent.total() - BATCH), 1) for name, s in stages.items()}


def set_up(server: RunsServer, program: str) -> None:
    function = {"type": "destination", "name": "runs", "hog": program, "enabled": True}
    server.client.post("/api/projects/1/hog_functions/", json=function).raise_for_status()
    for name, table in (("events", "events"), ("ended", "log_entries")):
        where = "" if name == "events" else " WHERE message LIKE 'Function completed%'"
        query = {"kind": "HogQLQuery", "query": f"SELECT count() FROM {table}{where}"}
        body = {"name": name, "query": query}
        server.client.post("/api/projects/1/endpoints/", json=body).raise_for_status()


def deliver(server: RunsServer, given: list[bytes]) -> tuple[Counter[str], float]:
    """Seconds by stage and of the workers, for all bodies except the first."""
    send_all(server, given[:1])
    wait_for_ends(server, BATCH)
    hold = server.data_dir / "hold"
    hold.touch()
    send_all(server, given[1:])
    while enqueued(server) < (len(given) - 1) * BATCH:
        time.sleep(0.2)
    server.begin()
    hold.unlink()
    wait_for_ends(server, len(given) * BATCH)
    return server.end()


def send_all(server: RunsServer, given: list[bytes]) -> None:
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(lambda body: send(server, body), given))


def wait_for_ends(server: RunsServer, runs: int) -> None:
    while (ended := result(server, "ended")) < runs:
        time.sleep(1)
    assert ended == runs, f"{ended} of {runs} runs ended"


def enqueued(server: RunsServer) -> int:
    """The number of runs in the queue."""
    text = server.client.get("/metrics").text
    match = re.search(r'hoglet_queue_jobs\{queue="functions.invoke",state="ready"\} (\S+)', text)
    return int(float(match[1])) if match else 0


def result(server: RunsServer, endpoint: str) -> int:
    path = f"/api/projects/1/endpoints/{endpoint}/run"
    answer = server.client.post(path, json={"refresh": "force"})
    answer.raise_for_status()
    return answer.json()["results"][0][0]


class Receiver:
    """An HTTP receiver in a separate process that records the uuids it gets."""

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_receive, args=(theirs,), daemon=True)
        self._process.start()
        self.port: int = self._pipe.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    def received(self) -> Counter[str]:
        """The number of arrivals of each uuid."""
        self._pipe.send(None)
        return self._pipe.recv()


def _receive(pipe: Connection) -> None:
    asyncio.run(_serve_receiver(pipe))


async def _serve_receiver(pipe: Connection) -> None:
    received: Counter[str] = Counter()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length:")[2].split()[0])
                received[orjson.loads(await reader.readexactly(length))["uuid"]] += 1
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    pipe.send(server.sockets[0].getsockname()[1])
    await asyncio.to_thread(pipe.recv)
    pipe.send(received)
    await asyncio.Event().wait()


def serve() -> None:
    """Serve, sampled; while ``<data>/hold`` exists the executor leases nothing."""
    from hoglet.pipeline.delivery.executor import Executor

    hold = Path(os.environ["HOGLET_DATA_DIR"]) / "hold"
    lease_some = Executor._lease_some  # noqa: SLF001 (the gate is for this benchmark only)

    async def lease_unless_held(self: Executor) -> bool:
        return not hold.exists() and await lease_some(self)

    Executor._lease_some = lease_unless_held  # noqa: SLF001
    serve_profiled(STAGES)


if __name__ == "__main__":
    serve() if sys.argv[1:2] == ["serve"] else main()
