"""Statements on property and event definitions."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import batched

import msgspec
from sqlalchemy import ColumnElement, and_, case, func, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.definitions.observer import INTEGER, MIXED, NUMBER, UNSEEN
from hoglet.definitions.tables import (
    DroppedDefinitionsRow,
    EventDefinitionRow,
    EventPropertyRow,
    PropertyDefinitionRow,
)
from hoglet.kit.clock import new_id
from hoglet.store.database import insert_into, insert_rows

type PropertyKey = tuple[str, str]
"""Kind and name, e.g. ``("event", "price")``."""

_NAMES_PER_STATEMENT = 500
SEEN_EVERY = timedelta(hours=1)  # last_seen_at of an event is updated at most this often


class DetectedProperty(msgspec.Struct, frozen=True):
    """``DetectedProperty("Numeric", "integer")``: a type or None, and the form of all values."""

    property_type: str | None
    form: str
    is_deleted: bool = False


async def property_types(session: AsyncSession, project_id: int) -> dict[PropertyKey, str]:
    """``{("event", "price"): "Numeric"}``; properties without a type are omitted.

    ``("group", name)`` is present if all group types with the property share its type.
    """
    row = PropertyDefinitionRow
    rows = await session.execute(
        select(row.kind, row.name, row.property_type).where(
            row.project_id == project_id, row.property_type.is_not(None), ~row.is_deleted
        )
    )
    types = {(kind, name): str(type_) for kind, name, type_ in rows}
    return types | _of_all_groups(types)


async def property_forms(session: AsyncSession, project_id: int) -> dict[PropertyKey, str]:
    """``{("event", "price"): "integer"}`` for properties whose values all have that JSON form."""
    row = PropertyDefinitionRow
    rows = await session.execute(
        select(row.kind, row.name, row.form).where(
            row.project_id == project_id, row.form.not_in([MIXED, UNSEEN]), ~row.is_deleted
        )
    )
    return {(kind, name): form for kind, name, form in rows}


async def detected(
    session: AsyncSession, project_id: int, keys: Sequence[PropertyKey]
) -> dict[PropertyKey, DetectedProperty]:
    """Stored properties, including deleted ones; unknown ones are omitted."""
    detected_properties: dict[PropertyKey, DetectedProperty] = {}
    for part in batched(keys, _NAMES_PER_STATEMENT):
        rows = select(PropertyDefinitionRow).where(_are_named(project_id, part))
        for row in await session.scalars(rows):
            detected_properties[row.kind, row.name] = DetectedProperty(
                row.property_type, row.form, row.is_deleted
            )
    return detected_properties


async def lock(session: AsyncSession, project_id: int) -> None:
    """Wait for other transactions that define properties of the project; PostgreSQL only."""
    key = func.hashtext(f"property_definitions:{project_id}")
    await session.execute(select(func.pg_advisory_xact_lock(key)))


async def mark_mixed(session: AsyncSession, project_id: int, keys: Sequence[PropertyKey]) -> None:
    """Mark properties that now have values of several forms."""
    for part in batched(keys, _NAMES_PER_STATEMENT):
        await session.execute(
            update(PropertyDefinitionRow)
            .where(_are_named(project_id, part))
            .values(form=MIXED)
            .execution_options(synchronize_session=False)
        )


async def mark_fractional(
    session: AsyncSession, project_id: int, keys: Sequence[PropertyKey]
) -> None:
    """Mark properties whose values were all integers and now include other numbers."""
    for part in batched(keys, _NAMES_PER_STATEMENT):
        await session.execute(
            update(PropertyDefinitionRow)
            .where(_are_named(project_id, part), PropertyDefinitionRow.form == INTEGER)
            .values(form=NUMBER)
            .execution_options(synchronize_session=False)
        )


async def save_properties(
    session: AsyncSession,
    project_id: int,
    properties: Mapping[PropertyKey, DetectedProperty],
    at: datetime,
) -> None:
    """Store detected properties: sets missing types and restores deleted definitions."""
    rows = [
        {
            "project_id": project_id,
            "kind": kind,
            "name": name,
            "id": new_id(),
            "property_type": detected_property.property_type,
            "form": detected_property.form,
            "first_seen_at": at,
        }
        for (kind, name), detected_property in properties.items()
    ]
    if not rows:
        return
    row = PropertyDefinitionRow
    statement = insert_into(session, row)
    upsert = statement.on_conflict_do_update(
        index_elements=["project_id", "kind", "name"],
        set_={
            "property_type": func.coalesce(row.property_type, statement.excluded.property_type),
            "form": case(
                (statement.excluded.form.in_([UNSEEN, row.form]), row.form),
                (row.form == UNSEEN, statement.excluded.form),
                (and_(row.form == INTEGER, statement.excluded.form == NUMBER), NUMBER),
                (and_(row.form == NUMBER, statement.excluded.form == INTEGER), NUMBER),
                else_=MIXED,
            ),
            "is_deleted": False,
        },
    )
    await insert_rows(session, upsert, rows)


async def count_properties(session: AsyncSession, project_id: int, kind: str) -> int:
    """Number of defined properties of a kind."""
    row = PropertyDefinitionRow
    mine = select(func.count()).where(
        row.project_id == project_id, row.kind == kind, ~row.is_deleted
    )
    return await session.scalar(mine) or 0


async def known_events(session: AsyncSession, project_id: int, names: Collection[str]) -> set[str]:
    """Which of the given names are defined."""
    defined: set[str] = set()
    for part in batched(names, _NAMES_PER_STATEMENT):
        row = EventDefinitionRow
        known = select(row.name).where(row.project_id == project_id, row.name.in_(part))
        defined.update(await session.scalars(known))
    return defined


async def count_events(session: AsyncSession, project_id: int) -> int:
    """Number of defined events."""
    mine = select(func.count()).where(EventDefinitionRow.project_id == project_id)
    return await session.scalar(mine) or 0


async def save_events(
    session: AsyncSession, project_id: int, names: Collection[str], at: datetime
) -> None:
    """Store seen events: defines new ones, updates ``last_seen_at`` at most hourly."""
    if not names:
        return
    row = EventDefinitionRow
    rows = [
        {"project_id": project_id, "name": name, "id": new_id(), "created_at": at,
         "last_seen_at": at}
        for name in names
    ]  # fmt: skip
    statement = insert_into(session, row)
    upsert = statement.on_conflict_do_update(
        index_elements=["project_id", "name"],
        set_={"last_seen_at": at},
        where=or_(row.last_seen_at.is_(None), row.last_seen_at <= at - SEEN_EVERY),
    )
    await insert_rows(session, upsert, rows)


async def count_event_properties(session: AsyncSession, project_id: int) -> int:
    """Number of stored pairs of an event and a property."""
    mine = select(func.count()).where(EventPropertyRow.project_id == project_id)
    return await session.scalar(mine) or 0


async def save_event_properties(
    session: AsyncSession, project_id: int, pairs: Collection[tuple[str, str]]
) -> None:
    """Store that events have properties: ``[("buy", "price")]``."""
    rows = [{"project_id": project_id, "event": event, "property": name} for event, name in pairs]
    if rows:
        insert = insert_into(session, EventPropertyRow).on_conflict_do_nothing()
        await insert_rows(session, insert, rows)


async def dropped_kinds(session: AsyncSession, project_id: int) -> set[str]:
    """Kinds whose names have ever been dropped because of the limit."""
    row = DroppedDefinitionsRow
    return set(await session.scalars(select(row.kind).where(row.project_id == project_id)))


async def save_dropped_kind(session: AsyncSession, project_id: int, kind: str) -> None:
    """Record that names of a kind were dropped."""
    insert = insert_into(session, DroppedDefinitionsRow).on_conflict_do_nothing()
    connection = await session.connection()
    await connection.execute(insert, [{"project_id": project_id, "kind": kind}])


def _of_all_groups(types: Mapping[PropertyKey, str]) -> dict[PropertyKey, str]:
    by_name: dict[str, set[str]] = {}
    for (kind, name), type_ in types.items():
        if kind.startswith("group_"):
            by_name.setdefault(name, set()).add(type_)
    return {
        ("group", name): types_of_name.pop()
        for name, types_of_name in by_name.items()
        if len(types_of_name) == 1
    }


def _are_named(project_id: int, keys: Sequence[PropertyKey]) -> ColumnElement[bool]:
    key = tuple_(PropertyDefinitionRow.kind, PropertyDefinitionRow.name)
    return and_(PropertyDefinitionRow.project_id == project_id, key.in_(keys))
