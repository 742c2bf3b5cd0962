"""What the compiler tells about a query when it is saved; kept with the version."""

from typing import Any, Protocol

import msgspec

from hoglet.access.principals import Project

type Json = dict[str, Any]


class Eligibility(msgspec.Struct, frozen=True, omit_defaults=False):
    """Whether a query can be kept as a table; ``reason_code`` as in.

    Source: docs/spec/query-endpoints.md#72-what-can-be-materialized.
    """

    can_materialize: bool
    reason: str | None = None
    reason_code: str | None = None


class Analysis(msgspec.Struct, frozen=True):
    """The compiler's view of a query.

    ``columns`` are ``[{"name": "count()", "type": "integer"}]``; ``types`` the same columns as the
    compiler knows them (``hogql.types.Type``); ``variables`` the code names in ``{variables.X}``;
    ``breakdowns`` the breakdown properties of an insight; ``plan`` how the version is kept as a
    table (see ``materializing``), None when it cannot be.
    """

    columns: list[dict[str, str]] = []
    types: list[Json] = []
    variables: list[str] = []
    breakdowns: list[str] = []
    uses_filters: bool = False
    eligibility: Eligibility = Eligibility(can_materialize=False)
    plan: Json | None = None


class Analyzer(Protocol):
    """Reads a query without running it."""

    async def analyse(self, project: Project, query: Json, buckets: Json | None) -> Analysis:
        """Parse and resolve a query.

        Raises:
            SourceError: it does not parse, or names what does not exist.
        """
        ...


def to_json(analysis: Analysis) -> Json:
    """For the table."""
    return msgspec.to_builtins(analysis)


def from_json(stored: Json) -> Analysis:
    """From the table; what older versions of hoglet did not store takes its default."""
    return msgspec.convert(stored, Analysis)
