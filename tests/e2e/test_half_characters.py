"""Lone surrogates in every place where programs or clients can put them.

``HALF`` is what remains when ``substring`` cuts through an emoji. JSON that leaves carries it as
an escape, everything else as U+FFFD; no event, run, log line or answer is lost to it.
"""

import itertools
import json
from collections.abc import Generator
from typing import Any

import httpx
import pytest

from support.recorder import Recorder
from support.server import ServerProject
from support.waiting import wait_for

FUNCTIONS = "/api/projects/@current/hog_functions/"
ENDPOINTS = "/api/projects/@current/endpoints/"
_numbers = itertools.count()
HALF = "let half := substring(event.properties.m, 1, 3);"  # the emoji's first UTF-16 unit is kept
MESSAGE = "ab\U0001f600cd"
SEEN = "ab�"
EVENT = {"event": "halved", "distinct_id": "ada", "properties": {"m": MESSAGE}}


@pytest.fixture
def receiver() -> Generator[Recorder]:
    recorder = Recorder()
    yield recorder
    recorder.close()


def create(server: ServerProject, hog: str, event: str = "halved", **more: Any) -> str:
    body = {"type": "destination", "name": "f", "hog": hog, "enabled": True, **more}
    if body["type"] in ("destination", "transformation"):
        body.setdefault("filters", {"events": [{"id": event, "type": "events"}]})
    response = server.client.post(FUNCTIONS, json=body)
    assert response.status_code == 201, response.text
    return response.json()["id"]


def delete(server: ServerProject, function: str) -> None:
    assert server.client.patch(FUNCTIONS + function, json={"deleted": True}).status_code == 200


def capture(server: ServerProject, content: bytes | dict[str, Any]) -> None:
    if isinstance(content, dict):
        content = json.dumps({"api_key": server.token, **content}).encode()
    assert server.client.post("/capture/", content=content).status_code == 200


def event(name: str = "halved", **properties: Any) -> dict[str, Any]:
    return {**EVENT, "event": name, "properties": {"m": MESSAGE, **properties}}


def logs(server: ServerProject, function: str) -> list[dict[str, Any]]:
    return server.client.get(f"{FUNCTIONS}{function}/logs").json()["results"]


def run_query(server: ServerProject, sql: str) -> httpx.Response:
    name = f"q{next(_numbers)}"
    body = {"name": name, "query": {"kind": "HogQLQuery", "query": sql}}
    response = server.client.post(ENDPOINTS, json=body)
    if response.status_code != 201:
        return response
    return server.client.post(f"{ENDPOINTS}{name}/run", json={"refresh": "force"})


def select(server: ServerProject, sql: str) -> list[Any]:
    answer = run_query(server, sql)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


REQUESTS = {
    "text body": (
        "{'body': half}",
        lambda r: r.body == SEEN.encode(),
    ),
    "object body": (
        "{'body': {'t': half, 'l': [half]}}",
        lambda r: r.json == {"t": "ab\ud83d", "l": ["ab\ud83d"]} and b"\\ud83d" in r.body,
    ),
    "key of the body": ("{'body': {half: 1}}", lambda r: r.json == {"ab\ud83d": 1}),
    "JSON text": (
        "{'body': jsonStringify({'t': half})}",
        lambda r: r.json == {"t": "ab\ud83d"},
    ),
    "header": (
        "{'headers': {'X-Half': half}, 'body': 'x'}",
        lambda r: r.headers["x-half"].encode("latin-1") == SEEN.encode(),
    ),
    "both halves, apart": (
        "{'body': {'t': concat(half, substring(event.properties.m, 4, 1))}}",
        lambda r: r.json == {"t": "ab\U0001f600"},
    ),
}


