"""The outcome of a run for the routes."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.response_body import BODY_START, after_rows
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunRequest


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    ``stale`` requests a background refresh; ``next_cursor`` is the cursor of the next page, if any.
    """

    target: RunTarget
    result: Result
    execution_id: UUID
    timezone: str
    is_cached: bool
    wish: RunRequest
    stale: bool = False
    next_cursor: str | None = None

    def body(self, query_status: dict[str, Any] | None = None) -> bytes:
        """The 200 body."""
        return b"".join((BODY_START, self.result.rows_json, self.after_rows(query_status)))

    def after_rows(self, query_status: dict[str, Any] | None = None) -> bytes:
        """The end of the 200 body, from the comma after its rows."""
        paged = self.wish.cursor is not None
        return after_rows(
            self.target,
            self.result,
            execution_id=self.execution_id,
            timezone=self.timezone,
            is_cached=self.is_cached,
            debug=self.wish.debug,
            query_status=query_status,
            more={"next_cursor": self.next_cursor} if paged else None,
        )


@dataclass(frozen=True, slots=True)
class NeedsBackground:
    """The run is to be done in the background: respond with 202."""

    target: RunTarget
    request: RunRequest
