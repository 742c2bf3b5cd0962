"""Reads stored events in a time range, and builds the globals of their runs.

Source: docs/spec/hog-functions.md#91-enable_backfills.
"""

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

import msgspec
import orjson

from hoglet.access.auth import AccessService
from hoglet.events.groups import MAX_GROUP_TYPES, GroupStore
from hoglet.events.repository import EventsRepository
from hoglet.functions.jobs import BackfillV1
from hoglet.functions.json_types import Globals, GroupGlobal
from hoglet.functions.runtime.globals import (
    EventFields,
    event_globals,
    group_globals,
    person_globals,
    project_globals,
)
from hoglet.kit.clock import iso_z
from hoglet.store.database import Database
from hoglet.warehouse import QueryBudget, Warehouse
from hoglet.warehouse.port import QueryParameters
from hoglet.warehouse.values import instant_text

PAGE_SECONDS = 30
_COLUMNS = (
    "uuid, event, properties, timestamp, distinct_id, person_id, person_properties, elements_chain"
)
_GROUP_COLUMNS = ", ".join(f"`$group_{index}`" for index in range(MAX_GROUP_TYPES))
EVENT_SIZE = "length(properties) + length(person_properties) + length(elements_chain)"
"""Bytes of the texts of an event."""
_NOBODY = UUID(int=0)
_BEGINNING = datetime(1970, 1, 2, tzinfo=UTC)


class EventWindow(msgspec.Struct, frozen=True, kw_only=True):
    """From ``start_at`` to ``end_at``, exclusive, after the last processed event.

    ``events`` None means all names.
    """

    project_id: int
    start_at: datetime | None = None
    end_at: datetime | None = None
    events: list[str] | None = None
    after_at: datetime | None = None
    after_uuid: UUID | None = None


class StoredEvent(NamedTuple):
    """A row of ``events``; both ``properties`` are JSON texts."""

    uuid: UUID
    event: str
    properties: str
    timestamp: datetime
    distinct_id: str
    person_id: UUID
    person_properties: str
    elements_chain: str


class EventPage(NamedTuple):
    """Events of a time range; ``is_last`` if no more events follow."""

    rows: list[StoredEvent]
    is_last: bool


class StoredEvents:
    """Reads events in pages, oldest first."""

    def __init__(self, warehouse: Warehouse, access: AccessService, site_url: str) -> None:
        self._warehouse = warehouse
        self._access = access
        self._site_url = site_url

    async def count(self, window: EventWindow) -> int:
        """Number of events in a time range."""
        where, params = _where(window)
        result = await self._warehouse.query(
            f"SELECT uniqExact(uuid) FROM events WHERE {where}",  # noqa: S608 (fixed texts)
            params,
            budget=QueryBudget(seconds=PAGE_SECONDS),
        )
        return int(result.rows[0][0])

    async def page(self, window: EventWindow, *, limit: int, max_bytes: int) -> EventPage:
        """The next events of a time range, each once.

        Args:
            window: the time range.
            limit: maximum number of events.
            max_bytes: maximum size of their texts; a larger event is read alone.
        """
        where, params = _where(window)
        sizes = await self._sizes(window, limit)
        together = itertools.accumulate(size for _, size in sizes)
        fitting = max(sum(1 for size in together if size <= max_bytes), 1)
        uuids = [uuid for uuid, _ in sizes[:fitting]]
        result = await self._warehouse.query(
            f"SELECT {_COLUMNS} FROM events WHERE {where} "  # noqa: S608 (fixed texts)
            "AND uuid IN {uuids:Array(UUID)} ORDER BY timestamp, uuid LIMIT 1 BY uuid",
            {**params, "uuids": uuids},
            budget=QueryBudget(seconds=PAGE_SECONDS),
        )
        rows = [StoredEvent(UUID(str(row[0])), *row[1:]) for row in result.rows]
        return EventPage(rows, is_last=fitting >= len(sizes) < limit)

    async def _sizes(self, window: EventWindow, limit: int) -> list[tuple[str, int]]:
        """The next events as ``(uuid, bytes)``, oldest first."""
        where, params = _where(window)
        result = await self._warehouse.query(
            f"SELECT uuid, {EVENT_SIZE} FROM events WHERE {where} "  # noqa: S608 (fixed texts)
            "ORDER BY timestamp, uuid LIMIT 1 BY uuid LIMIT {limit:UInt32}",
            {**params, "limit": limit},
            budget=QueryBudget(seconds=PAGE_SECONDS),
        )
        return [(str(row[0]), int(row[1])) for row in result.rows]

    async def globals(self, request: BackfillV1, event: StoredEvent) -> Globals:
        """The globals of a run for a stored event, as of the time it was stored.

        Groups are empty.
        """
        project = await self._access.project(request.project_id)
        visible = project_globals(
            project_id=request.project_id,
            name=project.name if project else "",
            site_url=self._site_url,
        )
        created: Globals = {
            "project": visible,
            "source": {"name": f"Batch export: {request.batch_export_id}", "url": visible["url"]},
            "groups": {},
            **globals_of(
                event, visible["url"], project.person_display_name_properties if project else None
            ),
        }
        return created


