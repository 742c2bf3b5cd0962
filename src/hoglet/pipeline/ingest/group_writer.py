"""Takes started groups through their stages: state, worker process, warehouse, commit.

The groups of a worker overlap. While a group is inserted and committed, the next one is already
processed on the state that the first leaves, and a third one is parsed. Groups are inserted and
committed one after another, each only if the group before it was committed in the state that it
was processed on.
"""

import asyncio
import functools
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import msgspec
import structlog

from hoglet.access.auth import AccessService
from hoglet.definitions.tracker import DefinitionTracker
from hoglet.kit import tracing
from hoglet.pipeline.ingest.commit import GroupCommitter, ProjectResult
from hoglet.pipeline.ingest.group_processor import GroupProcessor, Lookups, States
from hoglet.pipeline.ingest.ipc import EVENT_COLUMNS, BatchResult, ReadRequest
from hoglet.pipeline.ingest.metrics import IngestMetrics
from hoglet.pipeline.ingest.sources import SpooledGroup
from hoglet.pipeline.ingest.split_group import GroupPieces
from hoglet.pipeline.ingest.unstored_rows import unstored_rows
from hoglet.pipeline.lost_writes import LostWrites
from hoglet.pipeline.storage_failures import is_conflict, is_storage_failure
from hoglet.queue import LeaseLost
from hoglet.spool.positions import OwnershipLost
from hoglet.warehouse.port import Warehouse

log = structlog.get_logger()

GROUP_LOST = (LeaseLost, OwnershipLost)
"""Another worker has the group now."""
# Another server may have written the same rows at the same moment.
_RETRIES_OF_COMMIT = 2
# After these the group has the state for itself: others change it faster than it is processed.
_CROWDED_CONFLICTS = 3
# A group that conflicts even then would do so for ever: stored rows contradict one another. It is
# committed without a check, which makes them agree.
_MAX_CONFLICTS = 8


class NotItsTurn(Exception):
    """The group cannot be stored now: the one before failed, or the worker stops. Release it."""


class Superseded(Exception):
    """The group before was committed in another state; process this one again."""


class ProjectRequest(NamedTuple):
    """A project's part of a group.

    Args:
        request: what the worker process parses.
        spans: the spans of the project's requests.
        is_first: these may be the project's first events.
    """

    request: ReadRequest
    spans: tracing.SharedWork
    is_first: bool


class GroupRun:
    """A started group on its way from the spool to its commit.

    Args:
        group: its batches.
        projects: the same, project by project.
        lookups: the result of parsing.
        earlier: the group that the same worker started before; None if it was committed.
        on_processed: called with the number of its runs whenever it was processed.

    Attributes:
        in_progress: the project that is being processed.
        is_inserted: whether an insert was tried, so that it must be repeated with the same members.
        is_alone: whether the groups of other servers wait for it.
    """

    def __init__(
        self,
        group: SpooledGroup,
        projects: Sequence[ProjectRequest],
        lookups: "asyncio.Task[Lookups]",
        *,
        earlier: "GroupRun | None",
        on_processed: Callable[[SpooledGroup, int], None],
    ) -> None:
        self.group = group
        self.projects = projects
        self.lookups = lookups
        self.in_progress: int | None = None
        self.is_inserted = False
        self.is_alone = False
        self._on_processed = on_processed
        self._earlier = earlier
        self._followed: States | None = None
        self._states: States | None = None
        self._is_committed = False
        self._has_failed = False
        self._is_given_up = False
        self._processed = asyncio.Event()
        self._ended = asyncio.Event()

    @property
    def requests(self) -> list[ReadRequest]:
        """What the worker process parses, project by project."""
        return [each.request for each in self.projects]

    @property
    def is_divisible(self) -> bool:
        """Whether its projects may still form other groups."""
        return self.group.is_divisible and not self.is_inserted

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

    @contextmanager
    def ending_spans(self) -> Generator[None]:
        """End the spans of the requests after this context."""
        with ExitStack() as stack:
            for each in self.projects:
                stack.enter_context(each.spans.ending())
            yield

    def mark_processed(self, states: States, *, runs: int) -> None:
        """Let the next group be processed on the states that this one leaves."""
        self._states = states
        self._processed.set()
        self._on_processed(self.group, runs)

    def mark_failed(self) -> None:
        """Have the groups after this one released."""
        self._has_failed = True

    def repeat(self, lookups: "asyncio.Task[Lookups]") -> None:
        """Process the group again, parsed anew: the worker process forgets processed groups."""
        self.lookups = lookups
        self._states = None
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

    async def follow(self, states: States) -> None:
        """Wait until the earlier group is processed, and show its changes to this one.

        Raises:
            NotItsTurn: it failed, or this group was given up.
        """
        if self._earlier is None:
            return
        left = await self._earlier.until_processed()
        if self._is_given_up:
            raise NotItsTurn
        for project_id in states.keys() & left.keys():
            self._followed = left
            states[project_id].follow(left[project_id])

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

    async def until_processed(self) -> States:
        """Wait until the group is processed.

        Returns:
            The states that it leaves.

        Raises:
            NotItsTurn: it failed.
        """
        while self._states is None:  # it may be repeated at this moment
            if self._ended.is_set():
                raise NotItsTurn
            await self._processed.wait()
        return self._states

    async def until_committed(self) -> States | None:
        """Wait until the group is committed.

        Returns:
            The states that it left.

        Raises:
            NotItsTurn: it failed.
        """
        await self._ended.wait()
        if not self._is_committed:
            raise NotItsTurn
        return self._states


