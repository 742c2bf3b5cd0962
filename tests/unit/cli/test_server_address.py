"""Which server a command calls: ``--url`` and ``HOGLET_URL``, and their old names."""

import ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from hoglet.cli.server.address import BadUrl, server_url
from hoglet.cli.server.api_client import ApiClient
from support.certificates import self_signed

PORT = "9"  # discard: nobody answers


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("https://hoglet.example.com/", "https://hoglet.example.com"),
        ("https://example.com/hoglet/", "https://example.com/hoglet"),
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("localhost:9000/", "http://localhost:9000"),
        ("[::1]:9000", "http://[::1]:9000"),
        ("[::1]", "http://[::1]:8000"),
    ],
)
def test_the_url_of_the_server(text: str, url: str):
    assert server_url(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ftp://example.com",
        "http://",
        "http://:8000",
        "http://example.com:99999",
        "http://example.com:port",
        "::1",
        "http://exa mple.com",
        "http://example.com\n.evil.com",
        "https://user:password@example.com",
        "https://example.com/?key=1",
        "https://example.com/#top",
    ],
)
def test_what_is_no_url_of_a_server_is_refused(text: str):
    with pytest.raises(BadUrl, match="HOGLET_URL"):
        server_url(text)


def called(*words: str, **environment: str) -> tuple[str, str]:
    """The server that ``hoglet status`` tried to reach, and the hint before it."""
    names = ("HOGLET_URL", "HOGLET_HOST", "HOGLET_PORT")
    ran = CliRunner().invoke(app, ["status", *words], env=dict.fromkeys(names) | environment)
    assert ran.exit_code == 2
    hint, _, reached = ran.stderr.rpartition("No server answers at ")
    return reached.partition("/_readyz")[0], hint


def test_the_address_that_serve_listens_on_is_not_that_of_the_commands():
    url, hint = called(HOGLET_HOST="0.0.0.0", HOGLET_PORT=PORT)  # noqa: S104 (an example)

    assert (url, hint) == ("http://127.0.0.1:8000", "")


def test_the_url_comes_from_the_environment_and_the_option_wins():
    environment = {"HOGLET_URL": f"http://127.0.0.1:{PORT}", "HOGLET_HOST": "http://10.0.0.1"}

    assert called(**environment) == (f"http://127.0.0.1:{PORT}", "")
    assert called("--url", "localhost:7", **environment) == ("http://localhost:7", "")


@pytest.mark.parametrize("words", [("--host", "localhost:7"), ("--host=localhost:7",)])
def test_the_old_option_still_works_and_says_so(words: tuple[str, ...]):
    url, hint = called(*words)

    assert url == "http://localhost:7"
    assert "--url" in hint


def test_a_url_in_the_old_variable_still_works_and_says_so():
    url, hint = called(HOGLET_HOST=f"http://127.0.0.1:{PORT}")

    assert url == f"http://127.0.0.1:{PORT}"
    assert "HOGLET_URL" in hint


class _Stranger(BaseHTTPRequestHandler):
    """Answers every request with one body, as some other program on the port does."""

    body = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_arguments: Any) -> None: ...


@pytest.mark.parametrize("words", [("status",), ("status", "--json")])
@pytest.mark.parametrize(
    "body",
    [
        b"<html>It works!</html>",
        b"",
        b"[]",
        b"null",
        b'{"status": "ok"}',
        b'{"checks": [], "warnings": []}',
        b'{"checks": {"database": {"state": "ok"}}, "warnings": []}',
        b'{"checks": {"database": "ok"}, "warnings": null}',
        b'{"checks": {"database": "ok"}, "warnings": [1]}',
        b"\xff\xfe\x00",
    ],
)
def test_another_server_at_the_address_is_one_sentence(words: tuple[str, ...], body: bytes):
    handler = type("Handler", (_Stranger,), {"body": body})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        ran = CliRunner().invoke(app, [*words, "--url", url])
        server.shutdown()

    assert ran.exit_code == 2, ran.output
    assert f"{url} does not respond like a hoglet server" in ran.stderr
    assert isinstance(ran.exception, SystemExit)


class _Hoglet(_Stranger):
    body = b'{"results": []}'


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_certificate_authorities_are_read_for_https_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
):
    pem = str(self_signed(tmp_path))
    monkeypatch.setenv("SSL_CERT_FILE", pem)
    read: list[ssl.SSLContext] = []
    load = ssl.SSLContext.load_default_certs
    monkeypatch.setattr(
        ssl.SSLContext, "load_default_certs", lambda self, *_more: [read.append(self), load(self)]
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hoglet) as server:
        if scheme == "https":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        client = ApiClient(f"{scheme}://127.0.0.1:{server.server_port}", "phx_a")
        bodies = [client.call("GET", "/endpoints/") for _ in range(2)]
        server.shutdown()

    assert bodies == [{"results": []}] * 2
    assert len(read) == (scheme == "https")
