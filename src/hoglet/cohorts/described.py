"""Answers of the cohort routes, for the OpenAPI document."""

from typing import Any

from hoglet.cohorts.schemas import AddedPersons, CohortFields, RemovedPerson
from hoglet.web.openapi import DocumentedResponse, OpenResponse, RouteDoc
from hoglet.web.paths import PROJECT_PREFIX


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
    """A page of persons; with ``format=csv`` the answer is CSV."""

    next: str | None
    previous: str | None
    results: list[dict[str, Any]]


class Done(DocumentedResponse):
    """The change was made."""

    success: bool


class CohortUsers(OpenResponse):
    """Who uses a cohort, each ``{results, total, has_more}``."""

    cohorts: dict[str, Any]
    endpoints: dict[str, Any]


class CohortsOfPerson(DocumentedResponse):
    """The cohorts that hold a person."""

    results: list[dict[str, Any]]


_ALL = PROJECT_PREFIX + "/cohorts"
_ONE = _ALL + "/{cohort_id}"
_COPY = RouteDoc({200: CohortAnswer})
_PAGE = RouteDoc({200: CohortPage})

ABOUT: dict[tuple[str, str], RouteDoc] = {
    ("GET", _ALL): _PAGE,
    ("POST", _ALL): RouteDoc({201: CohortAnswer}, body=CohortFields),
    ("GET", _ALL + "/activity"): _PAGE,
    ("GET", _ONE): RouteDoc({200: CohortAnswer}),
    ("PATCH", _ONE): RouteDoc({200: CohortAnswer}, body=CohortFields),
    ("PUT", _ONE): RouteDoc({200: CohortAnswer}, body=CohortFields),
    ("DELETE", _ONE): RouteDoc({405: {"type": "object"}}),
    ("GET", _ONE + "/persons"): RouteDoc({200: PersonPage}),
    ("PATCH", _ONE + "/add_persons_to_static_cohort"): RouteDoc({200: Done}, body=AddedPersons),
    ("PATCH", _ONE + "/remove_person_from_static_cohort"): RouteDoc(
        {200: Done}, body=RemovedPerson
    ),
    ("GET", _ONE + "/duplicate_as_static_cohort"): _COPY,
    ("POST", _ONE + "/duplicate_as_static_cohort"): _COPY,
    ("GET", _ONE + "/calculation_history"): _PAGE,
    ("GET", _ONE + "/used_in"): RouteDoc({200: CohortUsers}),
    ("GET", _ONE + "/activity"): _PAGE,
    ("GET", PROJECT_PREFIX + "/persons/cohorts"): RouteDoc({200: CohortsOfPerson}),
}
