"""How leases of runs end on disk: many together, in one transaction with few statements.

A run that ends has its job removed, its dead letter, its observation, its lines and counters and
the events it captured; one that waits goes back into the queue with its journal. Runs that end
while a commit is under way share the next one. When the shared one fails, each is recorded alone,
so that one lost lease does not take the others with it.
"""

import asyncio
from collections.abc import Sequence

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.dead_letters import DeadLetters, NewLetter
from hoglet.functions.jobs import encode
from hoglet.functions.runnable import RunnableFunction
from hoglet.functions.watcher import Observation, Watcher
from hoglet.kit.clock import Clock
from hoglet.pipeline.invocation import Ending, Verdict
from hoglet.pipeline.outbox import Messages, TelemetryOutbox
from hoglet.queue import Job, Queue
from hoglet.store.database import Database

MOST_AT_ONCE = 200


class _Settled(msgspec.Struct, eq=False):
    """An ending with all that follows from it, worked out once."""

    job: Job
    ending: Ending
    done: asyncio.Future[None]
    letter: NewLetter | None = None
    observation: Observation | None = None


class EndingCommits:
    """Records endings.

    Concurrency: any number of tasks may wait; one task at a time commits for all.
    """

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        outbox: TelemetryOutbox,
        letters: DeadLetters,
        watcher: Watcher,
        clock: Clock,
    ) -> None:
        self._database = database
        self._queue = queue
        self._outbox = outbox
        self._letters = letters
        self._watcher = watcher
        self._clock = clock
        self._waiting: list[_Settled] = []
        self._committer: asyncio.Task[None] | None = None

    async def commit(self, job: Job, function: RunnableFunction, ending: Ending) -> None:
        """Return once the ending is on disk.

        Raises:
            LeaseLost: the job is held by somebody else; nothing was recorded.
        """
        settled = self._settle(job, function, ending)
        self._waiting.append(settled)
        if self._committer is None:
            self._committer = asyncio.create_task(self._commit_all())
        await asyncio.shield(settled.done)

    def _settle(self, job: Job, function: RunnableFunction, ending: Ending) -> _Settled:
        settled = _Settled(job, ending, asyncio.get_running_loop().create_future())
        if ending.step is not None and ending.verdict is Verdict.ENDED:
            settled.letter = ending.record.finish(ending.step, self._clock.now())
            failed = settled.letter is not None
            settled.observation = ending.record.observation(function, failed=failed)
        return settled

    async def _commit_all(self) -> None:
        try:
            while self._waiting:
                taken = self._waiting[:MOST_AT_ONCE]
                self._waiting = self._waiting[MOST_AT_ONCE:]
                await self._commit(taken)
        finally:
            self._committer = None

    async def _commit(self, taken: Sequence[_Settled]) -> None:
        try:
            await self._write(taken)
        except Exception as error:  # noqa: BLE001 (handed to the one who asked)
            if len(taken) > 1:
                for one in taken:
                    await self._commit([one])
            elif not taken[0].done.cancelled():
                taken[0].done.set_exception(error)
            return
        for one in taken:
            if not one.done.cancelled():
                one.done.set_result(None)

    async def _write(self, taken: Sequence[_Settled]) -> None:
        ended = [one for one in taken if one.ending.verdict is Verdict.ENDED]
        async with self._database.write() as session:
            await self._queue.finish(session, [one.job for one in ended])
            for one in taken:
                if one.ending.verdict is Verdict.WAITS:
                    await self._give_back(session, one)
            letters = [one.letter for one in ended if one.letter is not None]
            if letters:
                await self._letters.add(session, letters)
            seen = [one.observation for one in ended if one.observation is not None]
            await self._watcher.observe(session, seen)
            messages = Messages()
            for one in taken:
                messages.logs.extend(one.ending.record.messages.logs)
                messages.metrics.extend(one.ending.record.messages.metrics)
            await self._outbox.add(session, messages)
            captures = [job for one in taken for job in one.ending.record.captures]
            await self._queue.enqueue(session, captures)

    async def _give_back(self, session: AsyncSession, one: _Settled) -> None:
        assert one.ending.invoke is not None, "a waiting run has one"  # noqa: S101 (narrows the type)
        run_at = one.ending.run_at or self._clock.now()
        payload = encode(one.ending.invoke)
        await self._queue.retry(session, one.job, run_at=run_at, payload=payload)
