"""What the fast path needs to know of the requests of a feature.

Endpoints and the query API each have a kind: ``endpoints/run/api.py:EndpointRuns`` and
``queries/api.py:RepeatedQueries``.
"""

from datetime import datetime
from typing import NamedTuple, Protocol

from hoglet.access.principals import Project, ProjectScope
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.plan import ReadPlan
from hoglet.endpoints.run.response import RunResult
from hoglet.endpoints.schemas import RunRequest

type Headers = list[tuple[bytes, bytes]]


class Planned(Protocol):
    """A request that passed all checks, with its plan."""

    @property
    def run_request(self) -> RunRequest:
        """The request as parsed."""
        ...

    @property
    def read_plan(self) -> ReadPlan:
        """Its plan."""
        ...


class Dependencies(NamedTuple):
    """Rows that a plan is made from, and how long they are cached, on the monotonic clock."""

    rows: tuple[object, ...]
    until: float


class RequestKind[P: Planned](Protocol):
    """What differs between requests of endpoints and of the query API."""

    async def depends_on(self, planned: P, project: Project) -> Dependencies:
        """The rows, besides caller and project, that the plan would be made from now.

        Raises:
            NotFound: one of them is gone.
        """
        ...

    def times_cleared(self) -> int:
        """How often the caches of these rows were cleared."""
        ...

    @property
    def has_execution_id(self) -> bool:
        """Whether the execution id is in the body."""
        ...

    def after_rows(self, answer: RunResult) -> bytes:
        """Encode the end of the body."""
        ...

    def headers(self, etag: str | None, result: Result | None, *, is_cached: bool) -> Headers:
        """The headers of a run without its type and length; ``result`` is None for 304."""
        ...

    def executed(self, planned: P, now: datetime) -> None:
        """A cached run was answered."""
        ...

    async def run(self, scope: ProjectScope, planned: P) -> object:
        """Compute a run that waits for its result: a ``RunResult``."""
        ...
