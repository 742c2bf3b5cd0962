"""What this package needs of a server."""

from collections.abc import Iterator
from typing import Any, Protocol

type Json = dict[str, Any]


class Api(Protocol):
    """The API of one project."""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """One request below the project, e.g. ``call("GET", "/endpoints/")``; its JSON."""
        ...

    def every(self, path: str, **query: str) -> Iterator[Json]:
        """All items of a list, page by page."""
        ...
