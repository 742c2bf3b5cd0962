"""Rows of ``system.ingestion_warnings`` and ``system.group_type_mappings``.

Source: docs/spec/data-and-queries.md#6-system-tables.
"""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.events.tables import GroupTypeRow, IngestionWarningRow

type Row = dict[str, Any]

_SOURCE = "ingestion"


async def ingestion_warnings(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """One row per kind of warning and day, newest first.

    ``details`` are of the latest case, with the day's total as ``count``.
    """
    row = IngestionWarningRow
    statement = select(row).where(row.project_id == project.id)
    ordered = statement.order_by(row.last_at.desc(), row.kind).limit(limit)
    return [
        {
            "id": f"{each.kind}:{each.day.isoformat()}",
            "source": _SOURCE,
            "type": each.kind,
            "details": {**each.example, "count": each.count},
            "timestamp": each.last_at,
        }
        for each in await session.scalars(ordered)
    ]


async def group_type_mappings(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The group types of the project by their index."""
    statement = select(GroupTypeRow).where(GroupTypeRow.project_id == project.id)
    return [
        {
            "id": row.group_index,
            "group_type": row.group_type,
            "group_type_index": row.group_index,
            "name_singular": None,
            "name_plural": None,
        }
        for row in await session.scalars(statement.order_by(GroupTypeRow.group_index).limit(limit))
    ]
