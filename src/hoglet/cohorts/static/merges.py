"""Merges of persons in static cohorts: a person that a member is merged into becomes a member."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.cohorts import repository
from hoglet.cohorts.jobs import MergeV1, merge_job
from hoglet.queue.port import Queue


async def enqueue_merges(
    session: AsyncSession, queue: Queue, project_id: int, pairs: Sequence[tuple[UUID, UUID]]
) -> None:
    """Enqueue the merges of a transaction, if the project has static cohorts.

    Args:
        session: the transaction that writes the merges.
        queue: receives the job.
        project_id: the project of the persons.
        pairs: the person that was merged away and the person it became part of, in the order of
            the merges; not empty.
    """
    if await repository.has_static(session, project_id):
        await queue.enqueue(session, [merge_job(MergeV1(project_id, list(pairs)))])


def final_survivors(pairs: Sequence[tuple[UUID, UUID]]) -> dict[UUID, UUID]:
    """The person that each merged person finally became part of, over any number of merges.

    >>> a, b, c = (UUID(int=number) for number in (1, 2, 3))
    >>> final_survivors([(a, b), (b, c)]) == {a: c, b: c}
    True
    """
    survivors: dict[UUID, UUID] = {}
    for gone, survivor in reversed(pairs):
        survivors[gone] = survivors.get(survivor, survivor)
    return survivors
