"""Searches persons in the warehouse: filters, text search, values of a property.

The warehouse determines matches; the persons are read from the database, which is always current.

Source: docs/spec/data-and-queries.md#41-persons.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from hoglet.access.principals import Project, ProjectScope
from hoglet.endpoints.worker.query_errors import QueryError
from hoglet.events.persons.repository import PersonRecord
from hoglet.events.persons.serializers import NAME_PROPERTIES
from hoglet.events.persons.service import PersonService
from hoglet.hogql.ast_builders import field
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.kit.errors import Invalid, Unreadable
from hoglet.queries.hogql import select_rows
from hoglet.queries.service import QueryService
from hoglet.web.pagination import PageRequest
from hoglet.web.request_body import parse_json

type Json = dict[str, Any]

MAX_VALUES = 10
MAX_SEARCH_CHARACTERS = 500


class PersonFilters(NamedTuple):
    """The search criteria, combined with AND."""

    distinct_id: str | None = None
    email: str | None = None
    search: str | None = None
    properties: list[Any] | None = None


class _Condition(NamedTuple):
    text: str
    values: Json
    filters: Json | None


def read_filters(query: Mapping[str, str]) -> PersonFilters:
    """Parse the filters of a query string.

    Raises:
        Invalid: attr is the parameter.
    """
    search = (query.get("search") or "").strip() or None
    if search is not None and len(search) > MAX_SEARCH_CHARACTERS:
        raise Invalid(
            f"At most {MAX_SEARCH_CHARACTERS} characters can be searched for.", attr="search"
        )
    return PersonFilters(
        query.get("distinct_id") or None,
        query.get("email") or None,
        search,
        read_properties(query.get("properties"), kind="person"),
    )


def read_properties(text: str | None, *, kind: str) -> list[Any] | None:
    """Parse property filters from a parameter; ``kind`` is the default ``type``.

    Raises:
        Invalid: not a list or a group of filters; attr ``properties``.
    """
    if not text:
        return None
    try:
        given = parse_json(text.encode())
    except Unreadable as error:
        raise Invalid(f"This is not JSON: {error.detail}", attr="properties") from None
    items = [given] if isinstance(given, dict) and given else given
    if not isinstance(items, list | dict):
        raise Invalid("This must be a list of property filters.", attr="properties")
    return [_typed(each, kind) for each in items]


class PersonSearch:
    """Searches persons."""

    def __init__(self, queries: QueryService, persons: PersonService) -> None:
        self._queries = queries
        self._persons = persons

    async def page(
        self, scope: ProjectScope, filters: PersonFilters, page: PageRequest
    ) -> tuple[list[PersonRecord], bool]:
        """A page of persons, newest first, and whether there are more.

        Raises:
            Invalid: a filter is invalid; attr is its parameter.
        """
        condition = await self._condition(scope.project, filters)
        if condition is None:
            return [], False
        limit = page.limit or 0
        rows = await self._select(
            scope,
            f"SELECT id FROM persons WHERE {condition.text} ORDER BY created_at DESC, id DESC"  # noqa: S608 (fixed texts)
            f" LIMIT {limit + 1} OFFSET {page.offset}",
            condition,
        )
        ids = [UUID(row[0]) for row in rows[:limit]]
        persons = await self._persons.load(scope.project.id, ids)
        seen = await self._persons.with_last_seen(scope.project.id, persons)
        return seen, len(rows) > limit

    async def count(self, scope: ProjectScope, filters: PersonFilters) -> int:
        """Number of matching persons."""
        condition = await self._condition(scope.project, filters)
        if condition is None:
            return 0
        text = f"SELECT count() FROM persons WHERE {condition.text}"  # noqa: S608 (fixed texts)
        rows = await self._select(scope, text, condition)
        return int(rows[0][0])

    async def values(self, scope: ProjectScope, key: str, part: str | None) -> list[Json]:
        """The most frequent values of a property: ``[{"name": "pro", "count": 2}]``."""
        read = property_field(key)
        where = f"{read} IS NOT NULL AND toString({read}) != ''"
        values: Json = {}
        if part:
            where += f" AND positionCaseInsensitiveUTF8(toString({read}), {{part}}) > 0"
            values["part"] = part
        rows = await select_rows(
            self._queries,
            scope,
            f"SELECT toString({read}) AS value, count() AS total FROM persons WHERE {where}"  # noqa: S608 (fixed texts; the key is quoted)
            f" GROUP BY value ORDER BY total DESC, value LIMIT {MAX_VALUES}",
            values=values,
        )
        return [{"name": row[0], "count": row[1]} for row in rows]

    async def _select(
        self, scope: ProjectScope, query: str, condition: _Condition
    ) -> list[list[Any]]:
        try:
            return await select_rows(
                self._queries, scope, query, values=condition.values, filters=condition.filters
            )
        except (QueryError, Unreadable) as error:
            raise under_parameters(error) from error

    async def _condition(self, project: Project, filters: PersonFilters) -> _Condition | None:
        """The condition of a search; None if it cannot match."""
        parts, values = ["{filters}"] if filters.properties else ["1 = 1"], dict[str, Any]()
        if filters.distinct_id is not None:
            person = await self._persons.find_by_distinct_id(project.id, filters.distinct_id)
            if person is None:
                return None
            parts.append("id = toUUID({person_id})")
            values["person_id"] = str(person.id)
        if filters.email is not None:
            parts.append("toString(properties.email) = {email}")
            values["email"] = filters.email
        if filters.search is not None:
            parts.append(await self._search(project, filters.search, values))
        property_filters = {"properties": filters.properties} if filters.properties else None
        return _Condition(" AND ".join(parts), values, property_filters)

    async def _search(self, project: Project, text: str, values: Json) -> str:
        names = project.person_display_name_properties or ()
        fields = map(property_field, dict.fromkeys([*NAME_PROPERTIES, *names]))
        ways = [f"positionCaseInsensitiveUTF8(toString({each}), {{search}}) > 0" for each in fields]
        values["search"] = text
        owner = await self._persons.find_by_distinct_id(project.id, text)
        identity = str(owner.id) if owner is not None else _uuid_text(text)
        if identity is not None:
            ways.append("id = toUUID({search_id})")
            values["search_id"] = identity
        return f"({' OR '.join(ways)})"


def property_field(key: str) -> str:
    """HogQL for a property with any name."""
    return print_expression(field("properties", key))


def under_parameters(error: QueryError | Unreadable) -> Invalid:
    """An error in a parameter's filters, with the parameter's name."""
    code = Invalid.code if isinstance(error, Unreadable) else error.error_code
    path = (error.attr or "").removeprefix("query__").removeprefix("filters__")
    return Invalid(error.detail, code=code, attr=path or None)


def _typed(item: Any, kind: str) -> Any:
    if not isinstance(item, dict):
        raise Invalid("Each property filter must be an object.", attr="properties")
    if isinstance(item.get("values"), list) and "key" not in item:
        return {"type": "AND"} | item | {"values": [_typed(each, kind) for each in item["values"]]}
    return {"type": kind} | item


def _uuid_text(text: str) -> str | None:
    try:
        return str(UUID(text))
    except ValueError:
        return None
