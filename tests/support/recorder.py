"""A receiver that keeps whole requests and answers as it is told."""

import http.server
import json
import threading
from typing import Any, NamedTuple


class Recorded(NamedTuple):
    """A request as it arrived; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Recorder:
    """Answers with ``answers`` in order, ``(status, body)``, then with 200 and ``{"ok": true}``."""

    def __init__(self, *answers: tuple[int, Any]) -> None:
        self.requests: list[Recorded] = []
        self.answers = list(answers)
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                recorder.requests.append(Recorded(self.command, self.path, headers, body))
                status, answer = (
                    recorder.answers.pop(0) if recorder.answers else (200, {"ok": True})
                )
                sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                sent = b"" if status == 204 else sent
                self.send_response(status)
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
