"""An HTTP server on localhost for functions under test."""

import http.server
import threading
from collections.abc import Mapping


class Handler(http.server.BaseHTTPRequestHandler):
    """A handler without a request log; subclasses implement ``handle_any`` for all methods."""

    def handle_any(self) -> None:
        """Handle one request."""
        raise NotImplementedError

    def do_GET(self) -> None:
        self.handle_any()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 (the names the library calls)

    def body(self) -> bytes:
        """The request's body."""
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def names(self) -> dict[str, str]:
        """The request's headers, names in lower case."""
        return {name.lower(): value for name, value in self.headers.items()}

    def answer(
        self, status: int, content: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a complete response."""
        self.send_response(status)
        for name, value in {"content-length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256  # the default of 5 resets connections of a busy executor


class LocalHttp:
    """Serves on a free port, in its own thread, until it is closed."""

    def __init__(self, handler: type[Handler]) -> None:
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        # Closing waits until the loop looks again; its default is half a second, more than most
        # tests take.
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Stop serving and free the port."""
        self._server.shutdown()
        self._server.server_close()
