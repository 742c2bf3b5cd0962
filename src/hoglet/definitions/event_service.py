"""Event definitions: lists, changes, deletions.

Source: docs/spec/data-and-queries.md#25-event_definitions.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project, ProjectScope
from hoglet.access.repository import users_by_id
from hoglet.definitions import list_statements
from hoglet.definitions.listing import EventListFilter
from hoglet.definitions.schemas import EventChanges, NewEvent, sent
from hoglet.definitions.serializers import event_record
from hoglet.definitions.tables import EventDefinitionRow
from hoglet.definitions.user_fields import (
    CHANGED,
    DefinitionEditor,
    logged_fields,
    parse_id,
    users_of,
)
from hoglet.kit.clock import new_id
from hoglet.kit.errors import Invalid, NotFound
from hoglet.web.pagination import PageRequest

_EMPTY_FIELDS: dict[str, Any] = {
    "description": "",
    "tags": [],
    "default_columns": [],
    "verified": False,
    "hidden": False,
}


class EventDefinitionService(DefinitionEditor):
    """Event definitions of all projects."""

    async def search(
        self, project: Project, filters: EventListFilter, page: PageRequest
    ) -> tuple[int, list[dict[str, Any]]]:
        """The total count, and the records of a page."""
        async with self._database.read() as session:
            count, rows = await list_statements.list_events(session, project.id, filters, page)
            users = await users_of(session, rows)
        return count, [event_record(row, users) for row in rows]

    async def get(self, project: Project, definition_id: str) -> dict[str, Any]:
        """Get a record.

        Raises:
            NotFound: no such definition in the project.
        """
        async with self._database.read() as session:
            row = await _event(session, project.id, definition_id)
            return event_record(row, await users_of(session, [row]))

    async def create(self, scope: ProjectScope, body: NewEvent) -> dict[str, Any]:
        """Define an event before it is seen.

        Raises:
            Invalid: attr ``name``; the name is already defined.
        """
        async with self._database.write() as session:
            key = (scope.project.id, body.name)
            if await session.get(EventDefinitionRow, key) is not None:
                raise _defined(body.name)
            row = EventDefinitionRow(
                project_id=scope.project.id,
                name=body.name,
                id=new_id(),
                created_by_id=scope.user_id,
                created_at=self._clock.now(),
                **_EMPTY_FIELDS,
            )
            await self._write(session, scope, row, sent(body))
            session.add(row)
            try:
                await session.flush()
            except IntegrityError:  # another request or an event defined it after the check
                raise _defined(body.name) from None
            await self._record(session, scope, row, "created", {})
            return event_record(row, await users_of(session, [row]))

    async def change(
        self, scope: ProjectScope, definition_id: str, changes: EventChanges
    ) -> dict[str, Any]:
        """Change a definition.

        Raises:
            NotFound: no such definition in the project.
            Invalid: both hidden and verified, or an unknown owner.
        """
        async with self._database.write() as session:
            row = await _event(session, scope.project.id, definition_id, lock=True)
            before = logged_fields(row)
            await self._write(session, scope, row, sent(changes))
            await self._record(session, scope, row, CHANGED, before)
            return event_record(row, await users_of(session, [row]))

    async def delete(self, scope: ProjectScope, definition_id: str) -> None:
        """Delete a definition, not the events; the next such event restores it.

        Raises:
            NotFound: no such definition in the project.
        """
        async with self._database.write() as session:
            row = await _event(session, scope.project.id, definition_id, lock=True)
            await self._record(session, scope, row, "deleted", {})
            await session.delete(row)
            await self._new_version(session, scope.project.id)
        self._access.forget()

    async def _write(
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
        self._write_fields(scope, row, fields)


async def _event(
    session: AsyncSession, project_id: int, definition_id: str, *, lock: bool = False
) -> EventDefinitionRow:
    row = EventDefinitionRow
    rows = select(row).where(row.project_id == project_id, row.id == parse_id(definition_id))
    definition = await session.scalar(rows.with_for_update() if lock else rows)
    if definition is None:
        raise NotFound
    return definition


def _defined(name: str) -> Invalid:
    return Invalid(f"The event {name} is already defined.", attr="name")
