"""Descriptions of routes, next to their handlers, and the OpenAPI document built from them.

``@describe({200: Model})`` goes below the route's decorator. Models are built when the document is
first requested, so descriptions do not slow down startup.

Responses have no undocumented keys, so clients can rely on the models and the fuzzing client
detects deviations. The best model of a response is the ``TypedDict`` that its serializer builds,
decorated with ``@documented``: the type checker compares what is documented with what is sent.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

import msgspec
from pydantic import BaseModel, ConfigDict, TypeAdapter, with_config

_PARAMETER = re.compile(r"{(\w+)}")
_REFERENCE = "#/components/schemas/{model}"
_JSON = "application/json"
_DOCS = "route_docs"


documented = with_config(ConfigDict(extra="forbid"))
"""Decorates a ``TypedDict`` that is the model of a response with exactly the declared keys."""

extensible = with_config(ConfigDict(extra="allow"))
"""Decorates a ``TypedDict`` that is the model of a response that may have additional keys."""


class DocumentedResponse(BaseModel):
    """Base of response models with exactly the declared keys."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


class OpenResponse(BaseModel):
    """Base of response models that may have additional keys."""

    model_config = ConfigDict(extra="allow", defer_build=True)


class Page[Item](DocumentedResponse):
    """One page of a list; ``next`` and ``previous`` are absolute URLs."""

    count: int
    next: str | None
    previous: str | None
    results: list[Item]


@documented
class LogLine(TypedDict):
    """One line of a log."""

    log_source_id: str
    instance_id: str
    timestamp: str
    level: str
    message: str


class Problem(OpenResponse):
    """Every error response; ``error`` repeats the detail for PostHog's clients."""

    type: Literal[
        "validation_error",
        "invalid_request",
        "authentication_error",
        "throttled_error",
        "server_error",
    ]
    code: str
    detail: str
    attr: str | None


type Json = dict[str, Any]
"""A JSON object of a body that is not described further."""

type OpenApiObject = dict[str, Any]
"""An object of an OpenAPI document: a schema, an operation, a response."""

type Model = type[Any]
"""A pydantic model, or a ``TypedDict`` decorated with ``@documented``."""

type Content = Model | tuple[Model, ...] | OpenApiObject | str | None
"""A model, a union of models, a JSON schema, a media type without a schema, or no body."""

type Status = int | Literal["default"]

type _Mode = Literal["validation", "serialization"]

PROBLEMS: dict[int, str] = {
    400: "The request is not valid.",
    401: "The API key is missing or not valid.",
    403: "The key has no access to this object, or lacks the scope.",
    404: "The object does not exist.",
    405: "The method is not allowed.",
    406: "No format in ``Accept`` is supported.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    429: "Too many requests.",
    503: "Busy, or a required part of the server is unavailable.",
}


class Parameter(msgspec.Struct, frozen=True):
    """A query parameter; all are optional."""

    name: str
    schema: OpenApiObject
    description: str = ""


class RouteDoc(msgspec.Struct, frozen=True):
    """One operation.

    Args:
        answers: responses by status, ``"default"`` for every other one; errors are added.
        body: model of the JSON body; None if there is none.
        query: the query parameters.
        problems: error statuses in addition to those of every route.
    """

    answers: Mapping[Status, Content]
    body: type[BaseModel] | OpenApiObject | None = None
    query: Sequence[Parameter] = ()
    problems: Sequence[int] = ()


def describe[Handler: Callable[..., Any]](
    answers: Mapping[Status, Content],
    *,
    body: type[BaseModel] | OpenApiObject | None = None,
    query: Sequence[Parameter] = (),
    problems: Sequence[int] = (),
    methods: Sequence[str] = (),
) -> Callable[[Handler], Handler]:
    """Describe the decorated handler.

    Args:
        answers: see ``RouteDoc``.
        body: see ``RouteDoc``.
        query: see ``RouteDoc``.
        problems: see ``RouteDoc``.
        methods: the methods it applies to; default all.
    """
    doc = RouteDoc(answers, body, query, problems)

    def attach(handler: Handler) -> Handler:
        docs: dict[str, RouteDoc] = vars(handler).setdefault(_DOCS, {})
        docs.update(dict.fromkeys(methods or ("",), doc))
        return handler

    return attach


UNDESCRIBED = RouteDoc({200: {}})


def route_doc(handler: Callable[..., Any], method: str) -> RouteDoc:
    """The description of a handler for a method, or ``UNDESCRIBED``."""
    docs: dict[str, RouteDoc] = getattr(handler, _DOCS, {})
    return docs.get(method) or docs.get("") or UNDESCRIBED


class DescribedRoute(msgspec.Struct, frozen=True):
    """A registered route; ``scope`` is "" if no key is needed, "any" if any key is accepted."""

    method: str
    path: str
    scope: str
    summary: str
    about: RouteDoc


def text(name: str, description: str = "", **more: Any) -> Parameter:
    """A string parameter."""
    return Parameter(name, {"type": "string", **more}, description)


