"""Property and event definitions: lists, changes, deletions.

Source: docs/spec/data-and-queries.md#2-property-and-event-definitions.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, changes_between
from hoglet.access.principals import Project, ProjectScope, User
from hoglet.access.repository import find_project, update_project, users_by_id
from hoglet.access.service import AccessService
from hoglet.definitions import list_statements
from hoglet.definitions.conversion import ConversionShares
from hoglet.definitions.errors import built_in, hidden_and_verified
from hoglet.definitions.forms import PropertyFormCounter
from hoglet.definitions.listing import SESSION, EventFilter, PropertyFilter
from hoglet.definitions.schemas import (
    EventChanges,
    NewEvent,
    PropertyChanges,
    sent,
)
from hoglet.definitions.serializers import event_record, property_record, user_ids
from hoglet.definitions.session_properties import (
    BUILT_IN,
    find_session_property,
    session_properties,
)
from hoglet.definitions.tables import EventDefinitionRow, PropertyDefinitionRow
from hoglet.kit.errors import Invalid, NotFound
from hoglet.kit.ids import new_id
from hoglet.web.pagination import PageRequest

type Json = dict[str, Any]
type Row = PropertyDefinitionRow | EventDefinitionRow

_PROPERTY_FIELDS = ("property_type", "description", "tags", "verified", "hidden")
_EVENT_FIELDS = ("description", "tags", "verified", "hidden", "owner_id", "default_columns")


class DefinitionService:
    """Definitions of all projects.

    Args:
        access: projects, users, the activity log, and who is told of a change of type.
        shares: how many values of properties do not convert.
        forms: how values of a property are written.
    """

    def __init__(
        self, access: AccessService, shares: ConversionShares, forms: PropertyFormCounter
    ) -> None:
        self._access = access
        self._database = access.database
        self._clock = access.clock
        self._shares = shares
        self._forms = forms

    async def list_properties(
        self, project: Project, wanted: PropertyFilter, page: PageRequest
    ) -> tuple[int, list[Json]]:
        """The total count, and the records of the page."""
        if wanted.kind == SESSION:
            found = session_properties(wanted)
            end = None if page.limit is None else page.offset + page.limit
            return len(found), found[page.offset : end]
        async with self._database.read() as session:
            count, rows = await list_statements.list_properties(session, project.id, wanted, page)
            users = await _users(session, [row for row, _ in rows])
        await self._shares.refresh(project.id, project.timezone, [row for row, _ in rows])
        return count, [property_record(row, users, is_seen=is_seen) for row, is_seen in rows]

    async def get_property(self, project: Project, definition_id: str) -> Json:
        """One record.

        Raises:
            NotFound: no such definition in the project.
        """
        if definition_id.startswith(BUILT_IN):
            record = find_session_property(definition_id)
            if record is None:
                raise NotFound
            return record
        async with self._database.read() as session:
            row = await _property(session, project.id, definition_id)
            users = await _users(session, [row])
        await self._shares.refresh(project.id, project.timezone, [row])
        return property_record(row, users, is_seen=None)

    async def count_forms(self, project: Project, definition_id: str) -> Json:
        """See :meth:`PropertyForms.count`.

        Raises:
            NotFound: none of the project.
            Invalid: built in.
        """
        if definition_id.startswith(BUILT_IN):
            raise built_in()
        async with self._database.read() as session:
            row = await _property(session, project.id, definition_id)
        return await self._forms.count(project.id, project.timezone, row)

    async def change_property(
        self, scope: ProjectScope, definition_id: str, changes: PropertyChanges
    ) -> Json:
        """Change a definition; a changed type applies to the next query.

        Raises:
            NotFound: no such definition in the project.
            Invalid: built-in, or both hidden and verified.
        """
        if definition_id.startswith(BUILT_IN):
            raise built_in()
        fields = sent(changes)
        async with self._database.write() as session:
            row = await _property(session, scope.project.id, definition_id)
            before = _logged(row, _PROPERTY_FIELDS)
            if "property_type" in fields:
                row.property_type = changes.property_type
            self._say(scope, row, fields)
            if before["property_type"] != row.property_type:
                row.unconverted_share = row.measured_at = None
                await self._retype(session, scope.project.id, row.name)
            await self._record(session, scope, row, "updated", before)
            users = await _users(session, [row])
        self._access.forget()
        await self._shares.refresh(scope.project.id, scope.project.timezone, [row])
        return property_record(row, users, is_seen=None)

    async def delete_property(self, scope: ProjectScope, definition_id: str) -> None:
        """Delete a definition; the next event with the property restores it.

        Raises:
            NotFound: no such definition in the project.
            Invalid: built-in.
        """
        if definition_id.startswith(BUILT_IN):
            raise built_in()
        async with self._database.write() as session:
            row = await _property(session, scope.project.id, definition_id)
            await self._record(session, scope, row, "deleted", {})
            # The form of its values is kept: stored values are read by it when it is restored.
            row.is_deleted, row.id = True, new_id()
            row.property_type = row.updated_at = row.updated_by_id = None
            row.verified_at = row.verified_by_id = row.unconverted_share = row.measured_at = None
            row.description, row.tags, row.verified, row.hidden = "", [], False, False
            await self._retype(session, scope.project.id, row.name)
        self._access.forget()

    async def seen_together(
        self, project: Project, events: Sequence[str], name: str
    ) -> dict[str, bool]:
        """``{"buy": True}``: which of the events have the property."""
        async with self._database.read() as session:
            return await list_statements.seen_together(session, project.id, events, name)

    async def list_events(
        self, project: Project, wanted: EventFilter, page: PageRequest
    ) -> tuple[int, list[Json]]:
        """The total count, and the records of the page."""
        async with self._database.read() as session:
            count, rows = await list_statements.list_events(session, project.id, wanted, page)
            users = await _users(session, rows)
        return count, [event_record(row, users) for row in rows]

    async def get_event(self, project: Project, definition_id: str) -> Json:
        """One record.

        Raises:
            NotFound: no such definition in the project.
        """
        async with self._database.read() as session:
            row = await _event(session, project.id, definition_id)
            return event_record(row, await _users(session, [row]))

    async def create_event(self, scope: ProjectScope, body: NewEvent) -> Json:
        """Define an event before it is seen.

        Raises:
            Invalid: attr ``name``; the name is already defined.
        """
        async with self._database.write() as session:
            key = (scope.project.id, body.name)
            if await session.get(EventDefinitionRow, key) is not None:
                raise Invalid(f"The event {body.name} is already defined.", attr="name")
            row = EventDefinitionRow(
                project_id=scope.project.id,
                name=body.name,
                id=new_id(),
                created_by_id=scope.user_id,
                created_at=self._clock.now(),
                **_NOTHING_SAID,
            )
            await self._write_event(session, scope, row, sent(body))
            session.add(row)
            await session.flush()
            await self._record(session, scope, row, "created", {})
            return event_record(row, await _users(session, [row]))

    async def change_event(
        self, scope: ProjectScope, definition_id: str, changes: EventChanges
    ) -> Json:
        """Change a definition.

        Raises:
            NotFound: no such definition in the project.
            Invalid: both hidden and verified, or an unknown owner.
        """
        async with self._database.write() as session:
            row = await _event(session, scope.project.id, definition_id)
            before = _logged(row, _EVENT_FIELDS)
            await self._write_event(session, scope, row, sent(changes))
            await self._record(session, scope, row, "updated", before)
            return event_record(row, await _users(session, [row]))

    async def delete_event(self, scope: ProjectScope, definition_id: str) -> None:
        """Delete a definition, not the events; the next such event restores it.

        Raises:
            NotFound: no such definition in the project.
        """
        async with self._database.write() as session:
            row = await _event(session, scope.project.id, definition_id)
            await self._record(session, scope, row, "deleted", {})
            await session.delete(row)
            await self._new_version(session, scope.project.id)
        self._access.forget()

    def _say(self, scope: ProjectScope, row: Row, fields: Mapping[str, Any]) -> None:
        """Write the user's fields of a definition, of either kind."""
        if fields.get("hidden") and fields.get("verified"):
            raise hidden_and_verified()
        for name in ("description", "tags", "hidden", "default_columns"):
            if name in fields:
                setattr(row, name, fields[name] if fields[name] is not None else "")
        if fields.get("hidden"):
            _unverify(row)
        if fields.get("verified") is False:
            _unverify(row)
        elif fields.get("verified") and not row.verified:
            row.verified, row.hidden = True, False
            row.verified_at, row.verified_by_id = self._clock.now(), scope.user_id
        row.updated_at, row.updated_by_id = self._clock.now(), scope.user_id

    async def _write_event(
        self,
        session: AsyncSession,
        scope: ProjectScope,
        row: EventDefinitionRow,
        fields: Mapping[str, Any],
    ) -> None:
        if "owner" in fields:
            owner = fields["owner"]
            if owner is not None and not await users_by_id(session, [owner]):
                raise Invalid(f"The user {owner} does not exist.", attr="owner")
            row.owner_id = owner
        self._say(scope, row, fields)

    async def _retype(self, session: AsyncSession, project_id: int, name: str) -> None:
        """Notify everything that compiled the property's old type."""
        await self._new_version(session, project_id)
        for changed in self._access.providers.property_type_changed:
            await changed(session, project_id, name)

    async def _new_version(self, session: AsyncSession, project_id: int) -> None:
        project = await find_project(session, project_id)
        if project is not None:
            version = {"definitions_version": project.definitions_version + 1}
            await update_project(session, project_id, version, project.updated_at)

    async def _record(
        self,
        session: AsyncSession,
        scope: ProjectScope,
        row: Row,
        activity: str,
        before: dict[str, Any],
    ) -> None:
        is_property = isinstance(row, PropertyDefinitionRow)
        after = _logged(row, _PROPERTY_FIELDS if is_property else _EVENT_FIELDS)
        changes = changes_between(before, after)
        if activity == "updated" and not changes:
            return
        kind = "PropertyDefinition" if is_property else "EventDefinition"
        entry = Activity.by(scope, activity, kind, (row.id, row.name), changes)
        await self._access.activity.record(session, entry)


_NOTHING_SAID: Json = {
    "description": "",
    "tags": [],
    "default_columns": [],
    "verified": False,
    "hidden": False,
}


def _unverify(row: Row) -> None:
    row.verified, row.verified_at, row.verified_by_id = False, None, None


def _logged(row: Row, names: Sequence[str]) -> dict[str, Any]:
    return {name.removesuffix("_id"): getattr(row, name) for name in names}


async def _users(session: AsyncSession, rows: Sequence[Row]) -> Mapping[int, User]:
    return await users_by_id(session, [each for row in rows for each in user_ids(row)])


async def _property(
    session: AsyncSession, project_id: int, definition_id: str
) -> PropertyDefinitionRow:
    row = PropertyDefinitionRow
    rows = select(row).where(row.project_id == project_id, row.id == _uuid(definition_id))
    found = await session.scalar(rows.where(~row.is_deleted))
    if found is None:
        raise NotFound
    return found


async def _event(session: AsyncSession, project_id: int, definition_id: str) -> EventDefinitionRow:
    row = EventDefinitionRow
    rows = select(row).where(row.project_id == project_id, row.id == _uuid(definition_id))
    found = await session.scalar(rows)
    if found is None:
        raise NotFound
    return found


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound from None
