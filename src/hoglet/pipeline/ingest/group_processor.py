"""Processes a group in the worker process, see :mod:`hoglet.pipeline.ingest.ipc`."""

from typing import Protocol

import msgspec
import structlog

from hoglet.events.repository import EventsRepository
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.kit.errors import Bug, SourceError
from hoglet.kit.json import pack
from hoglet.pipeline.ingest import worker_operations
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
from hoglet.pipeline.ingest.loaded_state import LoadedState
from hoglet.sandbox import Operation, Sandbox, SandboxCrashed, SandboxTimedOut
from hoglet.store.database import Database

log = structlog.get_logger()

WORKER_FAILURES = (SandboxTimedOut, SandboxCrashed, Bug, SourceError, msgspec.MsgspecError)
"""Errors of calls whose input exceeds the worker's limits."""

# Enough for 2,000 events when each of 20 transformations exceeds its time limit 3 times.
DEADLINE_SECONDS = 120.0


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
        answer = lookup_answers.decode(await self._call(sandbox, worker_operations.read, request))
        if isinstance(answer, CacheMiss):
            kinds = ("transformation", "destination")
            functions = await self._functions.load_runnable(request.project.id, kinds)
            whole = msgspec.structs.replace(request, functions=functions)
            answer = lookup_answers.decode(await self._call(sandbox, worker_operations.read, whole))
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
            answer = process_answers.decode(
                await self._call(sandbox, worker_operations.process, request)
            )
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

    async def read(self, group: ReadRequest) -> LookupRequest | None:
        """Have the worker parse a group in advance; None if it fails."""
        try:
            return await self.calls.read(group)
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
    ) -> BatchResult | None:
        """Process a group as a whole.

        Args:
            group: the batches of the group.
            lookups: the result of :meth:`read`.
            state: what :meth:`load` loaded; the changes of the group are applied to it.

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
