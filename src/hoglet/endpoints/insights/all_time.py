"""Insights over all time, which start on the day of the project's oldest event.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (``dateRange``).
"""

from hoglet.access.principals import Project
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.json import object_at
from hoglet.warehouse import QueryBudget, Warehouse

# Devices with an unset clock send events dated 1970, which "all" should not include.
_OLDEST = (
    "SELECT if(count() > 0, toString(toDate(min(timestamp))), '') FROM events "
    "WHERE timestamp >= '2015-01-01'"
)
_NO_EVENTS = "-7d"
_BUDGET = QueryBudget(seconds=10)


def is_of_all_time(query: QueryNode) -> bool:
    """Whether an insight's date range has no start (``"date_from": "all"``)."""
    return str(object_at(query, "dateRange").get("date_from") or "").strip() == "all"


async def since_oldest(
    compiler: QueryCompiler,
    warehouse: Warehouse,
    project: Project,
    query: QueryNode,
    *,
    query_id: str,
) -> QueryNode:
    """The insight with the day of the oldest event, in the project's time zone, as its start.

    Args:
        compiler: compiles the look-up.
        warehouse: reads the events.
        project: the project.
        query: an insight for which ``is_of_all_time`` holds.
        query_id: the id of the look-up, so that cancelling the run stops it.
    """
    compiled = await compiler.compile(project, {"kind": HOGQL, "query": _OLDEST}, variables={})
    answer = await warehouse.query(compiled.sql, compiled.params, budget=_BUDGET, query_id=query_id)
    oldest = answer.rows[0][0] or _NO_EVENTS
    return query | {"dateRange": query["dateRange"] | {"date_from": oldest}}
