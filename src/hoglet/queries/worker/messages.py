"""What the server sends to workers for events and editor queries, and what they return."""

from typing import NamedTuple, TypedDict

import msgspec

from hoglet.endpoints.worker.messages import CompileContext
from hoglet.hogql.errors import Fragment
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.queries.worker.diagnostics import Finding
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


class Metadata(TypedDict):
    """The response of a metadata query."""

    query: str
    isValid: bool
    isUsingIndices: str
    errors: list[Finding]
    warnings: list[Finding]
    notices: list[Finding]
    table_names: list[str]
    ch_table_names: None


class Inspected(NamedTuple):
    """Metadata of a text, and the plan of its query as lines."""

    metadata: Metadata
    explain: list[str]


class Report:
    """Collects findings of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.errors: list[Finding] = []
        self.warnings: list[Finding] = []
        self.notices: list[Finding] = []
        self.tables: list[str] = []
        self.index_use = "undecisive"
        self.plan: list[str] = []

    def answer(self) -> Metadata:
        """The response of a metadata query."""
        return {
            "query": self._text,
            "isValid": not self.errors,
            "isUsingIndices": self.index_use,
            "errors": self.errors,
            "warnings": self.warnings,
            "notices": self.notices,
            "table_names": self.tables,
            "ch_table_names": None,
        }


FILTER_LISTS = ("properties", "fixedProperties")


INVALID_KEY = "place"
"""Code of an error about a key of a query; its attr is the path in the query."""


class EventsPlan(msgspec.Struct, frozen=True):
    """The HogQL query of an events query, and how to assemble its rows.

    ``columns`` are ``[("event", "value", 1)]``: title, kind of assembly, number of columns; with
    ``cursor`` (``DESC`` or ``ASC``) time and id of the event follow. ``fragments`` are the user's
    expressions in the text of the query.
    """

    query: QueryNode
    columns: list[tuple[str, str, int]]
    cursor: str | None
    fragments: list[Fragment]
