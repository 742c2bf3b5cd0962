"""Arbitrary bytes in headers, cookies, paths and query strings.

None may end in a 500, and the server goes on answering. The requests are a sample of all
combinations, the same in every run.
"""

import itertools
import random
import socket
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from support.server import KEY, ServerProject

VALUES = (
    b"\xc3\xa9", b"\xff\xfe", b"\x80", b"a\x00b", b"x" * 9000, b"x" * 70_000, b"\xed\xa0\x80",
    b"%00", b"%ff%fe", b"%ed%a0%80", b"=;,\"'", b"", b"\xf0\x9f\x98\x80" * 10, b"-1", b"9" * 400,
)  # fmt: skip
HEADERS = (
    b"Cookie: hoglet_console=%s", b"Cookie: %s", b"Cookie: hoglet_console=%s; hoglet_console=%s",
    b"Host: %s", b"Authorization: Bearer %s", b"Authorization: %s", b"Authorization: Basic %s",
    b"Accept: %s", b"Accept-Encoding: %s", b"Accept-Language: %s", b"Content-Type: %s",
    b"Content-Type: application/json; charset=%s", b"Content-Encoding: %s", b"X-Forwarded-For: %s",
    b"X-Request-Id: %s", b"If-None-Match: %s", b"Prefer: %s", b"Origin: %s", b"User-Agent: %s",
    b"Access-Control-Request-Headers: %s", b"Referer: %s", b"Range: %s", b"If-Modified-Since: %s",
    b"Last-Event-ID: %s", b"X-%s: 1", b"Upgrade: %s\r\nConnection: upgrade", b"Content-Length: %s",
    b"Transfer-Encoding: %s", b"Content-Type: multipart/form-data; boundary=%s", b"Expect: %s",
    b"Accept: %s\r\nAccept: %s", b"Authorization: Bearer %s\r\nAuthorization: Bearer %s",
    b"Content-Type: %s\r\nContent-Type: application/json",
)  # fmt: skip
QUERIES = (
    b"?%s", b"?a=%s", b"?limit=%s&offset=%s", b"?search=%s", b"?personal_api_key=%s", b"?token=%s",
    b"?_=%s", b"?compression=%s", b"?next=%s", b"?query_id=%s", b"?type=%s", b"?after=%s",
    b"?client_query_id=%s", b"?format=%s", b"?id=%s", b"?level=%s", b"?filters=%s", b"?version=%s",
    b"?beacon=%s", b"?data=%s", b"?failed=%s", b"?limit=1&limit=%s", b"/%s",
)  # fmt: skip
_SIGNED = b"Authorization: Bearer " + KEY.encode() + b"\r\n"
_EVENT = b'{"api_key": "phc_unknown", "event": "a", "distinct_id": "b"}'


class Target(NamedTuple):
    """A route, with a correct request to it."""

    method: bytes
    path: bytes
    headers: bytes = b""
    body: bytes = b""

    def request(self, *, suffix: bytes = b"", header: bytes = b"") -> bytes:
        """The bytes of a request; ``header`` replaces the one of its name."""
        name = header.partition(b":")[0].lower()
        lines = [self.method + b" " + self.path + suffix + b" HTTP/1.1\r\n"]
        if name != b"host":
            lines.append(b"Host: hoglet.test\r\n")
        if name != b"authorization":
            lines.append(self.headers)
        if self.body and name not in {b"content-length", b"transfer-encoding"}:
            lines.append(b"Content-Length: %d\r\n" % len(self.body))
        if header:
            lines.append(header + b"\r\n")
        return b"".join([*lines, b"Connection: close\r\n\r\n", self.body])


@pytest.fixture(scope="module")
def targets(server: ServerProject) -> list[Target]:
    echo = "return {'httpResponse': {'status': 200, 'body': jsonStringify(request)}}"
    webhook = {"type": "source_webhook", "name": "echo", "enabled": True, "hog": echo}
    response = server.client.post("/api/projects/@current/hog_functions/", json=webhook)
    response.raise_for_status()
    number = response.json()["id"].encode()
    query = {"kind": "HogQLQuery", "query": "select 1"}
    endpoint = {"name": "one", "query": query}
    server.client.post("/api/projects/@current/endpoints/", json=endpoint).raise_for_status()
    api = b"/api/projects/%d" % server.id
    event = _EVENT.replace(b"phc_unknown", server.token.encode())
    return [
        *(
            Target(b"GET", path)
            for path in (b"/", b"/sign-in", b"/project/1/functions", b"/_health")
        ),
        *(Target(b"GET", path) for path in (b"/metrics", b"/_readyz", b"/nothing", b"/api/schema")),
        Target(b"POST", b"/console/sign-in", body=b"key=abc"),
        Target(b"POST", b"/console/sign-out"),
        Target(b"GET", b"/_nicegui/static/nothing.js"),
        Target(b"GET", api + b"/hog_functions", _SIGNED),
        Target(b"GET", api + b"/hog_functions/" + number, _SIGNED),
        Target(b"GET", api + b"/hog_functions/" + number + b"/logs", _SIGNED),
        Target(b"GET", api + b"/hog_functions/" + number + b"/metrics", _SIGNED),
        Target(b"POST", api + b"/hog_functions", _SIGNED, b'{"name": 1}'),
        Target(b"GET", b"/api/users/@me", _SIGNED),
        Target(b"GET", api + b"/endpoints/one/run", _SIGNED),
        Target(b"POST", api + b"/endpoints/one/run", _SIGNED, b"{}"),
        Target(b"DELETE", api + b"/endpoints/one/run", _SIGNED),
        Target(b"GET", api + b"/endpoints/one/openapi.json", _SIGNED),
        Target(b"POST", b"/batch", body=event),
        Target(b"POST", b"/i/v0/e", body=event),
        Target(b"OPTIONS", b"/e"),
        Target(b"GET", b"/public/webhooks/" + number),
        Target(b"POST", b"/public/webhooks/" + number, body=b'{"a": 1}'),
        Target(b"GET", b"/site_function/" + number + b"/1"),
        Target(b"GET", b"/public/hog_function_templates"),
    ]


