"""The compiler's analysis of a query, stored with the version."""

from typing import Any, Protocol

import msgspec

from hoglet.access.principals import Project

type Json = dict[str, Any]


class Eligibility(msgspec.Struct, frozen=True, omit_defaults=False):
    """Whether a query can be materialized, with ``reason_code``.

    Source: docs/spec/query-endpoints.md#72-what-can-be-materialized.
    """

    can_materialize: bool
    reason: str | None = None
    reason_code: str | None = None


class Analysis(msgspec.Struct, frozen=True):
    """The compiler's analysis of a query.

    ``columns`` are ``[{"name": "count()", "type": "integer"}]``; ``types`` the same columns with
    the compiler's types (``hogql.types.Type``); ``variables`` the code names in ``{variables.X}``;
    ``breakdowns`` the breakdown properties of an insight; ``plan`` how the version is materialized,
    None if it cannot be.
    """

    columns: list[dict[str, str]] = []
    types: list[Json] = []
    variables: list[str] = []
    breakdowns: list[str] = []
    uses_filters: bool = False
    eligibility: Eligibility = Eligibility(can_materialize=False)
    plan: Json | None = None


class Analyzer(Protocol):
    """Analyzes a query without running it."""

    async def analyse(self, project: Project, query: Json, buckets: Json | None) -> Analysis:
        """Parse and resolve a query.

        Raises:
            SourceError: it does not parse, or refers to something unknown.
        """
        ...


def to_json(analysis: Analysis) -> Json:
    """The JSON to store."""
    return msgspec.to_builtins(analysis)


def from_json(stored: Json) -> Analysis:
    """Load stored JSON; fields missing in older versions get their defaults."""
    return msgspec.convert(stored, Analysis)
