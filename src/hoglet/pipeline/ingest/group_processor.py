"""Processes a group on the state of its project.

The worker process does the work, see :mod:`hoglet.pipeline.ingest.ipc`; the server loads the state.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol
from uuid import UUID

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.groups import GroupState
from hoglet.events.persons.model import DistinctIdState, PersonState, PersonStoreState
from hoglet.events.repository import EventsRepository
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.kit.errors import Bug, SourceError
from hoglet.kit.json import pack
from hoglet.pipeline.ingest.ipc import (
    BatchResult,
    CacheMiss,
    LookupRequest,
    ProcessRequest,
    ReadRequest,
    encoder,
    lookup_answers,
    process_answers,
)
from hoglet.sandbox import Operation, Sandbox, SandboxCrashed, SandboxTimedOut
from hoglet.store.database import Database

# Paths of operations, so that the server does not import what only workers run.
_READ = "hoglet.pipeline.ingest.worker_operations:read"
_PROCESS = "hoglet.pipeline.ingest.worker_operations:process"

log = structlog.get_logger()

WORKER_FAILURES = (SandboxTimedOut, SandboxCrashed, Bug, SourceError, msgspec.MsgspecError)
"""Errors of calls whose input exceeds the worker's limits."""

# Enough for 2,000 events when each of 20 transformations exceeds its time limit 3 times.
DEADLINE_SECONDS = 120.0


type Lookups = list[LookupRequest | None]
"""What the projects of a group need from the database; None where the worker process fails."""


class FunctionSource(Protocol):
    """Loads the functions of projects; see ``hoglet.functions.loader.FunctionLoader``."""

    async def version_stamp(self, project_id: int) -> str:
        """A stamp that changes whenever a function of the project changes."""
        ...

    async def load_runnable(
        self, project_id: int, kinds: tuple[str, ...]
    ) -> list[ExecutableFunction]:
        """Load the functions to run, including those disabled by the watcher."""
        ...


