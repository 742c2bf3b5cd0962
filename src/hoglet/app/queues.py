"""The names of all queues, for commands that take one."""

from hoglet.cohorts.jobs import COHORTS
from hoglet.endpoints.materialization.scheduler import BUILDS
from hoglet.endpoints.run.background import RUNS
from hoglet.events.spool import SPOOL_QUEUE
from hoglet.functions.jobs import BACKFILL_QUEUE, INVOKE_QUEUE, RECOMPILE_QUEUE
from hoglet.pipeline.ingest.replication import COPIES_QUEUE
from hoglet.pipeline.internal_events import INTERNAL_QUEUE
from hoglet.pipeline.persons.deletions import DELETIONS_QUEUE
from hoglet.queries.background import QUERIES

QUEUES = (
    SPOOL_QUEUE,
    INVOKE_QUEUE,
    BACKFILL_QUEUE,
    RECOMPILE_QUEUE,
    COPIES_QUEUE,
    INTERNAL_QUEUE,
    DELETIONS_QUEUE,
    COHORTS,
    BUILDS,
    RUNS,
    QUERIES,
)
