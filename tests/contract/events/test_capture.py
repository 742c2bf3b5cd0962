"""The capture routes: responses, durability, error format.

Source: docs/spec/hog-functions.md#14-capture.
"""

import gzip
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import httpx
import orjson
import pytest
from msgspec.structs import replace
from sqlalchemy import text

from hoglet.access.principals import Project
from hoglet.events.api import capture_routes
from hoglet.events.repository import EventsRepository
from hoglet.events.service import CaptureService
from hoglet.events.spool import SPOOL_QUEUE, JobWriter, Spool, SpooledV1, read_spooled
from hoglet.events.warnings import IngestionWarnings
from hoglet.kit.clock import FixedClock
from hoglet.queue.sql import SqlQueue
from hoglet.store.database import Database
from hoglet.web.app import RequestPolicy, create_application

NOW = datetime(2026, 5, 1, tzinfo=UTC)
EVENT = {"event": "e", "distinct_id": "d"}


PROJECT = Project(1, uuid4(), uuid4(), "phc_1", "One", "UTC", created_at=NOW, updated_at=NOW)


class _Tokens:
    async def project_by_token(self, token: str) -> Project | None:
        return {"phc_1": PROJECT, "phc_2": replace(PROJECT, id=2, anonymize_ips=True)}.get(token)


class _Server:
    def __init__(self, database: Database) -> None:
        clock = FixedClock(NOW)
        self.database = database
        self.queue = SqlQueue(database, clock)
        self.warnings = IngestionWarnings(database, EventsRepository(), clock)
        service = CaptureService(
            tokens=_Tokens(),
            spool=Spool(JobWriter(database, self.queue)),
            warnings=self.warnings,
            clock=clock,
            body_limit_bytes=5000,
        )
        app = create_application(routes=capture_routes(), policy=RequestPolicy(log_requests=False))
        app.state.events = SimpleNamespace(capture=service)
        transport = httpx.ASGITransport(app, client=("9.8.7.6", 1))
        self.http = httpx.AsyncClient(transport=transport, base_url="http://hoglet")

    async def spooled(self) -> list[SpooledV1]:
        minute = timedelta(minutes=1)
        jobs = await self.queue.lease(SPOOL_QUEUE, limit=100, duration=minute)
        return [read_spooled(job.payload) for job in jobs]


@pytest.fixture
async def server(sqlite_database: Database) -> AsyncGenerator[_Server]:
    started = _Server(sqlite_database)
    async with started.http:
        yield started


def _problem(answer: httpx.Response) -> tuple[int, str, str]:
    body = answer.json()
    assert set(body) >= {"type", "code", "detail", "attr"}
    return answer.status_code, body["type"], body["code"]


@pytest.mark.parametrize("path", ["/batch/", "/i/v0/e/", "/e/", "/capture/", "/track/", "/engage/"])
async def test_every_route_spools_a_batch_with_and_without_slash(server: _Server, path: str):
    body = {"api_key": "phc_1", "batch": [EVENT]}
    for spelled in (path, path.rstrip("/")):
        answer = await server.http.post(spelled, json=body)
        assert (answer.status_code, answer.json()) == (200, {"status": 1})

    spooled = await server.spooled()
    assert [orjson.loads(each.body) for each in spooled] == [body, body]
    assert (spooled[0].project_id, spooled[0].received_at, spooled[0].ip) == (1, NOW, "9.8.7.6")


async def test_gzip_and_a_beacon(server: _Server):
    body = gzip.compress(orjson.dumps({"token": "phc_2", **EVENT}))
    answer = await server.http.post(
        "/e/?compression=gzip-js&beacon=1&_=1777593600000",
        content=body,
        headers={"content-type": "text/plain"},
    )

    assert (answer.status_code, answer.content) == (204, b"")
    (spooled,) = await server.spooled()
    assert (spooled.project_id, spooled.ip, spooled.sent_at) == (2, None, NOW)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", (400, "validation_error", "invalid_payload")),
        (b"", (400, "validation_error", "invalid_payload")),
        (b"\x1f\x8bxx", (400, "validation_error", "invalid_payload")),
        (b'{"api_key":"phc_1","batch":[]}', (400, "validation_error", "invalid_payload")),
        (b"[]", (400, "validation_error", "invalid_payload")),
        (b"5", (400, "validation_error", "invalid_payload")),
        (b'{"api_key":"phc_1"}', (400, "validation_error", "missing_event_name")),
        (b'{"api_key":"phc_1","event":"e"}', (400, "validation_error", "missing_distinct_id")),
        (b'{"event":"e","distinct_id":"d"}', (401, "authentication_error", "missing_api_key")),
        (b'{"token":"no","event":"e"}', (401, "authentication_error", "invalid_api_key")),
        (b" " * 5001, (413, "invalid_request", "request_too_large")),
        (gzip.compress(b" " * 5001), (413, "invalid_request", "request_too_large")),
    ],
)
async def test_refusals(server: _Server, content: bytes, expected: tuple[int, str, str]):
    answer = await server.http.post("/batch/", content=content)

    assert _problem(answer) == expected
    assert await server.spooled() == []


