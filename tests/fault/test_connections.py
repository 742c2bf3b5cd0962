"""Thousands of stalled connections: the server keeps serving others, and closes them.

Found outside: 1,024 half-sent requests, which need no key, stopped everything, health included.
"""

import http.client
import json
import socket
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.half_sent import (
    BODY,
    CONSOLE_BODY,
    HEADERS,
    NOTHING,
    half_sent,
    is_open,
    last_words,
    served,
)
from support.local_http import Handler, LocalHttp
from support.server import TOKEN, RunningServer
from support.waiting import wait_for

pytestmark = pytest.mark.slow

MANY = 1500
LATE_SECONDS = 2.0  # three of these are beyond a deadline of one second and two looks
QUERY = "SELECT toString(uuid) FROM events WHERE event = 'counted' LIMIT 1000"


class LateReceiver(LocalHttp):
    """Answers after ``LATE_SECONDS``."""

    def __init__(self) -> None:
        self.requests = 0
        receiver = self

        class Late(Handler):
            def handle_any(self) -> None:
                self.body()
                receiver.requests += 1
                time.sleep(LATE_SECONDS)
                self.answer(200)

        super().__init__(Late)


def assert_answers(server: RunningServer) -> str:
    """Health, readiness and capture answer; the uuid of the event that was accepted."""
    number = str(uuid.uuid4())
    event = {"api_key": TOKEN, "event": "counted", "distinct_id": "a", "uuid": number}
    with httpx.Client(base_url=server.url, timeout=30) as client:
        assert client.get("/_health").status_code == 200
        assert client.get("/_readyz").status_code == 200
        assert client.post("/i/v0/e/", json=event).status_code == 200
    return number


def assert_stored_once(server: RunningServer, accepted: list[str]) -> None:
    query = {"name": "counted", "query": {"kind": "HogQLQuery", "query": QUERY}}
    server.client.post("/api/projects/1/endpoints/", json=query).raise_for_status()
    stored: list[str] = []
    deadline = time.monotonic() + 60
    while len(stored) < len(accepted) and time.monotonic() < deadline:
        run = "/api/projects/1/endpoints/counted/run"
        answer = server.client.post(run, json={"refresh": "force"})
        stored = [row[0] for row in answer.raise_for_status().json()["results"]]
        time.sleep(0.2)
    assert sorted(stored) == sorted(accepted)


def test_half_sent_requests_stop_nobody_and_are_ended(tmp_path: Path) -> None:
    server = RunningServer(
        tmp_path / "data", request_body_seconds="25", request_header_seconds="25"
    ).start()
    try:
        with ExitStack() as stack:
            kinds = {
                text: stack.enter_context(half_sent(server.port, text, count))
                for text, count in ((BODY, MANY), (HEADERS, MANY), (NOTHING, MANY))
            }
            console = stack.enter_context(half_sent(server.port, CONSOLE_BODY, 20))
            accepted = [assert_answers(server)]
            assert any(map(is_open, kinds[HEADERS]))  # they were there all the time

            answers = [last_words(connection) for connection in [*kinds[BODY], *console]]
            assert all(answer.startswith(b"HTTP/1.1 408 ") for answer in answers)
            bodies = [answer.partition(b"\r\n\r\n")[2] for answer in answers]
            # A reset, for what the server left unread, may overtake a body.
            codes = {json.loads(body)["code"] for body in bodies if body}
            assert codes == {"request_timeout"}
            for connection in kinds[HEADERS]:
                assert last_words(connection).startswith(b"HTTP/1.1 408 ")
            assert {last_words(connection) for connection in kinds[NOTHING]} == {b""}
        accepted.append(assert_answers(server))
        assert_stored_once(server, accepted)
    finally:
        assert server.stop() == 0


def test_a_full_house_makes_room(tmp_path: Path) -> None:
    """Five times the connections that are allowed, long before any deadline."""
    server = RunningServer(
        tmp_path / "data",
        connections="200",
        request_body_seconds="600",
        request_header_seconds="600",
    ).start()
    accepted: list[str] = []
    try:
        for text in (BODY, HEADERS, NOTHING):
            with half_sent(server.port, text, 1000):
                accepted.append(assert_answers(server))
        assert_stored_once(server, accepted)
    finally:
        assert server.stop() == 0


