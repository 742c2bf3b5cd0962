"""The OpenAPI document of one version of an endpoint, from which clients are generated. Pure.

Source: spec/query-endpoints.md section 8; beyond it, rows are described with the types of the
query's own columns (``OpenApiFacts.columns``).
"""

from collections.abc import Sequence
from typing import Any

import msgspec

REFRESH_WORDS = (
    "async",
    "async_except_on_cache_miss",
    "blocking",
    "cache",
    "direct",
    "force_async",
    "force_blocking",
    "force_cache",
    "force",
    "lazy_async",
)
OPERATORS = (
    "exact", "is_not", "icontains", "not_icontains", "regex", "not_regex", "gt", "lt", "gte",
    "lte", "is_set", "is_not_set", "is_date_exact", "is_date_before", "is_date_after", "in",
    "not_in",
)  # fmt: skip
PROPERTY_TYPES = ("event", "person", "session", "cohort", "group", "hogql")
ERRORS = {
    "202": "The run goes on in the background; ask again with its client_query_id.",
    "400": "The request or the query is not valid.",
    "401": "The key is missing or not valid.",
    "404": "There is no such endpoint or version, or it is inactive.",
    "429": "Too many requests; Retry-After tells when to try again.",
}
_VARIABLE_SCHEMAS: dict[str, dict[str, Any]] = {
    "String": {"type": "string"},
    "Number": {"type": "number"},
    "Boolean": {"type": "boolean"},
    "List": {"type": "array", "items": {"type": "string"}},
    "Date": {"type": "string", "format": "date"},
}
_COLUMN_SCHEMAS: dict[str, dict[str, Any]] = {
    "integer": {"type": "integer"},
    "float": {"type": "number"},
    "string": {"type": "string"},
    "datetime": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
    "boolean": {"type": "boolean"},
    "array": {"type": "array", "items": {}},
    "json": {"type": "string"},
}


class OpenApiVariable(msgspec.Struct, frozen=True, kw_only=True):
    """``type`` is one of String, Number, Boolean, List, Date, or anything else for text."""

    name: str
    type: str = "String"
    default: Any = None
    required: bool = False
    description: str | None = None


class OpenApiColumn(msgspec.Struct, frozen=True, kw_only=True):
    """``type`` is a word of the record's ``columns`` (``integer``, ``datetime``, ...)."""

    name: str
    type: str
    nullable: bool = True


class OpenApiFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the document is made from; ``path`` and ``site_url`` have no trailing slash."""

    name: str
    description: str
    version: int
    current_version: int
    site_url: str
    path: str
    is_hogql: bool
    takes_filters: bool
    variables: Sequence[OpenApiVariable] = ()
    columns: Sequence[OpenApiColumn] = ()


def openapi_document(facts: OpenApiFacts) -> dict[str, Any]:
    """The document, OpenAPI 3.0.3."""
    return {
        "openapi": "3.0.3",
        "info": {
            "title": facts.name,
            "description": facts.description or f"The endpoint {facts.name} of hoglet.",
            "version": str(facts.version),
        },
        "servers": [{"url": facts.site_url}],
        "paths": {facts.path: {"post": _operation(facts)}},
        "components": {
            "schemas": _schemas(facts),
            "securitySchemes": {
                "PersonalAPIKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A personal API key (phx_…) or a project secret key (phs_…).",
                }
            },
        },
    }


def _operation(facts: OpenApiFacts) -> dict[str, Any]:
    request = {"$ref": "#/components/schemas/EndpointRunRequest"}
    errors = {status: {"description": text} for status, text in ERRORS.items()}
    return {
        "operationId": "run_" + facts.name.replace("-", "_"),
        "summary": f"Run {facts.name}",
        "description": facts.description or f"Run the saved query {facts.name}.",
        "security": [{"PersonalAPIKey": []}],
        "requestBody": {
            "required": any(variable.required for variable in facts.variables),
            "content": {"application/json": {"schema": request}},
        },
        "responses": {"200": _answer(facts), **errors},
    }


def _answer(facts: OpenApiFacts) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {
            "results": _results(facts),
            "columns": {"type": "array", "items": {"type": "string"}},
            "hasMore": {"type": "boolean"},
        },
        "required": ["results"],
    }
    return {
        "description": "The result of the query.",
        "content": {"application/json": {"schema": schema}},
    }


def _results(facts: OpenApiFacts) -> dict[str, Any]:
    """Rows are arrays; OpenAPI 3.0 has no tuples, so a cell is any of the columns' types."""
    if not facts.is_hogql or not facts.columns:
        return {"type": "array", "items": {}}
    names = ", ".join(f"{column.name} ({column.type})" for column in facts.columns)
    return {
        "type": "array",
        "description": f"Rows, each with the columns {names}.",
        "items": {
            "type": "array",
            "minItems": len(facts.columns),
            "maxItems": len(facts.columns),
            "items": _cell(facts.columns),
        },
        "x-columns": [{"name": column.name, "schema": _column(column)} for column in facts.columns],
    }


