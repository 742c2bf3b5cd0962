"""Enqueues the triggered runs that pass masking and counts them.

Source: docs/spec/hog-functions.md#6-masking and
docs/spec/hog-functions.md#131-pipeline-destinations.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.dead_letters.service import NewDeadLetter
from hoglet.functions.executable.matching import masked_allowance
from hoglet.functions.jobs import INVOKE_QUEUE
from hoglet.functions.masking import raise_counters
from hoglet.pipeline.delivery import ordering as lines
from hoglet.pipeline.ingest.ipc import BatchCounters, Invocation
from hoglet.queue import NewJob, Priority, Queue


async def enqueue_runs(
    session: AsyncSession,
    queue: Queue,
    invocations: Sequence[Invocation],
    tally: BatchCounters,
    now: datetime,
) -> None:
    """Enqueue the runs that pass masking, in the caller's transaction."""
    billed: dict[UUID, str] = {}
    jobs: list[NewJob] = []
    for one in await _unmasked(session, invocations, tally, now):
        tally.count(one.function_id, "other", "triggered")
        billed.setdefault(one.event_uuid, one.function_id)
        priority = Priority.LOW if one.is_slow else Priority.NORMAL
        jobs.append(
            NewJob(
                queue=INVOKE_QUEUE,
                payload=one.payload,
                id=one.id,
                priority=priority,
                ordering_key=one.line or None,
                lane=one.function_id,
            )
        )
    for function_id in billed.values():
        tally.count(function_id, "billing", "billable_invocation")
    await lines.enqueue(session, queue, jobs)


def dead_letters_of(project_id: int, tally: BatchCounters) -> list[NewDeadLetter]:
    """The dead letters of a batch's counters."""
    return [
        NewDeadLetter(
            project_id=project_id,
            function_id=UUID(draft.function_id),
            letter_class=draft.error_class,
            invocation_id=draft.invocation_id,
            globals=draft.globals,
            error=draft.error,
            mapping=draft.mapping,
        )
        for draft in tally.dead_letters
    ]


async def _unmasked(
    session: AsyncSession, invocations: Sequence[Invocation], tally: BatchCounters, now: datetime
) -> Sequence[Invocation]:
    masked = [one for one in invocations if one.mask]
    if not masked:
        return invocations
    wanted: dict[tuple[UUID, str], tuple[int, int]] = {}
    for one in masked:
        key = (UUID(one.function_id), one.mask)
        number, _ = wanted.get(key, (0, 0))
        wanted[key] = (number + 1, one.mask_ttl)
    raised = await raise_counters(session, wanted, now)
    left = {
        (UUID(one.function_id), one.mask): masked_allowance(
            raised[UUID(one.function_id), one.mask].old,
            raised[UUID(one.function_id), one.mask].new,
            one.mask_threshold or None,
        )
        for one in masked
    }
    allowed: list[Invocation] = []
    for one in invocations:
        key = (UUID(one.function_id), one.mask)
        if one.mask and left[key] <= 0:
            tally.count(one.function_id, "other", "masked")
            continue
        if one.mask:
            left[key] -= 1
        allowed.append(one)
    return allowed