def test_large_bodies_are_refused_when_memory_is_short_and_small_ones_read(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", request_buffer_bytes=str(4 * 1024**2)).start()
    size = 1024**2
    head = BODY.replace(b"1000", b"%d" % (2 * size))
    try:
        with half_sent(server.port, head + b" " * size, 12) as connections:
            accepted = [assert_answers(server)]
            wait_for(lambda: sum(map(has_answer, connections)) >= 8, seconds=120)
            answers = [last_words(each) for each in connections if has_answer(each)]
            assert all(b" 503 " in answer and b"retry-after" in answer for answer in answers)
        assert_stored_once(server, accepted)
    finally:
        assert server.stop() == 0


def has_answer(connection: socket.socket) -> bool:
    connection.settimeout(0.01)
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except (TimeoutError, ConnectionResetError):
        return False
    finally:
        connection.settimeout(60)


def test_clients_that_do_not_read_their_answer_are_disconnected(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", response_stall_seconds="2").start()
    query = "SELECT number, repeat('x', 1000) FROM numbers(20000) LIMIT 20000"
    body = {"name": "large", "query": {"kind": "HogQLQuery", "query": query}}
    run = "/api/projects/1/endpoints/large/run"
    key = server.client.headers["authorization"].encode()
    request = b"GET " + run.encode() + b" HTTP/1.1\r\nHost: h\r\nAuthorization: " + key
    try:
        server.client.post("/api/projects/1/endpoints/", json=body).raise_for_status()
        whole = server.client.get(run).raise_for_status().content
        assert len(whole) > 20_000_000
        with half_sent(server.port, request + b"\r\n\r\n", 20) as connections:
            accepted = [assert_answers(server)]
            wait_for(lambda: not served(connections), seconds=120)  # nobody reads
            received = [len(last_words(connection)) for connection in connections]
        assert max(received) < len(whole)
        assert len(server.client.get(run).content) >= 20_000_000  # who reads gets all of it
        assert_stored_once(server, accepted)
    finally:
        assert server.stop() == 0


@pytest.mark.parametrize("listening", ["127.0.0.1", "::"])
def test_requests_that_take_longer_than_headers_may_are_answered(
    tmp_path: Path, listening: str
) -> None:
    """Also of IPv6 clients, and behind a proxy, whose connection is not its client's."""
    if not is_bindable(listening):
        pytest.skip("this machine has no IPv6")
    settings: dict[str, Any] = {
        "host": listening,
        "trust_proxy": "true",
        "request_header_seconds": "1",
    }
    server = RunningServer(tmp_path / "data", **settings).start()
    address = f"http://[::1]:{server.port}" if listening == "::" else server.url
    try:
        with closing(LateReceiver()) as receiver:
            path, run = late_run(server, receiver)
            for url, forwarded in [(server.url, ""), (address, ""), (server.url, "203.0.113.7")]:
                headers = {"x-forwarded-for": forwarded}
                answer = server.client.post(url + path, json=run, headers=headers)
                assert (answer.status_code, answer.json()["status"]) == (200, "success")
    finally:
        server.stop()


def late_run(server: RunningServer, receiver: LateReceiver) -> tuple[str, dict[str, Any]]:
    """The path and the body of a request that takes three times ``LATE_SECONDS``."""
    hog = f"for (let i := 0; i < 3; i := i + 1) {{ fetch('{receiver.url}') }}"
    program = {"type": "destination", "name": "late", "hog": hog}
    created = server.client.post("/api/projects/1/hog_functions/", json=program).json()
    event = {"event": "e", "distinct_id": "a"}
    run = {"globals": {"event": event}, "mock_async_functions": False}
    return f"/api/projects/1/hog_functions/{created['id']}/invocations/", run


def test_requests_in_progress_are_kept_when_connections_run_out(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", connections="64").start()
    try:
        with closing(LateReceiver()) as receiver, ThreadPoolExecutor(4) as clients:
            path, run = late_run(server, receiver)
            answers = [clients.submit(server.client.post, path, json=run) for _ in range(4)]
            wait_for(lambda: receiver.requests >= 4)
            with half_sent(server.port, HEADERS, 70):
                assert [answer.result().status_code for answer in answers] == [200] * 4
        assert "closed connections that made no progress" in server.log()
    finally:
        server.stop()


def is_bindable(host: str) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.bind((host, 0))
    except OSError:
        return False
    return True


def test_connections_that_may_wait_are_left_alone(tmp_path: Path) -> None:
    """Between two requests of a client, and while logs are followed."""
    server = RunningServer(tmp_path / "data", request_header_seconds="4").start()
    program = {"type": "destination", "name": "f", "enabled": True, "hog": "print(1)"}
    try:
        response = server.client.post("/api/projects/1/hog_functions/", json=program)
        logs = f"/api/projects/1/hog_functions/{response.json()['id']}/logs/stream"
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.auto_open = 0
        connection.connect()
        with server.client.stream("GET", logs) as following:
            for _ in range(2):
                connection.request("GET", "/_health")
                assert connection.getresponse().read()
                time.sleep(9)  # beyond the deadline and two looks at the connections
            assert following.status_code == 200
            server.client.post(
                "/batch/", json={"api_key": TOKEN, "event": "e", "distinct_id": "a"}
            ).raise_for_status()
            assert next(line for line in following.iter_lines() if "data:" in line)
        connection.close()
    finally:
        server.stop()
