"""Processes a group of batches in the worker, in pieces if it exceeds the worker's limits.

If the worker dies, times out or raises, the group is split in half repeatedly until the offending
event is isolated; everything else is processed as usual. That event is stored without running
functions, and its deliveries become dead letters.

Pieces are only processed separately. Their results are merged, inserted and committed as one group:
its blocks have the same names on every attempt, so a crash between insert and commit never inserts
a row twice, even if the group is split differently the next time.

Each piece sees the state left by the pieces before it (persons, group properties, known UUIDs),
although nothing is committed until the last piece is done. In the same way a group sees the state
left by a group before it that is not committed yet.
"""

import contextlib
from collections import deque
from collections.abc import Awaitable, Callable

import msgspec
import structlog

from hoglet.events.persons.model import PersonStoreState
from hoglet.events.repository import EventsRepository
from hoglet.kit.errors import Unavailable
from hoglet.pipeline.ingest.ipc import (
    BatchResult,
    Handling,
    LookupRequest,
    ReadRequest,
)
from hoglet.pipeline.ingest.loaded_state import LoadedState
from hoglet.pipeline.ingest.sandbox_client import (
    WORKER_FAILURES,
    PipelineSandboxClient,
)
from hoglet.pipeline.ingest.split_group import halves_of, merge_results
from hoglet.sandbox import SandboxCrashed
from hoglet.store.database import Database

log = structlog.get_logger()

# Workers can also be killed from outside; an event is at fault if it kills this many in a row.
CRASHES_OF_ONE_EVENT = 3
# After this many such events in a group, a single crash is enough proof.
PROVEN_EVENTS = 3
_LEFT_OUT: tuple[Handling, ...] = ("match", "store")
# If the database rejects this many events and accepts none, the events are not at fault.
REFUSED_EVENTS = 20

type TryCommit = Callable[[BatchResult], Awaitable[None]]
"""Tests a commit of the results of pieces and rolls back; raises :class:`CommitRefused`."""


class CommitRefused(Exception):
    """The database keeps rejecting the results of some pieces of a group."""


_PIECE_FAILURES = (*WORKER_FAILURES, CommitRefused)


class FunctionsUnusable(Unavailable):
    """The worker fails on a project's functions alone, without any event."""

    code = "functions_unusable"


class GroupProcessor:
    """Processes groups without writing anything."""

    def __init__(
        self, calls: PipelineSandboxClient, database: Database, events: EventsRepository
    ) -> None:
        self._calls = calls
        self._database = database
        self._events = events

    async def read(self, group: ReadRequest) -> LookupRequest | None:
        """Have the worker parse a group in advance; None if it fails."""
        try:
            return await self._calls.read(group)
        except WORKER_FAILURES as error:
            _log_halved(group, error)
            return None

    async def load(self, group: ReadRequest, lookups: LookupRequest | None) -> LoadedState:
        """Load the state that a group needs; if it could not be parsed, its pieces load theirs.

        Raises:
            SQLAlchemyError: the state cannot be loaded.
        """
        state = LoadedState(self._database, self._events, group.project.id)
        if lookups is not None:
            await state.load(lookups)
        return state

    async def process(
        self, group: ReadRequest, lookups: LookupRequest | None, state: LoadedState
    ) -> BatchResult:
        """Process a group; if that fails in the worker, process it in pieces.

        Args:
            group: the batches of the group.
            lookups: the result of :meth:`read`.
            state: what :meth:`load` loaded; the changes of the group are applied to it.

        Raises:
            FunctionsUnusable: the worker cannot process any event with the project's functions.
            SandboxUnavailable: no worker can be started.
            SQLAlchemyError: the state of a piece cannot be loaded.
        """
        result = await self._process_whole(group, lookups, state) if lookups else None
        if result is None:
            return await _Pieces(self._calls, state, group).process()
        state.apply(result)
        return result

    async def _process_whole(
        self, group: ReadRequest, lookups: LookupRequest, state: LoadedState
    ) -> BatchResult | None:
        """None if the worker fails."""
        try:
            return await self._calls.process(group, state.request(group.group, lookups))
        except WORKER_FAILURES as error:
            _log_halved(group, error)
            return None

    async def process_in_pieces(
        self, group: ReadRequest, try_commit: TryCommit
    ) -> tuple[BatchResult, LoadedState]:
        """Process a group whose commit was rejected, leaving out the events that cause it.

        Returns:
            The result, and the state that it leaves.

        Raises:
            CommitRefused: so many events are rejected that the events cannot be at fault.
        """
        log.warning(
            "a group is committed in pieces", action="commit_halved", group=str(group.group)
        )
        state = LoadedState(self._database, self._events, group.project.id)
        return await _Pieces(self._calls, state, group, try_commit).process(), state


def _log_halved(group: ReadRequest, error: Exception) -> None:
    log.warning(
        "a group is processed in pieces",
        action="group_halved",
        group=str(group.group),
        batches=len(group.parts),
        error=str(error),
    )


