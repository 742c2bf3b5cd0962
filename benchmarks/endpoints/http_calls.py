"""HTTP requests over one keep-alive connection."""

import http.client
import json
import time
from typing import Any

from support.server import KEY

JSON = "application/json"
BASE = "/api/environments/1/endpoints"


class Client:
    """One connection; ``post`` returns the body of a successful response."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"Authorization": f"Bearer {KEY}", "Content-Type": JSON}

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        self.connection.request(method, path, json.dumps(body) if body else None, self.headers)
        response = self.connection.getresponse()
        return response.status, response.read()

    def post(self, path: str, body: Any) -> bytes:
        self.connection.request("POST", path, json.dumps(body), self.headers)
        response = self.connection.getresponse()
        content = response.read()
        if response.status not in (200, 201):
            raise RuntimeError(f"{path}: {response.status} {content[:300]!r}")
        return content

    def get(self, path: str) -> bytes:
        status, content = self.ask("GET", path)
        if status != 200:
            raise RuntimeError(f"{path}: {status} {content[:300]!r}")
        return content


def wait_for(port: int, path: str, seconds: float = 120) -> None:
    """Wait until the server on the port answers 200 for the path."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            Client(port).get(path)
        except (OSError, RuntimeError, http.client.HTTPException):
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(f"nothing answers at port {port}{path}")
