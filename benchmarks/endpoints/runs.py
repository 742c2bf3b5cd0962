"""Runs over HTTP on a hoglet server: computed, cached, materialized."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.endpoints.bare_route import bare_route
from benchmarks.endpoints.dataset import FIRST, QUERIES, TENANT
from benchmarks.endpoints.http_calls import BASE, Client
from benchmarks.endpoints.timing import Times, loop

from support.server import TOKEN

COMPUTE = {"refresh": "force_blocking"}  # no cache, no table
ROUNDS = 3
BUILD_SECONDS = 600
TEXT_PROPERTIES = 2  # plan and $browser
SCHEMA_SECONDS = 3  # a little more than queries take to notice a new property
LEARNT_COUNT = "SELECT count() FROM events WHERE distinct_id = 'first'"


def let_it_learn(port: int) -> None:
    """Capture one event like those that were inserted without the server.

    hoglet detects the types of properties from events that pass its pipeline.
    """
    event = {"event": "signup", "distinct_id": "first", "properties": FIRST}
    Client(port).post("/batch/", {"api_key": TOKEN, "batch": [event]})
    create(port, "learnt", {"kind": "HogQLQuery", "query": LEARNT_COUNT})
    deadline = time.monotonic() + 60
    while not rows(Client(port), "learnt", COMPUTE)[0][0]:
        if time.monotonic() > deadline:
            raise TimeoutError("the first event was not stored")
        time.sleep(0.2)
    time.sleep(SCHEMA_SECONDS)


def let_it_add_columns(port: int) -> None:
    """Read the texts of two properties until queries read them from columns of their own."""
    create(port, "read", {"kind": "HogQLQuery", "query": QUERIES["property"]})
    deadline = time.monotonic() + BUILD_SECONDS
    while True:
        rows(Client(port), "read", COMPUTE)
        metrics = Client(port).get("/metrics").decode()
        if f"hoglet_property_columns {TEXT_PROPERTIES:.1f}" in metrics:
            return
        if time.monotonic() > deadline:
            raise TimeoutError("the properties have no columns")
        time.sleep(1)


def computed_runs(
    port: int, clients: Sequence[int], seconds: float
) -> dict[tuple[str, int], Times]:
    """Times of every query by name and number of clients."""
    times = {}
    for name, query in QUERIES.items():
        create(port, name, {"kind": "HogQLQuery", "query": query})
        for count in clients:
            times[name, count] = loop(runs(port, name, COMPUTE), count, seconds)
    return times


def cached_run(port: int, clients: int, seconds: float) -> tuple[Times, Times]:
    """A bare route of the same bytes and a cached run, in turns; the best round of each."""
    body = Client(port).post(f"{BASE}/count/run", {})
    with bare_route(body) as bare_port:
        rounds = [
            (
                loop(lambda: _posting(bare_port, "/run", {}), clients, seconds),
                loop(runs(port, "count", {}), clients, seconds),
            )
            for _ in range(ROUNDS)
        ]
    bare, cached = zip(*rounds, strict=True)
    return max(bare, key=lambda times: times.per_second), max(
        cached, key=lambda times: times.per_second
    )


def materialised_run(port: int, seconds: float) -> tuple[Times, Times]:
    """One query with a variable, computed and read from its table; the rows are compared first."""
    client = Client(port)
    variable = json.loads(
        client.post("/api/projects/1/insight_variables/", {"name": "tenant", "type": "String"})
    )["id"]
    query = {
        "kind": "HogQLQuery",
        "query": TENANT,
        "variables": {variable: {"variableId": variable, "code_name": "tenant", "value": "t1"}},
    }
    create(port, "tenant", query)
    create(port, "tenant_table", query, is_materialized=True)
    wait_until_built(client, "tenant_table")
    request = {"variables": {"tenant": "t7"}}
    inline = rows(client, "tenant", request | COMPUTE)
    stored = rows(client, "tenant_table", request | {"refresh": "force"})
    if inline != stored or not inline:
        raise RuntimeError("the table returns other rows than the query")
    return (
        loop(runs(port, "tenant", request | COMPUTE), 1, seconds),
        loop(runs(port, "tenant_table", request | {"refresh": "force"}), 1, seconds),
    )


def create(port: int, name: str, query: dict[str, Any], **more: Any) -> None:
    Client(port).post(BASE, {"name": name, "query": query, **more})


def rows(client: Client, name: str, request: dict[str, Any]) -> Any:
    return json.loads(client.post(f"{BASE}/{name}/run", request))["results"]


def runs(port: int, name: str, request: dict[str, Any]) -> Callable[[], Callable[[], bytes]]:
    """A maker of clients that run an endpoint."""
    return lambda: _posting(port, f"{BASE}/{name}/run", request)


def _posting(port: int, path: str, body: dict[str, Any]) -> Callable[[], bytes]:
    client = Client(port)
    return lambda: client.post(path, body)


def wait_until_built(client: Client, name: str) -> None:
    deadline = time.monotonic() + BUILD_SECONDS
    while time.monotonic() < deadline:
        status = json.loads(client.get(f"{BASE}/{name}/materialization_status"))
        if status["ready"]:
            return
        time.sleep(0.2)
    raise TimeoutError(f"{name} was not built: {status}")