async def test_only_the_bad_event_of_a_batch_is_dropped_with_a_warning(server: _Server):
    batch: list[Any] = [EVENT, {"event": "no id"}, "odd", {**EVENT, "event": "e" * 201}]
    answer = await server.http.post("/batch/", json={"api_key": "phc_1", "batch": batch})
    await server.warnings.flush()

    assert answer.status_code == 200
    async with server.database.read() as session:
        rows = await EventsRepository().warnings(session, 1)
    assert {(row.kind, row.count) for row in rows} == {
        ("missing_distinct_id", 1),
        ("invalid_payload", 2),
    }


async def test_an_event_that_is_nested_too_deeply_is_dropped_with_a_warning(server: _Server):
    deep = b'{"event":"deep","distinct_id":"d","properties":' + b'{"a":' * 200 + b"1" + b"}" * 201
    good = orjson.dumps(EVENT)
    answer = await server.http.post(
        "/batch/", content=b'{"api_key":"phc_1","batch":[' + deep + b"," + good + b"]}"
    )
    alone = await server.http.post("/e/?token=phc_1", content=deep)
    await server.warnings.flush()

    assert answer.status_code == 200
    assert _problem(alone) == (400, "validation_error", "invalid_payload")
    assert "nested deeper" in alone.json()["detail"]
    (spooled,) = await server.spooled()
    assert orjson.loads(spooled.body)["batch"] == [EVENT]
    async with server.database.read() as session:
        rows = await EventsRepository().warnings(session, 1)
    assert {(row.kind, row.count) for row in rows} == {("invalid_payload", 1)}


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1" * 400, "-" + "1" * 600 + ".5"])
async def test_a_number_beyond_the_doubles_costs_no_event(server: _Server, number: str):
    """The batch was refused as "not JSON"."""
    text = f'{{"event":"e","distinct_id":"d","properties":{{"n":{number}}},"timestamp":{number}}}'
    batch = f"[{text},{orjson.dumps(EVENT).decode()}]"
    body = f'{{"api_key":"phc_1","sent_at":{number},"batch":{batch}}}'
    answer = await server.http.post("/batch/", content=body)

    assert answer.status_code == 200
    (spooled,) = await server.spooled()
    stored = orjson.loads(spooled.body)["batch"]
    assert [each.get("properties") for each in stored] == [{"n": number}, None]


async def test_storage_that_cannot_be_written_answers_503_and_works_again_later(server: _Server):
    async with server.database.write() as session:
        await session.execute(text("ALTER TABLE jobs RENAME TO gone"))
    answer = await server.http.post("/e/", json={"token": "phc_1", **EVENT})
    async with server.database.write() as session:
        await session.execute(text("ALTER TABLE gone RENAME TO jobs"))

    assert _problem(answer)[0] == 503
    assert int(answer.headers["retry-after"]) > 0
    assert (await server.http.post("/e/", json={"token": "phc_1", **EVENT})).status_code == 200


async def test_recordings_are_dropped_and_browsers_may_ask(server: _Server):
    origin = {"origin": "https://shop.example"}
    dropped = await server.http.post("/s/", content=b"anything", headers=origin)
    preflight = await server.http.options("/e/", headers=origin)

    assert (dropped.status_code, dropped.json()) == (200, {"status": 1})
    assert dropped.headers["access-control-allow-origin"] == origin["origin"]
    assert preflight.status_code == 204
    assert await server.spooled() == []
