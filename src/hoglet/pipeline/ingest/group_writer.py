"""Takes started groups through their stages: state, worker process, warehouse, commit.

The groups of a worker overlap. While a group is inserted and committed, the next one is already
processed on the state that the first leaves, and a third one is parsed. Groups are inserted and
committed one after another, each only if the group before it was committed in the state that it
was processed on.
"""

import asyncio
import functools
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from hoglet.access.auth import AccessService
from hoglet.definitions.tracker import DefinitionTracker
from hoglet.kit import tracing
from hoglet.pipeline.ingest.commit import GroupCommitter
from hoglet.pipeline.ingest.group_processor import GroupProcessor, LoadedState
from hoglet.pipeline.ingest.ipc import EVENT_COLUMNS, BatchResult, LookupRequest, ReadRequest
from hoglet.pipeline.ingest.metrics import IngestMetrics
from hoglet.pipeline.ingest.sources import SpooledGroup
from hoglet.pipeline.ingest.split_group import GroupPieces
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


class NotItsTurn(Exception):
    """The group cannot be stored now: the one before failed, or the worker stops. Release it."""


class Superseded(Exception):
    """The group before was committed in another state; process this one again."""


class GroupRun:
    """A started group on its way from the spool to its commit.

    Args:
        group: its batches.
        request: what the worker process parses.
        lookups: the result of parsing; None if the worker process fails.
        earlier: the group that the same worker started before; None if it was committed.
        is_first: these may be the project's first events.
        spans: the spans of the requests.
        on_processed: called with the number of its runs whenever it was processed.
    """

    def __init__(
        self,
        group: SpooledGroup,
        request: ReadRequest,
        lookups: "asyncio.Task[LookupRequest | None]",
        *,
        earlier: "GroupRun | None",
        is_first: bool,
        spans: tracing.SharedWork,
        on_processed: Callable[[SpooledGroup, int], None],
    ) -> None:
        self.group = group
        self.request = request
        self.lookups = lookups
        self.is_first = is_first
        self.spans = spans
        self._on_processed = on_processed
        self._earlier = earlier
        self._followed: LoadedState | None = None
        self._state: LoadedState | None = None
        self._is_committed = False
        self._has_failed = False
        self._is_given_up = False
        self._processed = asyncio.Event()
        self._ended = asyncio.Event()

    @property
    def is_processed(self) -> bool:
        """Whether the worker process is done with it, at least for now."""
        return self._processed.is_set()

    @property
    def has_ended(self) -> bool:
        """Whether it was committed, released or postponed."""
        return self._ended.is_set()

    @property
    def has_failed(self) -> bool:
        """Whether it or a group before it failed, so that it cannot be committed."""
        return self._has_failed or (self._earlier is not None and self._earlier.has_failed)

    @property
    def earlier(self) -> "GroupRun | None":
        """The group before; None once it is committed."""
        return self._earlier

    def mark_processed(self, state: LoadedState, *, runs: int) -> None:
        """Let the next group be processed on the state that this one leaves."""
        self._state = state
        self._processed.set()
        self._on_processed(self.group, runs)

    def mark_failed(self) -> None:
        """Have the groups after this one released."""
        self._has_failed = True

    def repeat(self, lookups: "asyncio.Task[LookupRequest | None]") -> None:
        """Process the group again, parsed anew: the worker process forgets processed groups."""
        self.lookups = lookups
        self._state = None
        self._processed.clear()

    def give_up(self) -> None:
        """Release the group unless it is being processed already, because the worker stops."""
        self._is_given_up = self._earlier is not None

    def end(self, *, committed: bool) -> None:
        """Let the next group be committed, or released if this one was not committed."""
        self.lookups.cancel()
        self._earlier = self._followed = None
        self._is_committed = committed
        self._has_failed = not committed
        self._processed.set()
        self._ended.set()

    async def may_load(self) -> None:
        """Wait until all groups before the earlier one are committed.

        Raises:
            NotItsTurn: one of them failed.
        """
        if self._earlier is not None and self._earlier.earlier is not None:
            await self._earlier.earlier.until_committed()
        if self._earlier is not None and self._earlier.has_ended:
            await self.its_turn()

    async def follow(self, state: LoadedState) -> None:
        """Wait until the earlier group is processed, and show its changes to this one.

        Raises:
            NotItsTurn: it failed, or this group was given up.
        """
        if self._earlier is None:
            return
        left = await self._earlier.until_processed()
        if self._is_given_up:
            raise NotItsTurn
        if self._earlier.request.project.id == self.request.project.id:
            self._followed = left
            state.follow(left)

    async def its_turn(self) -> None:
        """Wait until the earlier group is committed.

        Raises:
            NotItsTurn: it failed.
            Superseded: it was committed in another state than this group has followed.
        """
        earlier, followed = self._earlier, self._followed
        if earlier is None:
            return
        committed = await earlier.until_committed()
        self._earlier = self._followed = None
        if followed is not None and committed is not followed:
            raise Superseded

    async def until_processed(self) -> LoadedState:
        """Wait until the group is processed.

        Returns:
            The state that it leaves.

        Raises:
            NotItsTurn: it failed.
        """
        while self._state is None:  # it may be repeated at this moment
            if self._ended.is_set():
                raise NotItsTurn
            await self._processed.wait()
        return self._state

    async def until_committed(self) -> LoadedState | None:
        """Wait until the group is committed.

        Returns:
            The state that it left.

        Raises:
            NotItsTurn: it failed.
        """
        await self._ended.wait()
        if not self._is_committed:
            raise NotItsTurn
        return self._state


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
            NotItsTurn: the group must be released.
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
        self._metrics.events.inc(result.stored)

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
        if result is None:
            result = await GroupPieces(self._processor.calls, state, run.request).process()
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
        log.warning(
            "a group is committed in pieces", action="commit_halved", group=str(run.request.group)
        )
        state = await self._processor.load(run.request, None)
        pieces = GroupPieces(self._processor.calls, state, run.request, try_commit)
        result = await pieces.process()
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
            self._metrics.insert_seconds.observe(time.perf_counter() - started)