class PipelineSandboxClient:
    """Makes the two calls; sends data again that the worker no longer has in its cache.

    Args:
        sandbox: processes groups.
        spare: processes a single event without functions if ``sandbox`` cannot; it has more memory
            and is stopped after each use.
        functions: loads the functions that a worker does not have.
        deadline: seconds of processor time per call.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        spare: Sandbox,
        functions: FunctionSource,
        deadline: float = DEADLINE_SECONDS,
    ) -> None:
        self._sandbox = sandbox
        self._spare = spare
        self._functions = functions
        self._deadline = deadline

    async def read(self, request: ReadRequest) -> LookupRequest:
        """Run the first phase; fills in ``request.functions`` if the worker needs them.

        Raises:
            SandboxTimedOut, SandboxCrashed, Bug: the worker failed.
        """
        sandbox = self._sandbox_for(request)
        answer = lookup_answers.decode(await self._call(sandbox, _READ, request))
        if isinstance(answer, CacheMiss):
            kinds = ("transformation", "destination")
            functions = await self._functions.load_runnable(request.project.id, kinds)
            whole = msgspec.structs.replace(request, functions=functions)
            answer = lookup_answers.decode(await self._call(sandbox, _READ, whole))
        if isinstance(answer, CacheMiss):
            raise TypeError("the worker asks for functions it was given")
        return answer

    async def process(self, reading: ReadRequest, request: ProcessRequest) -> BatchResult:
        """Run the second phase; repeats the first one if the worker has evicted the group.

        Raises:
            SandboxTimedOut, SandboxCrashed, Bug: the worker failed.
        """
        sandbox = self._sandbox_for(reading)
        for _ in range(3):
            answer = process_answers.decode(await self._call(sandbox, _PROCESS, request))
            if isinstance(answer, BatchResult):
                return answer
            await self.read(reading)
        raise TypeError("the worker evicted the batch three times in a row")

    async def release_spare(self) -> None:
        """Stop the spare worker to free its memory."""
        await self._spare.stop_idle()

    def _sandbox_for(self, request: ReadRequest) -> Sandbox:
        return self._spare if request.handling == "store" else self._sandbox

    async def _call(
        self, sandbox: Sandbox, operation: Operation, request: ReadRequest | ProcessRequest
    ) -> bytes:
        return await sandbox.call(operation, pack(encoder, request), deadline=self._deadline)


class StateRows(msgspec.Struct):
    """Rows by key; UUIDs as integers, because a UUID computes its hash in Python."""

    persons: dict[int, PersonState] = {}
    ids: dict[str, DistinctIdState] = {}
    groups: dict[tuple[int, str], GroupState] = {}
    types: dict[str, int] = {}
    seen: set[int] = set()

    def over(self, older: "StateRows") -> "StateRows":
        """These rows, and older ones with other keys."""
        return StateRows(
            persons={**older.persons, **self.persons},
            ids={**older.ids, **self.ids},
            groups={**older.groups, **self.groups},
            types={**older.types, **self.types},
            seen=older.seen | self.seen,
        )

    def add_persons(self, persons: Iterable[PersonState], ids: Iterable[DistinctIdState]) -> None:
        """Add persons and distinct ids, in place of those with the same keys."""
        self.persons.update({person.id.int: person for person in persons})
        self.ids.update({row.distinct_id: row for row in ids})

    def add_groups(self, groups: Iterable[GroupState]) -> None:
        """Add groups, in place of those with the same keys."""
        self.groups.update(((row.index, row.key), row) for row in groups)

    def add_seen(self, uuids: Iterable[UUID]) -> None:
        """Add known UUIDs."""
        self.seen.update(uuid.int for uuid in uuids)


class LoadedState:
    """The state of a project as seen by one of its groups.

    A group can be processed before the group before it is committed, and in pieces. It sees the
    changes made by that group (:meth:`follow`) and by its own earlier pieces (:meth:`apply`); they
    take precedence over rows loaded later, which may or may not include them.

    This is safe for merges: they load all distinct ids of both persons, so every id that now
    belongs to another person is known here, and the rows of that person, too.
    """

    def __init__(self, database: Database, events: EventsRepository, project_id: int) -> None:
        self._database = database
        self._events = events
        self._project_id = project_id
        self._earlier_rows = StateRows()
        self._earlier_changes = StateRows()
        self.rows = StateRows()
        self.changes = StateRows()
        self._loaded = PersonStoreState()
        self._retired: dict[str, int] = {}
        self._is_changed = False

    async def load(self, lookups: LookupRequest) -> None:
        """Load the rows that the group, or a piece of it, needs.

        If the group follows an uncommitted one, all groups before that one must be committed.
        """
        async with self._database.read() as session:
            await self.load_in(session, lookups)

    async def load_in(self, session: AsyncSession, lookups: LookupRequest) -> None:
        """Do the same in a session that others use, too."""
        types: dict[str, int] = {}
        if lookups.groups:
            types = await self._events.group_types(session, self._project_id)
        persons = await self._events.load_persons(
            session, self._project_id, lookups.distinct_ids, lookups.merging
        )
        keys = [(types[kind], key) for kind, key in lookups.groups if kind in types]
        groups = await self._events.load_groups(session, self._project_id, keys)
        seen = await self._events.seen(session, self._project_id, lookups.uuids)
        self._loaded = persons
        self._retired |= persons.retired
        self.rows.types.update(types)
        self.rows.add_persons(persons.persons, persons.ids)
        self.rows.add_groups(groups)
        self.rows.add_seen(seen)

    def follow(self, earlier: "LoadedState") -> None:
        """See the changes of the group before, which may not be committed yet."""
        self._is_changed = True
        self._earlier_rows = earlier.rows
        self._earlier_changes = earlier.changes

    def apply(self, result: BatchResult) -> None:
        """Apply the changes made by the group, or by a piece of it."""
        self._is_changed = True
        self.changes.add_persons(result.persons.persons, result.persons.ids)
        self.changes.types.update(result.new_group_types)
        self.changes.add_groups(result.groups)
        self.changes.add_seen(result.new_uuids)

    def owners(self) -> list[DistinctIdState]:
        """The owners of the distinct ids that the group has loaded or changed."""
        return list({**self.rows.ids, **self.changes.ids}.values())

    def request(self, group: UUID, lookups: LookupRequest) -> ProcessRequest:
        """Build the request that processes the group or piece whose rows were loaded last."""
        newest, persons = self.rows, self._loaded
        if self._is_changed:
            changes = self.changes.over(self._earlier_changes)
            newest = changes.over(self.rows.over(self._earlier_rows))
            # Persons of retired ids were deleted since the group before loaded them.
            for name in self._retired.keys() - changes.ids.keys():
                newest.ids.pop(name, None)
            persons = self._persons(newest, lookups)
            self.rows.add_persons(persons.persons, persons.ids)
        groups = [
            newest.groups[newest.types[kind], key]
            for kind, key in lookups.groups
            if kind in newest.types and (newest.types[kind], key) in newest.groups
        ]
        self.rows.add_groups(groups)
        return ProcessRequest(
            group=group,
            project_id=self._project_id,
            persons=persons,
            group_types=newest.types,
            groups=groups,
            seen=[uuid for uuid in lookups.uuids if uuid.int in newest.seen] if newest.seen else [],
        )

    def _persons(self, newest: StateRows, lookups: LookupRequest) -> PersonStoreState:
        """The persons of the distinct ids, and all distinct ids of persons that will be merged."""
        names = {name for name in (*lookups.distinct_ids, *lookups.merging) if name in newest.ids}
        merged = {newest.ids[name].person_id.int for name in lookups.merging if name in names}
        if merged:
            names.update(name for name, row in newest.ids.items() if row.person_id.int in merged)
        ids = [newest.ids[name] for name in names]
        persons = [newest.persons[person] for person in {row.person_id.int for row in ids}]
        unknown = {*lookups.distinct_ids, *lookups.merging} - names
        retired = {name: self._retired[name] for name in unknown if name in self._retired}
        return PersonStoreState(persons, ids, retired=retired)


type States = dict[int, LoadedState]
"""The states of a group's projects."""


