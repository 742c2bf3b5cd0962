"""Dead letters: failed runs, stored for inspection and redrive.

The pipeline adds them with :meth:`DeadLetters.add`, in the transaction that ends the run.

Source: docs/spec/hog-functions.md#10-dead-letters-hoglet-goes-further.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import ProjectScope
from hoglet.functions.dead_letters import repository
from hoglet.functions.dead_letters.repository import (
    REDRIVE_CHUNK,
    WHOLE_CHUNK,
    DeadLetterFilter,
    DeadLetterKey,
)
from hoglet.functions.dead_letters.schemas import (
    DeadLetterDetail,
    DeadLetterObject,
    RedriveResult,
    read_selection,
)
from hoglet.functions.jobs import INVOKE_QUEUE, InvokeV1, encode, line_of
from hoglet.functions.json_types import EventGlobal, Globals
from hoglet.functions.logs.telemetry import LOG_SOURCE
from hoglet.functions.service import FunctionService, read_id
from hoglet.functions.tables import DeadLetterRow
from hoglet.functions.types import DeadLetterClass
from hoglet.kit.clock import iso_z, iso_z_or_none, new_id
from hoglet.kit.errors import Invalid, NotFound
from hoglet.kit.json import JsonObject
from hoglet.queue.port import NewJob, Priority, Queue
from hoglet.warehouse.telemetry import LogEntry
from hoglet.web.pagination import PageRequest

_ERROR_CHARACTERS = 10_000
_WARN_EVERY = timedelta(hours=1)
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)

type Enqueue = Callable[[AsyncSession, Queue, Sequence[NewJob]], Awaitable[None]]


class DeadLetterSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Retention of dead letters."""

    keep_days: int = 7
    keep_per_function: int = 10_000


async def enqueue_unordered(session: AsyncSession, queue: Queue, jobs: Sequence[NewJob]) -> None:
    """Enqueue runs without assigning ordering keys."""
    await queue.enqueue(session, jobs)


class NewDeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """A failed run.

    Attributes:
        error_class: ``filter``, ``inputs``, ``fetch``, ``timeout``, ``hog`` or ``disabled``.
        globals: see docs/spec/hog-functions.md#132-globals-and-inputs; without inputs and therefore
            without secrets.
        mapping: number of the mapping that ran.
        attempts: number of attempts of the last host call; 1 without a call.
    """

    project_id: int
    function_id: UUID
    error_class: DeadLetterClass
    invocation_id: UUID
    globals: Globals
    error: str
    attempts: int = 1
    mapping: int | None = None
    first_failed_at: datetime | None = None


