"""Jobs of cohorts; each may be done twice without harm."""

from uuid import UUID, uuid5

import msgspec

from hoglet.kit.ids import new_id
from hoglet.queue.port import NewJob, Priority

COHORTS = "cohorts"
_NAMESPACE = UUID("4b8e4e53-2e0b-5f0a-8f1d-0b9c1f1f7a64")


class CalculateV1(msgspec.Struct, frozen=True, tag="cohort.calculate.1"):
    """Compute a cohort, what it depends on first, and then what depends on it.

    ``version`` is that of a save, and the job is dropped when a newer one was made; None is the
    schedule's.
    """

    cohort_id: int
    version: int | None = None


class FillV1(msgspec.Struct, frozen=True, tag="cohort.fill.1"):
    """Fill a static cohort from its query, its filters or an upload."""

    cohort_id: int
    version: int
    upload_id: UUID | None = None


type CohortJob = CalculateV1 | FillV1


def saved_job(job: CohortJob) -> NewJob:
    """The job of a save; it goes before those of the schedule."""
    return NewJob(queue=COHORTS, payload=msgspec.json.encode(job), id=new_id())


def scheduled_job(cohort_id: int) -> NewJob:
    """The job of the schedule; of a cohort at most one waits."""
    payload = msgspec.json.encode(CalculateV1(cohort_id))
    return NewJob(
        queue=COHORTS,
        payload=payload,
        id=uuid5(_NAMESPACE, str(cohort_id)),
        priority=Priority.LOW,
    )


def read_job(payload: bytes) -> CohortJob:
    """A job as it was enqueued."""
    return msgspec.json.decode(payload, type=CalculateV1 | FillV1)
