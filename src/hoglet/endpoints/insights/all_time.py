"""Insights over all time: they begin on the day of the project's oldest event.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (``dateRange``).
"""

from typing import Any

from hoglet.access.principals import Project
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.warehouse import Budget, Warehouse

type Json = dict[str, Any]

# Clocks of devices that were never set send events of 1970; nobody means those by "all".
_OLDEST = (
    "SELECT if(count() > 0, toString(toDate(min(timestamp))), '') FROM events "
    "WHERE timestamp >= '2015-01-01'"
)
_NO_EVENTS = "-7d"
_BUDGET = Budget(seconds=10)


def is_of_all_time(query: Json) -> bool:
    """Whether an insight's range has no beginning (``"date_from": "all"``)."""
    return str((query.get("dateRange") or {}).get("date_from") or "").strip() == "all"


async def since_oldest(
    compiler: QueryCompiler, warehouse: Warehouse, project: Project, query: Json, *, query_id: str
) -> Json:
    """The insight with the day of the oldest event, in the project's zone, as its beginning.

    Args:
        compiler: reads events as that project.
        warehouse: where they are.
        project: whose events.
        query: an insight for which ``is_of_all_time`` holds.
        query_id: names the look-up, so that cancelling the run ends it.
    """
    compiled = await compiler.compile(project, {"kind": HOGQL, "query": _OLDEST}, variables={})
    answer = await warehouse.query(compiled.sql, compiled.params, budget=_BUDGET, query_id=query_id)
    oldest = answer.rows[0][0] or _NO_EVENTS
    return query | {"dateRange": query["dateRange"] | {"date_from": oldest}}
