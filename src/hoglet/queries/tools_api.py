"""The routes by which the API bundle of ``@posthog/cli`` and MCP servers run SQL and read names.

They send ``{"args": {"query": …}}`` and expect text; an error of the query is a normal response,
so that a language model can read it and try again.
"""

from typing import Annotated, Any

from msgspec import structs
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.plan import readable_system_tables
from hoglet.endpoints.run.response import NeedsBackground
from hoglet.endpoints.worker.query_errors import QueryError
from hoglet.kit.errors import Bug, CostExceeded, Invalid
from hoglet.queries.container import services_of
from hoglet.queries.response import formatted
from hoglet.queries.schemas import QueryBody
from hoglet.queries.taxonomy import NotInTaxonomy, TaxonomyQuery
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import DocumentedResponse, describe
from hoglet.web.request_body import read_object
from hoglet.web.router import CLIENT_CLOSED_REQUEST, Depends, Router, unless_disconnected
from hoglet.web.validation import Body, Text, validate

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("query:read"))]


class SqlArguments(Body):
    """``truncate`` is accepted: at most 200 rows are answered as text either way."""

    query: Annotated[Text, Field(min_length=1)]
    truncate: bool = True


class SqlToolCall(Body):
    """Body of ``POST mcp_tools/execute_sql``."""

    args: SqlArguments


class TaxonomyArguments(Body):
    """``query`` is ``{"kind": "event_properties", "event_name": "paid"}``, or another kind."""

    query: TaxonomyQuery


class TaxonomyToolCall(Body):
    """Body of ``POST mcp_tools/read_taxonomy``."""

    args: TaxonomyArguments


class ToolAnswer(DocumentedResponse):
    """``content`` is the text, or what is wrong with the query when not ``success``."""

    success: bool
    content: str
    structured_content: dict[str, Any] | None


@router.post("/mcp_tools/execute_sql")
@describe({200: ToolAnswer}, body=SqlToolCall)
async def execute_sql(request: Request, scope: Reader) -> Response:
    """Run HogQL and answer with a text table, for language models."""
    data = await read_object(request)
    for name in ("connectionId", "sendRawQuery"):
        if isinstance(data.get("args"), dict) and data["args"].get(name):
            raise Invalid("Warehouse connections are not offered.", attr=f"args__{name}")
    body = validate(SqlToolCall, data)
    service = services_of(request).service
    node = {"kind": HOGQL, "query": body.args.query}
    asked = structs.replace(
        service.read(node, "args", QueryBody()),
        system_tables=readable_system_tables(scope.principal),
    )
    try:
        planned = await service.plan(scope.project, asked)
        outcome = await unless_disconnected(request.receive, service.run(scope, planned))
    except (QueryError, CostExceeded) as error:
        return JsonResponse(_failed(error.detail))
    if outcome is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    if isinstance(outcome, NeedsBackground):
        raise Bug("A blocking query is never done in the background.")
    result = outcome.result
    structured = {"query": node, "columns": result.columns, "hasMore": result.has_more}
    return JsonResponse(
        {"success": True, "content": formatted(outcome), "structured_content": structured}
    )


@router.post("/mcp_tools/read_taxonomy")
@describe({200: ToolAnswer}, body=TaxonomyToolCall)
async def read_taxonomy(request: Request, scope: Reader) -> Response:
    """List events, properties and sample values as text, for language models."""
    body = validate(TaxonomyToolCall, await read_object(request))
    try:
        content = await services_of(request).taxonomy.read(scope, body.args.query)
    except (QueryError, CostExceeded) as error:
        return JsonResponse(_failed(error.detail))
    except NotInTaxonomy as error:
        return JsonResponse(_failed(str(error)))
    return JsonResponse({"success": True, "content": content, "structured_content": None})


def _failed(message: str) -> dict[str, Any]:
    return {"success": False, "content": message, "structured_content": None}
