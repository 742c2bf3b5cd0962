"""Definitions in the form of the API.

Source: docs/spec/data-and-queries.md#22-property_definitions and
docs/spec/data-and-queries.md#25-event_definitions.
"""

from collections.abc import Mapping
from typing import Any

from hoglet.access.principals import User, user_object
from hoglet.access.schemas import UserObject
from hoglet.definitions.detection import NUMERIC
from hoglet.definitions.tables import EventDefinitionRow, PropertyDefinitionRow
from hoglet.kit.clock import iso_z_or_none

type Users = Mapping[int, User]


def property_record(
    row: PropertyDefinitionRow, users: Users, *, is_seen: bool | None
) -> dict[str, Any]:
    """A property definition; ``is_seen`` is whether the given events have it."""
    return {
        "id": str(row.id),
        "name": row.name,
        "description": row.description,
        "tags": row.tags,
        "is_numerical": row.property_type == NUMERIC,
        "property_type": row.property_type,
        "is_seen_on_filtered_events": is_seen,
        "updated_at": iso_z_or_none(row.updated_at),
        "updated_by": _user(row.updated_by_id, users),
        "verified": row.verified,
        "verified_at": iso_z_or_none(row.verified_at),
        "verified_by": _user(row.verified_by_id, users),
        "hidden": row.hidden,
        "unconverted_share": row.unconverted_share,
    }


def event_record(row: EventDefinitionRow, users: Users) -> dict[str, Any]:
    """An event definition; fields of unsupported features are constant."""
    return {
        "id": str(row.id),
        "name": row.name,
        "owner": _user(row.owner_id, users),
        "description": row.description,
        "tags": row.tags,
        "created_at": iso_z_or_none(row.created_at),
        "updated_at": iso_z_or_none(row.updated_at),
        "updated_by": _user(row.updated_by_id, users),
        "last_seen_at": iso_z_or_none(row.last_seen_at),
        "last_updated_at": iso_z_or_none(row.updated_at),
        "verified": row.verified,
        "verified_at": iso_z_or_none(row.verified_at),
        "verified_by": _user(row.verified_by_id, users),
        "hidden": row.hidden,
        "is_action": False,
        "action_id": None,
        "is_calculating": False,
        "last_calculated_at": None,
        "created_by": _user(row.created_by_id, users),
        "post_to_slack": False,
        "default_columns": row.default_columns,
    }


def user_ids(row: PropertyDefinitionRow | EventDefinitionRow) -> list[int | None]:
    """The ids of the users in the record of a definition."""
    ids = [row.updated_by_id, row.verified_by_id]
    return [*ids, row.owner_id, row.created_by_id] if isinstance(row, EventDefinitionRow) else ids


def _user(user_id: int | None, users: Users) -> UserObject | None:
    return None if user_id is None else user_object(users.get(user_id))
