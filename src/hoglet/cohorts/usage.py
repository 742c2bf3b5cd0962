"""What uses a cohort: other cohorts, active endpoint versions, test-account filters.

Source: docs/spec/data-and-queries.md#31-routes (used_in), #36-use (deletion).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.cohorts import repository
from hoglet.cohorts.criteria.model import cohorts_in
from hoglet.cohorts.tables import CohortRow
from hoglet.endpoints.tables import EndpointRow, EndpointVersionRow
from hoglet.kit.property_types import COHORT_TYPES

type Json = dict[str, Any]

MOST = 100
_NAMED = re.compile(r"\bin\s+cohort\s+(?:(\d+)|'((?:[^'\\]|\\.|'')*)')", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)|''")


class CohortUsage(NamedTuple):
    """The users of a cohort, each ``{"id": ..., "name": ...}``."""

    cohorts: list[Json]
    endpoints: list[Json]
    test_account_filters: list[Json]

    def body(self) -> Json:
        """The response of ``used_in``."""
        users = {"insights": [], "feature_flags": [], **self._asdict()}
        return {name: _listed(items) for name, items in users.items()}

    def names(self) -> str:
        """The users in words, for the error message of a deletion."""
        parts = [f"cohort '{cohort['name']}' ({cohort['id']})" for cohort in self.cohorts]
        parts += [f"endpoint '{endpoint['name']}'" for endpoint in self.endpoints]
        parts += ["the test account filters of the project"] if self.test_account_filters else []
        return ", ".join(parts)


async def usage_of(session: AsyncSession, project: Project, row: CohortRow) -> CohortUsage:
    """Find the users of a cohort."""
    others = await repository.list_all(session, project.id)
    cohorts = [
        {"id": each.id, "name": each.name} for each in others if row.id in cohorts_in(each.filters)
    ]
    tests = [
        {"id": index, "name": "Test account filters"}
        for index, item in enumerate(project.test_account_filters)
        if names_cohort(item, row.id, row.name)
    ]
    return CohortUsage(cohorts, await _endpoints(session, project.id, row), tests)


def names_cohort(node: Any, cohort_id: int, name: str) -> bool:
    """Whether a query or filter refers to a cohort, by id or name."""
    return any(reference in {str(cohort_id), name} for reference in _named(node))


async def _endpoints(session: AsyncSession, project_id: int, row: CohortRow) -> list[Json]:
    statement = (
        select(EndpointRow.id, EndpointRow.name, EndpointVersionRow.query)
        .join(EndpointVersionRow, EndpointVersionRow.endpoint_id == EndpointRow.id)
        .where(
            EndpointRow.project_id == project_id,
            EndpointRow.live_name.is_not(None),
            EndpointRow.is_active.is_(True),
            EndpointVersionRow.is_active.is_(True),
        )
        .order_by(EndpointRow.name)
    )
    users: dict[str, Json] = {}
    for id_, name, query in await session.execute(statement):
        if str(id_) not in users and names_cohort(query, row.id, row.name):
            users[str(id_)] = {"id": str(id_), "name": name}
    return list(users.values())


def _named(node: Any) -> Iterator[str]:
    """Every reference to a cohort in a query, as text."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            yield from _filtered(each)
            waiting.extend(each.values())
        elif isinstance(each, Sequence) and not isinstance(each, str):
            waiting.extend(each)
        elif isinstance(each, str) and "cohort" in each.lower():
            for number, name in _NAMED.findall(each):
                yield number or _ESCAPED.sub(lambda match: match[1] or "'", name)


def _filtered(node: Mapping[str, Any]) -> Iterator[str]:
    if node.get("type") in COHORT_TYPES:
        yield str(node.get("value"))
        yield str(node.get("property"))
    if node.get("breakdown_type") == "cohort":
        breakdown = node.get("breakdown")
        yield from map(str, breakdown if isinstance(breakdown, list) else [breakdown])


def _listed(items: list[Json]) -> Json:
    return {"results": items[:MOST], "total": len(items), "has_more": len(items) > MOST}
