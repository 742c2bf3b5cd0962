"""Batches steps of runs of the same function into one worker call.

A call costs the server more than a small program costs the worker, so waiting steps of the same
function share a call. Never steps of different functions: an endless loop must not delay others.
One call per function is in progress at a time, so a function occupies at most one worker. Functions
whose last steps were slow share all workers but one, so the others always find a free worker.

The second half of this module runs in the worker.
"""

import asyncio
import contextlib
from collections import deque
from time import perf_counter

import msgspec
import structlog

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.runtime.step import Step, StepRequest, run_step
from hoglet.kit.text import pack
from hoglet.sandbox import (
    Sandbox,
    SandboxCrashed,
    SandboxTimedOut,
    SandboxUnavailable,
)

log = structlog.get_logger()

MOST_TOGETHER = 16
# A batch ends after this; the rest goes into the next call. One program may run 550 ms.
BATCH_SECONDS = 0.6
# Beyond it something is stuck: 600 ms, plus one more run, replays, inputs, worker startup.
DEADLINE_SECONDS = 5.0
# A worker may die of something other than its program; a program that kills three is to blame.
CRASHES_OF_ONE_STEP = 3
SLOW_MILLISECONDS = 100  # a step builds a request in less than one; the limit is 550

type _Waiting = tuple[StepRequest, asyncio.Future[Step]]


class StepBatcher:
    """Batches and executes steps.

    Concurrency: any number of tasks can call :meth:`step`.
    """

    def __init__(self, sandbox: Sandbox, deadline: float = DEADLINE_SECONDS) -> None:
        self._sandbox = sandbox
        self._deadline = deadline
        self._slow: set[str] = set()
        self._slow_places = asyncio.Semaphore(max(1, sandbox.workers - 1))
        self._waiting: dict[tuple[str, int], deque[_Waiting]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def step(self, request: StepRequest) -> Step:
        """Run one step; a program that exceeds the worker's limits is a failed step.

        Raises:
            SandboxUnavailable: no worker can be started.
        """
        done: asyncio.Future[Step] = asyncio.get_running_loop().create_future()
        key = request.function.cache_key
        if key in self._waiting:
            self._waiting[key].append((request, done))
        else:
            self._waiting[key] = deque([(request, done)])
            task = asyncio.create_task(self._drain(key))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await done

    async def _drain(self, key: tuple[str, int]) -> None:
        waiting = self._waiting[key]
        try:
            while waiting:
                taken = [waiting.popleft() for _ in range(min(MOST_TOGETHER, len(waiting)))]
                left = await self._run(taken)
                waiting.extendleft(reversed(left))
        finally:
            del self._waiting[key]

    async def _run(self, taken: list[_Waiting], crashes: int = 0) -> list[_Waiting]:
        """Run some steps; returns those that there was no time for."""
        function_id = taken[0][0].function.id
        try:
            steps = await self._call([request for request, _ in taken])
            self._classify_speed(function_id, max(step.milliseconds for step in steps))
        except SandboxUnavailable as error:  # no program is to blame: the runs wait
            return _fail(taken, error)
        except Exception as error:  # noqa: BLE001 (one step's failure must not end the others')
            if isinstance(error, SandboxTimedOut | SandboxCrashed):
                self._slow.add(function_id)
            if len(taken) > 1:  # one step crashed the worker; retry each alone to isolate it
                return await self._run_each(taken)
            crashes += isinstance(error, SandboxCrashed)
            if 0 < crashes < CRASHES_OF_ONE_STEP:
                return await self._run(taken, crashes)
            steps = [_failed_step(taken[0][0], error)]
        for (_, done), step in zip(taken, steps, strict=False):
            if not done.done():
                done.set_result(step)
        return taken[len(steps) :]

    async def _run_each(self, taken: list[_Waiting]) -> list[_Waiting]:
        for item in taken:
            await self._run([item])
        return []

    async def _call(self, requests: list[StepRequest]) -> list[Step]:
        function = requests[0].function
        payload = pack(_encoder, StepsRequest(function, requests))
        async with self._slow_places if function.id in self._slow else contextlib.nullcontext():
            answer = await self._sandbox.call(run_steps, payload, deadline=self._deadline)
        return _steps.decode(answer)

    def _classify_speed(self, function_id: str, milliseconds: float) -> None:
        if milliseconds > SLOW_MILLISECONDS:
            self._slow.add(function_id)
        else:
            self._slow.discard(function_id)


def _fail(taken: list[_Waiting], error: Exception) -> list[_Waiting]:
    for _, done in taken:
        if not done.done():
            done.set_exception(error)
    return []


class StepsRequest(msgspec.Struct):
    """Steps of one function, which is sent once; ``requests`` have a placeholder for it."""

    function: ExecutableFunction
    requests: list[StepRequest]

    def __post_init__(self) -> None:
        bare = ExecutableFunction(id="", project_id=0, type="")
        self.requests = [
            msgspec.structs.replace(request, function=bare) for request in self.requests
        ]


_encoder = msgspec.msgpack.Encoder()
_steps = msgspec.msgpack.Decoder(list[Step])
_requests = msgspec.msgpack.Decoder(StepsRequest)


def run_steps(payload: bytes) -> bytes:
    """The worker's operation: runs at least one step, then as many as there is time for."""
    requested = _requests.decode(payload)
    began = perf_counter()
    steps: list[Step] = []
    for request in requested.requests:
        if steps and perf_counter() - began > BATCH_SECONDS:
            break
        request.function = requested.function
        steps.append(run_step(request))
    return pack(_encoder, steps)


def _failed_step(request: StepRequest, error: Exception) -> Step:
    if isinstance(error, SandboxTimedOut | SandboxCrashed):
        return Step(
            outcome="failed", journal=request.journal, error=error.detail, error_class="timeout"
        )
    log.error("a step failed inside hoglet", action="step_failed", error=str(error))
    return Step(outcome="failed", journal=request.journal, error=str(error), error_class="hog")
