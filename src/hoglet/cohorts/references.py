"""What queries may know of a project's cohorts."""

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.cohorts import repository
from hoglet.hogql.context import CohortRef


async def cohort_refs(session: AsyncSession, project_id: int) -> dict[str, CohortRef]:
    """The cohorts that are not deleted, by id as text."""
    return {
        str(row.id): CohortRef(row.name, row.calculation_id, row.is_static)
        for row in await repository.refs(session, project_id)
    }
