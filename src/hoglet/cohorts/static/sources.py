"""Sources of static cohorts: exactly one of a list, a file, a query or criteria.

Source: docs/spec/data-and-queries.md#33-static-cohorts.
"""

import asyncio
from typing import Any, NamedTuple

from hoglet.cohorts.criteria.groups import criteria_of_groups
from hoglet.cohorts.criteria.schema import read_criteria
from hoglet.cohorts.schemas import CohortFields
from hoglet.cohorts.static.csv_upload import read_csv
from hoglet.cohorts.static.service import PERSON_ID, as_uuid
from hoglet.kit.errors import Invalid
from hoglet.kit.suggestions import near

type Json = dict[str, Any]

MAX_SEARCH_CHARACTERS = 500
_LARGEST = 10**9
_KINDS = ("HogQLQuery", "ActorsQuery")
_HOGQL_KEYS = frozenset(
    {
        "kind", "query", "variables", "filters", "values", "name", "modifiers", "explain", "tags",
        "version", "response",
    }
)  # fmt: skip
_ACTORS_KEYS = frozenset(
    {
        "kind", "source", "select", "search", "properties", "orderBy", "limit", "offset",
        "modifiers", "tags", "version", "response",
    }
)  # fmt: skip


class StaticSource(NamedTuple):
    """Exactly one part is set; ``upload`` is ``("email", ["a@b.c"])``."""

    upload: tuple[str, list[str]] | None = None
    query: Json | None = None
    filters: Json | None = None


async def read_source(fields: CohortFields, sent: set[str], csv: bytes | None) -> StaticSource:
    """Parse the source of a static cohort.

    Raises:
        Invalid: there is no source, more than one, or an invalid one.
    """
    if {"query", "filters"} <= sent:
        raise Invalid(
            "A cohort can be created from a query or from criteria, not both.", attr="query"
        )
    given = sent & {"create_static_person_ids", "csv", "query", "filters"}
    if fields.groups and not given:
        return StaticSource(filters=read_criteria(criteria_of_groups(fields.groups)))
    if len(given) != 1:
        raise Invalid(
            "A static cohort requires exactly one of _create_static_person_ids, csv, "
            "query and filters.",
            attr="is_static",
        )
    if csv is not None:
        return StaticSource(upload=await asyncio.to_thread(read_csv, csv))
    if fields.query is not None:
        return StaticSource(query=_query(fields.query))
    if fields.filters is not None:
        return StaticSource(filters=read_criteria(fields.filters))
    return StaticSource(upload=(PERSON_ID, _person_ids(fields.create_static_person_ids or [])))


def _person_ids(values: list[Any]) -> list[str]:
    for index, value in enumerate(values):
        if as_uuid(value) is None:
            raise Invalid("Must be a valid UUID.", attr=f"_create_static_person_ids__{index}")
    return [str(value) for value in values]


def _query(query: Json) -> Json:
    kind = query.get("kind")
    if kind not in _KINDS:
        hint = near(str(kind), _KINDS) or f" Use one of {', '.join(_KINDS)}."
        raise Invalid(
            f"A cohort cannot be created from '{str(kind)[:60]}'.{hint}", attr="query__kind"
        )
    _check_keys(query, _HOGQL_KEYS if kind == "HogQLQuery" else _ACTORS_KEYS, "query")
    if kind == "HogQLQuery":
        _check_hogql(query, "query")
        return query
    source = query.get("source")
    if not isinstance(source, dict) or source.get("kind") != "HogQLQuery":
        raise Invalid("The source of an ActorsQuery must be a HogQLQuery.", attr="query__source")
    _check_keys(source, _HOGQL_KEYS, "query__source")
    _check_hogql(source, "query__source")
    _check_actors(query)
    return query


def _check_actors(query: Json) -> None:
    for name, least in (("limit", 1), ("offset", 0)):
        value = query.get(name)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and not (is_whole and least <= value <= _LARGEST):
            detail = f"This must be an integer of at least {least}."
            raise Invalid(detail, attr=f"query__{name}")
    if not isinstance(query.get("search") or "", str):
        raise Invalid("This must be a string.", attr="query__search")
    if len(query.get("search") or "") > MAX_SEARCH_CHARACTERS:
        raise Invalid(
            f"At most {MAX_SEARCH_CHARACTERS} characters can be searched for.", attr="query__search"
        )
    for name in ("select", "orderBy"):
        items = query.get(name) or []
        if not isinstance(items, list) or not all(isinstance(each, str) for each in items):
            raise Invalid("This must be a list of strings.", attr=f"query__{name}")
    if not isinstance(query.get("properties") or [], list | dict):
        raise Invalid("This must be a list of property filters.", attr="query__properties")


def _check_hogql(query: Json, path: str) -> None:
    if not isinstance(query.get("query"), str) or not query["query"].strip():
        raise Invalid("A HogQLQuery needs a query.", attr=f"{path}__query")
    if not isinstance(query.get("variables") or {}, dict):
        raise Invalid("Expected an object.", attr=f"{path}__variables")


def _check_keys(query: Json, known: frozenset[str], path: str) -> None:
    for name in query:
        if name not in known:
            detail = f'"{name[:60]}" is not a known field.{near(name, known)}'
            raise Invalid(detail, attr=f"{path}__{name[:60]}")
