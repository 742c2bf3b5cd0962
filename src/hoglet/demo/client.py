"""A minimal client of hoglet's HTTP API, with the standard library only."""

import json
import urllib.error
import urllib.request
from typing import Any

from hoglet.kit.errors import HogletError

PROJECT = "/api/projects/1"


class DemoRequestRefused(HogletError):
    """The server returned an error; the detail has status and body."""

    code = "api_refused"
    blame = "operator"


class Client:
    """Calls the API of the demo's server as its first user.

    Args:
        url: ``http://127.0.0.1:8000``.
        key: a personal API key.
    """

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self._key = key

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request; returns the JSON of the response.

        Raises:
            DemoRequestRefused: any status of 400 and above.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(  # noqa: S310 (our own server)
            self.url + path,
            data=data,
            method=method,
            headers={
                "Authorization": f"Bearer {self._key}",
                "Content-Type": "application/json",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 (our own server)
                return json.loads(response.read() or b"null")
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            raise DemoRequestRefused(f"{method} {path} answered {error.code}: {text}") from None

    def run(self, endpoint: str, **body: Any) -> dict[str, Any]:
        """Run an endpoint."""
        return self.call("POST", f"{PROJECT}/endpoints/{endpoint}/run", body)
