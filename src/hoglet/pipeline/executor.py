"""The executor: leases runs, carries them on side by side, and records how they ended.

What a run leaves behind (the job's end, logs, metrics, dead letter, captured events, the watcher's
observation) is one commit. A run that waits gives its lease back with its journal in the payload.
"""

import asyncio
import contextlib
import time
from collections import Counter
from datetime import timedelta

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.dead_letters import DeadLetters
from hoglet.functions.jobs import INVOKE_QUEUE, InvokeV1, decode_invoke
from hoglet.functions.runnable import RunnableFunction
from hoglet.functions.watcher_rules import DISABLED, FORCED_DISABLED
from hoglet.kit.clock import Clock
from hoglet.pipeline.commits import GroupCommits
from hoglet.pipeline.endings import EndingCommits
from hoglet.pipeline.function_cache import FunctionCache
from hoglet.pipeline.invocation import InvocationRunner
from hoglet.pipeline.outbox import TelemetryOutbox
from hoglet.pipeline.outcome import RunRecord
from hoglet.queue import Job, LeaseLost, Queue

log = structlog.get_logger()

RUNS_AT_ONCE = 128  # most of them wait for a receiver; the sandbox has its own, smaller number
RUNS_OF_ONE_FUNCTION = 32  # a lease may take it to twice that, then it has to wait
LEASE = timedelta(seconds=60)
LEASE_IS_EXTENDED_EVERY = 20.0
IDLE = timedelta(seconds=1)  # how soon a retry that came due is noticed
# A function whose receiver asked to wait is leased again this often: its other runs learn it then,
# a few at a time, instead of all going through a worker only to be given back.
HELD_SECONDS = 1.0
STOP_SECONDS = 10.0  # a run that takes longer is given back; another process goes on with it


class Executor:
    """Runs functions.

    Concurrency: several executors, in several processes, may share one queue.
    """

    def __init__(
        self,
        *,
        queue: Queue,
        commits: GroupCommits,
        endings: EndingCommits,
        functions: FunctionCache,
        runner: InvocationRunner,
        outbox: TelemetryOutbox,
        letters: DeadLetters,
        clock: Clock,
    ) -> None:
        self._queue = queue
        self._commits = commits
        self._endings = endings
        self._functions = functions
        self._runner = runner
        self._outbox = outbox
        self._letters = letters
        self._clock = clock
        self._running: dict[asyncio.Task[None], Job] = {}
        self._held: dict[str, float] = {}
        self._stopping = False

    async def run(self) -> None:
        """Work until :meth:`stop`, then let running ones end, for a while."""
        heart = asyncio.create_task(self._extend_leases())
        try:
            while not self._stopping:
                if not await self._lease_some():
                    await self._wait_for_work()
        finally:
            heart.cancel()
            await self._drain()

    def stop(self) -> None:
        """Take no further runs."""
        self._stopping = True
        self._queue.wake(INVOKE_QUEUE)

    async def _lease_some(self) -> bool:
        free = min(RUNS_AT_ONCE - len(self._running), RUNS_OF_ONE_FUNCTION)
        if free <= 0:
            return False
        jobs = await self._queue.lease(
            INVOKE_QUEUE, limit=free, duration=LEASE, without_lanes=self._full_lanes()
        )
        for job in jobs:
            task = asyncio.create_task(self._carry_on(job))
            self._running[task] = job
            task.add_done_callback(self._forget)
        return bool(jobs)

    def _full_lanes(self) -> list[str]:
        """Functions that have taken their share: an endless one must not take all places.

        And those that have to wait for their receiver.
        """
        running = Counter(job.lane for job in self._running.values() if job.lane is not None)
        now = time.monotonic()
        self._held = {lane: until for lane, until in self._held.items() if until > now}
        full = [lane for lane, number in running.items() if number >= RUNS_OF_ONE_FUNCTION]
        return [*full, *self._held]

    async def _wait_for_work(self) -> None:
        if len(self._running) < RUNS_AT_ONCE:
            await self._queue.wait(INVOKE_QUEUE, IDLE)
        else:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)

    def _forget(self, task: asyncio.Task[None]) -> None:
        """Look for work again once a function is down to half its share, not at every end."""
        ended = self._running.pop(task, None)
        if ended is None:
            return
        left = sum(job.lane == ended.lane for job in self._running.values())
        if left == RUNS_OF_ONE_FUNCTION // 2 or not self._running:
            self._queue.wake(INVOKE_QUEUE)

    async def _carry_on(self, job: Job) -> None:
        try:
            invoke = decode_invoke(job.payload)
            function = await self._functions.get(  # people mend a function, then redrive at once
                invoke.project_id, invoke.function_id, present=invoke.is_redrive
            )
            if function is None:
                await self._commits.commit(lambda session: self._queue.finish(session, [job]))
            elif not function.enabled:
                await self._refuse(job, invoke, function)
            else:
                ending = await self._runner.run(function, invoke)
                if ending.was_held and job.lane is not None:
                    self._held[job.lane] = time.monotonic() + HELD_SECONDS
                await self._endings.commit(job, function, ending)
        except LeaseLost:
            log.info("a run went on elsewhere", action="lease_lost", job=str(job.id))
        except msgspec.ValidationError as error:
            await self._bury(job, f"unreadable payload: {error}")
        except Exception:
            # The lease runs out and the run is tried again: a fault of ours must not lose it.
            log.exception("a run failed inside hoglet", action="run_failed", job=str(job.id))

    async def _refuse(self, job: Job, invoke: InvokeV1, function: RunnableFunction) -> None:
        """A function that was switched off while its run waited does not run."""
        now = self._clock.now()
        record = RunRecord(invoke, now)
        by_watcher = function.state == DISABLED
        if by_watcher or function.state == FORCED_DISABLED:
            record.count("failure", "disabled_permanently", now)
        record.log("warn", "Not run: the function is disabled", now)

        async def work(session: AsyncSession) -> None:
            await self._queue.finish(session, [job])
            if by_watcher:
                letter = record.letter("disabled", "The watcher disabled this function")
                await self._letters.add(session, [letter])
            await self._outbox.add(session, record.messages)

        await self._commits.commit(work)

    async def _bury(self, job: Job, reason: str) -> None:
        log.error("a run cannot be read", action="run_buried", job=str(job.id), reason=reason)
        await self._commits.commit(lambda session: self._queue.bury(session, job, reason))

    async def _extend_leases(self) -> None:
        while True:
            await asyncio.sleep(LEASE_IS_EXTENDED_EVERY)
            await self._queue.extend(list(self._running.values()), LEASE)

    async def _drain(self) -> None:
        if self._running:
            await asyncio.wait(self._running, timeout=STOP_SECONDS)
        left = dict(self._running)
        for task in left:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*left, return_exceptions=True)
        await self._queue.release(list(left.values()))