class _Pieces:
    """Processes a group that failed as a whole."""

    def __init__(
        self,
        calls: PipelineSandboxClient,
        state: LoadedState,
        group: ReadRequest,
        try_commit: TryCommit | None = None,
    ) -> None:
        self._calls = calls
        self._state = state
        self._group = group
        self._try_commit = try_commit
        self._done: list[BatchResult] = []
        self._left_out = 0
        self._refused = 0
        self._accepted = False

    async def process(self) -> BatchResult:
        waiting = deque(halves_of(self._group) or (self._group,))
        while waiting:
            piece = waiting.popleft()
            try:
                result = await self._attempt(piece)
                self._accepted = True
            except _PIECE_FAILURES as error:
                halves = halves_of(piece)
                if halves is not None:
                    waiting.extendleft(reversed(halves))
                    continue
                result = await self._process_alone(piece, error)
            self._state.apply(result)
            self._done.append(result)
        return merge_results(self._done)

    async def _attempt(self, piece: ReadRequest) -> BatchResult:
        result = await self._process_piece(piece)
        await self._check(result)
        return result

    async def _process_piece(self, piece: ReadRequest) -> BatchResult:
        lookups = await self._calls.read(piece)
        await self._state.load(lookups)
        return await self._calls.process(piece, self._state.request(piece.group, lookups))

    async def _check(self, result: BatchResult) -> None:
        """Check that the database accepts a piece after the pieces before it."""
        if self._try_commit is not None:
            await self._try_commit(merge_results([*self._done, result]))

    async def _process_alone(self, piece: ReadRequest, error: Exception) -> BatchResult:
        """Process a single event that failed by itself."""
        crashes = int(isinstance(error, SandboxCrashed))
        while 0 < crashes < CRASHES_OF_ONE_EVENT and self._left_out < PROVEN_EVENTS:
            try:
                return await self._attempt(piece)
            except WORKER_FAILURES as again:
                error = again
                crashes = crashes + 1 if isinstance(again, SandboxCrashed) else 0
        if isinstance(error, CommitRefused):
            return await self._process_refused(piece, error)
        await self._check_functions(piece)
        self._left_out += 1
        return await self._leave_out(piece, str(error))

    async def _check_functions(self, piece: ReadRequest) -> None:
        """Check that the worker can load the functions, without any event."""
        try:
            await self._calls.read(msgspec.structs.replace(piece, parts=[]))
        except WORKER_FAILURES as error:
            raise FunctionsUnusable(
                f"The functions of project {piece.project.id} cannot be loaded in a worker: {error}"
            ) from error

    async def _leave_out(self, piece: ReadRequest, reason: str) -> BatchResult:
        """Store an event with dead letters in place of its deliveries."""
        log.error(
            "an event is stored without functions",
            action="functions_left_out",
            project=piece.project.id,
            batch=str(piece.parts[0].job_id),
            place=piece.parts[0].first,
            reason=reason,
        )
        last = reason
        for handling in _LEFT_OUT:
            simpler = msgspec.structs.replace(piece, handling=handling, reason=reason)
            try:
                result = await self._attempt(simpler)
            except _PIECE_FAILURES as error:
                last = str(error)
                log.warning("the event fails again", handling=handling, error=last)
            else:
                result.add_shared_globals()
                return result
            finally:
                await self._calls.release_spare()
        return _set_aside(piece, last)

    async def _process_refused(self, piece: ReadRequest, error: CommitRefused) -> BatchResult:
        """Store an event that the database rejects with dead letters in place of its deliveries.

        If the database still rejects it, store it without its changes to persons and groups.
        """
        self._refused += 1
        if self._refused >= REFUSED_EVENTS and not self._accepted:
            raise error
        simpler = msgspec.structs.replace(piece, handling="match", reason=str(error))
        for without_changes in (False, True):
            with contextlib.suppress(*_PIECE_FAILURES):
                return await self._refused_piece(simpler, without_changes=without_changes)
        return _set_aside(piece, str(error))

    async def _refused_piece(self, piece: ReadRequest, *, without_changes: bool) -> BatchResult:
        result = await self._process_piece(piece)
        if without_changes:
            example = {"batch": str(piece.parts[0].job_id), "reason": piece.reason}
            result = msgspec.structs.replace(
                result,
                persons=PersonStoreState(),
                groups=[],
                new_group_types={},
                warnings=[*result.warnings, ("changes_not_stored", example)],
            )
        result.add_shared_globals()
        await self._check(result)
        return result


def _set_aside(piece: ReadRequest, reason: str) -> BatchResult:
    """Keep an event that cannot be stored as a failed job in the spool, and report it."""
    part = piece.parts[0]
    return BatchResult(
        set_aside=[part],
        warnings=[("event_not_stored", {"batch": str(part.job_id), "reason": reason})],
    )
