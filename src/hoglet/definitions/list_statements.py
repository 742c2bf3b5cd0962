"""Statements of the lists: total counts and pages.

Source: docs/spec/data-and-queries.md#22-property_definitions and
docs/spec/data-and-queries.md#25-event_definitions.
"""

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import (
    ColumnElement,
    Text,
    and_,
    func,
    literal,
    not_,
    null,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from hoglet.definitions.detection import NUMERIC
from hoglet.definitions.listing import EVENT, EventListFilter, PropertyListFilter, titled
from hoglet.definitions.tables import (
    EventDefinitionRow,
    EventPropertyRow,
    PropertyDefinitionRow,
)
from hoglet.web.pagination import PageRequest

_NEVER_LISTED = (
    "distinct_id", "$set", "$set_once", "$initial_referrer", "$initial_referring_domain",
    "$groups", "$group_type", "$group_key", "$group_set",
    *(f"$group_{index}" for index in range(5)),
)  # fmt: skip
_SESSION_COPIES = "$session_entry_"
_FLAG = "$feature/"
_NOT_NUMERICAL = ("distinct_id", "timestamp")
_CORE = (
    "utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term", "gclid", "gad_source",
    "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "twclid", "li_fat_id", "mc_cid",
    "igshid", "ttclid", "rdt_cid", "irclid", "_kx", "epik", "qclid", "sccid", "distinct_id",
)  # fmt: skip


async def list_properties(
    session: AsyncSession, project_id: int, filters: PropertyListFilter, page: PageRequest
) -> tuple[int, list[tuple[PropertyDefinitionRow, bool | None]]]:
    """The total count, and a page, with whether the given events have each property."""
    row = PropertyDefinitionRow
    seen = _is_seen(project_id, filters)
    conditions = [row.project_id == project_id, ~row.is_deleted, *_property_conditions(filters)]
    if filters.only_of_events and filters.event_names is not None:
        conditions.append(seen)
    count = await session.scalar(select(func.count()).select_from(row).where(*conditions)) or 0
    order = [seen.desc()] if filters.event_names is not None else []
    rows = select(row, seen).where(*conditions).order_by(*order, row.verified.desc(), row.name)
    page_rows = await session.execute(rows.limit(page.limit).offset(page.offset))
    return count, [
        (item[0], None if filters.event_names is None else bool(item[1])) for item in page_rows
    ]


async def list_events(
    session: AsyncSession, project_id: int, filters: EventListFilter, page: PageRequest
) -> tuple[int, Sequence[EventDefinitionRow]]:
    """The total count, and a page."""
    row = EventDefinitionRow
    conditions = [row.project_id == project_id, *_event_conditions(filters)]
    count = await session.scalar(select(func.count()).select_from(row).where(*conditions)) or 0
    rows = select(row).where(*conditions).order_by(*_event_order(filters), row.name)
    return count, (await session.scalars(rows.limit(page.limit).offset(page.offset))).all()


async def seen_together(
    session: AsyncSession, project_id: int, events: Sequence[str], name: str
) -> dict[str, bool]:
    """``{"buy": True}``: which of the events have the property."""
    row = EventPropertyRow
    if "\x00" in name:  # PostgreSQL rejects NUL, and no stored name contains it
        return dict.fromkeys(events, False)
    names = await session.scalars(
        select(row.event).where(
            row.project_id == project_id, row.property == name, row.event.in_(events)
        )
    )
    seen = set(names)
    return {event: event in seen for event in events}


def _is_seen(project_id: int, filters: PropertyListFilter) -> ColumnElement[Any]:
    if filters.event_names is None:
        return null()
    pair = EventPropertyRow
    return (
        select(literal(1))
        .where(
            pair.project_id == project_id,
            pair.property == PropertyDefinitionRow.name,
            pair.event.in_(filters.event_names),
        )
        .exists()
    )


def _property_conditions(filters: PropertyListFilter) -> list[ColumnElement[bool]]:
    row = PropertyDefinitionRow
    conditions: list[ColumnElement[bool]] = [row.kind == filters.kind]
    if filters.kind == EVENT:
        conditions.append(row.name.not_in(_NEVER_LISTED))
        conditions.append(not_(row.name.startswith(_SESSION_COPIES, autoescape=True)))
    if filters.words:
        conditions.append(_matches(row.name, filters.words))
    if filters.names is not None:
        conditions.append(row.name.in_(filters.names))
    if filters.excluded:
        conditions.append(row.name.not_in(filters.excluded))
    if filters.is_numerical is not None:
        numerical = and_(
            func.coalesce(row.property_type, "") == NUMERIC, row.name.not_in(_NOT_NUMERICAL)
        )
        conditions.append(numerical if filters.is_numerical else not_(numerical))
    if filters.is_feature_flag is not None:
        flag = row.name.startswith(_FLAG, autoescape=True)
        conditions.append(flag if filters.is_feature_flag else not_(flag))
    if filters.exclude_core:
        conditions.append(not_(row.name.startswith("$", autoescape=True)))
        conditions.append(row.name.not_in(_CORE))
    return conditions + _said_conditions(
        row.verified, row.hidden, verified=filters.verified, exclude_hidden=filters.exclude_hidden
    )


def _event_conditions(filters: EventListFilter) -> list[ColumnElement[bool]]:
    row = EventDefinitionRow
    conditions: list[ColumnElement[bool]] = []
    own = row.name.startswith("$", autoescape=True)
    if filters.event_type != "event":
        conditions.append(own if filters.event_type == "event_posthog" else not_(own))
    if filters.words:
        conditions.append(_matches(row.name, filters.words))
    if filters.excluded:
        conditions.append(row.name.not_in(filters.excluded))
    if filters.tags:
        text = type_coerce(row.tags, Text)
        written = (orjson.dumps(tag).decode() for tag in filters.tags)
        conditions.append(or_(*(text.contains(tag, autoescape=True) for tag in written)))
    return conditions + _said_conditions(
        row.verified, row.hidden, verified=filters.verified, exclude_hidden=filters.exclude_hidden
    )


def _said_conditions(
    is_verified: InstrumentedAttribute[bool],
    is_hidden: InstrumentedAttribute[bool],
    *,
    verified: bool | None,
    exclude_hidden: bool,
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [~is_hidden] if exclude_hidden else []
    if verified is not None:
        conditions.append(is_verified.is_(verified))
    return conditions


def _matches(name: InstrumentedAttribute[str], words: tuple[str, ...]) -> ColumnElement[bool]:
    lower = func.lower(name)
    in_name = and_(*(lower.contains(word, autoescape=True) for word in words))
    return or_(in_name, name.in_(titled(words)))


def _event_order(filters: EventListFilter) -> list[ColumnElement[Any]]:
    row = EventDefinitionRow
    if filters.ordering is None:
        return [func.date(row.last_seen_at).desc().nulls_last()]
    column: Any = getattr(row, filters.ordering)
    return [column.desc().nulls_last() if filters.descending else column.asc().nulls_last()]
