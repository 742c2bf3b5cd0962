"""Rows of ``system.cohorts`` and ``system.cohort_calculation_history``.

Source: docs/spec/data-and-queries.md#6-system-tables.
"""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.cohorts.tables import CohortCalculationRow, CohortRow

type Row = dict[str, Any]


async def cohorts(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The cohorts of the project, including deleted ones."""
    statement = select(CohortRow).where(CohortRow.project_id == project.id)
    return [
        {
            "id": row.id,
            "name": row.name,
            "description": row.description,
            "deleted": row.deleted,
            "filters": row.filters,
            "groups": row.groups,
            "query": row.query,
            "created_at": row.created_at,
            "last_calculation": row.last_calculation,
            "version": row.version,
            "count": row.count,
            "is_static": row.is_static,
        }
        for row in await session.scalars(statement.order_by(CohortRow.id).limit(limit))
    ]


async def cohort_calculations(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The calculations of the project's cohorts, newest first."""
    row = CohortCalculationRow
    statement = select(row).where(row.project_id == project.id).order_by(row.id.desc())
    return [
        {
            "id": each.id,
            "cohort_id": each.cohort_id,
            "count": each.count,
            "started_at": each.started_at,
            "finished_at": each.finished_at,
            "error_code": each.error_code,
        }
        for each in await session.scalars(statement.limit(limit))
    ]
