"""Property definitions: lists, changes, deletions.

Source: docs/spec/data-and-queries.md#22-property_definitions.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.auth import AccessService
from hoglet.access.principals import Project, ProjectScope
from hoglet.definitions import list_statements
from hoglet.definitions.conversion import ConversionShares
from hoglet.definitions.errors import built_in
from hoglet.definitions.json_forms import PropertyFormCounter
from hoglet.definitions.listing import SESSION, PropertyListFilter
from hoglet.definitions.schemas import PropertyChanges, sent
from hoglet.definitions.serializers import property_record
from hoglet.definitions.session_properties import (
    BUILT_IN,
    find_session_property,
    session_properties,
)
from hoglet.definitions.tables import PropertyDefinitionRow
from hoglet.definitions.user_fields import (
    CHANGED,
    DefinitionEditor,
    logged_fields,
    parse_id,
    users_of,
)
from hoglet.kit.clock import new_id
from hoglet.kit.errors import NotFound
from hoglet.web.pagination import PageRequest


class PropertyDefinitionService(DefinitionEditor):
    """Property definitions of all projects.

    Args:
        access: see ``DefinitionEditor``.
        shares: measures how many values of properties do not convert.
        forms: counts how values of a property are written.
    """

    def __init__(
        self, access: AccessService, shares: ConversionShares, forms: PropertyFormCounter
    ) -> None:
        super().__init__(access)
        self._shares = shares
        self._forms = forms

    async def search(
        self, project: Project, filters: PropertyListFilter, page: PageRequest
    ) -> tuple[int, list[dict[str, Any]]]:
        """The total count, and the records of a page."""
        if filters.kind == SESSION:
            records = session_properties(filters)
            end = None if page.limit is None else page.offset + page.limit
            return len(records), records[page.offset : end]
        async with self._database.read() as session:
            count, rows = await list_statements.list_properties(session, project.id, filters, page)
            users = await users_of(session, [row for row, _ in rows])
        await self._shares.refresh(project.id, project.timezone, [row for row, _ in rows])
        return count, [property_record(row, users, is_seen=is_seen) for row, is_seen in rows]

    async def get(self, project: Project, definition_id: str) -> dict[str, Any]:
        """Get a record.

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
            users = await users_of(session, [row])
        await self._shares.refresh(project.id, project.timezone, [row])
        return property_record(row, users, is_seen=None)

    async def count_forms(self, project: Project, definition_id: str) -> dict[str, Any]:
        """See :meth:`PropertyForms.count`.

        Raises:
            NotFound: no such definition in the project.
            Invalid: built-in.
        """
        if definition_id.startswith(BUILT_IN):
            raise built_in()
        async with self._database.read() as session:
            row = await _property(session, project.id, definition_id)
        return await self._forms.count(project.id, project.timezone, row)

    async def change(
        self, scope: ProjectScope, definition_id: str, changes: PropertyChanges
    ) -> dict[str, Any]:
        """Change a definition; a changed type applies to the next query.

        Raises:
            NotFound: no such definition in the project.
            Invalid: built-in, or both hidden and verified.
        """
        if definition_id.startswith(BUILT_IN):
            raise built_in()
        fields = sent(changes)
        async with self._database.write() as session:
            row = await _property(session, scope.project.id, definition_id, lock=True)
            before = logged_fields(row)
            if "property_type" in fields:
                row.property_type = changes.property_type
            self._write_fields(scope, row, fields)
            if before["property_type"] != row.property_type:
                row.unconverted_share = row.measured_at = None
                await self._retype(session, scope.project.id, row.name)
            await self._record(session, scope, row, CHANGED, before)
            users = await users_of(session, [row])
        self._access.forget()
        await self._shares.refresh(scope.project.id, scope.project.timezone, [row])
        return property_record(row, users, is_seen=None)

    async def delete(self, scope: ProjectScope, definition_id: str) -> None:
        """Delete a definition; the next event with the property restores it.

        Raises:
            NotFound: no such definition in the project.
            Invalid: built-in.
        """
        if definition_id.startswith(BUILT_IN):
            raise built_in()
        async with self._database.write() as session:
            row = await _property(session, scope.project.id, definition_id, lock=True)
            await self._record(session, scope, row, "deleted", {})
            # Keeps the form of its values, which is needed to read stored values after a restore.
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

    async def _retype(self, session: AsyncSession, project_id: int, name: str) -> None:
        """Notify everything that was compiled with the property's old type."""
        await self._new_version(session, project_id)
        for changed in self._access.providers.property_type_changed:
            await changed(session, project_id, name)


async def _property(
    session: AsyncSession, project_id: int, definition_id: str, *, lock: bool = False
) -> PropertyDefinitionRow:
    row = PropertyDefinitionRow
    rows = select(row).where(row.project_id == project_id, row.id == parse_id(definition_id))
    rows = rows.where(~row.is_deleted)
    definition = await session.scalar(rows.with_for_update() if lock else rows)
    if definition is None:
        raise NotFound
    return definition
