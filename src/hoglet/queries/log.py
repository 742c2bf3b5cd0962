"""The query log of one query.

Source: docs/spec/data-and-queries.md#11-routes (the route ``query/:id/log``).
"""

from datetime import timedelta
from zoneinfo import ZoneInfo

from hoglet.access.principals import ProjectScope
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.result import RunResult
from hoglet.queries.hogql import run_node
from hoglet.queries.kinds import check_node
from hoglet.queries.services import QueryServices

_QUERY = """SELECT * FROM query_log
WHERE query_id = {query_id} AND event_time >= toDateTime({since})
ORDER BY event_time"""


async def log_of(services: QueryServices, scope: ProjectScope, query_id: str) -> RunResult:
    """The log entries of a query, as the result of a HogQL query."""
    await services.endpoints.notes.flush()
    yesterday = services.endpoints.access.clock.now() - timedelta(days=1)
    since = yesterday.astimezone(ZoneInfo(scope.project.timezone)).strftime("%Y-%m-%d 00:00:00")
    values = {"query_id": query_id, "since": since}
    node = {"kind": HOGQL, "query": _QUERY, "values": values}
    return await run_node(services.service, scope, check_node(node, "query"))
