"""The change history of a function, and restoring an earlier state.

The activity log has the previous value of each change. Undoing changes, newest first, yields the
fields of an earlier time. They are applied as an ordinary update: the same rules hold, and the
restore is logged too. Secrets are never logged, so they do not change.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import cast
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import list_activities, page_of_activities
from hoglet.access.principals import ProjectScope
from hoglet.access.schemas import ActivityObject
from hoglet.access.tables import ActivityRow
from hoglet.functions.history.secrets import kept_secret
from hoglet.functions.json_types import LoggedFields
from hoglet.functions.presenter import FunctionView
from hoglet.functions.service import ACTIVITY_SCOPE, LOGGED_FIELDS, FunctionService
from hoglet.functions.tables import HogFunctionRow
from hoglet.kit.clock import iso_z, parse_instant
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject
from hoglet.web.pagination import PageRequest

RESTORED = tuple(name for name in LOGGED_FIELDS if name != "deleted")
_LOGGED_AS = {"priority": "execution_order"}  # the field's name in rearrangements
_CHUNK = 500


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A point in the history: right after an entry, or at a time; exactly one is set."""

    activity_id: UUID | None = None
    to: datetime | None = None

    def is_before(self, entry: ActivityRow) -> bool:
        """Whether this state precedes an entry, which then has to be undone."""
        if self.activity_id is not None:
            return entry.id > self.activity_id  # ids are time-ordered
        return self.to is None or entry.created_at > self.to


class History:
    """The change history of functions.

    Args:
        functions: the functions.
    """

    def __init__(self, functions: FunctionService) -> None:
        self._functions = functions

    async def page(
        self, scope: ProjectScope, function_id: str, page: PageRequest
    ) -> tuple[int, list[ActivityObject]]:
        """A page of entries of a function, newest first, and the total count.

        Raises:
            NotFound: no such function.
        """
        project_id = scope.project.id
        async with self._functions.database.read() as session:
            row = await self._functions.row(session, project_id, function_id)
            return await page_of_activities(
                session, project_id, scope=ACTIVITY_SCOPE, item_id=str(row.id), page=page
            )

    async def restore(
        self, scope: ProjectScope, function_id: str, body: JsonObject
    ) -> FunctionView:
        """Restore the fields of an earlier state, except secrets.

        Raises:
            NotFound: no such function.
            Invalid: no such state, or it violates a current rule.
            Stale: the function was changed in the meantime.
        """
        moment = read_entry_time(body)
        async with self._functions.database.read() as session:
            row = await self._functions.row(session, scope.project.id, function_id)
            fields = undone(row, await _since(session, row, moment))
            base = iso_z(row.updated_at)
        return await self._functions.update(scope, function_id, {**fields, "base_updated_at": base})


def read_entry_time(body: JsonObject) -> HistoryEntry:
    """Parse ``{"activity_id": "…"}`` or ``{"to": "2026-01-05T12:00:00Z"}``.

    Raises:
        Invalid: neither or both are given, or the value is invalid.
    """
    activity_id, to = body.get("activity_id"), body.get("to")
    if (activity_id is None) == (to is None):
        raise Invalid("Specify either activity_id or to.")
    if activity_id is not None:
        try:
            return HistoryEntry(activity_id=UUID(str(activity_id)))
        except ValueError:
            raise _no_entry() from None
    at = parse_instant(to) if isinstance(to, str) else None
    if at is None:
        raise Invalid("Enter an ISO 8601 time.", attr="to")
    return HistoryEntry(to=at)


def undone(row: HogFunctionRow, entries: Iterable[ActivityRow]) -> LoggedFields:
    """The fields that differ from the current ones after undoing the entries, newest first."""
    now = {name: getattr(row, name) for name in RESTORED}
    before = dict(now)
    for entry in entries:
        for change in entry.detail["changes"]:
            field = change["field"] or ""
            name = _LOGGED_AS.get(field, field)
            if name in before:
                before[name] = change["before"]
    differing = {name: value for name, value in before.items() if value != now[name]}
    earlier = kept_secret(cast("LoggedFields", differing), cast("LoggedFields", now))
    changed = {name: value for name, value in earlier.items() if value != now[name]}
    return cast("LoggedFields", changed)


async def _since(
    session: AsyncSession, row: HogFunctionRow, moment: HistoryEntry
) -> list[ActivityRow]:
    """The entries after a state, newest first."""
    if moment.to is not None and moment.to < row.created_at:
        raise Invalid("The function did not exist at that time.", attr="to")
    after: list[ActivityRow] = []
    while True:
        part = await _entries(session, row, limit=_CHUNK, offset=len(after))
        for entry in part:
            if not moment.is_before(entry):
                if moment.activity_id not in (None, entry.id):
                    raise _no_entry()
                return after
            after.append(entry)
        if len(part) < _CHUNK:
            if moment.activity_id is not None:
                raise _no_entry()
            return after


async def _entries(
    session: AsyncSession, row: HogFunctionRow, *, limit: int, offset: int
) -> list[ActivityRow]:
    return await list_activities(
        session,
        row.project_id,
        scope=ACTIVITY_SCOPE,
        item_id=str(row.id),
        limit=limit,
        offset=offset,
    )


def _no_entry() -> Invalid:
    return Invalid("The function's history has no entry with this id.", attr="activity_id")
