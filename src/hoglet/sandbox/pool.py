"""A pool of worker processes behind one call, ``await sandbox.call(compile_function, ...)``.

If a call exceeds its deadline, its worker is killed, the caller gets :class:`SandboxTimedOut`, and
the next call starts a new worker. The event loop of the API only waits; it never parses or runs
untrusted text.
Source: docs/adr/0005-untrusted-code-in-processes.md.

An operation is a module-level function that maps one msgpack value to another. Only its path is
sent; the worker imports it.
"""

import asyncio
import contextlib
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import structlog

from hoglet.kit.errors import Bug, HogletError, SourceError, SourceSpan, Unavailable
from hoglet.sandbox import protocol as frames

log = structlog.get_logger()

# Python with the Hog engine takes about 60 MB; a program can hold 64 MiB of values, which take up
# to about eight times as much as Python objects.
WORKER_MEMORY_BYTES = 1024 * 1024 * 1024
# Starting a process and importing an operation takes one second on an idle machine. The operation
# has its own deadline, so that a busy machine does not make it look like an endless loop.
START_SECONDS = 60.0
# A process that is killed while it starts has not seen its operation yet.
STARTS_OF_ONE_CALL = 3
_MAX_LOGGED_CHARACTERS = 4000
# Limit of wall time as a multiple of the CPU deadline, for workers that hardly get CPU time.
PATIENCE = 6


# How long a death counts as recent, in seconds.
RECENT_SECONDS = 300.0
# Raised when communicating with a dead process.
_DEATHS = (asyncio.IncompleteReadError, ConnectionError, msgspec.DecodeError)

type Operation = Callable[[Any], Any] | str
"""A module-level function, or its path ``module:name``."""


def operation_path(operation: Operation) -> str:
    """The path of a function: ``module:name``."""
    if isinstance(operation, str):
        return operation
    return f"{operation.__module__}:{operation.__qualname__}"


def _name(path: str) -> str:
    return path.rpartition(":")[2]


DEATHS = ("crashed", "timed_out", "not_started")

type OnDeath = Callable[[str], None]
"""Called with one of ``DEATHS`` when a worker is lost."""


class SandboxTimedOut(HogletError):
    """The operation exceeded its deadline, so its worker was killed; a retry would end the same."""

    code = "sandbox_timed_out"
    blame = "author"


class SandboxCrashed(HogletError):
    """The worker died (probably out of memory); a retry would probably kill another one."""

    code = "sandbox_crashed"
    blame = "author"


class SandboxUnavailable(Unavailable):
    """No worker can be started, regardless of the text; a retry may succeed."""

    code = "sandbox_unavailable"


class _DiedAtStart(SandboxUnavailable):
    """The process died before it could take the request; another one may take it at once."""


