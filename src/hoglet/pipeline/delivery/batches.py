"""Runs of functions with ``delivery.batch``: the program runs once for several leased runs.

Each event keeps its own run and thus its own job: a killed process loses nothing, and each event is
retried, dead-lettered and redriven individually. A leased run waits here, without taking a slot,
until ``max_events`` runs have gathered or the first one has waited ``max_seconds``.

Batches can wait for minutes, so each runs with the function as it is when the waiting ends.

A batch that fails before its first host call is split in half repeatedly, to isolate the event that
makes it fail. After a host call it is not split: the receiver may have accepted the request.

Source: docs/spec/hog-functions.md#139-batches and docs/adr/0033-batches.md.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import InvokeV1
from hoglet.functions.json_types import Globals
from hoglet.functions.loader import FunctionCache
from hoglet.functions.runtime.journal import RunJournal
from hoglet.functions.runtime.messages import EventResult, Step
from hoglet.kit.clock import Clock
from hoglet.pipeline.delivery.host_limits import AGAIN_SECONDS
from hoglet.pipeline.delivery.run import InvocationRunner, LeaseEnd, RunOutcome, RunRecord
from hoglet.queue import Job

BATCH_BYTES = 8 * 1024 * 1024  # of payloads; the sandbox accepts 16 MB per call
WAITING_BYTES = 64 * 1024 * 1024  # of all open batches; beyond it, they run immediately
_UUIDS_PER_LINE = 100

type _Key = tuple[tuple[str, int], int | None, int]


class NotBatched(Exception):
    """The function was switched off or has no batches any more: start the run again."""


class _Member(msgspec.Struct, eq=False):
    """A run of a batch."""

    invoke: InvokeV1
    lane: str | None
    size: int
    done: asyncio.Future[RunOutcome]


class _OpenBatch(msgspec.Struct, eq=False):
    """A batch that further runs can join."""

    function: ExecutableFunction
    members: list[_Member]
    timer: asyncio.TimerHandle
    size: int = 0


class BatchRunner:
    """Gathers runs of batched functions and executes them together.

    Concurrency: any number of tasks can call :meth:`run`. Runs of the same function, mapping and
    attempt share batches.

    Args:
        functions: loads functions.
        runner: executes programs.
        clock: the current time.

    Attributes:
        waiting: number of runs in open batches, by lane.
    """

    def __init__(self, functions: FunctionCache, runner: InvocationRunner, clock: Clock) -> None:
        self._functions = functions
        self._runner = runner
        self._clock = clock
        self._open: dict[_Key, _OpenBatch] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._bytes = 0
        self._stopping = False
        self.waiting = Counter[str | None]()

    async def run(self, function: ExecutableFunction, invoke: InvokeV1, job: Job) -> RunOutcome:
        """Execute a run in a batch with others; returns the outcome of this run.

        Raises:
            NotBatched: nothing was run, because the function was changed meanwhile.
        """
        loop = asyncio.get_running_loop()
        member = _Member(invoke, job.lane, len(job.payload), loop.create_future())
        settings = function.delivery.batch
        assert settings is not None, "only functions with a batch are executed here"  # noqa: S101
        key = (function.cache_key, invoke.mapping, invoke.attempt)
        batch = self._open.get(key)
        if batch is None:
            timer = loop.call_later(settings.max_seconds, self._close, key)
            batch = self._open[key] = _OpenBatch(function, [], timer)
        batch.members.append(member)
        batch.size += member.size
        self._bytes += member.size
        self.waiting[job.lane] += 1
        is_full = len(batch.members) >= settings.max_events or batch.size >= BATCH_BYTES
        if is_full or self._bytes >= WAITING_BYTES or self._stopping:
            self._close(key)
        return await member.done

    def stop(self) -> None:
        """Execute open batches now; later runs are executed alone."""
        self._stopping = True
        for key in list(self._open):
            self._close(key)

    def _close(self, key: _Key) -> None:
        batch = self._open.pop(key, None)
        if batch is None:
            return
        batch.timer.cancel()
        self._bytes -= batch.size
        self.waiting.subtract(member.lane for member in batch.members)
        self.waiting += Counter()  # drops zeros
        task = asyncio.create_task(self._execute(batch))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _execute(self, batch: _OpenBatch) -> None:
        members = [member for member in batch.members if not member.done.done()]
        try:
            function = await self._current(batch.function)
            outcomes = await self._outcomes(function, [each.invoke for each in members])
        except BaseException as error:  # raised in the waiting tasks
            for member in members:
                if not member.done.done():
                    member.done.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        for member, outcome in zip(members, outcomes, strict=True):
            if not member.done.done():
                member.done.set_result(outcome)

    async def _current(self, function: ExecutableFunction) -> ExecutableFunction:
        current = await self._functions.get(function.project_id, UUID(function.id), present=True)
        if current is None or not current.enabled or not current.is_batched:
            raise NotBatched
        return current

    async def _outcomes(
        self, function: ExecutableFunction, invokes: Sequence[InvokeV1]
    ) -> list[RunOutcome]:
        """The outcomes of the runs of a batch, in their order."""
        if not invokes:
            return []
        since = [each.failing_since for each in invokes if each.failing_since is not None]
        # The latest start of failures counts for the whole batch, so that no run is given up early.
        leader = msgspec.structs.replace(invokes[0], failing_since=max(since, default=None))
        ending = await self._run(function, leader, [each.globals for each in invokes])
        step = ending.step
        if step is not None and _may_be_halved(step, invokes):
            middle = len(invokes) // 2
            first = await self._outcomes(function, invokes[:middle])
            return [*first, *await self._outcomes(function, invokes[middle:])]
        if ending.lease_end is LeaseEnd.WAITS:
            return self._waiting_outcomes(ending, invokes)
        records = self._records(ending.record, invokes)
        assert step is not None, "an ended run has one"  # noqa: S101 (narrows the type)
        if step.outcome == "failed":
            return [_ended(record, step) for record in records]
        results = step.results or [EventResult()] * len(invokes)
        return [
            self._outcome(function, invoke, record, step.journal, result)
            for invoke, record, result in zip(invokes, records, results, strict=True)
        ]

    async def _run(
        self, function: ExecutableFunction, leader: InvokeV1, events: list[Globals]
    ) -> RunOutcome:
        """Run a program; after its first call, wait here for busy hosts so as not to repeat it."""
        ending = await self._runner.run(function, leader, events)
        while ending.host_unavailable and ending.invoke is not None and _has_called(ending.invoke):
            await asyncio.sleep(AGAIN_SECONDS)
            ending = await self._runner.run(function, ending.invoke, events)
        return ending

    def _records(self, first: RunRecord, invokes: Sequence[InvokeV1]) -> list[RunRecord]:
        """One record per run; the program's log belongs to the first one.

        That log lists every event, so that it can be found when one of them is deleted.
        """
        now = self._clock.now()
        first.invoke = invokes[0]
        records = [first, *(RunRecord(invoke, now) for invoke in invokes[1:])]
        uuids = [str(invoke.globals.get("event", {}).get("uuid")) for invoke in invokes]
        for start in range(0, len(uuids), _UUIDS_PER_LINE):
            part = ", ".join(uuids[start : start + _UUIDS_PER_LINE])
            first.log("debug", f"Batch of {len(uuids)} events: {part}", now)
        for record, uuid in zip(records[1:], uuids[1:], strict=True):
            record.attempts = first.attempts
            leader = invokes[0].invocation_id
            text = f"Event {uuid} ran in a batch of {len(uuids)} events; its log is that of run"
            record.log("debug", f"{text} {leader}", now)
        return records

    def _waiting_outcomes(
        self, ending: RunOutcome, invokes: Sequence[InvokeV1]
    ) -> list[RunOutcome]:
        """Make all runs wait; they later start from the beginning, probably in one batch again.

        Captured events are dropped, because the program will capture them again.
        """
        now = self._clock.now()
        has_failed = not ending.host_unavailable
        if has_failed:
            records = self._records(ending.record, invokes)
            records[0].captures.clear()
            for record in records[1:]:
                record.count("other", "retried", now)
        else:  # no request was made: only the next attempt is logged
            records = [RunRecord(invoke, now) for invoke in invokes]
        return [
            RunOutcome(
                lease_end=LeaseEnd.WAITS,
                record=record,
                invoke=_next_attempt(invoke, now) if has_failed else invoke,
                run_at=ending.run_at,
                host_unavailable=ending.host_unavailable,
            )
            for invoke, record in zip(invokes, records, strict=True)
        ]

    def _outcome(
        self,
        function: ExecutableFunction,
        invoke: InvokeV1,
        record: RunRecord,
        journal: RunJournal,
        result: EventResult,
    ) -> RunOutcome:
        now = self._clock.now()
        if result.error is None:
            return _ended(record, Step(outcome="finished", journal=journal))
        retry_at = self._runner.retry_at(function, invoke) if result.may_retry else None
        what_next = "no further attempts"
        if retry_at is not None:
            what_next = f"next attempt in {(retry_at - now).total_seconds():.1f} s"
        record.log("error", f"Attempt {invoke.attempt} failed: {result.error}; {what_next}", now)
        if retry_at is None:
            step = Step(
                outcome="failed",
                journal=journal,
                error=result.error,
                error_class=result.error_class,
            )
            return _ended(record, step)
        record.count("other", "retried", now)
        return RunOutcome(
            lease_end=LeaseEnd.WAITS,
            record=record,
            invoke=_next_attempt(invoke, now),
            run_at=retry_at,
        )


def _has_called(invoke: InvokeV1) -> bool:
    return invoke.journal is not None and bool(invoke.journal.calls)


def _may_be_halved(step: Step, invokes: Sequence[InvokeV1]) -> bool:
    return step.outcome == "failed" and len(invokes) > 1 and not step.journal.calls


def _ended(record: RunRecord, step: Step) -> RunOutcome:
    return RunOutcome(lease_end=LeaseEnd.ENDED, record=record, step=step)


def _next_attempt(invoke: InvokeV1, now: datetime) -> InvokeV1:
    return msgspec.structs.replace(
        invoke,
        attempt=invoke.attempt + 1,
        first_failed_at=invoke.first_failed_at or now.isoformat(),
        failing_since=invoke.failing_since or now.isoformat(),
    )
