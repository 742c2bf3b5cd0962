"""Recompiles filters after a change of an action or test-account filters.

Source: docs/spec/hog-functions.md#55-bytecode_error.
"""

from datetime import timedelta

from hoglet.access.service import AccessService
from hoglet.functions.compile.recompile import recompile
from hoglet.functions.jobs import decode_recompile
from hoglet.functions.service import FunctionService
from hoglet.kit.backoff import Backoff
from hoglet.queue import Job
from hoglet.queue.worker import LEASE, JobPolicy

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
        wanted = decode_recompile(job.payload)
        project = await self._access.project(wanted.project_id)
        if project is not None:
            await recompile(
                self._functions, project, action_id=wanted.action_id, property_name=wanted.property
            )