def _is_refusal(error: Exception) -> bool:
    """Whether the database rejected the data itself, so that a retry would fail, too."""
    return not isinstance(error, GROUP_LOST) and not is_storage_failure(error)


class GroupStages(msgspec.Struct, frozen=True):
    """The stages of a group: process it, record property types, insert rows, commit.

    ``lost_writes`` knows which groups may be in the warehouse under another name.
    """

    processor: GroupProcessor
    definitions: DefinitionTracker
    warehouse: Warehouse
    committer: GroupCommitter
    lost_writes: LostWrites


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
        self._lost_writes = stages.lost_writes
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
                results = await self._attempt_after(conflicts, run)
                break
            except Superseded:
                log.info("a group is processed again", action="superseded")
            except Exception as error:
                if conflicts == _MAX_CONFLICTS or not is_conflict(error):
                    raise
                conflicts += 1
                log.info("a group is processed again", action="conflict", error=str(error))
            run.repeat(asyncio.create_task(self._processor.read(run.requests)))
        await run.group.ended()
        self._metrics.events.inc(sum(each.stored for each in results))

    async def _attempt_after(self, conflicts: int, run: GroupRun) -> list[BatchResult]:
        checked = conflicts < _MAX_CONFLICTS
        if conflicts < _CROWDED_CONFLICTS or run.earlier is not None:
            return await self._attempt(run, checked=checked)
        await asyncio.wait([run.lookups])  # others need not wait for the worker process
        projects = [each.project.id for each in run.requests]
        async with self._committer.locks.alone(projects):
            run.is_alone = True
            try:
                return await self._attempt(run, checked=checked)
            finally:
                run.is_alone = False

    async def _attempt(self, run: GroupRun, *, checked: bool) -> list[BatchResult]:
        """Process a group, and insert and commit it when it is its turn."""
        results = await self._process(run)
        await run.its_turn()
        for request, result in zip(run.requests, results, strict=True):
            await self._settle(request.project.id, result)
        await self._definitions.until_readers_know(each.project.id for each in run.requests)
        await self._insert(run, results)
        try:
            await self._commit(run, results, checked=checked)
        except Exception as error:
            retries = run.group.retries
            if is_conflict(error) or retries < _RETRIES_OF_COMMIT or not _is_refusal(error):
                raise
            results = await self._commit_in_pieces(run)
        return results

    async def _process(self, run: GroupRun) -> list[BatchResult]:
        lookups = await run.lookups
        await run.may_load()
        states = await self._processor.load(run.requests, lookups)
        await run.follow(states)
        results: list[BatchResult] = []
        is_repeated = run.is_inserted or not run.group.is_new or self._may_be_stored(run)
        for request, needed in zip(run.requests, lookups, strict=True):
            run.in_progress = request.project.id
            state = states[request.project.id]
            result = await self._processor.process(request, needed, state)
            if result is None:
                result = await GroupPieces(self._processor.calls, state, request).process()
            if is_repeated and (needed is None or needed.merging):
                # The rows stay as they were inserted, perhaps after a merge that is refused now.
                result.owners = state.owners()
            results.append(result)
        run.in_progress = None
        run.mark_processed(states, runs=sum(len(each.invocations) for each in results))
        return results

    async def _settle(self, project_id: int, result: BatchResult) -> None:
        """Record group types and property types before rows that rely on them are inserted."""
        await self._committer.claim_group_types(project_id, result)
        recorded = await self._definitions.settle(
            project_id, await self._definitions_version(project_id), result.observation
        )
        result.warnings.extend(recorded.warnings)

    async def _commit(
        self, run: GroupRun, results: Sequence[BatchResult], *, checked: bool
    ) -> None:
        parts = [
            ProjectResult(each.request.project.id, result, each.is_first)
            for each, result in zip(run.projects, results, strict=True)
        ]
        await self._committer.commit(
            run.group.finish, parts, checked=checked, is_alone=run.is_alone
        )

    async def _commit_in_pieces(self, run: GroupRun) -> list[BatchResult]:
        """Commit a group without the events that the database keeps rejecting."""
        log.warning(
            "a group is committed in pieces", action="commit_halved", group=str(run.group.id)
        )
        states: States = {}
        results: list[BatchResult] = []
        for request in run.requests:
            project_id = request.project.id
            try_commit = functools.partial(self._committer.try_commit, project_id)
            state = states[project_id] = self._processor.unloaded(request)
            pieces = GroupPieces(self._processor.calls, state, request, try_commit)
            result = await pieces.process()
            result.owners = state.owners()
            results.append(result)
        run.mark_processed(states, runs=sum(len(each.invocations) for each in results))
        await self._insert(run, results)
        await self._commit(run, results, checked=False)
        return results

    async def _definitions_version(self, project_id: int) -> int:
        project = await self._access.project(project_id)
        return 0 if project is None else project.definitions_version

    async def _insert(self, run: GroupRun, results: Sequence[BatchResult]) -> None:
        run.is_inserted = True
        for name in {name: None for result in results for name in result.blocks}:
            rows = b"\n".join(result.blocks[name] for result in results if name in result.blocks)
            if self._may_be_stored(run):
                rows = await unstored_rows(self._warehouse, rows)
            token = f"{run.group.id}:{name}"
            started = time.perf_counter()
            await self._warehouse.insert_block("events", EVENT_COLUMNS, rows, dedup_token=token)
            self._metrics.insert_seconds.observe(time.perf_counter() - started)

    def _may_be_stored(self, run: GroupRun) -> bool:
        """Whether the database may have lost the commit of events of this group."""
        until = self._lost_writes.doubtful_until
        return until is not None and any(
            part.received_at <= until for request in run.requests for part in request.parts
        )