def number(name: str, description: str = "", **more: Any) -> Parameter:
    """An integer parameter."""
    return Parameter(name, {"type": "integer", **more}, description)


def flag(name: str, description: str = "") -> Parameter:
    """A boolean parameter, ``true`` or ``false``."""
    return Parameter(name, {"type": "boolean"}, description)


def json_object(*required: str, **properties: OpenApiObject) -> OpenApiObject:
    """JSON schema of an object."""
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT: OpenApiObject = {"type": "string"}
OBJECT: OpenApiObject = {"type": "object"}
TIME: OpenApiObject = {"type": "string", "format": "date-time"}
PAGE = (
    number("limit", "Page size.", minimum=1),
    number("offset", "Index of the first item.", minimum=0),
)


def build_document(title: str, version: str, routes: Sequence[DescribedRoute]) -> OpenApiObject:
    """The OpenAPI 3.1 document of these routes."""
    references, schemas = _schemas(routes)
    paths: dict[str, OpenApiObject] = {}
    operation_ids: set[str] = set()
    for route in routes:
        operation = _operation(route, references)
        if operation["operationId"] in operation_ids:  # the same path in and outside of projects
            operation["operationId"] += "_2"
        operation_ids.add(operation["operationId"])
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schemas(routes: Sequence[DescribedRoute]) -> tuple[dict[Any, OpenApiObject], OpenApiObject]:
    """References by model and mode, and the definitions they refer to."""
    models: dict[tuple[Model, _Mode], None] = {(Problem, "serialization"): None}
    for route in routes:
        if isinstance(route.about.body, type):
            models[route.about.body, "validation"] = None
        for content in route.about.answers.values():
            for model in _models(content):
                models[model, "serialization"] = None
    adapters: list[tuple[tuple[Model, _Mode], _Mode, TypeAdapter[Any]]] = [
        ((model, mode), mode, TypeAdapter(model)) for model, mode in models
    ]
    schemas, document = TypeAdapter.json_schemas(adapters, ref_template=_REFERENCE)
    return {key: schema for (key, _), schema in schemas.items()}, document["$defs"]


def _operation(route: DescribedRoute, references: dict[Any, OpenApiObject]) -> OpenApiObject:
    about = route.about
    operation: OpenApiObject = {
        "operationId": _operation_id(route),
        "tags": [_tag(route.path)],
        "summary": route.summary,
        "parameters": [*_path_parameters(route.path), *map(_query_parameter, about.query)],
        "responses": _responses(route, references),
    }
    if about.body is not None:
        is_model = isinstance(about.body, type)
        schema = references[about.body, "validation"] if is_model else about.body
        operation["requestBody"] = {"content": {_JSON: {"schema": schema}}}
    if route.scope:
        operation["security"] = [{"key": []}]
        operation["description"] = f"Required scope: `{route.scope}`."
    return operation


def _responses(route: DescribedRoute, references: dict[Any, OpenApiObject]) -> OpenApiObject:
    about = route.about
    answers: OpenApiObject = {
        str(status): {"description": "Done.", **_content(content, references)}
        for status, content in about.answers.items()
    }
    for status in sorted({*_usual_problems(route), *about.problems} - about.answers.keys()):
        answers[str(status)] = {
            "description": PROBLEMS.get(status, "A problem."),
            "content": {_JSON: {"schema": references[Problem, "serialization"]}},
        }
    return answers


def _usual_problems(route: DescribedRoute) -> set[int]:
    usual = {400, 503}
    if route.scope:
        usual |= {401, 403, 429}
    if "{" in route.path:
        usual.add(404)
    if route.about.body is not None:
        usual |= {413, 415}
    return usual


def _content(content: Content, references: dict[Any, OpenApiObject]) -> OpenApiObject:
    if content is None:
        return {}
    if isinstance(content, str):
        return {"content": {content: {"schema": {}}}}
    if isinstance(content, dict):
        return {"content": {_JSON: {"schema": content}}}
    schemas = [references[model, "serialization"] for model in _models(content)]
    return {"content": {_JSON: {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}}}}


def _models(content: Content) -> tuple[Model, ...]:
    if isinstance(content, tuple):
        return content
    return (content,) if isinstance(content, type) else ()


def _path_parameters(path: str) -> list[OpenApiObject]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(path)
    ]


def _query_parameter(parameter: Parameter) -> OpenApiObject:
    described = {"name": parameter.name, "in": "query", "schema": parameter.schema}
    return described | ({"description": parameter.description} if parameter.description else {})


def _operation_id(route: DescribedRoute) -> str:
    words = re.sub(r"\W+", "_", route.path.removeprefix("/api/projects/{project_id}"))
    return (
        f"{route.method.lower()}_{words.strip('_')}" if words.strip("_") else route.method.lower()
    )


def _tag(path: str) -> str:
    inside = path.removeprefix("/api/projects/{project_id}/").removeprefix("/api/")
    return inside.strip("/").split("/")[0] or "projects"