@pytest.mark.parametrize("part", REQUESTS)
def test_a_delivery_arrives_with_half_a_character_in_its(
    server: ServerProject, receiver: Recorder, part: str
) -> None:
    options, is_right = REQUESTS[part]
    function = create(server, f"{HALF} fetch('{receiver.url}/x', {options})")

    capture(server, event())
    (request,) = wait_for(lambda: receiver.requests)
    delete(server, function)

    assert is_right(request), request


def test_a_delivery_arrives_with_half_a_character_in_its_url(
    server: ServerProject, receiver: Recorder
) -> None:
    hog = f"{HALF} fetch(concat('{receiver.url}/', half, '?q=', half))"
    function = create(server, hog)

    capture(server, event())
    (request,) = wait_for(lambda: receiver.requests)
    delete(server, function)

    assert request.path == "/ab%EF%BF%BD?q=ab%EF%BF%BD"


@pytest.mark.parametrize(
    "call",
    [
        "fetch(url, {'method': half})",
        "fetch(url, {'headers': {half: 'x'}})",
        "fetch(concat('http://', half, '/'))",
        "throw Error(half, {'payload': half})",
        "throw Error(concat('nul ', base64Decode('AA==')))",
        "let no := null; return no[half].x.y(half)",
        "jsonParse(half)",
        "toDateTime(half)",
    ],
)
def test_what_fails_with_half_a_character_is_a_dead_letter_and_a_log_line(
    server: ServerProject, receiver: Recorder, call: str
) -> None:
    hog = f"{HALF} let url := '{receiver.url}'; let done := {call}"
    if call.startswith(("throw", "let")):
        hog = f"{HALF} {call}"
    function = create(server, hog)

    capture(server, event())
    lines = wait_for(lambda: logs(server, function))
    letters = server.client.get(f"{FUNCTIONS}{function}/dead_letters").json()["results"]
    delete(server, function)

    assert lines[0]["level"] in {"ERROR", "DEBUG"}
    assert len(letters) == sum(line["level"] == "ERROR" for line in lines[:1])


def test_lines_are_logged_with_half_a_character(server: ServerProject) -> None:
    function = create(server, f"{HALF} print(half); print({{'a': half}}, [half], tuple(half))")

    capture(server, event())
    lines = [line["message"] for line in wait_for(lambda: logs(server, function))]
    delete(server, function)

    assert SEEN in lines
    assert any('{"a":"ab\\ud83d"}' in line for line in lines)


TESTED = {
    "text body": "fetch('https://x.example/', {'body': half})",
    "object body": "fetch('https://x.example/', {'body': {half: half}})",
    "header": "fetch('https://x.example/', {'headers': {'A': half}})",
    "header name": "fetch('https://x.example/', {'headers': {half: 'a'}})",
    "method": "fetch('https://x.example/', {'method': half})",
    "url": "fetch(concat('https://x.example/', half))",
    "print of text": "print(half)",
    "print of an object": "print({half: [half]})",
    "result": "return {half: half}",
    "error": "throw Error(half)",
    "capture": "postHogCapture({'event': half, 'properties': {half: half}})",
    "input": "print(inputs.i)",
}


@pytest.mark.parametrize("mocked", [True, False])
@pytest.mark.parametrize("part", TESTED)
def test_a_test_run_answers_with_half_a_character_in(
    server: ServerProject, receiver: Recorder, part: str, mocked: bool
) -> None:
    hog = TESTED[part].replace("https://x.example", receiver.url)
    configuration = {
        "type": "destination",
        "hog": f"{HALF} {hog}",
        "inputs_schema": [{"type": "string", "key": "i"}],
        "inputs": {"i": {"value": "{substring(event.properties.m, 1, 3)}"}},
    }
    body = {
        "configuration": configuration,
        "globals": {"event": EVENT},
        "mock_async_functions": mocked,
    }
    done = server.client.post(f"{FUNCTIONS}new/invocations", json=body)

    assert done.status_code == 200, done.text
    assert done.json()["status"] == ("error" if part == "error" else "success") or not mocked


