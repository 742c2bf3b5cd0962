"""Bodies and parameters of the cohort routes.

Source: docs/spec/data-and-queries.md#3-cohorts.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool

from hoglet.kit.errors import Invalid
from hoglet.web.openapi import DocumentedResponse, OpenResponse
from hoglet.web.validation import Body, Text, Whole, validate

MAX_SEARCH_CHARACTERS = 200
MAX_PERSONS = 1_000  # per request


class CohortFields(Body):
    """Writable fields; other fields of a record are ignored."""

    name: Annotated[Text, Field(min_length=1, max_length=400)] | None = None
    description: Annotated[Text, Field(max_length=1000)] | None = None
    filters: dict[str, Any] | None = None
    query: dict[str, Any] | None = None
    groups: list[Any] | None = None
    is_static: StrictBool | None = None
    deleted: StrictBool | None = None
    create_static_person_ids: list[Any] | None = Field(
        default=None, alias="_create_static_person_ids"
    )


class AddedPersons(Body):
    """Body of ``add_persons_to_static_cohort``."""

    person_ids: list[Any] = Field(max_length=MAX_PERSONS)


class RemovedPerson(Body):
    """Body of ``remove_person_from_static_cohort``."""

    person_id: Text


class CohortListParams(Body):
    """Query parameters of the list."""

    type: Literal["static", "dynamic"] | None = None
    created_by_id: Whole | None = None
    search: Annotated[Text, Field(max_length=MAX_SEARCH_CHARACTERS)] | None = None
    hide_behavioral_cohorts: bool = False
    basic: bool = False


def read_fields(
    body: Mapping[str, Any], *, csv: bytes | None = None
) -> tuple[CohortFields, set[str]]:
    """The fields of a body, and the names of those sent with a value.

    Raises:
        Invalid: the first invalid field; a null name.
    """
    if "name" in body and body["name"] is None:
        raise Invalid("This field may not be null.", code="null", attr="name")
    fields = validate(CohortFields, {key: each for key, each in body.items() if each is not None})
    sent = {name for name in fields.model_fields_set if getattr(fields, name) is not None}
    return fields, sent | ({"csv"} if csv is not None else set())


def list_params(query: Mapping[str, str]) -> CohortListParams:
    """The parameters of a list, without empty ones.

    Raises:
        Invalid: a parameter is invalid; ``attr`` names it.
    """
    return validate(CohortListParams, {key: value for key, value in query.items() if value})


class CohortAnswer(OpenResponse):
    """A cohort."""

    id: int
    name: str
    description: str
    deleted: bool
    filters: dict[str, Any] | None
    query: dict[str, Any] | None
    is_calculating: bool
    errors_calculating: int
    count: int | None
    is_static: bool
    cohort_type: str


class CohortPage(OpenResponse):
    """A page of cohorts, calculations or activity."""

    count: int
    next: str | None
    previous: str | None
    results: list[dict[str, Any]]


class PersonPage(OpenResponse):
    """A page of persons; CSV with ``format=csv``."""

    next: str | None
    previous: str | None
    results: list[dict[str, Any]]


class Done(DocumentedResponse):
    """The change was made."""

    success: bool


class CohortUsers(OpenResponse):
    """The users of a cohort, each ``{results, total, has_more}``."""

    cohorts: dict[str, Any]
    endpoints: dict[str, Any]


class CohortsOfPerson(DocumentedResponse):
    """The cohorts of a person."""

    results: list[dict[str, Any]]
