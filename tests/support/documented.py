"""Checks of responses against the OpenAPI document; hooks for httpx clients.

``RESPONSE_HOOKS`` are hooks for httpx: a status or a body that the document does not describe fails
the test that sent the request. The fuzzing client finds such differences by chance; these tests
reach every option of a route.
"""

import re
from functools import cache
from typing import Any

import httpx
from jsonschema import Draft202012Validator

_ALIAS = re.compile(r"^/api/environments/")
_ANYWHERE = {304, 405, 500}  # not modified, no such method, and faults that a test causes


def check(response: httpx.Response) -> None:
    """Compare a response with the description of its operation.

    Raises:
        AssertionError: the status or the body is not described.
    """
    if schema := _schema_of(response):
        response.read()
        _validate(response, schema)


async def check_async(response: httpx.Response) -> None:
    """``check`` for asynchronous clients."""
    if schema := _schema_of(response):
        await response.aread()
        _validate(response, schema)


@cache
def _document() -> dict[str, Any]:
    # Imports the whole application, which most processes of a test run never do.
    from hoglet.app.http.openapi import api_document

    return api_document()


RESPONSE_HOOKS = {"response": [check]}
ASYNC_RESPONSE_HOOKS = {"response": [check_async]}


def _schema_of(response: httpx.Response) -> tuple[str, str] | None:
    """The path and method of the operation that returned this JSON; None for other responses."""
    path = _ALIAS.sub("/api/projects/", response.request.url.path).rstrip("/")
    method, status = response.request.method.lower(), str(response.status_code)
    template = _template(path)
    operation = template and _document()["paths"][template].get(method)
    if not operation or response.status_code in _ANYWHERE:
        return None
    described = operation["responses"].keys()
    assert described & {status, "default"}, f"{method} {template} does not document {status}"
    is_json = response.headers.get("content-type", "").startswith("application/json")
    return (template, method) if is_json and status in described else None


def _validate(response: httpx.Response, operation: tuple[str, str]) -> None:
    validator = _validator(*operation, str(response.status_code))
    errors = list(validator.iter_errors(response.json())) if validator else []
    assert not errors, f"{' '.join(operation)} {response.status_code}: {_closest(errors)}"


def _closest(errors: list[Any]) -> str:
    """The deepest error; for a union, that of the closest model."""
    error = max(errors, key=lambda error: len(error.absolute_path))
    while error.context:
        error = max(error.context, key=lambda error: len(error.absolute_path))
    return f"{error.json_path}: {error.message[:300]}"


@cache
def _validator(template: str, method: str, status: str) -> Draft202012Validator | None:
    document = _document()
    content = document["paths"][template][method]["responses"][status].get("content", {})
    if "application/json" not in content:
        return None
    schema = content["application/json"]["schema"]
    return Draft202012Validator({**schema, "components": document["components"]})


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Every path as a pattern, fewest parameters first."""
    paths = sorted(_document()["paths"], key=lambda path: path.count("{"))
    return [(_pattern(path), path) for path in paths]


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile("[^/]+".join(map(re.escape, re.split(r"{\w+}", path.rstrip("/")))))


@cache
def _template(path: str) -> str | None:
    return next((template for pattern, template in _patterns() if pattern.fullmatch(path)), None)