class GroupProcessor:
    """Processes groups without writing anything.

    Attributes:
        calls: calls the worker process.
    """

    def __init__(
        self, calls: PipelineSandboxClient, database: Database, events: EventsRepository
    ) -> None:
        self.calls = calls
        self._database = database
        self._events = events

    async def read(self, group: Sequence[ReadRequest]) -> Lookups:
        """Have the worker parse a group in advance, project by project."""
        return [await self._read(part) for part in group]

    async def _read(self, group: ReadRequest) -> LookupRequest | None:
        try:
            return await self.calls.read(group)
        except WORKER_FAILURES as error:
            _log_halved(group, error)
            return None

    async def load(self, group: Sequence[ReadRequest], lookups: Lookups) -> States:
        """Load the states that a group needs; pieces of what could not be parsed load theirs.

        Raises:
            SQLAlchemyError: a state cannot be loaded.
        """
        states = {part.project.id: self.unloaded(part) for part in group}
        async with self._database.read() as session:
            for state, needed in zip(states.values(), lookups, strict=True):
                if needed is not None:
                    await state.load_in(session, needed)
        return states

    def unloaded(self, group: ReadRequest) -> LoadedState:
        """The state of a project's part of a group, of which nothing is loaded yet."""
        return LoadedState(self._database, self._events, group.project.id)

    async def process(
        self, group: ReadRequest, lookups: LookupRequest | None, state: LoadedState
    ) -> BatchResult | None:
        """Process a project's part of a group as a whole.

        Args:
            group: the batches.
            lookups: the result of :meth:`read`.
            state: what :meth:`load` loaded; the changes of the batches are applied to it.

        Returns:
            None if the worker fails; then process it in pieces, see ``split_group``.
        """
        if lookups is None:
            return None
        try:
            result = await self.calls.process(group, state.request(group.group, lookups))
        except WORKER_FAILURES as error:
            _log_halved(group, error)
            return None
        state.apply(result)
        return result


def _log_halved(group: ReadRequest, error: Exception) -> None:
    log.warning(
        "a group is processed in pieces",
        action="group_halved",
        group=str(group.group),
        batches=len(group.parts),
        error=str(error),
    )
