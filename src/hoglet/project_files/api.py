"""The server interface that this package requires, and the records it reads from it.

Records have more keys than those declared here; servers other than hoglet lack some.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NotRequired, Protocol, TypedDict

from hoglet.project_files.documents import QueryDocument

type Record = Mapping[str, Any]
"""An object of any list of the API, by its keys: ``{"id": 3, "name": "Docs"}``."""


class VariableUse(TypedDict):
    """A variable in the query of an endpoint."""

    code_name: str
    value: NotRequired[Any]
    isNull: NotRequired[bool]


class StoredVariable(TypedDict):
    """A variable of the project."""

    id: str
    name: str
    type: str
    code_name: str
    default_value: Any
    values: list[Any] | None
    is_multi: NotRequired[bool]


class StoredEndpoint(TypedDict):
    """An endpoint; see docs/spec/query-endpoints.md#21-endpoint-record-rows-1-4."""

    name: str
    query: QueryDocument
    current_version: int
    bucket_overrides: dict[str, str] | None
    materialization_error: NotRequired[str]


class Api(Protocol):
    """The API of one project."""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to a path of the project; returns the JSON of the response.

        ``call("GET", "/endpoints/")``.
        """
        ...

    def every(self, path: str, **query: str) -> Iterator[Any]:
        """The records of a list, page by page."""
        ...