def requests(targets: list[Target]) -> Iterator[bytes]:
    """Every combination."""
    for target, value in itertools.product(targets, VALUES):
        for header in HEADERS:
            yield target.request(header=header.replace(b"%s", value))
        for suffix in QUERIES:
            yield target.request(suffix=suffix.replace(b"%s", value))


def status_of(server: ServerProject, request: bytes, *, is_end: bool = False) -> int:
    """The status that the bytes are answered with; 0 when the connection is closed instead.

    Args:
        is_end: whether to say that nothing follows.
    """
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        answer = b""
        try:
            connection.sendall(request)
            if is_end:
                connection.shutdown(socket.SHUT_WR)
            while b"\r\n" not in answer and (more := connection.recv(65_536)):
                answer += more
        except (BrokenPipeError, ConnectionResetError):
            return 0
    return int(answer.split(b" ")[1]) if answer else 0


@pytest.mark.parametrize("sample", [100, pytest.param(1500, marks=pytest.mark.slow)])
def test_no_bytes_make_the_server_fail(
    server: ServerProject, targets: list[Target], sample: int
) -> None:
    """A sample of about 17,000; a request takes 3 ms."""
    everything = list(requests(targets))
    chosen = random.Random(11).sample(everything, sample)  # noqa: S311 (a sample)
    cookies = [
        target.request(header=b"Cookie: hoglet_console=" + value)
        for target in targets
        for value in VALUES[:4]
    ]
    logged = len(server.log())
    failed = [
        (request[:200], status)
        for request in [*chosen, *cookies]
        if (status := status_of(server, request)) >= 500
    ]

    assert failed == []
    assert server.client.get("/_health").status_code == 200
    assert "Traceback" not in server.log()[logged:]


@pytest.mark.parametrize(
    "chunks",
    [
        b"zz\r\n",
        b"-1\r\n" + _EVENT,
        b"ffffffffffffffffff\r\n" + _EVENT,
        b"3\r\n" + _EVENT + b"\r\n0\r\n\r\n",
        b"%x\n%s\n0\n\n" % (len(_EVENT), _EVENT),
        b"%x\r\n%s\r\n0\r\n" % (len(_EVENT), _EVENT) + b"X-A: b\r\n" * 5000,
    ],
)
@pytest.mark.parametrize("path", [b"/batch", b"/api/projects/1/hog_functions"])
def test_malformed_chunks_are_refused(server: ServerProject, path: bytes, chunks: bytes) -> None:
    head = _SIGNED + b"Transfer-Encoding: chunked\r\n"
    assert status_of(server, Target(b"POST", path, head).request() + chunks) == 400


@pytest.mark.parametrize("framing", [b"Content-Length: 100", b"Transfer-Encoding: chunked"])
@pytest.mark.parametrize(
    "path",
    [
        b"/batch",
        b"/api/projects/1/hog_functions",
        b"/public/webhooks/one",
        b"/mcp",
        b"/console/sign-in",
    ],
)
def test_a_body_that_ends_early_is_refused(
    server: ServerProject, path: bytes, framing: bytes
) -> None:
    """The client sends no more, but waits for the response; the server's own would be a 500."""
    logged = len(server.log())
    head = _SIGNED + framing + b"\r\n"
    half = b'5\r\n{"a":\r\n' if b"chunked" in framing else b'{"a":'

    status = status_of(server, Target(b"POST", path, head).request() + half, is_end=True)

    assert status == 400
    assert '"status": 500' not in server.log()[logged:]


def test_a_cookie_outside_ascii_is_signed_out(server: ServerProject) -> None:
    for path in ("/", "/project/1/functions", "/project/1/endpoints"):
        page = server.client.get(path, headers={b"Cookie": b"hoglet_console=\xc3\xa9"})
        assert page.status_code == 303
        assert page.headers["location"].startswith("/sign-in")


def test_a_form_beyond_the_limit_is_refused(server: ServerProject) -> None:
    answer = server.client.post("/console/sign-in", data={"key": "x" * 20_000})

    assert (answer.status_code, answer.json()["code"]) == (413, "request_too_large")


def test_an_empty_name_in_a_query_is_refused_with_a_place(server: ServerProject) -> None:
    body = {
        "name": "x",
        "query": {"kind": "HogQLQuery", "query": "select properties.`` from events"},
    }
    answer = server.client.post("/api/projects/@current/endpoints/", json=body)

    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("1:19: ")
