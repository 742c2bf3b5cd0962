"""The activity log: who changed what.

Source: docs/spec/hog-functions.md#15-bootstrap-routes (activity_log).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import ProjectScope, user_object
from hoglet.access.repository import users_by_id
from hoglet.access.schemas import ActivityChange, ActivityObject, UserObject
from hoglet.access.tables import ActivityRow
from hoglet.kit.clock import Clock, iso_z, new_id
from hoglet.kit.json import same_json
from hoglet.web.pagination import DEFAULT_LIMIT, PageRequest


class FieldChange(msgspec.Struct, frozen=True):
    """One changed field, e.g. ``FieldChange("deleted", "changed", False, True)``."""

    field: str
    action: str
    before: Any
    after: Any


class Activity(msgspec.Struct, frozen=True):
    """One entry; ``activity`` is a past participle (``created``, ``updated``, ``deleted``)."""

    project_id: int
    user_id: int | None
    activity: str
    scope: str
    item_id: str
    name: str | None
    changes: Sequence[FieldChange] = msgspec.field(default_factory=tuple[FieldChange, ...])

    @classmethod
    def by(
        cls,
        caller: ProjectScope,
        activity: str,
        scope: str,
        item: tuple[object, str | None],
        changes: Sequence[FieldChange] = (),
    ) -> "Activity":
        """The entry for what a caller did to ``(id, name)`` of their project."""
        return cls(
            project_id=caller.project.id,
            user_id=caller.user_id,
            activity=activity,
            scope=scope,
            item_id=str(item[0]),
            name=item[1],
            changes=changes,
        )


type Fields = Mapping[str, Any]
"""Values of an item's logged fields by name: ``{"name": "Shop", "enabled": True}``."""

type Listener = Callable[[AsyncSession, Activity], Awaitable[None]]
"""Called for each entry in its transaction, e.g. by the pipeline to enqueue an event."""


class ActivityLog:
    """Writes entries in the caller's transaction."""

    def __init__(self, clock: Clock, listeners: Sequence[Listener] = ()) -> None:
        self._clock = clock
        self.listeners = list(listeners)

    async def record(self, session: AsyncSession, activity: Activity) -> None:
        """Add an entry and notify the listeners."""
        session.add(
            ActivityRow(
                id=new_id(),
                project_id=activity.project_id,
                user_id=activity.user_id,
                activity=activity.activity,
                scope=activity.scope,
                item_id=activity.item_id,
                detail={"name": activity.name, "changes": _changes(activity)},
                created_at=self._clock.now(),
            )
        )
        for listener in self.listeners:
            await listener(session, activity)


def changes_between(before: Fields, after: Fields) -> list[FieldChange]:
    """The changes between two sets of fields with the same keys.

    Example:
        >>> changes_between({"name": None, "enabled": True}, {"name": "x", "enabled": True})
        [FieldChange(field='name', action='created', before=None, after='x')]
    """
    return [
        FieldChange(name, _action(old, after[name]), old, after[name])
        for name, old in before.items()
        if name in after and not same_json(old, after[name])
    ]


async def page_of_activities(
    session: AsyncSession,
    project_id: int,
    *,
    scope: str | None,
    item_id: str | None,
    page: PageRequest,
) -> tuple[int, list[ActivityObject]]:
    """The count of matching entries and one page of them, in the form of the API."""
    count = await count_activities(session, project_id, scope, item_id)
    entries = await list_activities(
        session,
        project_id,
        scope=scope,
        item_id=item_id,
        limit=page.limit or DEFAULT_LIMIT,
        offset=page.offset,
    )
    return count, await with_users(session, entries)


async def count_activities(
    session: AsyncSession, project_id: int, scope: str | None, item_id: str | None
) -> int:
    """Number of matching entries."""
    statement = select(func.count()).select_from(ActivityRow)
    return await session.scalar(statement.where(*_matching(project_id, scope, item_id))) or 0


async def list_activities(
    session: AsyncSession,
    project_id: int,
    *,
    scope: str | None,
    item_id: str | None,
    limit: int,
    offset: int,
) -> list[ActivityRow]:
    """Entries, newest first."""
    statement = (
        select(ActivityRow)
        .where(*_matching(project_id, scope, item_id))
        .order_by(ActivityRow.id.desc())
        .limit(limit)
        .offset(offset)
    )
    return list(await session.scalars(statement))


async def rewrite_changes(
    session: AsyncSession,
    project_id: int,
    *,
    scope: str,
    item_id: str,
    change: Callable[[ActivityChange], ActivityChange],
) -> None:
    """Replace the logged changes of an item, to redact values that became secret."""
    rows = select(ActivityRow).where(*_matching(project_id, scope, item_id))
    for row in await session.scalars(rows.with_for_update()):
        changes = [change(item) for item in row.detail["changes"]]
        if changes != row.detail["changes"]:
            row.detail = {**row.detail, "changes": changes}


async def with_users(session: AsyncSession, entries: Sequence[ActivityRow]) -> list[ActivityObject]:
    """Entries in the form of the API, each with the user who made the change."""
    users = await users_by_id(session, [entry.user_id for entry in entries])
    return [_display(entry, user_object(users.get(entry.user_id or 0))) for entry in entries]


def _display(entry: ActivityRow, user: UserObject | None) -> ActivityObject:
    return {
        "id": str(entry.id),
        "user": user,
        "activity": entry.activity,
        "scope": entry.scope,
        "item_id": entry.item_id,
        "created_at": iso_z(entry.created_at),
        "detail": entry.detail,
    }


def _matching(project_id: int, scope: str | None, item_id: str | None) -> list[Any]:
    conditions: list[Any] = [ActivityRow.project_id == project_id]
    if scope is not None:
        conditions.append(
            ActivityRow.scope == scope.replace("\x00", "")
        )  # PostgreSQL rejects NUL characters
    if item_id is not None:
        conditions.append(ActivityRow.item_id == item_id.replace("\x00", ""))
    return conditions


def _changes(activity: Activity) -> list[ActivityChange]:
    return [
        {
            "type": activity.scope,
            "action": change.action,
            "field": change.field,
            "before": change.before,
            "after": change.after,
        }
        for change in activity.changes
    ]


def _action(before: Any, after: Any) -> str:
    if before is None:
        return "created"
    return "deleted" if after is None else "changed"
