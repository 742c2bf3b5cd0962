"""The events, properties and sample values of a project as text, for language models.

Source: docs/compatibility.md (the tools of MCP servers).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from hoglet.access.principals import ProjectScope
from hoglet.definitions.observer import UNDEFINED_PROPERTIES
from hoglet.definitions.session_properties import session_property_types
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.hogql.ast_builders import field
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.kit.suggestions import near
from hoglet.queries.hogql import select_rows
from hoglet.queries.service import QueryService
from hoglet.web.validation import Body, Text, Whole

_DAYS = 30
_MAX_PAGE_ROWS = 500
_SAMPLES = 25
_RECENT = f"timestamp > now() - toIntervalDay({_DAYS})"

type TaxonomyName = Annotated[Text, Field(min_length=1, max_length=400)]


class _Query(Body, extra="forbid"):
    pass


class ListEvents(_Query):
    """Event names, most frequent first."""

    kind: Literal["events"]
    limit: Annotated[Whole, Field(ge=1, le=_MAX_PAGE_ROWS)] = _MAX_PAGE_ROWS
    offset: Annotated[Whole, Field(ge=0, le=1_000_000)] = 0


class EventProperties(_Query):
    """Properties of an event, most frequent first."""

    kind: Literal["event_properties"]
    event_name: TaxonomyName


class ActionProperties(_Query):
    """Properties of the events that match an action."""

    kind: Literal["action_properties"]
    action_id: Whole


class EntityProperties(_Query):
    """Properties of persons, sessions or a group type."""

    kind: Literal["entity_properties"]
    entity: TaxonomyName


class EventValuesQuery(_Query):
    """Sample values of a property of an event."""

    kind: Literal["event_property_values"]
    event_name: TaxonomyName
    property_name: TaxonomyName


class ActionValues(_Query):
    """Sample values of a property of the events that match an action."""

    kind: Literal["action_property_values"]
    action_id: Whole
    property_name: TaxonomyName


class EntityValues(_Query):
    """Sample values of a property of persons, sessions or a group type."""

    kind: Literal["entity_property_values"]
    entity: TaxonomyName
    property_name: TaxonomyName


type TaxonomyQuery = Annotated[
    ListEvents
    | EventProperties
    | ActionProperties
    | EntityProperties
    | EventValuesQuery
    | ActionValues
    | EntityValues,
    Field(discriminator="kind"),
]


class NotInTaxonomy(Exception):
    """There is no such event, action, entity or property; the message suggests similar names."""


class _Events(NamedTuple):
    """Recent events of a name or action: the condition, its bound values, a title for messages."""

    condition: str
    values: dict[str, Any]
    title: str


class Taxonomy:
    """Describes a project's events and entities.

    Args:
        queries: runs HogQL with the budget and log of queries.
        compiler: knows property types, group types and actions.
    """

    def __init__(self, queries: QueryService, compiler: QueryCompiler) -> None:
        self._queries = queries
        self._compiler = compiler

    async def read(  # noqa: PLR0911 (one return a kind)
        self, scope: ProjectScope, query: TaxonomyQuery
    ) -> str:
        """The requested part as text, one line each.

        Raises:
            NotInTaxonomy: a name of the query is unknown.
            QueryError, CostExceeded, Throttled, Unavailable: as for endpoint runs.
        """
        match query:
            case ListEvents():
                return await self._events(scope, query)
            case EventProperties():
                return await self._properties(scope, await self._named(scope, query.event_name))
            case ActionProperties():
                return await self._properties(scope, await self._action(scope, query.action_id))
            case EventValuesQuery():
                events = await self._named(scope, query.event_name)
                return await self._event_values(scope, events, query.property_name)
            case ActionValues():
                events = await self._action(scope, query.action_id)
                return await self._event_values(scope, events, query.property_name)
            case EntityProperties():
                return await self._entity_properties(scope, query.entity)
            case EntityValues():
                return await self._entity_values(scope, query)

    async def _events(self, scope: ProjectScope, query: ListEvents) -> str:
        rows = await select_rows(
            self._queries,
            scope,
            f"SELECT event, count() AS total FROM events WHERE {_RECENT} GROUP BY event"  # noqa: S608 (fixed texts)
            f" ORDER BY total DESC, event LIMIT {query.limit + 1} OFFSET {query.offset}",
        )
        lines = [f"{name}: {total}" for name, total in rows[: query.limit]]
        if not lines:
            return f"No events in the last {_DAYS} days."
        if len(rows) > query.limit:
            lines.append(
                f"There are more events: read them with offset {len(lines) + query.offset}."
            )
        return "\n".join([f"Events of the last {_DAYS} days with their number:", *lines])

    async def _named(self, scope: ProjectScope, name: str) -> _Events:
        """Events of a name that occurred.

        Raises:
            NotInTaxonomy: it did not.
        """
        rows = await select_rows(
            self._queries,
            scope,
            f"SELECT event FROM events WHERE {_RECENT} GROUP BY event"  # noqa: S608 (fixed texts)
            f" ORDER BY event = {{event}} DESC, count() DESC LIMIT {_MAX_PAGE_ROWS}",
            values={"event": name},
        )
        names = [row[0] for row in rows]
        if name not in names:
            hint = near(name, names)
            raise NotInTaxonomy(f'No event "{name}" in the last {_DAYS} days.{hint}')
        return _Events("event = {event}", {"event": name}, f'event "{name}"')

    async def _action(self, scope: ProjectScope, action_id: int) -> _Events:
        context = await self._compiler.context(scope.project)
        if str(action_id) not in context.schema.actions:
            raise NotInTaxonomy(f"There is no action {action_id} in this project.")
        return _Events(f"matchesAction('{action_id}')", {}, f"action {action_id}")

    async def _properties(self, scope: ProjectScope, events: _Events) -> str:
        rows = await select_rows(
            self._queries,
            scope,
            "SELECT arrayJoin(JSONExtractKeys(properties)) AS name, count() AS total FROM events"  # noqa: S608 (fixed texts; the event is bound)
            f" WHERE {_RECENT} AND {events.condition} GROUP BY name"
            f" ORDER BY total DESC, name LIMIT {_MAX_PAGE_ROWS}",
            values=events.values,
        )
        names = [row[0] for row in rows if row[0] not in UNDEFINED_PROPERTIES]
        if not names:
            return f"No properties of {events.title} in the last {_DAYS} days."
        types = await self._types(scope, "event")
        return _listed(f"Properties of {events.title}:", {name: types.get(name) for name in names})

    async def _event_values(self, scope: ProjectScope, events: _Events, name: str) -> str:
        source = f"FROM events WHERE {_RECENT} AND {events.condition}"
        read = print_expression(field("properties", name))
        return await self._values(scope, f"{name} of {events.title}", read, source, events.values)

    async def _entity_properties(self, scope: ProjectScope, entity: str) -> str:
        kind, _ = await self._entity(scope, entity)
        types = session_property_types() if kind == "session" else await self._types(scope, kind)
        return (
            _listed(f"Properties of {entity}:", types) if types else f"No properties of {entity}."
        )

    async def _entity_values(self, scope: ProjectScope, query: EntityValues) -> str:
        kind, source = await self._entity(scope, query.entity)
        name, title = query.property_name, f"{query.property_name} of {query.entity}"
        chain = (name,) if kind == "session" else ("properties", name)
        if kind == "session" and name not in session_property_types():
            hint = near(name, session_property_types())
            raise NotInTaxonomy(f'Sessions have no property "{name}".{hint}')
        return await self._values(scope, title, print_expression(field(*chain)), source, {})

    async def _entity(self, scope: ProjectScope, entity: str) -> tuple[str, str]:
        """The property kind of an entity such as ``persons``, and the source of its values.

        Raises:
            NotInTaxonomy: neither persons nor sessions nor a group type.
        """
        groups = (await self._compiler.context(scope.project)).schema.group_types
        known = {
            "person": ("person", "FROM persons WHERE 1 = 1"),
            "session": ("session", f"FROM sessions WHERE $start_{_RECENT}"),
        } | {
            name: (f"group_{index}", f"FROM groups WHERE index = {index}")
            for name, index in groups.items()
        }
        for name in (entity, entity.removesuffix("s"), entity.removesuffix("ies") + "y"):
            if name in known:
                return known[name]
        raise NotInTaxonomy(f'There is no entity "{entity}".{near(entity, known)}')

    async def _values(
        self, scope: ProjectScope, title: str, read: str, source: str, values: dict[str, Any]
    ) -> str:
        """The most frequent values of an expression; ``source`` ends in a condition."""
        rows = await select_rows(
            self._queries,
            scope,
            f"SELECT toString({read}) AS value, count() AS total, count() OVER () AS forms"
            f" {source} AND {read} IS NOT NULL GROUP BY value"
            f" ORDER BY total DESC, value LIMIT {_SAMPLES}",
            values=values,
        )
        if not rows:
            return f"No values of {title}."
        lines = [f"{value}: {total}" for value, total, _ in rows]
        head = f"{rows[0][2]} distinct values of {title}, most frequent first, with their number:"
        return "\n".join([head, *lines])

    async def _types(self, scope: ProjectScope, kind: str) -> dict[str, str | None]:
        context = await self._compiler.context(scope.project)
        return {
            name: type_ for owner, name, type_ in context.schema.property_types if owner == kind
        }


def _listed(title: str, types: Mapping[str, str | None]) -> str:
    lines = [f"{name}: {type_ or 'unknown type'}" for name, type_ in types.items()]
    return "\n".join([title, *lines])