class DeadLetters:
    """The dead letters of all functions.

    Args:
        functions: the functions.
        queue: receives redriven runs.
        settings: retention.
        enqueue: enqueues runs, in order for each ordering key.
    """

    def __init__(
        self,
        functions: FunctionService,
        queue: Queue,
        settings: DeadLetterSettings | None = None,
        *,
        enqueue: Enqueue = enqueue_unordered,
    ) -> None:
        self._functions = functions
        self._enqueue = enqueue
        self._queue = queue
        self.settings = settings or DeadLetterSettings()
        self._warned_at: dict[UUID, datetime] = {}

    async def add(
        self, session: AsyncSession, dead_letters: Sequence[NewDeadLetter]
    ) -> list[LogEntry]:
        """Add dead letters; a redriven run that failed again updates its dead letter.

        Returns:
            A warn line for each function whose oldest dead letters were dropped, at most once an
            hour.
        """
        now = self._functions.clock.now()
        for dead_letter in dead_letters:
            await _upsert(session, dead_letter, now)
        await session.flush()
        keep = self.settings.keep_per_function
        projects = {dead_letter.function_id: dead_letter.project_id for dead_letter in dead_letters}
        return [
            self._dropped_line(project_id, function_id, now)
            for function_id, project_id in projects.items()
            if await repository.drop_oldest(session, function_id, keep=keep)
            and now - self._warned_at.get(function_id, _NEVER) > _WARN_EVERY
        ]

    def _dropped_line(self, project_id: int, function_id: UUID, now: datetime) -> LogEntry:
        self._warned_at[function_id] = now
        keep = self.settings.keep_per_function
        text = f"More than {keep} dead letters: the oldest are dropped"
        return LogEntry(project_id, LOG_SOURCE, str(function_id), "", now, "WARN", text)

    async def prune(self, session: AsyncSession) -> int:
        """Delete expired dead letters; returns how many."""
        oldest = self._functions.clock.now() - timedelta(days=self.settings.keep_days)
        return await repository.drop_before(session, oldest)

    async def page(
        self, scope: ProjectScope, function_id: str, filters: DeadLetterFilter, page: PageRequest
    ) -> tuple[int, list[DeadLetterObject]]:
        """A page of dead letters, newest first, and the total count.

        Raises:
            NotFound: no such function.
        """
        async with self._functions.database.read() as session:
            function = await self._functions.row(session, scope.project.id, function_id)
            count = await repository.count(session, function.id, filters)
            rows = await repository.page(
                session, function.id, filters, limit=page.limit, offset=page.offset
            )
        return count, [dead_letter_object(row) for row in rows]

    async def get(
        self, scope: ProjectScope, function_id: str, dead_letter_id: str
    ) -> DeadLetterDetail:
        """A dead letter with its globals.

        Raises:
            NotFound: no such function or dead letter.
        """
        async with self._functions.database.read() as session:
            row = await self._dead_letter(session, scope, function_id, dead_letter_id)
        return {**dead_letter_object(row), "globals": row.globals}

    async def delete(self, scope: ProjectScope, function_id: str, dead_letter_id: str) -> None:
        """Delete a dead letter.

        Raises:
            NotFound: no such function or dead letter.
        """
        async with self._functions.database.write() as session:
            await session.delete(
                await self._dead_letter(session, scope, function_id, dead_letter_id)
            )

    async def redrive(
        self, scope: ProjectScope, function_id: str, body: JsonObject
    ) -> RedriveResult:
        """Redrive dead letters with the current code, inputs and secrets, oldest first.

        Runs of an ordered function are queued by distinct id. With ``"dry_run": true`` nothing
        runs; the counts are those of a real redrive.

        Returns:
            ``{"queued": 2, "skipped": 1}``; ``skipped`` counts unknown ids and dead letters that
            were already redriven.

        Raises:
            NotFound: no such function.
            Invalid: nothing is selected, or the function is disabled.
        """
        filters, is_dry = read_selection(body), body.get("dry_run", False)
        if not isinstance(is_dry, bool):
            raise Invalid("Must be a valid boolean.", attr="dry_run")
        async with self._functions.database.write() as session:
            function = await self._functions.row(session, scope.project.id, function_id)
            if not function.enabled:
                raise Invalid("This function is disabled. Enable it before redriving dead letters.")
            selected = await self._selected(session, function.id, filters)
            waiting = sorted(letter for letter in selected if letter.redriven_at is None)
            queued = len(waiting) if is_dry else 0
            if not is_dry:
                is_ordered = bool(function.delivery and function.delivery.get("ordered_by"))
                ids = [letter.id for letter in waiting]
                for start in range(0, len(ids), WHOLE_CHUNK):
                    part = ids[start : start + WHOLE_CHUNK]
                    queued += await self._requeue(session, part, is_ordered=is_ordered)
        requested = len(selected) if filters.ids is None else len(filters.ids)
        return {"queued": queued, "skipped": requested - queued}

    async def _requeue(
        self, session: AsyncSession, ids: Sequence[UUID], *, is_ordered: bool
    ) -> int:
        """Enqueue the runs of a few dead letters in the order of their ids; returns how many.

        Other requests may have redriven or deleted some of them since they were selected.
        """
        letters = await repository.read_whole(session, ids)
        ready = (letters[each] for each in ids if each in letters)
        rows = [row for row in ready if row.redriven_at is None]
        await self._enqueue(
            session, self._queue, [_job(row, is_ordered=is_ordered) for row in rows]
        )
        for row in rows:
            row.redriven_at = self._functions.clock.now()
        await session.flush()
        session.expunge_all()
        return len(rows)

    async def _selected(
        self, session: AsyncSession, function_id: UUID, filters: DeadLetterFilter
    ) -> list[DeadLetterKey]:
        if filters.ids is None:
            return await repository.list_keys(session, function_id, filters)
        selected: list[DeadLetterKey] = []
        for start in range(0, len(filters.ids), REDRIVE_CHUNK):
            part = filters._replace(ids=filters.ids[start : start + REDRIVE_CHUNK])
            selected += await repository.list_keys(session, function_id, part)
        return selected

    async def _dead_letter(
        self, session: AsyncSession, scope: ProjectScope, function_id: str, dead_letter_id: str
    ) -> DeadLetterRow:
        function = await self._functions.row(session, scope.project.id, function_id)
        row = await repository.find(session, function.id, read_id(dead_letter_id))
        if row is None:
            raise NotFound
        return row


