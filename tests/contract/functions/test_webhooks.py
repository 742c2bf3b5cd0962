"""Incoming webhooks and site scripts.

Source: docs/spec/hog-functions.md#137-source_webhook and
docs/spec/hog-functions.md#138-site-functions.
"""

import base64
import gzip
import zlib

import httpx
import orjson
import pytest
from sqlalchemy import select

from hoglet.pipeline.tables import TelemetryRow
from hoglet.queue.tables import JobRow

CAPTURE = "postHogCapture({'event': request.body.event, 'distinct_id': 'ada'})"


@pytest.fixture
async def anybody(hoglet):
    transport = httpx.ASGITransport(app=hoglet.app, client=("203.0.113.9", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://hoglet") as client:
        yield client


async def webhook(hoglet, hog, **fields):
    function = await hoglet.create(type="source_webhook", enabled=True, hog=hog, **fields)
    return f"/public/webhooks/{function['id']}", function


async def queued(hoglet):
    async with hoglet.database.read() as session:
        return [row.queue for row in await session.scalars(select(JobRow))]


async def test_a_request_runs_the_function_and_captures(hoglet, anybody):
    path, _ = await webhook(hoglet, CAPTURE)
    response = await anybody.post(path, json={"event": "paid"})

    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert await queued(hoglet) == ["spool"]
    async with hoglet.database.read() as session:
        assert len(list(await session.scalars(select(TelemetryRow)))) == 1


async def test_what_the_program_sees_of_a_request(hoglet, anybody):
    path, _ = await webhook(hoglet, "return {'httpResponse': {'status': 200, 'body': request}}")
    headers = {"Cookie": "a=b", "X-Forwarded-For": "1.2.3.4", "X-Own": "Yes"}
    seen = (await anybody.post(f"{path}.json?a=1", content="plain", headers=headers)).json()

    assert (seen["method"], seen["query"], seen["ip"]) == ("POST", {"a": "1"}, "203.0.113.9")
    assert (seen["body"], seen["stringBody"]) == ("plain", "plain")
    assert seen["headers"]["x-own"] == "Yes"
    assert not {"cookie", "x-forwarded-for"} & set(seen["headers"])


@pytest.mark.parametrize(
    ("encoding", "sent", "expected"),
    [
        ("gzip", gzip.compress(b'{"a": 1}'), (200, {"a": 1})),
        ("DEFLATE", zlib.compress(b'{"a": 1}'), (200, {"a": 1})),
        ("gzip", b"", (200, {})),
        ("utf-8", b'{"a": 1}', (200, {"a": 1})),  # a mistake of some clients
        ("br", b"any", (415, "Content-Encoding br is not supported; use gzip.")),
        ("gzip", gzip.compress(b"a")[:-4], (400, "The compressed body is truncated.")),
        ("gzip", b'{"a": 1}', (400, "The body cannot be decompressed")),
        ("gzip", gzip.compress(b"0" * 512_001), (413, "larger than 512000 bytes")),
    ],
)
async def test_compressed_requests(hoglet, anybody, encoding, sent, expected):
    path, _ = await webhook(
        hoglet, "return {'httpResponse': {'status': 200, 'body': request.body}}"
    )
    headers = {"Content-Encoding": encoding, "Content-Type": "application/json"}
    response = await anybody.post(path, content=sent, headers=headers)

    status, answered = expected
    assert response.status_code == status
    if status == 200:
        assert response.json() == answered
    else:
        assert answered in response.json()["error"]


@pytest.mark.parametrize(
    ("hog", "expected"),
    [
        ("return {'httpResponse': {'status': 201, 'body': 'x'}}", (201, "text/plain", b"x")),
        ("return {'httpResponse': {'status': 'no', 'body': 'x'}}", (500, "text/plain", b"x")),
        (
            "return {'httpResponse': {'status': 200, 'body': '<b>', 'contentType': 'text/html'}}",
            (200, "text/plain", b"<b>"),
        ),
        (
            "return {'httpResponse': {'status': 200, 'body': {'a': 1}}}",
            (200, "application/json", orjson.dumps({"a": 1})),
        ),
    ],
)
async def test_the_program_may_answer_itself(hoglet, anybody, hog, expected):
    status, kind, body = expected
    path, _ = await webhook(hoglet, hog)
    response = await anybody.get(path)

    assert (response.status_code, response.content) == (status, body)
    assert response.headers["content-type"].startswith(kind)
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"] == "default-src 'none'"


async def test_a_run_that_waits_is_queued(hoglet, anybody):
    path, _ = await webhook(hoglet, "fetch('https://example.com'); return 1")
    response = await anybody.post(path)

    assert (response.status_code, response.json()) == (201, {"status": "queued"})
    assert await queued(hoglet) == ["functions.invoke"]


async def test_a_run_that_fails_is_a_dead_letter(hoglet, anybody):
    path, function = await webhook(hoglet, "throw Error('secret detail')")
    response = await anybody.post(path)
    letters = (await hoglet.call("GET", f"/{function['id']}/dead_letters")).json()

    assert (response.status_code, response.json()["status"]) == (500, "error")
    assert "secret detail" not in response.text
    assert [result["class"] for result in letters["results"]] == ["hog"]


async def test_who_is_refused(hoglet, anybody):
    path, function = await webhook(hoglet, "return 1")
    other = await hoglet.create(enabled=True)
    large = await anybody.post(path, content=b"x" * 512_001)
    unknown = await anybody.get("/public/webhooks/nothing")
    wrong = await anybody.get(f"/public/webhooks/{other['id']}")
    await hoglet.patch(function["id"], enabled=False)
    off = await anybody.get(path)

    assert [r.status_code for r in (large, unknown, wrong, off)] == [413, 404, 404, 404]
    assert all("error" in r.json() for r in (large, unknown, wrong, off))


async def test_disabled_by_the_watcher_is_429_and_degraded_is_queued(hoglet, anybody):
    from uuid import UUID

    from hoglet.functions.tables import HogFunctionRow

    path, function = await webhook(hoglet, "return 1")
    async with hoglet.database.write() as session:
        row = await session.get(HogFunctionRow, UUID(function["id"]))
        await hoglet.service.watcher.force(session, row, 2)
    degraded = await anybody.post(path)
    async with hoglet.database.write() as session:
        row = await session.get(HogFunctionRow, UUID(function["id"]))
        await hoglet.service.watcher.force(session, row, 3)
    disabled = await anybody.post(path)

    assert (degraded.status_code, degraded.content) == (200, b"")
    assert disabled.status_code == 429
    assert "error" in disabled.json()
    async with hoglet.database.read() as session:
        payloads = [row.payload for row in await session.scalars(select(TelemetryRow))]
    assert sum(b"disabled_permanently" in payload for payload in payloads) == 1


SITE = "export function onLoad() { console.log('Hello, site_app'); }"


async def test_site_functions_are_transpiled_and_served(hoglet, anybody):
    schema = [
        {"type": "string", "key": "message"},
        {"type": "string", "key": "token", "secret": True},
    ]
    text = "Hello, TypeScript {arrayMap(a -> a, [1, 2, 3])}!"
    function = await hoglet.create(
        type="site_app",
        hog=SITE,
        enabled=True,
        inputs_schema=schema,
        inputs={"message": {"value": text}, "token": {"value": "s3cret"}},
    )

    assert function["bytecode"] is None
    assert "console.log('Hello, site_app');" in function["transpiled"]
    code = function["inputs"]["message"]["transpiled"]
    assert code["lang"] == "ts"
    assert code["code"] == (
        'concat("Hello, TypeScript ", arrayMap(__lambda((a) => a), [1, 2, 3]), "!")'
    )
    assert set(code["stl"]) == {"__lambda", "arrayMap", "concat"}
    assert "bytecode" not in function["inputs"]["message"]
    script = await anybody.get(f"/site_function/{function['id']}/abc/")
    assert script.status_code == 200
    assert script.headers["cache-control"] == "public, max-age=31536000"
    assert script.text == function["transpiled"]
    assert script.text.startswith("(function")
    assert "s3cret" not in script.text
    changed = (await hoglet.patch(function["id"], inputs={"message": {"value": "other"}})).json()
    assert "other" in changed["transpiled"]


async def test_scripts_of_other_functions_are_missing(hoglet, anybody):
    function = await hoglet.create(enabled=True)
    missing = await anybody.get(f"/site_function/{function['id']}/x/")

    assert missing.status_code == 404
    assert (missing.json()["type"], missing.json()["code"]) == (
        "server_error",
        "missing_site_function_source",
    )


async def test_bad_typescript_is_refused(hoglet, attr_of):
    body = {"type": "site_app", "hog": "export function ( {"}
    response = await hoglet.call("POST", json=body)

    assert attr_of(response) == (400, "invalid_input", "hog")
    assert "TypeScript" in response.json()["detail"]


PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


@pytest.mark.parametrize(
    ("returned", "kind", "content"),
    [
        (f"'body': '{PIXEL}', 'contentType': 'image/gif'", "image/gif", base64.b64decode(PIXEL)),
        ("'body': 'aGk=', 'contentType': 'image/png; x=y'", "image/png", b"hi"),
        ("'body': 'aGk='", "application/octet-stream", b"hi"),
        ("'body': 'aGk=', 'contentType': 'text/html'", "application/octet-stream", b"hi"),
        ("'body': 'aGk=', 'contentType': 'image/svg+xml'", "application/octet-stream", b"hi"),
        ("'body': 'aGk=', 'contentType': 'text/csv'", "text/csv", b"hi"),
        ("'body': 'a\\nGk=', 'contentType': 'image/webp'", "image/webp", b"hi"),
        ("'body': '', 'contentType': 'image/jpeg'", "image/jpeg", b""),
        ("'body': 'aGk', 'contentType': 'image/png'", "image/png", b"hi"),
        ("'body': '-_8', 'contentType': 'image/png'", "image/png", b"\xfb\xff"),
    ],
)
async def test_bodies_may_be_base64(hoglet, returned, kind, content):
    code = f"return {{'httpResponse': {{'status': 200, 'isBase64Encoded': true, {returned}}}}}"
    path, _ = await webhook(hoglet, code)
    answer = await hoglet.client.post(path)

    assert (answer.status_code, answer.content) == (200, content)
    assert answer.headers["content-type"].partition(";")[0] == kind
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("body", ["'*'", "'a'", "'aGk=aGk='", "'aGk=='", "'é'"])
async def test_what_is_no_base64_is_an_error(hoglet, body):
    code = f"return {{'httpResponse': {{'status': 200, 'isBase64Encoded': true, 'body': {body}}}}}"
    path, _ = await webhook(hoglet, code)
    answer = await hoglet.client.post(path)

    assert answer.status_code == 500
    assert "base64" in answer.json()["error"]


@pytest.mark.parametrize("flag", ["false", "'yes'", "null"])
async def test_other_bodies_stay_text(hoglet, flag):
    code = (
        f"return {{'httpResponse': {{'status': 200, 'isBase64Encoded': {flag}, 'body': 'aGk='}}}}"
    )
    path, _ = await webhook(hoglet, code)
    answer = await hoglet.client.post(path)

    assert (answer.status_code, answer.text) == (200, "aGk=")
