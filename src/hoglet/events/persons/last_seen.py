"""When persons were last seen: the time of the newest event of any of their distinct ids.

Source: docs/spec/data-and-queries.md#41-persons (``last_seen_at``).
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import structlog

from hoglet.events.persons.repository import PersonRecord
from hoglet.kit.errors import HogletError
from hoglet.warehouse import QueryBudget, Warehouse

_BUDGET = QueryBudget(seconds=2)
_MAX_IDS = 20_000
# The hash is part of the sorting key, so the query can skip whole ranges of rows.
_NEWEST = """SELECT distinct_id, max(timestamp) FROM events
WHERE project_id = {project_id:Int64} AND distinct_id IN {ids:Array(String)}
AND cityHash64(distinct_id) IN (SELECT cityHash64(arrayJoin({ids:Array(String)})))
GROUP BY distinct_id"""

log = structlog.get_logger()


async def with_last_seen(
    warehouse: Warehouse, project_id: int, persons: Sequence[PersonRecord]
) -> list[PersonRecord]:
    """The persons with ``last_seen_at``; None without events, or if the query takes too long.

    Args:
        warehouse: stores the events.
        project_id: the project of the persons.
        persons: a page of the project's persons.
    """
    owners = {name: person.id for person in persons for name in person.distinct_ids}
    if not owners or len(owners) > _MAX_IDS:
        return list(persons)
    params = {"project_id": project_id, "ids": list(owners)}
    try:
        result = await warehouse.query(_NEWEST, params, budget=_BUDGET)
    except HogletError as error:
        log.warning("last_seen_at is unknown", action="last_seen_unknown", error=str(error))
        return list(persons)
    newest: dict[UUID, datetime] = {}
    for name, at in result.rows:
        newest[owners[name]] = max(at, newest.get(owners[name], at))
    return [person._replace(last_seen_at=newest.get(person.id)) for person in persons]
