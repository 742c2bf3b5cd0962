"""Runs of endpoints, against what they are made of.

1. A computed run over HTTP (``refresh: force_blocking``: no cache, no table) against the very same
   SQL sent to the embedded engine by a bare client in a process of its own, on the same folder.
2. A cached run against a bare Starlette route that answers the same bytes, both served by granian
   in processes of their own, asked in turns.

Both are ratios of medians from one sitting; one client, keep-alive, loopback.

What this does not measure: many clients at once, TLS, a warehouse on another machine, cold files.

Run: ``.venv/bin/python -m benchmarks.endpoints [--rows 500000] [--repeat 200]``
"""

import argparse
import asyncio
import http.client
import json
import multiprocessing
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.server import KEY, RunningServer, free_port

FILL = """
INSERT INTO events (project_id, uuid, event, properties, timestamp, distinct_id, person_id)
SELECT 1, generateUUIDv4(), ['$pageview', 'purchase', 'signup'][number % 3 + 1],
       concat('{"$browser":"', ['Chrome', 'Firefox', 'Safari'][number % 3 + 1],
              '","price":', toString(number % 97),
              ',"plan":"', ['free', 'pro'][number % 2 + 1], '"}'),
       toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + toIntervalSecond(number % 2500000),
       toString(number % 5000), generateUUIDv4()
FROM numbers({rows:UInt64})
"""
QUERIES = {
    "constant": "SELECT 1",
    "count": "SELECT event, count() FROM events GROUP BY event ORDER BY event",
    "property": (
        "SELECT properties.plan, sum(toFloat(properties.price)) FROM events "
        "WHERE properties.$browser = 'Chrome' GROUP BY properties.plan ORDER BY properties.plan"
    ),
    "rows": "SELECT event, timestamp, distinct_id FROM events LIMIT 10000",
}
JSON = "application/json"


def in_process(work: Any, *args: Any) -> Any:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, args)


def fill(folder: str, rows: int) -> None:
    from hoglet.warehouse import open_warehouse

    async def work() -> None:
        warehouse = await open_warehouse(f"chdb://{folder}/warehouse")
        await warehouse.command(FILL, {"rows": rows})
        await warehouse.close()

    asyncio.run(work())


def compiled(sql: str) -> tuple[str, dict[str, Any]]:
    from hoglet.hogql.compile import compile_query
    from hoglet.hogql.context import QueryContext

    query = compile_query(sql, context=QueryContext(project_id=1))
    return query.sql, query.params


def bare_queries(folder: str, repeat: int) -> dict[str, float]:
    import clickhouse_connect

    client = clickhouse_connect.get_client(dsn=f"chdb://{folder}/warehouse")
    medians = {}
    for name, text in QUERIES.items():
        sql, params = compiled(text)
        medians[name] = median(
            lambda sql=sql, params=params: client.query(sql, parameters=params).result_rows,
            repeat,
        )
    return medians


def serve_bare(port: int, body: bytes) -> None:
    from granian.constants import Interfaces
    from granian.server.embed import Server
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    async def answer(request: Any) -> Response:
        await request.body()  # as any route that takes a body; unread, the connection is closed
        return Response(body, media_type=JSON)

    app = Starlette(routes=[Route("/run", answer, methods=["POST"])])
    server = Server(
        app,
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGI,
        log_enabled=False,
        backlog=1024,
    )
    asyncio.run(server.serve())


def median(work: Any, repeat: int) -> float:
    """Milliseconds, after a warm-up."""
    times = []
    for _ in range(repeat + 5):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times[5:])


class Client:
    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        self.headers = {"Authorization": f"Bearer {KEY}", "Content-Type": JSON}

    def post(self, path: str, body: Any) -> bytes:
        self.connection.request("POST", path, json.dumps(body), self.headers)
        response = self.connection.getresponse()
        content = response.read()
        assert response.status in (200, 201), content
        return content


def measure_runs(client: Client, repeat: int) -> dict[str, float]:
    base = "/api/environments/1/endpoints"
    medians = {}
    for name, text in QUERIES.items():
        query = {"kind": "HogQLQuery", "query": text}
        client.post(base, {"name": name, "query": query})
        wish = {"refresh": "force_blocking"}
        medians[name] = median(
            lambda name=name, wish=wish: client.post(f"{base}/{name}/run", wish), repeat
        )
    return medians


def measure_cached(client: Client, repeat: int) -> dict[str, float]:
    path = "/api/environments/1/endpoints/count/run"
    body = client.post(path, {})
    port = free_port()
    context = multiprocessing.get_context("spawn")
    server = context.Process(target=serve_bare, args=(port, body))
    server.start()
    try:
        bare = wait_for(port)
        rounds = [
            (
                median(lambda: bare.post("/run", {}), repeat),
                median(lambda: client.post(path, {}), repeat),
            )
            for _ in range(5)
        ]
    finally:
        server.kill()
        server.join()
    return {
        "bare": statistics.median(first for first, _ in rounds),
        "cached": statistics.median(second for _, second in rounds),
    }


def wait_for(port: int) -> Client:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            client = Client(port)
            client.post("/run", {})
        except OSError:
            time.sleep(0.05)
        else:
            return client
    raise AssertionError("the bare server did not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--repeat", type=int, default=200)
    wanted = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="hoglet-bench-")
    try:
        in_process(fill, folder, wanted.rows)
        engine = in_process(bare_queries, folder, wanted.repeat)
        server = RunningServer(Path(folder)).start()
        try:
            runs = measure_runs(Client(server.port), wanted.repeat)
            cached = measure_cached(Client(server.port), wanted.repeat * 3)
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for name, milliseconds in engine.items():
        ratio = runs[name] / milliseconds
        print(f"{name:10} engine {milliseconds:8.2f} ms   run {runs[name]:8.2f} ms   x{ratio:.2f}")
    bare, hit = cached["bare"], cached["cached"]
    print(f"{'cached':10} route  {bare:8.2f} ms   run {hit:8.2f} ms   x{hit / bare:.2f}")


if __name__ == "__main__":
    main()
