"""Batches steps of runs of the same function into one worker call.

A call costs the server more than a small program costs the worker, so waiting steps of the same
function share a call. Steps of different functions never do: an endless loop in one function must
not delay others. A function has at most one call in progress and so occupies at most one worker.
Functions whose last steps were slow share all workers but one, which stays free for the others.
"""

import asyncio
import contextlib
from collections import deque

import msgspec
import structlog

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.runtime.messages import BYTES_TOGETHER, Step, StepRequest, StepsRequest
from hoglet.kit.json import pack
from hoglet.sandbox import (
    Sandbox,
    SandboxCrashed,
    SandboxTimedOut,
    SandboxUnavailable,
)

log = structlog.get_logger()

# The path of an operation, so that the server does not import what only workers run.
_RUN_STEPS = "hoglet.functions.runtime.step:run_steps"
MAX_TOGETHER = 256
MAX_OF_SLOW_TOGETHER = 16
# After this time something is stuck: 600 ms, one more run, replays, inputs and worker startup.
DEADLINE_SECONDS = 5.0
# A worker may die for reasons outside of its program; a program that kills three is at fault.
CRASHES_OF_ONE_STEP = 3
# After a call with many steps, more steps are about to arrive: waiting for them saves calls. Not
# those of an ordered function, whose next runs wait for them.
MANY = 4
GATHER_SECONDS = 0.025
SLOW_MILLISECONDS = 100  # a step builds a request in less than one; the limit is 550


class _Waiting(msgspec.Struct, eq=False):
    """A step to run; ``message`` is the request as sent, without the function."""

    request: StepRequest
    message: msgspec.Raw
    size: int
    done: asyncio.Future[Step]


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
        """Run one step; if the program exceeds the worker's limits, the step fails.

        Raises:
            SandboxUnavailable: no worker can be started.
        """
        done: asyncio.Future[Step] = asyncio.get_running_loop().create_future()
        bare = msgspec.structs.replace(request, function=_NO_FUNCTION)
        message = pack(_encoder, bare)
        item = _Waiting(request, msgspec.Raw(message), len(message), done)
        key = request.function.cache_key
        if key in self._waiting:
            self._waiting[key].append(item)
        else:
            self._waiting[key] = deque([item])
            task = asyncio.create_task(self._drain(key))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await done

    async def _drain(self, key: tuple[str, int]) -> None:
        waiting = self._waiting[key]
        try:
            while waiting:
                taken = self._take(waiting)
                left = await self._run(taken)
                waiting.extendleft(reversed(left))
                is_ordered = bool(taken[0].request.function.delivery.ordered_by)
                if len(taken) >= MANY and len(waiting) < MANY and not is_ordered:
                    await asyncio.sleep(GATHER_SECONDS)
        finally:
            del self._waiting[key]

    def _take(self, waiting: deque[_Waiting]) -> list[_Waiting]:
        is_slow = waiting[0].request.function.id in self._slow
        most = MAX_OF_SLOW_TOGETHER if is_slow else MAX_TOGETHER
        taken, size = list[_Waiting](), 0
        while waiting and len(taken) < most:
            size += waiting[0].size
            if taken and size > BYTES_TOGETHER:
                break
            taken.append(waiting.popleft())
        return taken

    async def _run(self, taken: list[_Waiting], crashes: int = 0) -> list[_Waiting]:
        """Run some steps; returns those for which there was no time."""
        function_id = taken[0].request.function.id
        try:
            steps = await self._call(taken)
            self._classify_speed(function_id, max(step.milliseconds for step in steps))
        except SandboxUnavailable as error:  # not the programs' fault: the runs wait
            return _fail(taken, error)
        except Exception as error:  # noqa: BLE001 (one step's failure must not end the others')
            if isinstance(error, SandboxTimedOut | SandboxCrashed):
                self._slow.add(function_id)
            if len(taken) > 1:  # one step crashed the worker; halve the batch to isolate it
                return await self._run_halves(taken)
            crashes += isinstance(error, SandboxCrashed)
            if 0 < crashes < CRASHES_OF_ONE_STEP:
                return await self._run(taken, crashes)
            steps = [_failed_step(taken[0].request, error)]
        for item, step in zip(taken, steps, strict=False):
            if not item.done.done():
                item.done.set_result(step)
        return taken[len(steps) :]

    async def _run_halves(self, taken: list[_Waiting]) -> list[_Waiting]:
        middle = len(taken) // 2
        return [*await self._run(taken[:middle]), *await self._run(taken[middle:])]

    async def _call(self, taken: list[_Waiting]) -> list[Step]:
        function = taken[0].request.function
        payload = pack(_encoder, StepsRequest(function, [item.message for item in taken]))
        async with self._slow_places if function.id in self._slow else contextlib.nullcontext():
            answer = await self._sandbox.call(_RUN_STEPS, payload, deadline=self._deadline)
        return _steps.decode(answer)

    def _classify_speed(self, function_id: str, milliseconds: float) -> None:
        if milliseconds > SLOW_MILLISECONDS:
            self._slow.add(function_id)
        else:
            self._slow.discard(function_id)


def _fail(taken: list[_Waiting], error: Exception) -> list[_Waiting]:
    for item in taken:
        if not item.done.done():
            item.done.set_exception(error)
    return []


_NO_FUNCTION = ExecutableFunction(id="", project_id=0, type="")


_encoder = msgspec.msgpack.Encoder()
_steps = msgspec.msgpack.Decoder(list[Step])


def _failed_step(request: StepRequest, error: Exception) -> Step:
    if isinstance(error, SandboxTimedOut | SandboxCrashed):
        return Step(
            outcome="failed", journal=request.journal, error=error.detail, error_class="timeout"
        )
    log.error("a step failed inside hoglet", action="step_failed", error=str(error))
    return Step(outcome="failed", journal=request.journal, error=str(error), error_class="hog")
