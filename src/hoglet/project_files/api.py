"""The interface to a server that this package requires."""

from collections.abc import Iterator
from typing import Any, Protocol

type Json = dict[str, Any]


class Api(Protocol):
    """The API of one project."""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to a path of the project; returns the JSON of the response.

        ``call("GET", "/endpoints/")``.
        """
        ...

    def every(self, path: str, **query: str) -> Iterator[Json]:
        """All items of a list, page by page."""
        ...
