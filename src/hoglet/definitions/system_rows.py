"""Rows of ``system.property_definitions`` and ``system.event_definitions``.

Source: docs/spec/data-and-queries.md#6-system-tables.
"""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project, User, user_object
from hoglet.access.repository import users_by_id
from hoglet.access.schemas import UserObject
from hoglet.definitions.detection import NUMERIC
from hoglet.definitions.tables import EventDefinitionRow, PropertyDefinitionRow

type Row = dict[str, Any]

_GROUP = "group_"


async def property_definitions(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The properties of events, persons and groups, by kind and name."""
    row = PropertyDefinitionRow
    statement = select(row).where(row.project_id == project.id, row.is_deleted.is_(False))
    ordered = statement.order_by(row.kind, row.name).limit(limit)
    rows = (await session.scalars(ordered)).all()
    users = await _users(session, rows)
    return [_property(each, users) for each in rows]


async def event_definitions(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The names of events."""
    row = EventDefinitionRow
    statement = select(row).where(row.project_id == project.id).order_by(row.name).limit(limit)
    rows = (await session.scalars(statement)).all()
    users = await _users(session, rows)
    return [_event(each, users) for each in rows]


async def _users(session: AsyncSession, rows: Any) -> dict[int, User]:
    names = ("updated_by_id", "verified_by_id", "owner_id", "created_by_id")
    return await users_by_id(session, {getattr(row, name, None) for row in rows for name in names})


def _property(row: PropertyDefinitionRow, users: dict[int, User]) -> Row:
    is_group = row.kind.startswith(_GROUP)
    return {
        **_common(row, users),
        "type": "group" if is_group else row.kind,
        "group_type_index": int(row.kind.removeprefix(_GROUP)) if is_group else None,
        "is_numerical": row.property_type == NUMERIC,
        "property_type": row.property_type,
        "is_seen_on_filtered_events": None,
        "unconverted_share": row.unconverted_share,
    }


def _event(row: EventDefinitionRow, users: dict[int, User]) -> Row:
    return {
        **_common(row, users),
        "owner": _user(row.owner_id, users),
        "created_at": row.created_at,
        "created_by": _user(row.created_by_id, users),
        "last_seen_at": row.last_seen_at,
        "last_updated_at": row.updated_at,
        "is_action": False,
        "action_id": None,
        "is_calculating": False,
        "last_calculated_at": None,
        "post_to_slack": False,
        "default_columns": row.default_columns,
    }


def _common(row: PropertyDefinitionRow | EventDefinitionRow, users: dict[int, User]) -> Row:
    return {
        "id": row.id,
        "name": row.name,
        "description": row.description,
        "tags": row.tags,
        "updated_at": row.updated_at,
        "updated_by": _user(row.updated_by_id, users),
        "verified": row.verified,
        "verified_at": row.verified_at,
        "verified_by": _user(row.verified_by_id, users),
        "hidden": row.hidden,
    }


def _user(user_id: int | None, users: dict[int, User]) -> UserObject | None:
    return None if user_id is None else user_object(users.get(user_id))
