"""The OpenAPI document of one version of an endpoint, for generating typed clients.

The rows of HogQL results are described by the query's columns (see ``row_schemas``).

Source: docs/spec/query-endpoints.md#8-openapijson.
"""

from collections.abc import Sequence
from typing import Any

from hoglet.access.variables import InsightVariable
from hoglet.endpoints.enums import HOGQL, REFRESH_WORDS
from hoglet.endpoints.openapi.row_schemas import row_schema
from hoglet.endpoints.run.request import required_variables
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.serializers import EndpointUrls
from hoglet.endpoints.variables import stored_values
from hoglet.web.openapi import OpenApiObject

_OPERATORS = (
    "exact",
    "is_not",
    "icontains",
    "not_icontains",
    "regex",
    "not_regex",
    "gt",
    "lt",
    "gte",
    "lte",
    "is_set",
    "is_not_set",
    "is_date_exact",
    "is_date_before",
    "is_date_after",
    "in",
    "not_in",
)
_FILTER_TYPES = ("event", "person", "session", "cohort", "group", "hogql")
_VARIABLE_SCHEMAS: dict[str, OpenApiObject] = {
    "String": {"type": "string"},
    "Number": {"type": "number"},
    "Boolean": {"type": "boolean"},
    "List": {"type": "array", "items": {"type": "string"}},
    "Date": {"type": "string", "format": "date"},
}
_TEXTS: OpenApiObject = {"type": "array", "items": {"type": "string"}}
_SERIES: OpenApiObject = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "nullable": True},
        "count": {"type": "number", "nullable": True},
        "data": {"type": "array", "items": {"type": "number", "nullable": True}},
        "labels": _TEXTS,
        "days": {"type": "array", "items": {}},
    },
}
_HISTOGRAM: OpenApiObject = {
    "type": "object",
    "properties": {
        "bins": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "number"}},
            "description": "Seconds at which a bin starts, and the persons in it.",
        },
        "average_conversion_time": {"type": "number", "nullable": True},
    },
}
_INSIGHT_ITEMS: dict[str, OpenApiObject] = {
    "TrendsQuery": _SERIES,
    "LifecycleQuery": _SERIES,
    "StickinessQuery": _SERIES,
    "PathsQuery": {
        "type": "object",
        "properties": {
            "source": {"type": "string"},
            "target": {"type": "string"},
            "value": {"type": "number"},
            "average_conversion_time": {"type": "number", "nullable": True},
        },
    },
    "RetentionQuery": {
        "type": "object",
        "properties": {
            "date": {"type": "string"},
            "label": {"type": "string"},
            "values": {"type": "array", "items": {"type": "object"}},
        },
    },
}
_DATES = ("date_from", "date_to")


def document(
    target: RunTarget, description: str, urls: EndpointUrls, known: Sequence[InsightVariable]
) -> OpenApiObject:
    """The complete document.

    Args:
        target: the version.
        description: the description of the version; may be empty.
        urls: the base URL and prefix of the request.
        known: the project's variables, for types and defaults.
    """
    variables = variables_schema(target, known)
    about = description or f"Run the endpoint {target.name}."
    return {
        "openapi": "3.0.3",
        "info": {"title": target.name, "description": about, "version": str(target.version)},
        "servers": [{"url": urls.site_url}],
        "paths": {urls.run_path(target.name): {"post": _operation(target, about, variables)}},
        "components": {
            "schemas": _schemas(target, variables),
            "securitySchemes": {
                "PersonalAPIKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A personal API key (phx_…) or a project secret key (phs_…).",
                }
            },
        },
    }


def _operation(target: RunTarget, about: str, variables: OpenApiObject | None) -> OpenApiObject:
    reference = {"$ref": "#/components/schemas/EndpointRunRequest"}
    return {
        "operationId": "run_" + target.name.replace("-", "_"),
        "summary": f"Run {target.name}",
        "description": about,
        "security": [{"PersonalAPIKey": []}],
        "requestBody": {
            "required": bool(variables and variables.get("required")),
            "content": {"application/json": {"schema": reference}},
        },
        "responses": {
            "200": {
                "description": "The results.",
                "content": {"application/json": {"schema": _answer(target)}},
            },
            "202": {"description": "The run was started in the background; poll its status."},
            "400": {"description": "The request or the query is not valid."},
            "401": {"description": "The API key is missing or not valid."},
            "404": {"description": "The endpoint or version does not exist or is inactive."},
            "429": {"description": "Too many requests, or too many concurrent queries."},
        },
    }


def _answer(target: RunTarget) -> OpenApiObject:
    return {
        "type": "object",
        "required": ["results"],
        "properties": {
            "results": _results(target),
            "columns": {"type": "array", "items": {"type": "string"}},
            "hasMore": {"type": "boolean"},
        },
    }


