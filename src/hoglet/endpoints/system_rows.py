"""Rows of ``system.data_modeling_endpoints`` and ``system.data_modeling_endpoint_versions``.

Source: docs/spec/data-and-queries.md#6-system-tables.
"""

from typing import Any

import msgspec
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.endpoints.analysis.model import Analysis
from hoglet.endpoints.tables import EndpointRow, EndpointVersionRow

type Row = dict[str, Any]


async def endpoints(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The live endpoints of the project, oldest first."""
    statement = select(EndpointRow).where(
        EndpointRow.project_id == project.id, EndpointRow.live_name.is_not(None)
    )
    ordered = statement.order_by(EndpointRow.created_at, EndpointRow.id).limit(limit)
    return [
        {
            "id": row.id,
            "name": row.name,
            "is_active": row.is_active,
            "current_version": row.current_version,
            "derived_from_insight": row.derived_from_insight,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
            "last_executed_at": row.last_executed_at,
            "deleted": False,
        }
        for row in await session.scalars(ordered)
    ]


async def endpoint_versions(session: AsyncSession, project: Project, limit: int) -> list[Row]:
    """The versions of the project's live endpoints."""
    row = EndpointVersionRow
    statement = (
        select(row)
        .join(EndpointRow, EndpointRow.id == row.endpoint_id)
        .where(EndpointRow.project_id == project.id, EndpointRow.live_name.is_not(None))
        .order_by(row.created_at, row.id)
        .limit(limit)
    )
    return [_version(each) for each in await session.scalars(statement)]


def _version(row: EndpointVersionRow) -> Row:
    return {
        "id": row.id,
        "endpoint_id": row.endpoint_id,
        "version": row.number,
        "description": row.description,
        "query": row.query,
        "data_freshness_seconds": row.data_freshness_seconds,
        "created_at": row.created_at,
        "is_active": row.is_active,
        "columns": msgspec.convert(row.analysis, Analysis).columns,
    }
