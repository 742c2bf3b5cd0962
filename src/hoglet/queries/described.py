"""Answers of the query routes, for the OpenAPI document."""

from typing import Any

from hoglet.queries.schemas import QueryBody, UpgradeBody
from hoglet.web.openapi import DocumentedResponse, OpenResponse, RouteDoc, flag
from hoglet.web.paths import PROJECT_PREFIX


class QueryAnswer(OpenResponse):
    """What a query gives; its keys depend on its kind.

    Runs have ``results``, a schema ``tables``, metadata ``isValid``, autocomplete ``suggestions``.
    """

    results: list[Any] | dict[str, Any] | None = None
    timings: list[Any] | None = None


class RunStatus(OpenResponse):
    """How far a background query is."""

    id: str
    query_async: bool
    team_id: int
    complete: bool
    error: bool
    error_message: str | None
    error_code: str | None
    start_time: str
    expiration_time: str


class RunStatusAnswer(DocumentedResponse):
    """A background query; ``results`` inside once it is done."""

    query_status: RunStatus


class Cancelled(DocumentedResponse):
    """A query that is running no more."""

    message: str


class Upgraded(DocumentedResponse):
    """A query in today's form."""

    query: dict[str, Any]


class Allowed(DocumentedResponse):
    """The key may run queries."""

    user: str


_ALL = PROJECT_PREFIX + "/query"
_ONE = _ALL + "/{query_id}"
_RUN = RouteDoc({200: QueryAnswer, 202: RunStatusAnswer}, body=QueryBody)

ABOUT: dict[tuple[str, str], RouteDoc] = {
    ("POST", _ALL): _RUN,
    ("POST", _ALL + "/{kind}"): _RUN,
    ("GET", _ALL): RouteDoc({405: {"type": "object"}}),
    ("POST", _ALL + "/upgrade"): RouteDoc({200: Upgraded}, body=UpgradeBody),
    ("POST", _ALL + "/check_auth_for_async"): RouteDoc({200: Allowed}),
    ("GET", _ONE): RouteDoc(
        {200: RunStatusAnswer, 202: RunStatusAnswer, 400: RunStatusAnswer},
        query=(flag("show_progress"),),
    ),
    ("DELETE", _ONE): RouteDoc({200: Cancelled}, query=(flag("dequeue_only"),)),
    ("GET", _ONE + "/log"): RouteDoc({200: QueryAnswer}),
}
