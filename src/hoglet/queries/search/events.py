"""Lists stored events with events queries.

Source: docs/spec/data-and-queries.md#42-events-older-routes-scope-queryread.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import orjson

from hoglet.access.principals import ProjectScope
from hoglet.endpoints.worker.query_errors import QueryError
from hoglet.events.elements import read_chain
from hoglet.hogql.ast_builders import constant
from hoglet.hogql.context import MAX_LIMIT
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.kit.clock import Clock
from hoglet.kit.errors import Invalid, NotFound, Unreadable
from hoglet.queries.events_query_schemas import check_events_query
from hoglet.queries.hogql import run_node, select_rows
from hoglet.queries.kinds import EVENTS
from hoglet.queries.search.persons import (
    MAX_VALUES,
    property_field,
    read_properties,
    under_parameters,
)
from hoglet.queries.service import QueryService
from hoglet.web.request_body import parse_json

type Json = dict[str, Any]

MAX_OFFSET = 50_000
_DAYS_OF_VALUES = 7
_ORDERS = {"-timestamp": "timestamp DESC", "timestamp": "timestamp ASC"}
_NAMES = {"personId": "person_id", "actionId": "action_id", "fixedProperties": "properties"}
_FAR = "2299-12-31T00:00:00Z"


class EventsPage(msgspec.Struct, frozen=True):
    """Events, and the cursor of the next page, for ``before`` (or ``after``)."""

    events: list[Json]
    cursor: str | None = None
    ascending: bool = False


class EventFilters(msgspec.Struct, frozen=True):
    """An events query built from parameters."""

    node: Json = msgspec.field(default_factory=dict[str, Any])
    ascending: bool = False


def read_filters(query: Mapping[str, str], person_id: UUID | None) -> EventFilters:
    """Parse the filters of a query string.

    Raises:
        Invalid: attr is the parameter.
    """
    order = _order(query.get("orderBy"))
    where: list[str] = []
    if query.get("distinct_id"):
        where.append(f"distinct_id = {print_expression(constant(query['distinct_id']))}")
    node: Json = {
        "kind": EVENTS,
        "select": ["*", "person"],
        "where": where,
        "orderBy": [_ORDERS[order]],
        "limit": min(_whole(query, "limit", 100) or 100, MAX_LIMIT),
        "offset": _offset(query),
        "event": query.get("event") or None,
        "properties": read_properties(query.get("properties"), kind="event"),
        "actionId": _whole(query, "action_id", None),
        "personId": None if person_id is None else str(person_id),
        "after": query.get("after") or None,
        "before": query.get("before") or None,
    }
    return EventFilters(node, ascending=order == "timestamp")


class EventSearch:
    """Searches stored events."""

    def __init__(self, queries: QueryService, clock: Clock) -> None:
        self._queries = queries
        self._clock = clock

    async def page(self, scope: ProjectScope, filters: EventFilters) -> EventsPage:
        """One page of events.

        Raises:
            Invalid: a filter is invalid; attr is its parameter.
        """
        try:
            node = check_events_query(filters.node, "query")
            answer = await run_node(self._queries, scope, node)
        except (QueryError, Unreadable) as error:
            raise _renamed(error) from error
        rows = orjson.loads(answer.result.rows_json)
        return EventsPage([_display(*row) for row in rows], answer.next_cursor, filters.ascending)

    async def find(self, scope: ProjectScope, uuid: UUID) -> Json:
        """The event with this UUID, of any time.

        Raises:
            NotFound: no such event in this project.
        """
        node = {
            "kind": EVENTS,
            "select": ["*", "person"],
            "where": [f"uuid = toUUID('{uuid}')"],
            "after": "all",
            "before": _FAR,
            "limit": 1,
        }
        answer = await run_node(self._queries, scope, check_events_query(node, "query"))
        rows = orjson.loads(answer.result.rows_json)
        if not rows:
            raise NotFound
        return _display(*rows[0])

    async def values(
        self, scope: ProjectScope, key: str, event: str | None, part: str | None
    ) -> list[Json]:
        """The most frequent values of a property in the last week: ``[{"name": "Chrome"}]``."""
        name = property_field(key)
        since = self._clock.now() - timedelta(days=_DAYS_OF_VALUES)
        conditions = [
            "timestamp >= toDateTime({since})",
            f"{name} IS NOT NULL",
            f"toString({name}) != ''",
        ]
        values: Json = {"since": since.strftime("%Y-%m-%dT%H:%M:%SZ")}
        if event:
            conditions.append("event = {event}")
            values["event"] = event
        if part:
            conditions.append(f"positionCaseInsensitiveUTF8(toString({name}), {{part}}) > 0")
            values["part"] = part
        rows = await select_rows(
            self._queries,
            scope,
            f"SELECT toString({name}) AS value FROM events WHERE {' AND '.join(conditions)}"  # noqa: S608 (fixed texts; the key is quoted)
            f" GROUP BY value ORDER BY count() DESC, value LIMIT {MAX_VALUES}",
            values=values,
        )
        return [{"name": row[0]} for row in rows]


def _display(event: Json, person: Json) -> Json:
    chain = event["elements_chain"]
    return {
        "id": event["uuid"],
        "distinct_id": event["distinct_id"],
        "properties": event["properties"],
        "event": event["event"],
        "timestamp": event["timestamp"],
        "person": _person(person),
        "elements": read_chain(chain) if chain else [],
        "elements_chain": chain,
    }


def _person(person: Json) -> Json | None:
    if "uuid" not in person:
        return None
    return {
        "uuid": person["uuid"],
        "distinct_ids": [person["distinct_id"]],
        "properties": person["properties"],
        "created_at": person["created_at"],
    }


def _order(text: str | None) -> str:
    """``["-timestamp"]`` or ``-timestamp``."""
    if not text:
        return "-timestamp"
    given: Any = text
    if text.lstrip().startswith("["):
        try:
            given = parse_json(text.encode())
        except Unreadable as error:
            raise Invalid(f"This is not JSON: {error.detail}", attr="orderBy") from None
        given = given[0] if len(given) == 1 else None
    if not isinstance(given, str) or given not in _ORDERS:
        raise Invalid('Events are ordered by ["-timestamp"] or ["timestamp"].', attr="orderBy")
    return given


def _offset(query: Mapping[str, str]) -> int:
    offset = _whole(query, "offset", 0) or 0
    if offset > MAX_OFFSET:
        raise Invalid(
            f"At most {MAX_OFFSET} events can be skipped: change `before` instead.",
            attr="offset",
        )
    return offset


def _whole(query: Mapping[str, str], name: str, default: int | None) -> int | None:
    text = (query.get(name) or "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdecimal()) or len(text) > 15:
        raise Invalid("An integer is required.", attr=name)
    return int(text)


def _renamed(error: QueryError | Unreadable) -> Invalid:
    """The error with the name of the parameter."""
    public = under_parameters(error)
    first, _, rest = (public.attr or "").partition("__")
    public.attr = "__".join(part for part in (_NAMES.get(first, first), rest) if part) or None
    return public
