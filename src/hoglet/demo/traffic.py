"""Sends the demo's departures, by the official SDK and the importer, and receives deliveries."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hoglet.demo.flights import DataMissing, Departure
from hoglet.demo.server import DemoServer


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
                """Print nothing: the summary shows what arrived."""

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


def send_with_sdk(server: DemoServer, departures: Sequence[Departure], console: Console) -> float:
    """Capture with the PyPI package ``posthog``; returns the seconds it took.

    Raises:
        DataMissing: the SDK is not installed.
    """
    try:
        from posthog import Posthog
    except ImportError:
        raise DataMissing("The demo needs the package posthog: run `make setup` first.") from None
    started = time.monotonic()
    client = Posthog(
        server.token, host=server.url, gzip=True, flush_at=500, max_queue_size=len(departures) + 1
    )
    with _progress(console) as progress:
        for departure in progress.track(departures, description="SDK -> /batch/"):
            event = departure.event()
            client.capture(
                event["event"],
                distinct_id=event["distinct_id"],
                properties=event["properties"],
                timestamp=departure.scheduled,
                uuid=event["uuid"],
            )
        client.shutdown()
    return time.monotonic() - started


def import_rest(server: DemoServer, departures: Sequence[Departure], folder: Path) -> float:
    """Import the rest as NDJSON with ``hoglet events import``; returns the seconds it took."""
    path = folder / "departures.ndjson"
    with path.open("wb") as file:
        for departure in departures:
            file.write(orjson.dumps(departure.event()) + b"\n")
    started = time.monotonic()
    command = [sys.executable, "-m", "hoglet", "events", "import", str(path)]
    subprocess.run(command, env=server.environment, check=True)
    path.unlink()
    return time.monotonic() - started


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )
