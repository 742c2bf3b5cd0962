"""Processes a group in pieces if it exceeds the limits of a worker, or if its commit is rejected.

If the worker dies, times out or raises, the group is split in half repeatedly until the offending
event is isolated; everything else is processed as usual. That event is stored without running
functions, and its deliveries become dead letters.

A piece is a :class:`ReadRequest` with some of the group's events. Pieces are only processed
separately. Their results are merged, inserted and committed as one group: its blocks have the same
names on every attempt, so a crash between insert and commit never inserts a row twice, even if the
group is split differently the next time.

Each piece sees the state left by the pieces before it (persons, group properties, known UUIDs),
although nothing is committed until the last piece is done.
"""

import contextlib
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import structlog

from hoglet.definitions.observer import merge_observations
from hoglet.events.persons.model import PersonStoreState
from hoglet.events.split_batch import halve_batch
from hoglet.kit.errors import Unavailable
from hoglet.pipeline.ingest.group_processor import (
    WORKER_FAILURES,
    LoadedState,
    PipelineSandboxClient,
)
from hoglet.pipeline.ingest.ipc import (
    BatchCounters,
    BatchResult,
    Handling,
    Part,
    ReadRequest,
    SetAside,
)
from hoglet.sandbox import SandboxCrashed

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


class GroupPieces:
    """Processes a group that failed as a whole.

    Args:
        calls: calls the worker process.
        state: the state of the group; the changes of its pieces are applied to it.
        group: the batches of the group.
        try_commit: rejects results that the database does not accept.
    """

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
        """Process all pieces.

        Raises:
            FunctionsUnusable: the worker cannot process any event with the project's functions.
            CommitRefused: so many events are rejected that the events cannot be at fault.
            SandboxUnavailable: no worker can be started.
            SQLAlchemyError: the state of a piece cannot be loaded.
        """
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
        set_aside=[SetAside(part, reason)],
        warnings=[("event_not_stored", {"batch": str(part.job_id), "reason": reason})],
    )


def merge_results(pieces: Sequence[BatchResult]) -> BatchResult:
    """Merge the results of the pieces, as if the group had been processed as a whole."""
    return BatchResult(
        blocks=_blocks(pieces),
        stored=sum(piece.stored for piece in pieces),
        persons=_persons(pieces),
        new_group_types={kind: i for piece in pieces for kind, i in piece.new_group_types.items()},
        groups=list({(g.index, g.key): g for piece in pieces for g in piece.groups}.values()),
        new_uuids=[uuid for piece in pieces for uuid in piece.new_uuids],
        invocations=[run for piece in pieces for run in piece.invocations],
        tally=_tally(pieces),
        observation=merge_observations([piece.observation for piece in pieces]),
        warnings=[warning for piece in pieces for warning in piece.warnings],
        set_aside=[event for piece in pieces for event in piece.set_aside],
    )


def _blocks(pieces: Sequence[BatchResult]) -> dict[int, bytes]:
    by_table: dict[int, list[bytes]] = {}
    for piece in pieces:
        for name, rows in piece.blocks.items():
            by_table.setdefault(name, []).append(rows)
    return {name: b"\n".join(blocks) for name, blocks in by_table.items()}


def _persons(pieces: Sequence[BatchResult]) -> PersonStoreState:
    """The last state of each person; one that a later piece merged into another is only deleted."""
    persons = {person.id: person for piece in pieces for person in piece.persons.persons}
    ids = {row.distinct_id: row for piece in pieces for row in piece.persons.ids}
    deleted = [person for piece in pieces for person in piece.persons.deleted]
    for person in deleted:
        persons.pop(person.id, None)
    return PersonStoreState(
        list(persons.values()),
        list(ids.values()),
        deleted,
        merges=[pair for piece in pieces for pair in piece.persons.merges],
    )


def _tally(pieces: Sequence[BatchResult]) -> BatchCounters:
    deferred: Counter[str] = Counter()
    whole = BatchCounters()
    for piece in pieces:
        tally = piece.tally
        deferred.update(tally.deferred)
        whole.lines.extend(tally.lines)
        whole.dead_letters.extend(tally.dead_letters)
        for function_id, counters in tally.counts.items():
            for key, number in counters.items():
                kind, _, name = key.partition("/")
                whole.count(function_id, kind, name, number)
        for function_id, spent in tally.spent.items():
            whole.spent.setdefault(function_id, []).extend(spent)
    whole.deferred = dict(deferred)
    return whole


def halves_of(piece: ReadRequest) -> tuple[ReadRequest, ReadRequest] | None:
    """Split a piece into two, keeping the order of events; None if it has only one event.

    Batches are kept whole as long as there are several.
    """
    parts = piece.parts
    if len(parts) > 1:
        middle = len(parts) // 2
        return _with(piece, parts[:middle]), _with(piece, parts[middle:])
    try:
        halved = halve_batch(parts[0].body) if parts else None
    except msgspec.DecodeError:  # capture stores JSON only, so the job was damaged
        return None
    if halved is None:
        return None
    first, second, events = halved
    part = parts[0]
    left = msgspec.structs.replace(part, body=first)
    right = msgspec.structs.replace(part, body=second, first=part.first + events)
    return _with(piece, [left]), _with(piece, [right])


def _with(piece: ReadRequest, parts: list[Part]) -> ReadRequest:
    return msgspec.structs.replace(piece, parts=parts)