def _results(target: RunTarget) -> OpenApiObject:
    """A list of rows or items; a funnel's times to convert are one object."""
    options: dict[str, Any] = target.query.get("funnelsFilter") or {}
    comparison: dict[str, Any] = target.query.get("compareFilter") or {}
    is_compared = bool(comparison.get("compare"))
    if options.get("funnelVizType") == "time_to_convert" and not is_compared:
        return _HISTOGRAM
    return {"type": "array", "items": _item(target)}


def _item(target: RunTarget) -> OpenApiObject:
    """An item of the results: a row, or an item of an insight."""
    if target.query["kind"] == HOGQL:
        return row_schema(target.analysis.columns, target.analysis.types)
    return _INSIGHT_ITEMS.get(target.query["kind"], {})


def _schemas(target: RunTarget, variables: OpenApiObject | None) -> OpenApiObject:
    is_hogql = target.query["kind"] == HOGQL
    takes_filters = not is_hogql or target.analysis.uses_filters
    schemas: OpenApiObject = {
        "EndpointRunRequest": _request(target, variables, filters=takes_filters)
    }
    if takes_filters:
        schemas |= {"DashboardFilter": _dashboard_filter(), "PropertyFilter": _property_filter()}
    if variables is not None:
        schemas["Variables"] = variables
    return schemas


def _request(target: RunTarget, variables: OpenApiObject | None, *, filters: bool) -> OpenApiObject:
    properties: OpenApiObject = {
        "client_query_id": {
            "type": "string",
            "description": "An id of your choice for the run, for polling and logs.",
        }
    }
    if filters:
        properties["filters_override"] = {"$ref": "#/components/schemas/DashboardFilter"}
    properties |= {
        "refresh": {"type": "string", "enum": list(REFRESH_WORDS), "default": "blocking"},
        "version": {
            "type": "integer",
            "description": f"Version to run, 1..{target.current_version}; defaults to the newest.",
        },
    }
    if target.query["kind"] == HOGQL:
        properties["limit"] = {"type": "integer", "minimum": 1}
        properties["offset"] = {"type": "integer", "minimum": 0}
    properties["debug"] = {"type": "boolean", "default": False}
    schema: OpenApiObject = {"type": "object", "properties": properties}
    if variables is not None:
        properties["variables"] = {"$ref": "#/components/schemas/Variables"}
        if variables.get("required"):
            schema["required"] = ["variables"]
    return schema


def variables_schema(target: RunTarget, known: Sequence[InsightVariable]) -> OpenApiObject | None:
    """JSON schema of the variables that a run accepts; None if there are none."""
    if target.query["kind"] == HOGQL:
        properties, required = _hogql_variables(target, known)
    else:
        properties, required = _insight_variables(target)
    if not properties:
        return None
    schema: OpenApiObject = {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }
    return {**schema, "required": required} if required else schema


def _hogql_variables(
    target: RunTarget, known: Sequence[InsightVariable]
) -> tuple[OpenApiObject, list[str]]:
    by_id = {str(variable.id): variable for variable in known}
    properties: OpenApiObject = {}
    for name, definition in stored_values(target.query).items():
        variable = by_id.get(definition["variableId"])
        schema = dict(_VARIABLE_SCHEMAS.get(variable.type if variable else "", {"type": "string"}))
        schema["description"] = f"Value of {{variables.{name}}}."
        default = definition.get("value")
        if default is None and variable is not None:
            default = variable.default_value
        if default is not None:
            schema["example"] = default
        properties[name] = schema
    return properties, required_variables(target, known)


def _insight_variables(target: RunTarget) -> tuple[OpenApiObject, list[str]]:
    properties: OpenApiObject = {
        name: {"type": "string", "description": f"Value of the breakdown {name}."}
        for name in target.analysis.breakdowns
    }
    if target.materialization is None:
        for name in _DATES:
            properties[name] = {
                "type": "string",
                "description": f"Replaces {name} of the query, e.g. -7d or 2026-01-05.",
            }
    return properties, required_variables(target, ())


def _dashboard_filter() -> OpenApiObject:
    return {
        "type": "object",
        "properties": {
            "date_from": {"type": "string"},
            "date_to": {"type": "string"},
            "properties": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/PropertyFilter"},
            },
        },
    }


def _property_filter() -> OpenApiObject:
    texts = {"type": "array", "items": {"type": "string"}}
    return {
        "type": "object",
        "required": ["key"],
        "properties": {
            "key": {"type": "string"},
            "value": {"oneOf": [{"type": "string"}, {"type": "number"}, texts]},
            "operator": {"type": "string", "enum": list(_OPERATORS)},
            "type": {"type": "string", "enum": list(_FILTER_TYPES)},
        },
    }
