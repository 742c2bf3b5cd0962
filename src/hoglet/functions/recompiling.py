"""Compiles stored filters again when what they refer to has changed.

Source: spec/hog-functions.md section 5.5.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from hoglet.access.entities import Project
from hoglet.functions import repository
from hoglet.functions.service import FunctionService, action_ids, filters_of


async def recompile(
    service: FunctionService, project: Project, *, action_id: int | None = None
) -> int:
    """Compile the filters of a project's functions again; doing it twice changes nothing.

    Args:
        service: the functions.
        project: whose test-account setting or action changed.
        action_id: only functions that name this action; None means those that use the
            test-account setting.

    Returns:
        How many functions were compiled.
    """
    async with service.database.read() as session:
        rows = await repository.all_live(session, project.id)
    affected = [row for row in rows if _is_affected(row.filters, row.mappings, action_id)]
    for row in affected:
        await _recompile_one(service, project, row.id)
    return len(affected)


async def _recompile_one(service: FunctionService, project: Project, function_id: UUID) -> None:
    async with service.database.read() as session:
        row = await repository.find(session, project.id, function_id)
    if row is None:
        return
    sent = {} if row.mappings is None else {"mappings": row.mappings}
    plan = service.plan_update(row, sent)
    draft = plan.draft(await service.context(project, plan))
    draft.must_match = False
    compiled = await service.compiler.compile(draft)
    async with service.database.write() as session:
        fresh = await repository.find(session, project.id, function_id)
        if fresh is not None and fresh.version == row.version:
            service.fill(fresh, plan.apply(compiled, fresh.matcher))
            fresh.version += 1


def _is_affected(
    filters: dict[str, Any], mappings: Sequence[dict[str, Any]] | None, action_id: int | None
) -> bool:
    every = [filters, *filters_of(mappings)]
    if action_id is None:
        return any(one.get("filter_test_accounts") for one in every)
    return str(action_id) in action_ids(every)
