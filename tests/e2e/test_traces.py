"""OpenTelemetry: one trace from the caller's span to the request that a function sends."""

from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from cryptography.fernet import Fernet

from support.accepted import add_destination
from support.local_http import Handler, LocalHttp
from support.nats_server import NatsServer
from support.server import TOKEN, RunningServer
from support.traces import ReceivedSpan, TraceCollector
from support.warehouses import new_clickhouse_database

CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"
UNSAMPLED = "5cf92f3577b34da6a3ce929d0e0e4736"
SECRET = "s3cret-text"


class Receiver(LocalHttp):
    """Keeps the headers of deliveries; the path is the status it answers."""

    def __init__(self) -> None:
        self.requests: list[dict[str, str]] = []
        requests = self.requests

        class RecordingHandler(Handler):
            def handle_any(self) -> None:
                self.body()
                requests.append(self.names())
                self.answer(int(self.path.removeprefix("/")))

        super().__init__(RecordingHandler)


class World(NamedTuple):
    server: RunningServer
    collector: TraceCollector
    receiver: Receiver


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Generator[World]:
    collector, receiver = TraceCollector(), Receiver()
    server = RunningServer(tmp_path_factory.mktemp("traced") / "data")
    server.environment |= {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_SERVICE_NAME": "hoglet-test",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    server.start()
    for name, status in (("sent", 200), ("refused", 404)):
        response = server.client.post(
            "/api/projects/1/hog_functions/",
            json={
                "type": "destination",
                "enabled": True,
                "hog": f"fetch('{receiver.url}/{status}', {{'method': 'POST', "
                f"'body': {{'text': '{SECRET}'}}}}) ",
                "filters": {"events": [{"id": name, "type": "events"}]},
            },
        )
        assert response.status_code == 201, response.text
    yield World(server, collector, receiver)
    server.kill()
    receiver.close()


def capture(server: RunningServer, name: str, trace: str, *, flags: str = "01") -> None:
    answer = httpx.post(
        f"{server.url}/batch/",
        json={
            "api_key": TOKEN,
            "batch": [{"event": name, "distinct_id": "ada", "properties": {"text": SECRET}}],
        },
        headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-{flags}"},
    )
    assert answer.status_code == 200, answer.text


def names(spans: list[ReceivedSpan], trace: str) -> set[str]:
    return {span.name for span in spans if span.trace == trace}


def ancestry(spans: list[ReceivedSpan], name: str, trace: str) -> list[str]:
    """The names of a span and of those above it."""
    by_id = {span.id: span for span in spans}
    span = next(each for each in spans if each.name == name and each.trace == trace)
    names = [span.name]
    while span.parent in by_id:
        span = by_id[span.parent]
        names.append(span.name)
    return [*names, span.parent]


def test_one_trace_holds_capture_group_delivery_and_request(world: World) -> None:
    capture(world.server, "sent", CALLER)

    spans = world.collector.until(lambda value: "run function" in names(value, CALLER))

    assert ancestry(spans, "fetch", CALLER) == [
        "fetch",
        "run function",
        "store events",
        "POST /batch",
        "00f067aa0ba902b7",
    ]
    assert ancestry(spans, "insert into warehouse", CALLER)[1] == "store events"
    mine = {span.name: span for span in spans if span.trace == CALLER}
    assert {span.service for span in mine.values()} == {"hoglet-test"}
    assert {name: span.kind for name, span in mine.items()} == {
        "POST /batch": "server",
        "store events": "consumer",
        "insert into warehouse": "client",
        "run function": "consumer",
        "fetch": "client",
    }
    assert mine["POST /batch"].attributes["http.response.status_code"] == 200
    assert mine["fetch"].attributes["http.response.status_code"] == 200
    assert not any(span.failed for span in mine.values())
    received = world.receiver.requests[-1]
    assert received["traceparent"] == f"00-{CALLER}-{mine['fetch'].id}-01"


@pytest.mark.slow
def test_a_trace_crosses_nats_and_processes(
    tmp_path: Path, postgres_url: str, clickhouse_server: str, nats_broker: NatsServer
) -> None:
    collector, receiver = TraceCollector(), Receiver()
    with new_clickhouse_database(clickhouse_server) as warehouse:
        shared: dict[str, Any] = {
            "database_url": postgres_url,
            "warehouse_url": warehouse,
            "spool_url": nats_broker.url("traced"),
            "secret_keys": Fernet.generate_key().decode(),
        }
        servers = [
            RunningServer(tmp_path / roles, roles=roles, **shared)
            for roles in ("api", "pipeline", "executor")
        ]
        try:
            for server in servers:
                server.environment |= {
                    "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
                    "OTEL_SERVICE_NAME": server.data_dir.name,
                    "OTEL_BSP_SCHEDULE_DELAY": "100",
                }
                server.start()
            add_destination(servers[0], f"{receiver.url}/200", event="sent")
            capture(servers[0], "sent", CALLER)
            spans = collector.until(lambda value: "run function" in names(value, CALLER))
        finally:
            for server in servers:
                server.kill()
            receiver.close()

    assert ancestry(spans, "fetch", CALLER)[:-1] == [
        "fetch", "run function", "store events", "POST /batch"
    ]  # fmt: skip
    services = {span.name: span.service for span in spans if span.trace == CALLER}
    assert services["POST /batch"] == "api"
    assert services["store events"] == services["insert into warehouse"] == "pipeline"
    assert services["run function"] == services["fetch"] == "executor"


def test_a_failed_delivery_is_marked_without_its_text(world: World) -> None:
    trace = "6cf92f3577b34da6a3ce929d0e0e4736"
    capture(world.server, "refused", trace)

    spans = world.collector.until(lambda value: "fetch" in names(value, trace))

    fetch = next(span for span in spans if span.trace == trace and span.name == "fetch")
    assert fetch.failed
    assert fetch.attributes["http.response.status_code"] == 404
    assert SECRET not in repr(world.collector.spans)
    assert TOKEN not in repr(world.collector.spans)


def test_a_caller_that_does_not_sample_is_not_traced(world: World) -> None:
    capture(world.server, "sent", UNSAMPLED, flags="00")
    after = "7cf92f3577b34da6a3ce929d0e0e4736"
    capture(world.server, "sent", after)

    spans = world.collector.until(lambda value: "run function" in names(value, after))

    assert not names(spans, UNSAMPLED)


def test_a_query_is_traced_to_the_engine(world: World) -> None:
    trace = "8cf92f3577b34da6a3ce929d0e0e4736"
    query = {"kind": "HogQLQuery", "query": "select count() from events"}
    response = world.server.client.post(
        "/api/projects/1/endpoints/", json={"name": "traced", "query": query}
    )
    assert response.status_code == 201, response.text
    ran = world.server.client.post(
        "/api/projects/1/endpoints/traced/run",
        json={},
        headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"},
    )
    assert ran.status_code == 200, ran.text

    spans = world.collector.until(
        lambda value: any(name.startswith("POST") for name in names(value, trace))
    )

    route = next(each.name for each in spans if each.trace == trace and each.kind == "server")
    assert "{project_id}" in route
    assert ancestry(spans, "query warehouse", trace) == [
        "query warehouse",
        route,
        "00f067aa0ba902b7",
    ]


def test_compiling_a_query_is_traced(world: World) -> None:
    trace = "9cf92f3577b34da6a3ce929d0e0e4736"
    query = {"kind": "HogQLQuery", "query": "select 41 + 1"}
    ran = world.server.client.post(
        "/api/projects/1/query/",
        json={"query": query},
        headers={"traceparent": f"00-{trace}-00f067aa0ba902b7-01"},
    )
    assert ran.status_code == 200, ran.text

    spans = world.collector.until(lambda value: "query warehouse" in names(value, trace))

    assert ancestry(spans, "compile query", trace)[-1] == "00f067aa0ba902b7"


def test_health_checks_are_not_traced(world: World) -> None:
    assert not any(
        "/_health" in span.name or "/_readyz" in span.name for span in world.collector.spans
    )


def test_a_broken_traceparent_begins_a_new_trace(world: World) -> None:
    before = len(world.collector.spans)
    answer = httpx.post(
        f"{world.server.url}/e/",
        json={"api_key": TOKEN, "event": "none", "distinct_id": "ada"},
        headers={"traceparent": "00-nothing-of-the-kind-01"},
    )
    assert answer.status_code == 200

    spans = world.collector.until(
        lambda value: any(span.name == "POST /e" for span in value[before:])
    )

    root = next(span for span in spans[before:] if span.name == "POST /e")
    assert root.parent == ""
    assert len(root.trace) == 32


def test_a_collector_that_is_away_hinders_neither_work_nor_stop(world: World) -> None:
    world.collector.close()
    capture(world.server, "sent", CALLER)

    assert world.server.stop() == 0
    assert "Traceback" not in world.server.log()
