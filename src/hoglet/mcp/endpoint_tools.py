"""One tool for each active endpoint: ``run_<name>``, with the endpoint's variables as arguments.

A tenant token sees only its own endpoints, without the variables that the token fixes.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from hoglet.access.principals import Principal, ProjectScope
from hoglet.access.variables import InsightVariable
from hoglet.endpoints.container import EndpointServices
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.openapi.endpoint import variables_schema
from hoglet.endpoints.repository import FoundEndpoint, ListFilters
from hoglet.endpoints.run.targets import RunTarget, target_of
from hoglet.endpoints.tenant_tokens.grants import check_endpoint
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject
from hoglet.kit.suggestions import near
from hoglet.mcp.tools import READ_ONLY, ToolDefinition, ToolReply
from hoglet.web.in_process_client import ApiRequest
from hoglet.web.openapi import OpenApiObject

type ArgumentSchemas = JsonObject
"""JSON schemas of arguments by name: ``{"limit": {"type": "integer"}}``."""

PREFIX = "run_"
_ENDPOINT_READ = "endpoint:read"
_DEFAULT_ROWS = 100
_MAX_ROWS = 10_000
_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")  # models accept only these characters in argument names
_PAGING: ArgumentSchemas = {
    "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": _MAX_ROWS,
        "default": _DEFAULT_ROWS,
        "description": "Maximum number of rows.",
    },
    "offset": {"type": "integer", "minimum": 0, "description": "Rows to skip."},
}
_REPLY = ("columns", "types", "results", "hasMore", "last_refresh")


async def endpoint_tools(services: EndpointServices, scope: ProjectScope) -> list[ToolDefinition]:
    """The definitions of the endpoints that the caller may run, by name."""
    if not scope.principal.may(_ENDPOINT_READ):
        return []
    _, endpoints = await services.service.page(scope, ListFilters(is_active=True))
    known = await services.service.variables(scope)
    grant = scope.principal.tenant
    visible = [
        each
        for each in sorted(endpoints, key=lambda each: each.endpoint.name)
        if each.version.is_active and (grant is None or each.endpoint.name in grant.endpoints)
    ]
    return [_definition(each, known, scope.principal) for each in visible]


async def run_request(
    services: EndpointServices, scope: ProjectScope, tool: str, arguments: JsonObject
) -> ApiRequest:
    """Build the request for the run that a tool call stands for.

    Raises:
        Forbidden: the tenant token does not include the endpoint.
        NotFound: there is no such active endpoint.
        Invalid: the endpoint does not have one of the arguments.
    """
    name = tool.removeprefix(PREFIX)
    if scope.principal.tenant is not None:
        check_endpoint(scope.principal.tenant, name)
    target = await services.targets.current(scope.project.id, name)
    known = await services.service.variables(scope)
    names = _argument_names(_properties(target, known))
    body: JsonObject = {}
    variables: JsonObject = {}
    for argument, value in arguments.items():
        if argument in names:
            variables[names[argument]] = value
        elif argument in _paging_of(target, names):
            body[argument] = value
        else:
            usable = [*_without_fixed(names, scope.principal), *_paging_of(target, names)]
            hint = near(argument, usable)
            raise Invalid(f'{tool} has no argument "{argument}".{hint}', attr=argument)
    if "limit" in _paging_of(target, names):
        body.setdefault("limit", _DEFAULT_ROWS)
    path = f"/endpoints/{quote(name, safe='')}/run"
    return ApiRequest("POST", path, body=body | {"variables": variables})


def run_reply(body: JsonObject) -> ToolReply:
    """The part of a run's response that the model gets."""
    return {key: body[key] for key in _REPLY if key in body}


def _definition(
    endpoint: FoundEndpoint, known: Sequence[InsightVariable], principal: Principal
) -> ToolDefinition:
    target = target_of(endpoint)
    schema = variables_schema(target, known) or {}
    names = _argument_names(schema.get("properties", {}))
    usable = _without_fixed(names, principal)
    properties = {
        argument: _property(schema["properties"][name]) for argument, name in usable.items()
    }
    required = [argument for argument, name in usable.items() if name in schema.get("required", ())]
    name = target.name
    return {
        "name": PREFIX + name,
        "description": endpoint.version.description or f"Run the saved query {name}.",
        "inputSchema": {
            "type": "object",
            "properties": properties | _paging_of(target, names),
            "required": required,
            "additionalProperties": False,
        },
        "annotations": READ_ONLY,
    }


def _property(schema: OpenApiObject) -> JsonObject:
    """Convert an OpenAPI 3.0 schema to JSON Schema."""
    copied = dict(schema)
    if "example" in copied:
        copied["examples"] = [copied.pop("example")]
    return copied


def _properties(target: RunTarget, known: Sequence[InsightVariable]) -> ArgumentSchemas:
    return (variables_schema(target, known) or {}).get("properties", {})


def _paging_of(target: RunTarget, names: Iterable[str]) -> ArgumentSchemas:
    """``limit`` and ``offset``, except for insights (no pages) and names taken by variables."""
    if target.query["kind"] != HOGQL:
        return {}
    return {name: schema for name, schema in _PAGING.items() if name not in names}


def _argument_names(variables: Iterable[str]) -> dict[str, str]:
    """Variables by argument name, e.g. ``{"browser": "$browser", "plan": "plan"}``."""
    names: dict[str, str] = {}
    for variable in sorted(variables, key=lambda name: (_OTHER.search(name) is not None, name)):
        base = _OTHER.sub("_", variable).strip("_") or "variable"
        base = variable if _OTHER.search(variable) is None else base
        argument, number = base, 1
        while argument in names:
            number += 1
            argument = f"{base}_{number}"
        names[argument] = variable
    return names


def _without_fixed(names: dict[str, str], principal: Principal) -> dict[str, str]:
    if principal.tenant is None:
        return names
    fixed = principal.tenant.variables
    return {argument: name for argument, name in names.items() if name not in fixed}
