"""Recompiles stored filters when something they depend on has changed.

Source: docs/spec/hog-functions.md#55-bytecode_error.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog

from hoglet.access.auth import AccessService
from hoglet.access.principals import Project
from hoglet.functions import repository
from hoglet.functions.jobs import decode_recompile
from hoglet.functions.json_types import FunctionFilters, FunctionMapping, SentFields
from hoglet.functions.save.planner import action_ids, filters_of
from hoglet.functions.service import FunctionService
from hoglet.kit.backoff import Backoff
from hoglet.kit.errors import Invalid, Unavailable
from hoglet.kit.json import is_array, is_object
from hoglet.queue import Job
from hoglet.queue.consumers import LEASE
from hoglet.queue.worker import JobPolicy

log = structlog.get_logger(__name__)

_ATTEMPTS = 5  # as for saves of a function


async def recompile(
    service: FunctionService,
    project: Project,
    *,
    action_id: int | None = None,
    property_name: str | None = None,
) -> int:
    """Recompile the filters of a project's functions. Idempotent.

    Args:
        service: the functions.
        project: the project whose test-account filters, action or property changed.
        action_id: only functions that use this action.
        property_name: only functions whose filters may use this property. With neither, functions
            that use the test-account filters.

    Returns:
        Number of recompiled functions.
    """
    async with service.database.read() as session:
        rows = await repository.all_live(session, project.id)
    affected = [
        row for row in rows if _is_affected(row.filters, row.mappings, action_id, property_name)
    ]
    for row in affected:
        await _recompile_one(service, project, row.id)
    return len(affected)


async def _recompile_one(service: FunctionService, project: Project, function_id: UUID) -> None:
    """Recompile one function; a failure must not affect the others."""
    try:
        for _ in range(_ATTEMPTS):
            if await _try_one(service, project, function_id):
                return
    except Invalid:
        log.warning("function not recompiled", id=str(function_id), exc_info=True)
        return
    raise Unavailable("This function keeps being changed by others.")


async def _try_one(service: FunctionService, project: Project, function_id: UUID) -> bool:
    """Recompile; False if another writer, perhaps with newer state, changed the function."""
    async with service.database.read() as session:
        row = await repository.find(session, project.id, function_id)
    if row is None:
        return True
    sent: SentFields = {} if row.mappings is None else {"mappings": row.mappings}
    plan = service.planner.change(row, sent)
    compiled = await service.planner.compile(project, plan, must_match=False)
    async with service.database.write() as session:
        fresh = await repository.find(session, project.id, function_id, lock=True)
        if fresh is None or fresh.version != row.version:
            return fresh is None
        service.planner.fill(fresh, plan.apply(compiled, fresh.matcher))
        fresh.version += 1
        return True


def _is_affected(
    filters: FunctionFilters,
    mappings: Sequence[FunctionMapping] | None,
    action_id: int | None,
    property_name: str | None,
) -> bool:
    every = [filters, *filters_of(mappings)]
    if property_name is not None:
        return any(_may_use(item, property_name) for item in every)
    if action_id is None:
        return any(item.get("filter_test_accounts") for item in every)
    return str(action_id) in action_ids(every)


def _may_use(filters: FunctionFilters, name: str) -> bool:
    """Whether a filter may use a property: by key, in an action, or in test-account filters."""
    if filters.get("filter_test_accounts") or filters.get("actions"):
        return True
    return any(name in text for text in _texts(filters))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value) or is_array(value):
        for each in value.values() if is_object(value) else value:
            yield from _texts(each)


RECOMPILE_POLICY = JobPolicy(
    lease=LEASE,
    keeps_lease=True,
    attempts=5,
    backoff=Backoff(first=10, longest=10),
    idle=timedelta(seconds=2),
)


class Recompiler:
    """Processes ``functions.recompile`` jobs; idempotent."""

    def __init__(self, functions: FunctionService, access: AccessService) -> None:
        self._functions = functions
        self._access = access

    async def work(self, job: Job) -> None:
        """Recompile the functions that a job names."""
        request = decode_recompile(job.payload)
        project = await self._access.project(request.project_id)
        if project is not None:
            await recompile(
                self._functions,
                project,
                action_id=request.action_id,
                property_name=request.property,
            )