def _cell(columns: Sequence[OpenApiColumn]) -> dict[str, Any]:
    distinct: list[dict[str, Any]] = []
    for column in columns:
        schema = _column(column)
        if schema not in distinct:
            distinct.append(schema)
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _column(column: OpenApiColumn) -> dict[str, Any]:
    schema = dict(_COLUMN_SCHEMAS.get(column.type, {}))
    return {**schema, "nullable": True} if column.nullable and schema else schema


def _schemas(facts: OpenApiFacts) -> dict[str, Any]:
    schemas = {"EndpointRunRequest": _run_request(facts)}
    if facts.takes_filters:
        schemas |= {"DashboardFilter": _dashboard_filter(), "PropertyFilter": _property_filter()}
    if facts.variables:
        schemas["Variables"] = _variables(facts.variables)
    return schemas


def _run_request(facts: OpenApiFacts) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "client_query_id": {"type": "string", "description": "Names the run, to ask for it later."},
        "refresh": {"type": "string", "enum": list(REFRESH_WORDS), "default": "blocking"},
        "version": {
            "type": "integer",
            "description": f"1 to {facts.current_version}; the newest when left out.",
        },
        "debug": {"type": "boolean", "default": False},
    }
    if facts.takes_filters:
        properties["filters_override"] = {"$ref": "#/components/schemas/DashboardFilter"}
    if facts.is_hogql:
        properties["limit"] = {"type": "integer", "minimum": 1}
        properties["offset"] = {"type": "integer", "minimum": 0}
    if facts.variables:
        properties["variables"] = {"$ref": "#/components/schemas/Variables"}
    request: dict[str, Any] = {"type": "object", "properties": properties}
    if any(variable.required for variable in facts.variables):
        request["required"] = ["variables"]
    return request


def _variables(variables: Sequence[OpenApiVariable]) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {variable.name: _variable(variable) for variable in variables},
        "additionalProperties": False,
    }
    required = [variable.name for variable in variables if variable.required]
    if required:
        schema["required"] = required
    return schema


def _variable(variable: OpenApiVariable) -> dict[str, Any]:
    schema = dict(_VARIABLE_SCHEMAS.get(variable.type, {"type": "string"}))
    schema["description"] = variable.description or f"The variable {variable.name}."
    if variable.default is not None:
        schema["example"] = variable.default
    return schema


def _dashboard_filter() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "date_from": {"type": "string", "description": "Such as -7d, mStart or 2026-01-05."},
            "date_to": {"type": "string"},
            "properties": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/PropertyFilter"},
            },
        },
    }


def _property_filter() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "type": "object",
        "required": ["key"],
        "properties": {
            "key": text,
            "value": {"oneOf": [text, {"type": "number"}, {"type": "array", "items": text}]},
            "operator": {"type": "string", "enum": list(OPERATORS)},
            "type": {"type": "string", "enum": list(PROPERTY_TYPES)},
        },
    }
