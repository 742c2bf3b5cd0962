"""Compressed responses of a real server decode to the same content."""

import re

import httpx
import pytest

from support.server import ServerProject

QUERY = "SELECT number, repeat('x', 40), 'https://example.com/' FROM numbers(5000) LIMIT 5000"
RUN = "/api/projects/@current/endpoints/large/run"


@pytest.fixture(scope="module")
def server(server: ServerProject) -> ServerProject:
    # These tests read the bytes of responses themselves.
    server.client.event_hooks = {**server.client.event_hooks, "response": []}
    body = {"name": "large", "query": {"kind": "HogQLQuery", "query": QUERY}}
    server.client.post("/api/projects/@current/endpoints/", json=body).raise_for_status()
    server.client.get(RUN).raise_for_status()
    return server


def received(server: ServerProject, path: str, **headers: str) -> tuple[httpx.Response, int, bytes]:
    """The response, its bytes on the wire, and its body."""
    with server.client.stream("GET", path, headers=headers) as response:
        wire = b"".join(response.iter_raw())
    decoded = httpx.Response(response.status_code, headers=response.headers, content=wire)
    return response, len(wire), decoded.content


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        (RUN, "application/json"),
        (RUN, "text/csv"),
        (RUN, "application/x-ndjson"),
        (RUN, "application/vnd.apache.arrow.stream"),
        ("/api/schema", "*/*"),
        ("/metrics", "*/*"),
        ("/sign-in", "text/html"),
    ],
)
@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_large_answers_shrink(server: ServerProject, path: str, accept: str, encoding: str) -> None:
    plain, size, body = received(server, path, Accept=accept, **{"Accept-Encoding": "identity"})
    packed, packed_size, unpacked = received(
        server, path, Accept=accept, **{"Accept-Encoding": encoding}
    )

    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == encoding
    assert "Accept-Encoding" in packed.headers["vary"]
    assert "Accept-Encoding" in plain.headers["vary"]
    assert packed.headers["content-type"] == plain.headers["content-type"]
    assert packed_size < size / 2
    if path == RUN:  # a cache must not answer with another format
        for answer in (plain, packed):
            assert {"Accept", "Accept-Encoding"} <= set(answer.headers["vary"].split(", "))
    if path in {RUN, "/api/schema"} and accept != "application/json":  # others tell the time
        assert unpacked == body


def test_scripts_of_the_console_shrink(server: ServerProject) -> None:
    page = server.client.get("/sign-in").text
    scripts = re.findall(r'src="(/_nicegui[^"]+\.js)"', page)
    sizes = [received(server, path, **{"Accept-Encoding": "gzip"})[1] for path in scripts]
    plain = [received(server, path, **{"Accept-Encoding": "identity"})[1] for path in scripts]

    assert sum(plain) > 500_000
    assert sum(sizes) < sum(plain) / 2


def test_a_known_etag_is_a_304_in_every_encoding(server: ServerProject) -> None:
    etags = {
        received(server, RUN, **{"Accept-Encoding": encoding})[0].headers["etag"]
        for encoding in ("identity", "gzip", "br", "zstd")
    }
    assert len(etags) == 1
    for encoding in ("identity", "gzip"):
        headers = {"If-None-Match": etags.copy().pop(), "Accept-Encoding": encoding}
        known, size, _ = received(server, RUN, **headers)
        assert (known.status_code, size) == (304, 0)
        assert "content-encoding" not in known.headers


def test_a_script_known_by_its_etag_is_a_304(server: ServerProject) -> None:
    page = server.client.get("/sign-in").text
    path = re.findall(r'src="(/_nicegui[^"]+\.js)"', page)[0]
    packed, _, _ = received(server, path, **{"Accept-Encoding": "gzip"})

    headers = {"If-None-Match": packed.headers["etag"], "Accept-Encoding": "gzip"}
    assert received(server, path, **headers)[0].status_code == 304
