"""The executor: leases runs, executes them concurrently, and records their outcomes.

All results of a run (job, logs, metrics, dead letter, captured events, watcher observation) are
committed together. A run that has to wait releases its lease and stores its journal in the payload.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta

import msgspec
import structlog
from sqlalchemy.exc import SQLAlchemyError

from hoglet.functions import pauses as pause_repository
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import INVOKE_QUEUE, InvokeV1, decode_invoke
from hoglet.functions.loader import FunctionCache
from hoglet.functions.watcher.rules import DISABLED, FORCED_DISABLED
from hoglet.kit import tracing
from hoglet.kit.clock import Clock, until_tick
from hoglet.pipeline.delivery import ordering as lines
from hoglet.pipeline.delivery.batches import BatchRunner, NotBatched
from hoglet.pipeline.delivery.completion import CompletionBatcher
from hoglet.pipeline.delivery.host_limits import AGAIN_SECONDS, HostLimiter
from hoglet.pipeline.delivery.run import InvocationRunner, RunOutcome, RunRecord
from hoglet.pipeline.storage_failures import is_storage_failure
from hoglet.queue import Job, LaneLimit, LeaseLost, Queue
from hoglet.queue.consumers import Bursts
from hoglet.queue.worker import MAX_LOST_LEASES
from hoglet.store.database import ChangeMark, Database

log = structlog.get_logger()

RUNS_AT_ONCE = 1024  # most of them wait for a receiver; the sandbox has its own, smaller limit
FAIR_SHARE = 64  # runs of a lane while other lanes wait
LARGE_SHARE = 256  # runs of a lane while no other lane waits
SLOTS_FOR_LARGE_SHARES = 512  # the other slots are for lanes below their fair share
# A process that dies soon after its start loses the leases of all its runs, and a run that has lost
# more than MAX_LOST_LEASES is given up. So a new process holds few runs until some have ended.
SHARE_AT_START = 32
ENDS_BEFORE_FULL_SHARES = 256
SHARE_IN_BURST = 16  # runs of a lane while a burst of events is stored
LEASE_BYTES = 16 * 1024 * 1024
BYTES_FOR_LARGE_SHARES = 128 * 1024 * 1024  # of payloads; fair shares have no such limit
ENDS_BEFORE_POLL = 16  # finished runs between polls while hosts lack capacity
LEASE = timedelta(seconds=60)
LEASE_IS_EXTENDED_EVERY = 20.0
IDLE = timedelta(seconds=1)  # how soon a due retry is noticed
PAUSES_ARE_READ_EVERY = 2.0  # picks up pauses stored by other processes
STORAGE_PAUSE = timedelta(seconds=5)  # delay before retrying a run whose outcome cannot be written
STOP_SECONDS = 10.0  # a longer run is released; another process continues it


class DeliveryStages(msgspec.Struct, frozen=True):
    """The stages of a run: load its function, execute it, record the outcome.

    Args:
        functions: loads functions.
        runner: executes runs within the limits of ``hosts``.
        completions: records outcomes.
        hosts: limits per host.
    """

    functions: FunctionCache
    runner: InvocationRunner
    completions: CompletionBatcher
    hosts: HostLimiter


class Executor:
    """Executes runs.

    Args:
        bursts: bursts of events that are stored in this process: runs give way to them, except for
            a few of each lane.

    Concurrency: several executors, in several processes, can share a queue.
    """

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        clock: Clock,
        stages: DeliveryStages,
        bursts: Bursts | None = None,
    ) -> None:
        self._bursts = bursts or Bursts()
        self._burst = 0
        self._is_lone_lane = False
        self._leased_in_burst: Counter[str | None] = Counter()
        self._database = database
        self._queue = queue
        self._completions = stages.completions
        self._functions = stages.functions
        self._runner = stages.runner
        self._batches = BatchRunner(stages.functions, stages.runner, clock)
        self._hosts = stages.hosts
        self._clock = clock
        self._running: dict[asyncio.Task[None], Job] = {}
        self._runs_by_lane: Counter[str | None] = Counter()
        self._deferred_until: dict[str, datetime] = {}
        self._busy_lanes: set[str] = set()
        self._lane_limits: dict[str, LaneLimit] = {}
        self._ended = 0
        self._pauses_read_at: ChangeMark | None = None
        self._stopping = False

    async def run(self) -> None:
        """Run until :meth:`stop`, then give runs in progress some time to finish."""
        await self._read_pauses()
        heartbeat = asyncio.create_task(self._extend_leases())
        pauses = asyncio.create_task(self._poll_pauses())
        try:
            while not self._stopping:
                if not await self._lease_some():
                    await self._wait_for_work()
        finally:
            heartbeat.cancel()
            pauses.cancel()
            await self._drain()

    def stop(self) -> None:
        """Stop leasing runs."""
        self._stopping = True
        self._batches.stop()
        self._queue.wake(INVOKE_QUEUE)

    async def _lease_some(self) -> bool:
        """Start runs: first from lanes below their fair share, then more from any lane.

        Neither a function in an endless loop nor a host that is down may take all slots.
        """
        self._note_lane_limits()
        if self._bursts.has_precedence:
            jobs = await self._lease_in_burst()
        else:
            jobs = await self._lease_share()
        for job in jobs:
            task = asyncio.create_task(self._execute(job))
            self._running[task] = job
            self._runs_by_lane[job.lane] += 1
            task.add_done_callback(self._on_done)
        return bool(jobs)

    async def _lease_share(self) -> list[Job]:
        """Runs of lanes below their fair share, or else more of any lane.

        A lane that was alone at the last look gets a large share at once: two leases, with two
        calls of a worker and two commits after them, cost more than one.
        """
        has_started = self._ended >= ENDS_BEFORE_FULL_SHARES
        share = FAIR_SHARE if has_started else SHARE_AT_START
        above = self._lanes_above_half_of(share)
        size = sum(len(job.payload) for job in self._running.values())
        may_be_large = has_started and size < BYTES_FOR_LARGE_SHARES
        is_lone = self._is_lone_lane and len(self._runs_by_lane) <= 1
        if may_be_large and is_lone and not above:
            jobs = await self._lease(LARGE_SHARE, SLOTS_FOR_LARGE_SHARES)
            self._is_lone_lane = len({job.lane for job in jobs}) <= 1
            return jobs
        jobs = await self._lease(share, RUNS_AT_ONCE)
        self._is_lone_lane = not jobs and len(above) == len(self._runs_by_lane) == 1
        if not jobs and may_be_large and above != self._lanes_above_half_of(LARGE_SHARE):
            jobs = await self._lease(LARGE_SHARE, SLOTS_FOR_LARGE_SHARES)
        return jobs

    async def _lease_in_burst(self) -> list[Job]:
        """A few runs of each lane: lanes with few runs are not delayed by the burst."""
        if self._burst != self._bursts.number:
            self._burst = self._bursts.number
            self._leased_in_burst.clear()
        leased = self._leased_in_burst
        full = {lane for lane in leased if lane is not None and leased[lane] >= SHARE_IN_BURST}
        jobs = await self._lease(SHARE_IN_BURST, RUNS_AT_ONCE, without_lanes=full)
        leased.update(job.lane for job in jobs)
        return jobs

    async def _lease(
        self, share: int, slots: int, *, without_lanes: Collection[str] = ()
    ) -> list[Job]:
        """Lease runs of lanes that are down to half of ``share``, up to ``share`` per lane."""
        free = slots - self._count_active()
        if free <= 0:
            return []
        lanes = self._runs_of_lanes()
        full = self._lanes_above_half_of(share)
        most = max((runs for lane, runs in lanes.items() if lane not in full), default=0)
        return await self._queue.lease(
            INVOKE_QUEUE,
            limit=min(free, share - most),
            duration=LEASE,
            max_bytes=LEASE_BYTES,
            without_lanes=self._busy_lanes | full.union(without_lanes),
            lane_limits=self._lane_limits,
        )

    def _runs_of_lanes(self) -> dict[str, int]:
        """The runs in progress by lane, without those that wait for their batch to fill up."""
        waiting = self._batches.waiting
        return {
            lane: runs - waiting[lane]
            for lane, runs in self._runs_by_lane.items()
            if lane is not None
        }

    def _lanes_above_half_of(self, share: int) -> set[str]:
        return {lane for lane, runs in self._runs_of_lanes().items() if runs > share // 2}

    def _count_active(self) -> int:
        """The number of runs in progress, without those that wait for their batch to fill up."""
        return len(self._running) - self._batches.waiting.total()

    def _note_lane_limits(self) -> None:
        """Note how many runs of lanes their hosts have capacity for, and lanes without any."""
        now = self._clock.now()
        running = {lane: runs for lane, runs in self._runs_by_lane.items() if lane is not None}
        self._deferred_until = {
            lane: until for lane, until in self._deferred_until.items() if until > now
        }
        self._lane_limits = self._hosts.lane_limits(running)
        saturated = {lane for lane, limit in self._lane_limits.items() if not limit.jobs}
        self._busy_lanes = saturated.union(self._deferred_until)

    def _defer_lane(self, lane: str | None, until: datetime | None) -> None:
        """Back off briefly from a lane; its other hosts may still have capacity."""
        if lane is not None and until is not None:
            soon = self._clock.now() + timedelta(seconds=AGAIN_SECONDS)
            self._deferred_until[lane] = min(until, soon)

    def _should_poll(self) -> bool:
        """Whether to poll: periodically, while runs finish and lanes wait for capacity."""
        self._ended += 1
        return bool(self._busy_lanes) and self._ended % ENDS_BEFORE_POLL == 0

    async def _wait_for_work(self) -> None:
        if self._count_active() < RUNS_AT_ONCE:
            soon = timedelta(seconds=AGAIN_SECONDS)
            await self._queue.wait(INVOKE_QUEUE, soon if self._busy_lanes else IDLE)
        else:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        """Remove an ended run; poll again only when its lane is down to half of a share."""
        ended = self._running.pop(task, None)
        if ended is None:
            return
        left = self._runs_by_lane[ended.lane] = self._runs_by_lane[ended.lane] - 1
        if not left:
            del self._runs_by_lane[ended.lane]
        half = left in (SHARE_AT_START // 2, FAIR_SHARE // 2, LARGE_SHARE // 2)
        if self._should_poll() or half or not self._running:
            self._queue.wake(INVOKE_QUEUE)

    async def _execute(self, job: Job) -> None:
        try:
            invoke = decode_invoke(job.payload)
            with tracing.span("run function", parent=invoke.trace, kind="consumer") as span:
                _describe(span, invoke)
                await self._advance(job, invoke, span)
        except LeaseLost:
            log.info("a run was continued elsewhere", action="lease_lost", job=str(job.id))
        except msgspec.ValidationError as error:
            await self._dead_letter(job, f"unreadable payload: {error}")
        except Exception as error:
            # The lease expires and the run is retried: a bug in hoglet must not drop the run.
            log.exception("a run failed inside hoglet", action="run_failed", job=str(job.id))
            if is_storage_failure(error):
                await self._give_back(job)

    async def _advance(self, job: Job, invoke: InvokeV1, span: tracing.Span) -> None:
        function = await self._functions.get(  # no cache: users fix and redrive at once
            invoke.project_id, invoke.function_id, present=invoke.is_redrive
        )
        if function is None or not function.enabled:
            await self._refuse(job, invoke, function)
        elif _lost_leases(job) > MAX_LOST_LEASES:
            await self._give_up(job, invoke)
        else:
            try:
                ending = await self._run(job, function, invoke)
            except NotBatched:
                await self._advance(job, invoke, span)
                return
            if ending.host_unavailable:
                self._defer_lane(job.lane, ending.run_at)
            if ending.step is not None and ending.step.outcome == "failed":
                span.fail(ending.step.error_class or "hog")
            await self._completions.commit(job, function, ending)
            self._wake_for(ending)

    async def _run(self, job: Job, function: ExecutableFunction, invoke: InvokeV1) -> RunOutcome:
        is_new = invoke.start_at == "inputs" and invoke.journal is None
        if function.is_batched and is_new:
            return await self._batches.run(function, invoke, job)
        return await self._runner.run(function, invoke)

    def _wake_for(self, ending: RunOutcome) -> None:
        """Wake up for a retry that is due before the next poll."""
        if ending.run_at is None or ending.host_unavailable:
            return
        wait = ending.run_at - self._clock.now()
        if timedelta(0) < wait < IDLE:
            loop = asyncio.get_running_loop()
            loop.call_later(wait.total_seconds(), self._queue.wake, INVOKE_QUEUE)

    async def _refuse(
        self, job: Job, invoke: InvokeV1, function: ExecutableFunction | None
    ) -> None:
        """Refuse a run whose function was disabled or deleted while it waited."""
        self._hosts.forget(job.lane or "")
        now = self._clock.now()
        record = RunRecord(invoke, now)
        state = None if function is None else function.state
        if state in (DISABLED, FORCED_DISABLED):
            record.count("failure", "disabled_permanently", now)
        if state == DISABLED:
            record.count("other", "dead_lettered", now)
        if function is not None:
            record.log("warn", "Not run: the function is disabled", now)
        why = "The watcher disabled this function" if state == DISABLED else None
        await self._completions.refuse(job, record, why=why)

    async def _give_up(self, job: Job, invoke: InvokeV1) -> None:
        """Dead-letter a run that has lost too many leases."""
        now = self._clock.now()
        lost = _lost_leases(job) - 1
        why = f"Given up: its process died, or hoglet failed on it, {lost} times"
        log.error("a run was given up", action="run_given_up", job=str(job.id), reason=why)
        record = RunRecord(invoke, now)
        record.count("failure", "failed", now)
        record.count("other", "dead_lettered", now)
        record.log("error", why, now)
        await self._completions.refuse(job, record, why=why, error_class="hog")

    async def _give_back(self, job: Job) -> None:
        """Retry a run soon; does not count towards giving up."""
        with contextlib.suppress(LeaseLost, SQLAlchemyError, OSError):
            async with self._database.write() as session:
                run_at = self._clock.now() + STORAGE_PAUSE
                await self._queue.retry(session, job, run_at=run_at)

    async def _dead_letter(self, job: Job, reason: str) -> None:
        log.error("a run was given up", action="run_unreadable", job=str(job.id), reason=reason)
        with contextlib.suppress(LeaseLost):
            async with self._database.write() as session:
                await self._queue.dead_letter(session, job, reason)
                await lines.advance(session, self._queue, [job])

    async def _extend_leases(self) -> None:
        while True:
            await asyncio.sleep(LEASE_IS_EXTENDED_EVERY)
            try:
                await self._queue.extend(list(self._running.values()), LEASE)
            except SQLAlchemyError:
                log.exception("extending leases failed", action="extend_failed")

    async def _poll_pauses(self) -> None:
        while True:
            await asyncio.sleep(until_tick(PAUSES_ARE_READ_EVERY))
            try:
                await self._read_pauses()
            except SQLAlchemyError:
                log.exception("reading pauses failed", action="pauses_failed")

    async def _read_pauses(self) -> None:
        mark = self._database.change_mark()
        if mark is not None and mark == self._pauses_read_at:
            return
        async with self._database.read() as session:
            pauses = await pause_repository.current(session, self._clock.now())
        for (function_id, host), until in pauses.items():
            self._hosts.pause(function_id, host, until)
        self._pauses_read_at = mark

    async def _drain(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=STOP_SECONDS)
        left = dict(self._running)
        for task in left:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*left, return_exceptions=True)
        await self._queue.release(list(left.values()))


def _describe(span: tracing.Span, invoke: InvokeV1) -> None:
    if not span.is_recorded:
        return
    span.set("hoglet.project_id", invoke.project_id)
    span.set("hoglet.function_id", str(invoke.function_id))
    span.set("hoglet.invocation_id", str(invoke.invocation_id))
    span.set("hoglet.attempt", invoke.attempt)


def _lost_leases(job: Job) -> int:
    """The number of leases that were not released on purpose, including the current one."""
    return job.attempt - job.retries
