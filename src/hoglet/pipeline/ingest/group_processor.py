"""Processes a group of batches in the worker, in pieces if it exceeds the worker's limits.

If the worker dies, times out or raises, the group is split in half repeatedly until the offending
event is isolated; everything else is processed as usual. That event is stored without running
functions, and its deliveries become dead letters.

Pieces are only processed separately. Their results are merged, inserted and committed as one group:
its blocks have the same names on every attempt, so a crash between insert and commit never inserts
a row twice, even if the group is split differently the next time.

Each piece sees the state left by the pieces before it (persons, group properties, known UUIDs),
although nothing is committed until the last piece is done.
"""

import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from uuid import UUID

import msgspec
import structlog

from hoglet.events.groups import GroupState
from hoglet.events.persons.model import (
    DistinctIdState,
    PersonState,
    PersonStoreState,
)
from hoglet.events.repository import EventsRepository
from hoglet.kit.errors import Unavailable
from hoglet.pipeline.ingest.ipc import (
    BatchResult,
    Handling,
    LookupRequest,
    ProcessRequest,
    ReadRequest,
)
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


class LoadedState:
    """The state of a project as seen by one of its groups: loaded rows plus uncommitted changes.

    Changes made by a piece take precedence over rows loaded later. This is safe for merges: they
    load all ids of both persons, so every id that now belongs to another person is known here.
    """

    def __init__(self, database: Database, events: EventsRepository, project_id: int) -> None:
        self._database = database
        self._events = events
        self._project_id = project_id
        self._persons: dict[UUID, PersonState] = {}
        self._ids: dict[str, DistinctIdState] = {}
        self._retired: dict[str, int] = {}
        self._types: dict[str, int] = {}
        self._groups: dict[tuple[int, str], GroupState] = {}
        self._seen: set[UUID] = set()
        self._is_changed = False

    async def request(self, group: UUID, lookups: LookupRequest) -> ProcessRequest:
        """Build the request that processes a piece, with the state that the piece needs."""
        loaded = await self._load(lookups)
        return ProcessRequest(
            group=group,
            persons=self._person_state(lookups) if self._is_changed else loaded,
            group_types=self._types,
            groups=[
                self._groups[group_key]
                for kind, key in lookups.groups
                if kind in self._types and (group_key := (self._types[kind], key)) in self._groups
            ],
            seen=[uuid for uuid in lookups.uuids if uuid in self._seen] if self._seen else [],
        )

    def apply(self, result: BatchResult) -> None:
        """Apply the changes made by a piece."""
        self._is_changed = True
        self._persons.update((person.id, person) for person in result.persons.persons)
        self._ids.update((row.distinct_id, row) for row in result.persons.ids)
        for person in result.persons.deleted:
            self._persons.pop(person.id, None)
        self._types.update(result.new_group_types)
        self._groups.update(((row.index, row.key), row) for row in result.groups)
        self._seen.update(result.new_uuids)

    async def _load(self, lookups: LookupRequest) -> PersonStoreState:
        """Load the state that a piece needs; returns the persons as they are in the database."""
        async with self._database.read() as session:
            types = await self._events.group_types(session, self._project_id)
            self._types = {**types, **self._types}
            places = [
                (self._types[kind], key) for kind, key in lookups.groups if kind in self._types
            ]
            persons = await self._events.load_persons(
                session, self._project_id, lookups.distinct_ids, lookups.merging
            )
            groups = await self._events.load_groups(session, self._project_id, places)
            self._seen |= await self._events.seen(session, self._project_id, lookups.uuids)
        for person in persons.persons:
            self._persons.setdefault(person.id, person)
        for row in persons.ids:
            self._ids.setdefault(row.distinct_id, row)
        self._retired |= persons.retired
        for group in groups:
            self._groups.setdefault((group.index, group.key), group)
        return persons

    def _person_state(self, lookups: LookupRequest) -> PersonStoreState:
        """The persons of the distinct ids, and all distinct ids of persons that will be merged."""
        names = {name for name in (*lookups.distinct_ids, *lookups.merging) if name in self._ids}
        merged = {self._ids[name].person_id for name in lookups.merging if name in self._ids}
        if merged:
            names.update(name for name, row in self._ids.items() if row.person_id in merged)
        ids = [self._ids[name] for name in names]
        persons = {row.person_id for row in ids}
        unknown = {*lookups.distinct_ids, *lookups.merging} - names
        retired = {name: self._retired[name] for name in unknown if name in self._retired}
        loaded = [self._persons[person] for person in persons]
        return PersonStoreState(loaded, ids, retired=retired)


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

    async def read(self, group: ReadRequest) -> LookupRequest:
        """Have the worker parse a group in advance."""
        return await self._calls.read(group)

    async def process(self, group: ReadRequest, lookups: Awaitable[LookupRequest]) -> BatchResult:
        """Process a group; if that fails in the worker, process it in pieces.

        Args:
            group: the batches of the group.
            lookups: the result of :meth:`read`.

        Raises:
            FunctionsUnusable: the worker cannot process any event with the project's functions.
            SandboxUnavailable: no worker can be started.
            SQLAlchemyError: the state cannot be loaded.
        """
        state = LoadedState(self._database, self._events, group.project.id)
        try:
            request = await state.request(group.group, await lookups)
            return await self._calls.process(group, request)
        except WORKER_FAILURES as error:
            log.warning(
                "a group is processed in pieces",
                action="group_halved",
                group=str(group.group),
                batches=len(group.parts),
                error=str(error),
            )
        return await _Pieces(self._calls, state, group).process()

    async def process_in_pieces(self, group: ReadRequest, try_commit: TryCommit) -> BatchResult:
        """Process a group whose commit was rejected, leaving out the events that cause it.

        Raises:
            CommitRefused: so many events are rejected that the events cannot be at fault.
        """
        log.warning(
            "a group is committed in pieces", action="commit_halved", group=str(group.group)
        )
        state = LoadedState(self._database, self._events, group.project.id)
        return await _Pieces(self._calls, state, group, try_commit).process()


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
        lookups = await self._calls.read(piece)
        result = await self._calls.process(piece, await self._state.request(piece.group, lookups))
        await self._check(result)
        return result

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
        lookups = await self._calls.read(piece)
        result = await self._calls.process(piece, await self._state.request(piece.group, lookups))
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
