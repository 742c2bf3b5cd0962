"""The messages to and from the workers that compile cohorts."""

from typing import Any

import msgspec

from hoglet.cohorts.criteria.model import Criteria
from hoglet.endpoints.worker.messages import CompileContext
from hoglet.hogql.query_json.nodes import QueryNode


class CohortRequest(msgspec.Struct, frozen=True):
    """The criteria of a cohort, or its query."""

    context: CompileContext
    criteria: Criteria | None = None
    query: QueryNode | None = None


class PersonsPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a cohort's persons.

    ``search`` is a part of a name; ``person_ids`` are the persons whose distinct id or UUID it is;
    ``properties`` are property filters.
    """

    cohort: int
    search: str
    person_ids: list[str]
    properties: list[Any]
    limit: int
    offset: int


class PersonsRequest(msgspec.Struct, frozen=True):
    """A page to compile."""

    page: PersonsPage
    context: CompileContext


class PersonsSql(msgspec.Struct, frozen=True):
    """A statement that returns ids of persons, and its values.

    ``strays`` is a statement that returns a value of a user's query that is not a UUID, if any.
    """

    sql: str
    params: dict[str, Any]
    strays: "PersonsSql | None" = None
