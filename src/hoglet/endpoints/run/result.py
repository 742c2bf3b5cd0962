"""The outcome of a run for the routes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.response_body import BODY_START, result_keys
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunRequest
from hoglet.kit.text import dump_json


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
    request: RunRequest
    stale: bool = False
    next_cursor: str | None = None

    def body(self, query_status: Mapping[str, Any] | None = None) -> bytes:
        """The 200 body."""
        return b"".join((BODY_START, self.result.rows_json, self.after_rows(query_status)))

    def after_rows(self, query_status: Mapping[str, Any] | None = None) -> bytes:
        """The end of the 200 body, from the comma after its rows."""
        target, result = self.target, self.result
        rest = result_keys(target, result)
        rest |= {
            "is_cached": self.is_cached,
            "query_status": query_status,
            "timezone": self.timezone,
        }
        if self.request.debug:
            rest |= result.debug
        rest |= {
            "name": target.name,
            "execution_id": str(self.execution_id),
            "endpoint_version": target.version,
            "endpoint_version_created_at": target.version_created_at.isoformat(),
        }
        if result.is_materialized:
            built = result.materialized_at
            rest["endpoint_materialized"] = True
            rest["endpoint_materialized_at"] = None if built is None else built.isoformat()
        if self.request.cursor is not None:
            rest["next_cursor"] = self.next_cursor
        return b"," + dump_json(rest)[1:]


@dataclass(frozen=True, slots=True)
class NeedsBackground:
    """The run is to be done in the background: respond with 202."""

    target: RunTarget
    request: RunRequest
