"""A target of deliveries that remembers what arrived."""

import collections
import http.server
import threading


class Receiver:
    """Takes deliveries: event uuid → delivery ids, once for each arrival."""

    def __init__(self) -> None:
        self.arrivals: dict[str, list[str]] = collections.defaultdict(list)
        arrivals = self.arrivals

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length") or 0))
                event = self.path.removeprefix("/")
                arrivals[event].append(self.headers["X-Hoglet-Delivery"])
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
