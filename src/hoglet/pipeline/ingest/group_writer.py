"""Takes a started group through its stages: state, worker process, warehouse, commit."""

import asyncio
import functools
import time
from dataclasses import dataclass

import structlog

from hoglet.access.service import AccessService
from hoglet.definitions.tracker import DefinitionTracker
from hoglet.pipeline.health import IngestMetrics
from hoglet.pipeline.ingest.commit import GroupCommitter
from hoglet.pipeline.ingest.group_processor import GroupProcessor
from hoglet.pipeline.ingest.group_run import GroupRun, Superseded
from hoglet.pipeline.ingest.ipc import BatchResult, ReadRequest
from hoglet.pipeline.ingest.process import EVENT_COLUMNS
from hoglet.pipeline.storage_failures import is_conflict, is_storage_failure
from hoglet.queue import LeaseLost
from hoglet.spool.positions import OwnershipLost
from hoglet.warehouse.port import Warehouse

log = structlog.get_logger()

GROUP_LOST = (LeaseLost, OwnershipLost)
"""Another worker has the group now."""
# Another server may have written the same rows at the same moment.
_RETRIES_OF_COMMIT = 2
_MOST_CONFLICTS = 8


def _is_refusal(error: Exception) -> bool:
    """Whether the database rejected the data itself, so that a retry would fail, too."""
    return not isinstance(error, GROUP_LOST) and not is_storage_failure(error)


@dataclass(frozen=True, slots=True)
class GroupStages:
    """The stages of a group: process it, record property types, insert rows, commit."""

    processor: GroupProcessor
    definitions: DefinitionTracker
    warehouse: Warehouse
    committer: GroupCommitter


class GroupWriter:
    """Processes, inserts and commits groups.

    Args:
        stages: does the work.
        access: loads projects.
        metrics: counts what was stored.
    """

    def __init__(self, stages: GroupStages, access: AccessService, metrics: IngestMetrics) -> None:
        self._processor = stages.processor
        self._definitions = stages.definitions
        self._warehouse = stages.warehouse
        self._committer = stages.committer
        self._access = access
        self._metrics = metrics

    async def write(self, run: GroupRun) -> None:
        """Store a group; retries at once if another group changed the same persons or groups.

        Raises:
            EarlierGroupFailed: the group must be released.
            LeaseLost, OwnershipLost: another worker has the group now.
        """
        conflicts = 0
        while True:
            try:
                result = await self._attempt(run, checked=conflicts < _MOST_CONFLICTS)
                break
            except Superseded:
                log.info("a group is processed again", action="superseded")
            except Exception as error:
                if conflicts == _MOST_CONFLICTS or not is_conflict(error):
                    raise
                conflicts += 1
                log.info("a group is processed again", action="conflict", error=str(error))
            run.repeat(asyncio.create_task(self._processor.read(run.request)))
        await run.group.ended()
        self._metrics.stored(result.stored)

    async def _attempt(self, run: GroupRun, *, checked: bool) -> BatchResult:
        """Process a group, and insert and commit it when it is its turn."""
        project_id = run.request.project.id
        result = await self._process(run)
        await run.its_turn()
        await self._committer.claim_group_types(project_id, result)
        recorded = await self._definitions.settle(
            project_id, await self._definitions_version(project_id), result.observation
        )
        result.warnings.extend(recorded.warnings)
        await self._insert(run.request, result)
        try:
            await self._commit(run, result, checked=checked)
        except Exception as error:
            retries = run.group.retries
            if is_conflict(error) or retries < _RETRIES_OF_COMMIT or not _is_refusal(error):
                raise
            result = await self._commit_in_pieces(run)
        return result

    async def _process(self, run: GroupRun) -> BatchResult:
        lookups = await run.lookups
        await run.may_load()
        state = await self._processor.load(run.request, lookups)
        await run.follow(state)
        result = await self._processor.process(run.request, lookups, state)
        run.mark_processed(state, runs=len(result.invocations))
        return result

    async def _commit(self, run: GroupRun, result: BatchResult, *, checked: bool) -> None:
        await self._committer.commit(
            run.request.project.id,
            run.group.finish,
            result,
            is_first=run.is_first,
            checked=checked,
        )

    async def _commit_in_pieces(self, run: GroupRun) -> BatchResult:
        """Commit a group without the events that the database keeps rejecting."""
        try_commit = functools.partial(self._committer.try_commit, run.request.project.id)
        result, state = await self._processor.process_in_pieces(run.request, try_commit)
        run.mark_processed(state, runs=len(result.invocations))
        await self._insert(run.request, result)
        await self._commit(run, result, checked=False)
        return result

    async def _definitions_version(self, project_id: int) -> int:
        project = await self._access.project(project_id)
        return 0 if project is None else project.definitions_version

    async def _insert(self, request: ReadRequest, result: BatchResult) -> None:
        for name, block in result.blocks.items():
            token = f"{request.group}:{name}"
            started = time.perf_counter()
            await self._warehouse.insert_block("events", EVENT_COLUMNS, block, dedup_token=token)
            self._metrics.inserted(time.perf_counter() - started)
