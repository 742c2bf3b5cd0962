"""Capture → queryable, compared with bare decoding and inserting of the same batches.

A real server on a new data folder with one transformation and ten destinations, of which one
matches every tenth event. Batches of 500 over HTTP; the clock stops when a query counts every
event. Bare: one process that decodes the same bodies and inserts their rows into the same table,
batch by batch. Both run on this machine in one session, bare first and last.

Not measured: other disks, TLS, remote clients, and deliveries (their targets answer immediately,
and the benchmark does not wait for them).

Run: ``.venv/bin/python -m benchmarks.capture [--events 100000]``
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import platform
import shutil
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import orjson

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.server import TOKEN, RunningServer

BATCH = 500
CLIENTS = 4
TRANSFORMATION = """
let changed := event
changed.properties.path := lower(event.properties.$current_url)
return changed
"""


_local = threading.local()


def bodies(events: int) -> list[bytes]:
    return [
        orjson.dumps(
            {"api_key": TOKEN, "batch": [one_event(start + offset) for offset in range(BATCH)]}
        )
        for start in range(0, events, BATCH)
    ]


def one_event(number: int) -> dict:
    return {
        "uuid": str(uuid.uuid4()),
        "event": "purchase" if number % 10 == 0 else "$pageview",
        "distinct_id": f"user-{number % 5000}",
        "timestamp": f"2026-11-{number % 20 + 1:02}T12:{number % 60:02}:{number % 59:02}.123Z",
        "properties": {
            "$current_url": f"https://Shop.example/Products/{number % 500}?page=2",
            "$browser": "Firefox",
            "$browser_version": 131,
            "$os": "Linux",
            "$device_type": "Desktop",
            "$screen_width": 1920,
            "$screen_height": 1080,
            "$lib": "web",
            "$lib_version": "1.180.0",
            "$session_id": f"0193e8c6-{number % 1000:04}-7000-8000-000000000001",
            "price": number % 97 + 0.5,
            "currency": "EUR",
            "in_stock": number % 3 == 0,
            "plan": ["free", "pro", "team"][number % 3],
        },
    }


def bare(given: list[bytes], folder: str) -> float:
    """Events per second of decoding and inserting, in a separate process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_bare, (given, folder))


def _bare(given: list[bytes], folder: str) -> float:
    return asyncio.run(_insert_bare(given, folder))


async def _insert_bare(given: list[bytes], folder: str) -> float:
    from hoglet.warehouse import open_warehouse

    warehouse = await open_warehouse(f"chdb://{folder}")
    columns = ("project_id", "uuid", "event", "properties", "timestamp", "distinct_id")
    started = time.perf_counter()
    for body in given:
        rows = [
            (
                1,
                event["uuid"],
                event["event"],
                orjson.dumps(event["properties"]).decode(),
                event["timestamp"],
                event["distinct_id"],
            )
            for event in orjson.loads(body)["batch"]
        ]
        await warehouse.insert("events", columns, rows)
    seconds = time.perf_counter() - started
    await warehouse.close()
    return len(given) * BATCH / seconds


def set_up(server: RunningServer, *, deliveries: bool = True) -> None:
    functions = "/api/projects/1/hog_functions/"
    functions_to_create = [{"type": "transformation", "name": "lower", "hog": TRANSFORMATION}]
    for number in range(10):
        event = "purchase" if deliveries and number == 0 else f"never {number}"
        functions_to_create.append(
            {
                "type": "destination",
                "name": f"destination {number}",
                "hog": "let total := event.properties.price * 2",
                "filters": {
                    "events": [{"id": event, "type": "events"}],
                    "properties": [{"key": "price", "value": 1, "operator": "gt", "type": "event"}],
                },
            }
        )
    for function in functions_to_create:
        server.client.post(functions, json={**function, "enabled": True}).raise_for_status()
    query = {"kind": "HogQLQuery", "query": "SELECT count() FROM events"}
    answer = server.client.post("/api/projects/1/endpoints/", json={"name": "n", "query": query})
    answer.raise_for_status()


def count(server: RunningServer) -> int:
    answer = server.client.post("/api/projects/1/endpoints/n/run", json={"refresh": "force"})
    answer.raise_for_status()
    return answer.json()["results"][0][0]


def through_hoglet(given: list[bytes], folder: Path) -> tuple[float, float]:
    """Events per second until answered, and until queryable."""
    server = RunningServer(folder).start()
    try:
        set_up(server)
        send(server, bodies(BATCH)[0])
        while count(server) < BATCH:
            time.sleep(0.1)
        with ThreadPoolExecutor(CLIENTS) as clients:
            connect(clients)
            started = time.perf_counter()
            list(clients.map(lambda body: send(server, body), given))
        answered = time.perf_counter() - started
        expected = (len(given) + 1) * BATCH
        while count(server) < expected:
            time.sleep(0.1)
        queryable = time.perf_counter() - started
    finally:
        server.stop()
    events = len(given) * BATCH
    return events / answered, events / queryable


def connect(clients: ThreadPoolExecutor) -> None:
    """Create the HTTP client of each thread, which takes 17 ms of processor time."""
    all_threads = threading.Barrier(CLIENTS)

    def create(_: int) -> None:
        _client()
        all_threads.wait()

    list(clients.map(create, range(CLIENTS)))


def send(server: RunningServer, body: bytes) -> None:
    """Send over one connection per client, as SDKs do."""
    _client().post(server.url + "/batch/", content=body).raise_for_status()


def _client() -> httpx.Client:
    client = getattr(_local, "client", None)
    if client is None:
        client = _local.client = httpx.Client(timeout=60)
    return client


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    given = bodies(options.events)
    folder = Path(tempfile.mkdtemp(prefix="hoglet-bench-"))
    try:
        before = bare(given, str(folder / "bare-1"))
        answered, queryable = through_hoglet(given, folder / "server")
        after = bare(given, str(folder / "bare-2"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "events": options.events,
        "answered_per_second": round(answered),
        "queryable_per_second": round(queryable),
        "bare_per_second": [round(before), round(after)],
        "ratio": round(queryable / ((before + after) / 2), 2),
    }
    print(json.dumps(figures, indent=None if options.json else 2))


if __name__ == "__main__":
    main()