class _Worker:
    """One process, owned by one call from request to response."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.ready: set[str] = set()
        self._errors = asyncio.create_task(_log_errors(process))

    @property
    def is_running(self) -> bool:
        """Whether it can take a request: a killed one loses its pipe before its exit is noticed."""
        stdin = self.process.stdin
        return self.process.returncode is None and stdin is not None and not stdin.is_closing()

    async def prepare(self, operation: str) -> None:
        """Have the worker import an operation.

        Raises:
            SandboxUnavailable: the process did not start, or cannot import the operation.
        """
        if operation in self.ready:
            return
        frame = frames.pack(frames.Request(frames.PREPARE, operation))
        try:
            async with asyncio.timeout(START_SECONDS):
                answer = await self.exchange(frame)
        except TimeoutError as error:
            raise SandboxUnavailable("A worker process did not start") from error
        except _DEATHS as error:
            raise _DiedAtStart("A worker process did not start") from error
        if isinstance(answer, frames.Broken):
            raise SandboxUnavailable(f"A worker process cannot import {operation}: {answer.error}")
        self.ready.add(operation)

    async def exchange(self, frame: bytes) -> frames.Answer:
        reader, writer = self.process.stdout, self.process.stdin
        if reader is None or writer is None:
            raise Bug("the worker was started without pipes")
        if writer.is_closing():  # uvloop raises a RuntimeError
            raise BrokenPipeError("the worker has ended")
        writer.write(frame)
        await writer.drain()
        (length,) = frames.HEADER.unpack(await reader.readexactly(frames.HEADER.size))
        if length > frames.MAX_FRAME_BYTES:
            raise SandboxCrashed("The response of the worker is too large")
        return frames.unpack_answer(await reader.readexactly(length))

    async def exchange_within(self, frame: bytes, deadline: float) -> frames.Answer:
        """Exchange frames; ``TimeoutError`` after ``deadline`` seconds of the worker's CPU time.

        CPU time counts, because on a busy machine an operation takes longer through no fault of its
        own.
        """
        answer = asyncio.create_task(self.exchange(frame))
        began, latest = processor_seconds(self.process.pid), time.monotonic() + deadline * PATIENCE
        left = deadline
        try:
            while left > 0.01 and time.monotonic() < latest:
                done, _ = await asyncio.wait((answer,), timeout=left)
                if done:
                    return answer.result()
                left = deadline - (processor_seconds(self.process.pid) - began)
            raise TimeoutError
        finally:
            answer.cancel()

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        await self._errors


class Sandbox:
    """A fixed number of workers, started on demand.

    Args:
        workers: maximum number of processes and thus of concurrent calls.
        memory_bytes: address space of each worker.
        import_path: additional import folders of the workers.
        readable: files that operations may read in addition to Python's and hoglet's own code;
            workers can read nothing else, see ``hoglet.sandbox.confinement``.
        niceness: scheduling priority of the workers (``man nice``).
        on_death: called for each lost worker, for metrics.

    Concurrency: any number of tasks of one event loop can call; they queue in order of arrival.
    """

    def __init__(
        self,
        *,
        workers: int,
        memory_bytes: int = WORKER_MEMORY_BYTES,
        import_path: Sequence[str] = (),
        readable: Sequence[str] = (),
        niceness: int = 0,
        on_death: OnDeath | None = None,
    ) -> None:
        self._setup = json.dumps(
            {
                "memory_bytes": memory_bytes,
                "import_path": list(import_path),
                "readable": list(readable),
                "niceness": niceness,
            }
        )
        self.workers = workers
        self._slots = asyncio.Semaphore(workers)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._closed = False
        self._on_death = on_death
        self._deaths: deque[float] = deque(maxlen=1000)

    async def call(self, operation: Operation, payload: Any, *, deadline: float) -> Any:
        """Run one operation in a worker.

        Args:
            operation: the function to run.
            payload: its argument: lists, dicts and scalars.
            deadline: seconds of CPU time, excluding the wait for a worker and its start.

        Returns:
            The result of the operation as plain values (tuples become lists).

        Raises:
            SourceError: the operation rejected the text.
            SandboxTimedOut: the deadline was exceeded; a retry does not help.
            SandboxCrashed: the process died; a retry rarely helps.
            SandboxUnavailable: no process can be started; a later retry may help.
            Bug: the operation raised something else.
        """
        path = operation_path(operation)
        frame = frames.pack(frames.Request(path, payload))
        async with self._slots:
            answer = await self._answer(frame, path, deadline)
        return _value_of(answer, path)

    async def close(self) -> None:
        """Kill all workers; running calls end with SandboxUnavailable."""
        self._closed = True
        await asyncio.gather(*(worker.kill() for worker in [*self._idle, *self._busy]))
        self._idle.clear()

    async def stop_idle(self) -> None:
        """Kill idle workers; the next calls start new ones."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(worker.kill() for worker in idle))

    def processes(self) -> tuple[int, int]:
        """Number of running workers, busy and idle."""
        return len(self._busy), len(self._idle)

    def recent_deaths(self) -> int:
        """Number of workers lost in the last five minutes."""
        oldest = time.monotonic() - RECENT_SECONDS
        return sum(at > oldest for at in self._deaths)

    def _note_death(self, how: str) -> None:
        if self._closed:
            raise SandboxUnavailable("The server is shutting down")
        self._deaths.append(time.monotonic())
        if self._on_death is not None:
            self._on_death(how)

    async def _answer(self, frame: bytes, operation: str, deadline: float) -> frames.Answer:
        """Have a worker answer; one that dies at its start is replaced."""
        for _ in range(STARTS_OF_ONE_CALL - 1):
            with contextlib.suppress(_DiedAtStart):
                return await self._exchange(await self._take(), frame, operation, deadline)
        return await self._exchange(await self._take(), frame, operation, deadline)

    async def _exchange(
        self, worker: _Worker, frame: bytes, operation: str, deadline: float
    ) -> frames.Answer:
        self._busy.add(worker)
        reusable = False
        try:
            await worker.prepare(operation)
            answer = await worker.exchange_within(frame, deadline)
            reusable = True
        except SandboxUnavailable:
            self._note_death("not_started")
            raise
        except TimeoutError:
            self._note_death("timed_out")
            raise SandboxTimedOut(
                f"{_name(operation)} ran longer than {deadline:g} seconds"
            ) from None
        except _DEATHS as error:
            self._note_death("crashed")
            raise SandboxCrashed(f"The worker process died during {_name(operation)}") from error
        finally:
            self._busy.discard(worker)
            if reusable and not self._closed:
                self._idle.append(worker)
            else:
                await worker.kill()
        return answer

    async def _take(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_running:
                return worker
        return await self._start()

    async def _start(self) -> _Worker:
        if self._closed:
            raise SandboxUnavailable("The server is shutting down")
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-m",
                "hoglet.sandbox.worker",
                self._setup,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,  # workers may not write to files
                env={"LANG": "C.UTF-8"},
                limit=1024 * 1024,
            )
        except OSError as error:
            self._note_death("not_started")
            raise SandboxUnavailable(f"No worker process can be started: {error}") from error
        return _Worker(process)


async def _log_errors(process: asyncio.subprocess.Process) -> None:
    """Log a worker's standard error: a warning, or the interpreter's last words."""
    stream = process.stderr
    while stream is not None and (chunk := await stream.read(_MAX_LOGGED_CHARACTERS)):
        text = chunk.decode(errors="replace").strip()
        log.warning("a worker wrote to standard error", action="worker_stderr", text=text)


def processor_seconds(pid: int) -> float:
    """CPU time used by a process; wall time where it is not available."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _value_of(answer: frames.Answer, operation: str) -> Any:
    match answer:
        case frames.Returned(value):
            return value
        case frames.Refused():
            raise SourceError(
                answer.message,
                SourceSpan(answer.line, answer.column, answer.start, answer.end),
                hint=answer.hint,
                code=answer.code,
                attr=answer.attr,
            )
        case frames.Broken(error, trace):
            log.error("sandbox operation failed", operation=operation, error=error, trace=trace)
            raise Bug(f"{_name(operation)} failed: {error}")
