"""A project's cohorts for queries and functions."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.cohorts import repository
from hoglet.cohorts.criteria.model import PersonProperty, stored_criteria
from hoglet.hogql.context import CohortRef


async def cohort_refs(session: AsyncSession, project_id: int) -> dict[str, CohortRef]:
    """The cohorts that are not deleted, by id as string."""
    return {
        str(row.id): CohortRef(row.name, row.calculation_id, row.is_static)
        for row in await repository.refs(session, project_id)
    }


async def person_criteria(
    session: AsyncSession, project_id: int
) -> dict[str, list[dict[str, Any]]]:
    """The criteria of cohorts that can be evaluated on a person alone.

    These are dynamic cohorts of person properties without negation:
    ``{"3": [{"type": "AND", "values": [{"type": "person", "key": "plan", "value": "pro"}]}]}``.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for row in await repository.list_all(session, project_id):
        if row.is_static or not row.filters:
            continue
        criteria = stored_criteria(row.filters)
        if not criteria.filterTestAccounts and all(
            isinstance(leaf, PersonProperty) and not leaf.negation for leaf in criteria.leaves()
        ):
            found[str(row.id)] = [_plain(row.filters["properties"])]
    return found


def _plain(node: dict[str, Any]) -> dict[str, Any]:
    if "values" in node:
        return {"type": node["type"], "values": [_plain(each) for each in node["values"]]}
    return {name: value for name, value in node.items() if name != "negation"}
