"""The compiler's analysis of a query, stored with the version."""

from typing import Any, Protocol, TypedDict

import msgspec

from hoglet.access.principals import Project
from hoglet.hogql.context import SavedColumn, SavedTable
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.hogql.types import Type


class RecordColumn(TypedDict):
    """A column of a query's result, as in records: ``{"name": "count()", "type": "integer"}``."""

    name: str
    type: str


type Buckets = dict[str, str]
"""The rounding of range variables by column: ``{"timestamp": "hour"}``."""


class Eligibility(msgspec.Struct, frozen=True, omit_defaults=False):
    """Whether a query can be materialized, with ``reason_code``.

    Source: docs/spec/query-endpoints.md#72-what-can-be-materialized.
    """

    can_materialize: bool
    reason: str | None = None
    reason_code: str | None = None


class TableShape(msgspec.Struct, frozen=True):
    """The table of a materialized version: its columns, and the variables that runs filter by."""

    columns: list[tuple[str, Type]]
    variables: list[str]

    def table(self, physical: str) -> SavedTable:
        """The table as queries can read it."""
        columns = (SavedColumn(name, type_) for name, type_ in self.columns)
        return SavedTable(physical, tuple(columns))


class TablePlan(TableShape, frozen=True):
    """How a materialized version is built, as stored with the materialization.

    ``buckets`` is the rounding of range variables by column; ``built_for`` are the settings of the
    project that its rows depend on, see ``depends_on``.
    """

    buckets: dict[str, str] | None = None
    built_for: dict[str, Any] = {}


class Analysis(msgspec.Struct, frozen=True):
    """The compiler's analysis of a query; fields missing in older versions get their defaults.

    ``columns`` are ``[{"name": "count()", "type": "integer"}]``; ``types`` the same columns with
    the compiler's types (``hogql.types.Type``); ``variables`` the code names in ``{variables.X}``;
    ``breakdowns`` the breakdown properties of an insight; ``plan`` how the version is materialized,
    None if it cannot be.
    """

    columns: list[RecordColumn] = []
    types: list[Type] = []
    variables: list[str] = []
    breakdowns: list[str] = []
    uses_filters: bool = False
    eligibility: Eligibility = Eligibility(can_materialize=False)
    plan: TableShape | None = None


class Analyzer(Protocol):
    """Analyzes a query without running it."""

    async def analyze(
        self, project: Project, query: QueryNode, buckets: Buckets | None
    ) -> Analysis:
        """Parse and resolve a query.

        Raises:
            SourceError: it does not parse, or refers to something unknown.
        """
        ...
