"""One OpenAPI document for all active endpoints of a project.

Merges the documents of the endpoints; schema names get the endpoint's name as a prefix, so that
generated clients have ``DailyViewsVariables`` and ``TopPlansVariables``. Shared schemas
(``PropertyFilter``) occur once.
"""

import re
from collections.abc import Iterable
from typing import Any

from hoglet.endpoints.serializers import EndpointUrls
from hoglet.kit.json import is_array, is_object
from hoglet.web.openapi import OpenApiObject

_REFERENCE = "#/components/schemas/"
_SHARED = frozenset({"DashboardFilter", "PropertyFilter"})
_WORDS = re.compile(r"[A-Za-z0-9]+")


def project_document(
    project_name: str, urls: EndpointUrls, documents: Iterable[OpenApiObject]
) -> OpenApiObject:
    """The complete document.

    Args:
        project_name: used in the title.
        urls: the base URL and prefix of the request.
        documents: the documents of single endpoints, see ``openapi.document``.
    """
    paths: OpenApiObject = {}
    schemas: OpenApiObject = {}
    security: OpenApiObject = {}
    taken: set[str] = set()
    for document in documents:
        name = _free(_pascal(document["info"]["title"]), taken)
        for path, item in document["paths"].items():
            operation = item["post"]
            operation_id = _free(operation["operationId"], taken)
            paths[path] = {"post": _renamed(operation, name) | {"operationId": operation_id}}
        for schema, content in document["components"]["schemas"].items():
            schemas[_in_project(schema, name)] = _renamed(content, name)
        security |= document["components"]["securitySchemes"]
    about = f"The endpoints of {project_name}."
    return {
        "openapi": "3.0.3",
        "info": {"title": project_name, "description": about, "version": "1"},
        "servers": [{"url": urls.site_url}],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": security},
    }


def _renamed(node: Any, name: str) -> Any:
    """A copy of the node with references renamed for the project's document."""
    if is_array(node):
        return [_renamed(item, name) for item in node]
    if not is_object(node):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str) and reference.startswith(_REFERENCE):
        schema = reference.removeprefix(_REFERENCE)
        return {"$ref": _REFERENCE + _in_project(schema, name)}
    return {key: _renamed(value, name) for key, value in node.items()}


def _in_project(schema: str, name: str) -> str:
    return schema if schema in _SHARED else name + schema.removeprefix("Endpoint")


def _pascal(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in _WORDS.findall(name))


def _free(base: str, taken: set[str]) -> str:
    """A unique schema name: the endpoints ``a-b`` and ``a_b`` would both be ``AB``."""
    name, number = base, 1
    while name.lower() in taken:
        number += 1
        name = f"{base}{number}"
    taken.add(name.lower())
    return name
