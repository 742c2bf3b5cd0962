"""An ad hoc query as a run target: a target without an endpoint.

Source: docs/spec/data-and-queries.md#12-body (how long a result counts as fresh).
"""

import re
from datetime import UTC, datetime
from uuid import UUID, uuid5

import orjson

from hoglet.endpoints.analysis.model import Analysis
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.targets import RunTarget
from hoglet.hogql.query_nodes import QueryNode
from hoglet.queries.events_schema import is_bounded
from hoglet.queries.kinds import EVENTS

_NAMESPACE = UUID("6f0e3c57-6b0c-5d0e-9a58-6f1d3f7e2b10")
_NO_VERSION = UUID(int=0)
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR, _DAY = 3600, 86_400
_CACHE_SECONDS = {
    "second": 300, "minute": 300, "hour": _HOUR, "day": 6 * _HOUR, "week": _DAY, "month": _DAY,
    "quarter": _DAY, "year": _DAY,
}  # fmt: skip
_LIVE_TABLES = re.compile(r"\bsystem\s*\.|\bquery_log\b", re.IGNORECASE)
"""Tables whose results are never cached; false positives only cost a computation."""


def project_key(project_id: int) -> UUID:
    """Replaces the endpoint in the ids of a project's ad hoc runs."""
    return uuid5(_NAMESPACE, str(project_id))


def target_of_query(project_id: int, query: QueryNode, name: str | None) -> RunTarget:
    """The target of a validated HogQL or insight query."""
    key = project_key(project_id)
    interval = query.get("interval") or "day"
    return RunTarget(
        endpoint_id=key,
        project_id=project_id,
        name=name or query.get("name") or "",
        is_active=True,
        current_version=0,
        version_id=_NO_VERSION,
        version=0,
        version_is_active=True,
        version_created_at=_NEVER,
        query=query,
        analysis=Analysis(),
        cache_seconds=_CACHE_SECONDS.get(interval, 6 * _HOUR),
        optional_breakdowns=frozenset(),
        materialization=None,
    )


def is_cacheable(query: QueryNode) -> bool:
    """Whether a result can be cached.

    Not for live tables, nor for cohorts, which change with every calculation; for events queries
    only with both time bounds.
    """
    if query["kind"] == EVENTS:
        return is_bounded(query)
    if b"cohort" in orjson.dumps(query).lower():
        return False
    return query["kind"] != HOGQL or _LIVE_TABLES.search(query["query"]) is None