def test_a_test_run_of_a_transformation_answers_with_half_a_character(
    server: ServerProject,
) -> None:
    hog = f"{HALF} return {{'properties': {{half: half}}, 'distinct_id': half, 'event': half}}"
    body = {
        "configuration": {"type": "transformation", "hog": hog},
        "globals": {"event": EVENT},
    }
    done = server.client.post(f"{FUNCTIONS}new/invocations", json=body)

    assert done.status_code == 200, done.text
    assert done.json()["result"]["distinct_id"] == SEEN
    assert done.json()["result"]["properties"] == {SEEN: SEEN}


def test_an_event_that_a_transformation_cut_is_stored_whole_otherwise(
    server: ServerProject,
) -> None:
    hog = f"""{HALF} return {{'event': concat('cut ', half), 'distinct_id': half, 'properties': {{
        half: half, 'm': half, '$set': {{'name': half, half: 1}}, '$groups': {{'company': half}},
        '$session_id': half, '$window_id': half, '$elements_chain': half, 'n': [half, {{half: 1}}]
    }}}}"""
    function = create(server, hog, event="to cut", type="transformation")

    for _ in range(3):
        capture(server, event("to cut"))
    rows = wait_for(
        lambda: select(
            server,
            "select distinct_id, properties.m, person.properties.name, properties.$group_0 "
            "from events where event like 'cut %'",
        ),
        lambda value: len(value) == 3 and all(row[2] for row in value),  # persons come later
    )
    delete(server, function)

    assert {(row[0], row[1], row[2]) for row in rows} == {(SEEN, SEEN, SEEN)}


def test_a_captured_event_of_a_program_is_stored(server: ServerProject) -> None:
    hog = (
        f"{HALF} postHogCapture({{'event': concat('made ', half), 'distinct_id': half, "
        "'properties': {half: half, 'at': half}})"
    )
    function = create(server, hog)

    capture(server, event())
    rows = wait_for(
        lambda: select(
            server,
            "select event, distinct_id, properties.at from events where event like 'made %'",
        )
    )
    delete(server, function)

    assert rows == [[f"made {SEEN}", SEEN, SEEN]]


@pytest.mark.parametrize(
    "sent",
    [
        rb'{"event": "sent \ud83d", "distinct_id": "a"}',
        rb'{"event": "sent", "distinct_id": "a\ud83d"}',
        rb'{"event": "sent", "distinct_id": "a", "properties": {"\ud83d": "\ude00"}}',
        rb'{"event": "sent", "distinct_id": "a", "$set": {"\ud83d": "\ude00"}}',
        rb'{"event": "sent", "distinct_id": "a", "properties": {"$groups": {"x": "\ud83d"}}}',
        rb'{"event": "sent", "distinct_id": "a", "properties": {"a": [{"b": "\udfff"}]}}',
        rb'{"event": "sent\u0000", "distinct_id": "a\u0000", "properties": {"\u0000": "\u0000"}}',
    ],
)
def test_clients_may_send_half_characters(server: ServerProject, sent: bytes) -> None:
    before = select(server, "select count() from events where event like 'sent%'")[0][0]

    capture(server, b'{"api_key": "' + server.token.encode() + b'", ' + sent[1:])

    wait_for(
        lambda: select(server, "select count() from events where event like 'sent%'")[0][0],
        lambda count: count == before + 1,
    )


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (FUNCTIONS, rb'{"name": "\ud83d", "hog": "return 1", "type": "destination"}'),
        (FUNCTIONS, rb'{"name": "a", "hog": "return \u0027\ud83d\u0027", "type": "destination"}'),
        (FUNCTIONS, rb'{"hog": "return 1", "filters": {"events": [{"id": "\ud83d"}]}}'),
        (FUNCTIONS, rb'{"hog": "return 1", "inputs": {"\ud83d": {"value": "\ud83d"}}}'),
        (ENDPOINTS, rb'{"name": "\ud83d", "query": {}}'),
        (
            f"{FUNCTIONS}new/invocations",
            rb'{"configuration": {"hog": "return 1"}, "globals": {"event": {"event": "\ud83d"}}}',
        ),
    ],
)
def test_the_api_refuses_half_characters_as_unreadable(
    server: ServerProject, path: str, body: bytes
) -> None:
    answer = server.client.post(path, content=body, headers={"content-type": "application/json"})

    assert answer.status_code == 400, answer.text
    assert answer.json()["code"] == "parse_error"
    assert "surrogate" in answer.json()["detail"]


