"""Runs hoglet's own HogQL for a caller, with the budget and log of queries."""

from typing import Any

import orjson

from hoglet.access.principals import ProjectScope
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.response import NeedsBackground, RunResult
from hoglet.hogql.query_json.nodes import QueryNode, VariableValues
from hoglet.kit.errors import Bug
from hoglet.queries.kinds import check_node
from hoglet.queries.service import QueryRequest, QueryService


async def run_node(service: QueryService, scope: ProjectScope, node: QueryNode) -> RunResult:
    """Compute a validated query, bypassing the cache.

    Raises:
        QueryError, CostExceeded, Throttled, Unavailable: as for endpoint runs.
    """
    planned = await service.plan(scope.project, QueryRequest(node, refresh="force_blocking"))
    outcome = await service.run(scope, planned)
    if isinstance(outcome, NeedsBackground):
        raise Bug("Forced queries never run in the background.")
    return outcome


async def select_rows(
    service: QueryService,
    scope: ProjectScope,
    query: str,
    *,
    values: VariableValues | None = None,
    filters: dict[str, Any] | None = None,
) -> list[list[Any]]:
    """The rows of a HogQL query; ``values`` fill its ``{placeholders}``."""
    node: QueryNode = {"kind": HOGQL, "query": query, "values": values or {}}
    if filters:
        node["filters"] = filters
    answer = await run_node(service, scope, check_node(node, "query"))
    return orjson.loads(answer.result.rows_json)