def _where(window: EventWindow) -> tuple[str, QueryParameters]:
    conditions = ["project_id = {project_id:Int64}"]
    params: QueryParameters = {"project_id": window.project_id}
    if window.start_at is not None:
        conditions.append("timestamp >= {start_at:DateTime64(6, 'UTC')}")
        params["start_at"] = instant_text(window.start_at)
    if window.end_at is not None:
        conditions.append("timestamp < {end_at:DateTime64(6, 'UTC')}")
        params["end_at"] = instant_text(window.end_at)
    if window.events is not None:
        conditions.append("event IN {events:Array(String)}")
        params["events"] = window.events
    if window.after_uuid is not None:
        conditions.append(
            "(timestamp, uuid) > ({after_at:DateTime64(6, 'UTC')}, {after_uuid:UUID})"
        )
        params["after_at"] = instant_text(window.after_at or _BEGINNING)
        params["after_uuid"] = str(window.after_uuid)
    return " AND ".join(conditions), params


class StoredGroups:
    """The current groups of stored events.

    Args:
        database: has the groups.
        events: reads them.
    """

    def __init__(self, database: Database, events: EventsRepository) -> None:
        self._database = database
        self._events = events

    async def load(
        self, project_id: int, url: str, events: Sequence[Sequence[str]]
    ) -> list[dict[str, GroupGlobal]]:
        """The globals ``groups`` of each event.

        Args:
            project_id: the project of the events.
            url: URL of the project.
            events: the group keys of each event, ``""`` for none: ``[("acme", "", "", "", "")]``.
        """
        group_keys = {(index, key) for keys in events for index, key in enumerate(keys) if key}
        if not group_keys:
            return [{} for _ in events]
        async with self._database.read() as session:
            types = await self._events.group_types(session, project_id)
            states = await self._events.load_groups(session, project_id, group_keys)
        store = GroupStore(types, states)
        return [
            {
                kind: group_globals(
                    project_url=url,
                    group_type=kind,
                    index=index,
                    key=keys[index],
                    properties=store.properties_of(index, keys[index]),
                )
                for kind, index in types.items()
                if keys[index]
            }
            for keys in events
        ]


class StoredEventLookup:
    """Finds events by UUID, with the globals that their functions saw.

    Groups have their current properties; those at the time of the event are not stored.
    """

    def __init__(
        self, warehouse: Warehouse, access: AccessService, groups: StoredGroups, site_url: str
    ) -> None:
        self._warehouse = warehouse
        self._access = access
        self._groups = groups
        self._site_url = site_url

    async def find(self, project_id: int, uuid: UUID) -> Globals | None:
        """``{"event": {...}, "person": {...}?, "groups": {...}}``; None if it is not stored."""
        runs = await self.find_all(project_id, [uuid], seconds=PAGE_SECONDS)
        return runs[0] if runs else None

    async def find_all(
        self,
        project_id: int,
        uuids: Sequence[UUID],
        *,
        between: tuple[datetime, datetime] | None = None,
        seconds: float,
    ) -> list[Globals]:
        """The globals of several events, newest first.

        Args:
            project_id: the project of the events.
            uuids: UUIDs of the events; unknown ones are omitted.
            between: first and last timestamp of the events, which narrows the search.
            seconds: time limit of the query.
        """
        where = "project_id = {project_id:Int64} AND uuid IN {uuids:Array(UUID)}"
        params: QueryParameters = {"project_id": project_id, "uuids": [str(uuid) for uuid in uuids]}
        if between is not None:
            where += (
                " AND timestamp BETWEEN {start:DateTime64(6, 'UTC')} AND {end:DateTime64(6, 'UTC')}"
            )
            params |= {"start": instant_text(between[0]), "end": instant_text(between[1])}
        result = await self._warehouse.query(
            f"SELECT {_COLUMNS}, person_mode, {_GROUP_COLUMNS} "  # noqa: S608 (fixed texts)
            f"FROM events WHERE {where} ORDER BY timestamp DESC, uuid DESC LIMIT 1 BY uuid",
            params,
            budget=QueryBudget(seconds=seconds),
        )
        project = await self._access.project(project_id)
        url = project_globals(project_id=project_id, name="", site_url=self._site_url)["url"]
        names = project.person_display_name_properties if project else None
        groups = await self._groups.load(project_id, url, [row[9:] for row in result.rows])
        runs: list[Globals] = []
        for row, of_event in zip(result.rows, groups, strict=True):
            run = globals_of(StoredEvent(UUID(str(row[0])), *row[1:8]), url, names)
            if row[8] == "propertyless":
                run.pop("person", None)
            runs.append({**run, "groups": of_event})
        return runs


def globals_of(event: StoredEvent, url: str, name_properties: list[str] | None) -> Globals:
    """``event`` and ``person`` of a stored event, as of the time it was stored."""
    run: Globals = {
        "event": event_globals(
            url,
            EventFields(
                uuid=str(event.uuid),
                event=event.event,
                distinct_id=event.distinct_id,
                properties=orjson.loads(event.properties or "{}"),
                timestamp=iso_z(event.timestamp),
                elements_chain=event.elements_chain,
            ),
        )
    }
    if UUID(str(event.person_id)) != _NOBODY:
        run["person"] = person_globals(
            project_url=url,
            person_id=str(event.person_id),
            properties=orjson.loads(event.person_properties or "{}"),
            distinct_id=event.distinct_id,
            name_properties=name_properties,
        )
    return run