def dead_letter_object(row: DeadLetterRow) -> DeadLetterObject:
    """A dead letter in the form of the list."""
    return {
        "id": str(row.id),
        "class": row.error_class,
        "invocation_id": str(row.invocation_id),
        "event_uuid": row.event_uuid,
        "event": row.event,
        "distinct_id": row.distinct_id,
        "attempts": row.attempts,
        "error": row.error,
        "first_failed_at": iso_z(row.first_failed_at),
        "last_failed_at": iso_z(row.last_failed_at),
        "redriven_at": iso_z_or_none(row.redriven_at),
    }


def _job(row: DeadLetterRow, *, is_ordered: bool) -> NewJob:
    invoke = InvokeV1(
        project_id=row.project_id,
        function_id=row.function_id,
        invocation_id=row.invocation_id,
        globals=row.globals,
        mapping=row.mapping,
        start_at="filter" if row.error_class == "filter" else "inputs",
        is_redrive=True,
        dead_letter_id=row.id,
        first_failed_at=row.first_failed_at.isoformat(),
    )
    return NewJob(
        queue=INVOKE_QUEUE,
        payload=encode(invoke),
        id=row.invocation_id,
        priority=Priority.LOW,
        ordering_key=line_of(str(row.function_id), row.distinct_id or "") if is_ordered else None,
        lane=str(row.function_id),
    )


async def _upsert(session: AsyncSession, dead_letter: NewDeadLetter, now: datetime) -> None:
    error = dead_letter.error[:_ERROR_CHARACTERS].replace("\0", "�")  # PostgreSQL cannot store NUL
    stored = await repository.find_by_invocation(
        session, dead_letter.function_id, dead_letter.invocation_id
    )
    if stored is not None:
        stored.error_class, stored.error = dead_letter.error_class, error
        stored.attempts += dead_letter.attempts
        stored.last_failed_at, stored.redriven_at = now, None
        return
    event: EventGlobal = dead_letter.globals.get("event") or {}
    session.add(
        DeadLetterRow(
            id=new_id(),
            project_id=dead_letter.project_id,
            function_id=dead_letter.function_id,
            error_class=dead_letter.error_class,
            invocation_id=dead_letter.invocation_id,
            event_uuid=event.get("uuid"),
            event=event.get("event"),
            distinct_id=event.get("distinct_id"),
            attempts=dead_letter.attempts,
            error=error,
            globals={
                name: value for name, value in dead_letter.globals.items() if name != "inputs"
            },
            mapping=dead_letter.mapping,
            first_failed_at=dead_letter.first_failed_at or now,
            last_failed_at=now,
            redriven_at=None,
        )
    )
