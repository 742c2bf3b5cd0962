"""Jobs of cohorts; all are safe to run twice."""

from datetime import datetime
from uuid import UUID, uuid5

import msgspec

from hoglet.kit.clock import new_id
from hoglet.queue.port import NewJob, Priority

COHORTS = "cohorts"
_NAMESPACE = UUID("4b8e4e53-2e0b-5f0a-8f1d-0b9c1f1f7a64")


class CalculateV1(msgspec.Struct, frozen=True, tag="cohort.calculate.1"):
    """Compute a cohort after its dependencies and before its dependents.

    ``version`` is that of the save, and a newer save makes the job obsolete; None for scheduled
    jobs.
    """

    cohort_id: int
    version: int | None = None


class FillV1(msgspec.Struct, frozen=True, tag="cohort.fill.1"):
    """Fill a static cohort from its query, its filters or an upload."""

    cohort_id: int
    version: int
    upload_id: UUID | None = None


class MergeV1(msgspec.Struct, frozen=True, tag="cohort.merge.1"):
    """Replace persons that were merged away, in the static cohorts of a project.

    ``pairs`` are the person that was merged away and the person it became part of, in the order of
    the merges.
    """

    project_id: int
    pairs: list[tuple[UUID, UUID]]


type CohortJob = CalculateV1 | FillV1 | MergeV1


def saved_job(job: CohortJob) -> NewJob:
    """The job of a save; has priority over scheduled jobs."""
    return NewJob(queue=COHORTS, payload=msgspec.json.encode(job), id=new_id())


def merge_job(job: MergeV1, run_at: datetime | None = None) -> NewJob:
    """The job of merges; with ``run_at`` if it is repeated later."""
    return NewJob(queue=COHORTS, payload=msgspec.json.encode(job), id=new_id(), run_at=run_at)


def scheduled_job(cohort_id: int) -> NewJob:
    """The scheduled job; at most one per cohort is queued."""
    payload = msgspec.json.encode(CalculateV1(cohort_id))
    return NewJob(
        queue=COHORTS,
        payload=payload,
        id=uuid5(_NAMESPACE, str(cohort_id)),
        priority=Priority.LOW,
    )


def read_job(payload: bytes) -> CohortJob:
    """Decode a job."""
    return msgspec.json.decode(payload, type=CalculateV1 | FillV1 | MergeV1)