def test_a_row_of_the_warehouse_may_hold_half_a_character_in_its_json(
    server: ServerProject,
) -> None:
    row = {"event": "x", "distinct_id": "a", "properties": '{"m": "\\ud83d"}'}
    body = {"configuration": {"hog": "print(event.properties.m)"}, "clickhouse_event": row}
    done = server.client.post(f"{FUNCTIONS}new/invocations", json=body).json()

    assert done["logs"][0]["message"] == "�"


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("{'status': 200, 'body': half}", SEEN),
        ("{'status': 200, 'body': half, 'contentType': 'text/plain'}", SEEN),
        ("{'status': 200, 'body': {half: half}}", {SEEN: SEEN}),
        ("{'status': 200, 'body': [half]}", [SEEN]),
    ],
)
def test_a_webhook_answers_with_half_a_character(
    server: ServerProject, returned: str, expected: Any
) -> None:
    hog = f"let half := substring(request.body.m, 1, 3); return {{'httpResponse': {returned}}}"
    function = create(server, hog, type="source_webhook")
    answer = server.client.post(f"/public/webhooks/{function}", json={"m": MESSAGE})
    delete(server, function)

    assert answer.status_code == 200, answer.text
    assert (answer.text if isinstance(expected, str) else answer.json()) == expected


def test_a_webhook_reads_json_with_half_a_character(server: ServerProject) -> None:
    hog = "return {'httpResponse': {'status': 200, 'body': request.body.m}}"
    function = create(server, hog, type="source_webhook")
    sent = {"content": rb'{"m": "a\ud83d"}', "headers": {"content-type": "application/json"}}
    answer = server.client.post(f"/public/webhooks/{function}", **sent)
    delete(server, function)

    assert answer.text == "a�"


def test_an_answer_with_half_a_character_is_read_as_json(
    server: ServerProject, receiver: Recorder
) -> None:
    receiver.answers.append((200, rb'{"a": "x\ud83d", "n": 7}'))
    function = create(server, f"let r := fetch('{receiver.url}'); print(r.body.n, r.body.a)")

    capture(server, event())
    lines = wait_for(lambda: logs(server, function))
    delete(server, function)

    assert "7, x�" in [line["message"] for line in lines]


def test_masking_by_half_a_character_works(server: ServerProject) -> None:
    masking = {"ttl": 60, "hash": "{substring(event.properties.m, 1, 3)}"}
    function = create(server, "print('ran')", masking=masking)

    for _ in range(3):
        capture(server, event())
    wait_for(lambda: logs(server, function))
    totals = wait_for(
        lambda: server.client.get(f"{FUNCTIONS}{function}/metrics/totals?breakdown_by=name").json()[
            "totals"
        ],
        lambda value: value.get("masked") == 2 and "succeeded" in value,
    )
    delete(server, function)

    assert totals["succeeded"] == 1


@pytest.mark.parametrize(
    "sql",
    [
        "select substring('\U0001f600', 1, 2)",
        "select reverse('é')",
        "select unhex('ff')",
        "select char(255)",
        "select [unhex('ff')], map(unhex('ff'), unhex('fe'))",
        "select base64Decode('/w==')",
    ],
)
def test_a_query_answers_valid_json_for_broken_utf_8(server: ServerProject, sql: str) -> None:
    answer = run_query(server, sql)

    assert answer.status_code in {200, 400}, answer.text
    json.loads(answer.content.decode())
