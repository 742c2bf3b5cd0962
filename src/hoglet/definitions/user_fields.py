"""Writes the user's fields of definitions of either kind, and logs the changes."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, changes_between
from hoglet.access.auth import AccessService
from hoglet.access.principals import ProjectScope, User
from hoglet.access.repository import find_project, update_project, users_by_id
from hoglet.definitions.errors import hidden_and_verified
from hoglet.definitions.serializers import user_ids
from hoglet.definitions.tables import EventDefinitionRow, PropertyDefinitionRow
from hoglet.kit.errors import NotFound

type Row = PropertyDefinitionRow | EventDefinitionRow

CHANGED = "changed"
"""The activity of a changed definition, as in PostHog; of everything else it is ``updated``."""

_LOGGED_OF_PROPERTIES = ("property_type", "description", "tags", "verified", "hidden")
_LOGGED_OF_EVENTS = ("description", "tags", "verified", "hidden", "owner_id", "default_columns")


class DefinitionEditor:
    """Base of the services that change definitions.

    Args:
        access: projects, users, the activity log, and the hooks for type changes.
    """

    def __init__(self, access: AccessService) -> None:
        self._access = access
        self._database = access.database
        self._clock = access.clock

    def _write_fields(self, scope: ProjectScope, row: Row, fields: Mapping[str, Any]) -> None:
        """Write the user's fields."""
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

    async def _new_version(self, session: AsyncSession, project_id: int) -> None:
        project = await find_project(session, project_id, lock=True)
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
        changes = changes_between(before, logged_fields(row))
        if activity == CHANGED and not changes:
            return
        is_property = isinstance(row, PropertyDefinitionRow)
        kind = "PropertyDefinition" if is_property else "EventDefinition"
        entry = Activity.by(scope, activity, kind, (row.id, row.name), changes)
        await self._access.activity.record(session, entry)


def _unverify(row: Row) -> None:
    row.verified, row.verified_at, row.verified_by_id = False, None, None


def logged_fields(row: Row) -> dict[str, Any]:
    """The fields whose changes are logged, ``{"tags": [], "owner": 1, …}``."""
    is_property = isinstance(row, PropertyDefinitionRow)
    names = _LOGGED_OF_PROPERTIES if is_property else _LOGGED_OF_EVENTS
    return {name.removesuffix("_id"): getattr(row, name) for name in names}


async def users_of(session: AsyncSession, rows: Sequence[Row]) -> Mapping[int, User]:
    """The users in the records of definitions, by id."""
    return await users_by_id(session, [each for row in rows for each in user_ids(row)])


def parse_id(text: str) -> UUID:
    """The id of a definition.

    Raises:
        NotFound: not a UUID.
    """
    try:
        return UUID(text)
    except ValueError:
        raise NotFound from None
