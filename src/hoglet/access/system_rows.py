"""Rows of ``system.teams``, ``system.insight_variables`` and ``system.activity_logs``.

Source: docs/spec/data-and-queries.md#6-system-tables.
"""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.access.tables import ActivityRow, ProjectRow, VariableRow

type Row = dict[str, Any]


async def teams(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The project itself."""
    rows = await session.scalars(select(ProjectRow).where(ProjectRow.id == project.id).limit(limit))
    return [
        {
            "id": row.id,
            "name": row.name,
            "timezone": row.timezone,
            "test_account_filters": row.test_account_filters,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
        }
        for row in rows
    ]


async def insight_variables(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The variables of the project, oldest first."""
    statement = select(VariableRow).where(VariableRow.project_id == project.id)
    ordered = statement.order_by(VariableRow.created_at, VariableRow.id).limit(limit)
    return [
        {
            "id": row.id,
            "name": row.name,
            "type": row.type,
            "code_name": row.code_name,
            "values": row.values,
            "default_value": row.default_value,
        }
        for row in await session.scalars(ordered)
    ]


async def activity_logs(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The project's activity log, newest first."""
    statement = select(ActivityRow).where(ActivityRow.project_id == project.id)
    ordered = statement.order_by(ActivityRow.id.desc()).limit(limit)
    return [
        {
            "id": row.id,
            "activity": row.activity,
            "item_id": row.item_id,
            "scope": row.scope,
            "detail": row.detail,
            "created_at": row.created_at,
        }
        for row in await session.scalars(ordered)
    ]
