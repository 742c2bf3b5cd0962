"""Messages from the server to workers for events queries and editor queries."""

import msgspec

from hoglet.endpoints.worker.messages import CompileContext
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.queries.worker.suggestion import PropertyName


class PlanRequest(msgspec.Struct, frozen=True):
    """An events query; ``name_properties`` are those that name a person, None for the default."""

    query: QueryNode
    context: CompileContext
    name_properties: list[str] | None


class InspectRequest(msgspec.Struct, frozen=True):
    """A metadata query.

    ``shares`` are ``[("event", "price", "Numeric", 0.2)]``: the share of a property's latest values
    that do not convert to its type.
    """

    query: QueryNode
    context: CompileContext
    shares: list[tuple[str, str, str, float]]


class CompleteRequest(msgspec.Struct, frozen=True):
    """An autocomplete query, with the properties and variables of the project."""

    query: QueryNode
    context: CompileContext
    properties: list[PropertyName]
    variables: list[str]
