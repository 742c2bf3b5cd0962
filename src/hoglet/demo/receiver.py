"""The web server that receives the demo's deliveries."""

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """Listens on a free port of 127.0.0.1 and records what arrives, by delivery id.

    Deliveries are at least once with a stable id, so only distinct ids count.
    """

    def __init__(self) -> None:
        self.deliveries: dict[str, Any] = {}
        self.requests = 0
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", "0"))
                receiver.take(dict(self.headers), self.rfile.read(length))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name)
                """No output: the summary shows what arrived."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/late"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, headers: Mapping[str, str], body: bytes) -> None:
        """Record a request."""
        with self._lock:
            self.requests += 1
            delivery = headers.get("X-Hoglet-Delivery", f"without id {self.requests}")
            self.deliveries[delivery] = json.loads(body)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
