"""A pool of worker processes behind one call: ``await sandbox.call("hog.compile", payload, ...)``.

A call that overruns its deadline costs its worker its life: the process is killed, the caller gets
:class:`SandboxTimedOut`, and the next call starts a fresh one. The event loop that serves the API
only ever waits; it never parses or runs untrusted text itself.
Source: docs/adr/0005-untrusted-code-in-processes.md.

Operations are named in a table given by the composition root,
``{"hog.compile": "hoglet.functions.worker_operations:compile"}``. An operation is a plain function
of one msgpack value to another.
"""

import asyncio
import contextlib
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import structlog

from hoglet.kit.errors import Bug, HogletError, SourceError, Unavailable
from hoglet.sandbox import protocol as frames

log = structlog.get_logger()

# Python with the Hog engine takes about 60 MB; a program may hold 64 MiB of values, which cost
# up to about eight times that as Python objects.
WORKER_MEMORY_BYTES = 1024 * 1024 * 1024
# To start a process and import an operation: one second on an idle machine. What is asked of the
# operation has a deadline of its own; a busy machine must not make it look like an endless program.
START_SECONDS = 60.0
_MOST_LOGGED = 4000
# How many times its deadline a worker may take by the clock while it hardly gets the processor.
PATIENCE = 6


# How long a death counts as recent.
RECENT_SECONDS = 300.0
# What is raised by talking to a process that is gone.
_DEATHS = (asyncio.IncompleteReadError, ConnectionError, msgspec.DecodeError)

type OnDeath = Callable[[str], None]
"""Called with ``crashed``, ``timed_out`` or ``not_started`` when a worker is lost."""


class SandboxTimedOut(HogletError):
    """The operation ran past its deadline and its worker was killed; the same call will again."""

    code = "sandbox_timed_out"
    blame = "author"


class SandboxCrashed(HogletError):
    """The worker died (out of memory, most likely); the same call will probably kill the next."""

    code = "sandbox_crashed"
    blame = "author"


class SandboxUnavailable(Unavailable):
    """No worker can be started; that is nobody's text's fault."""

    code = "sandbox_unavailable"


class _Worker:
    """One process. Not shared: a call owns it from request to answer."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.ready: set[str] = set()
        self._errors = asyncio.create_task(_log_errors(process))

    async def prepare(self, operation: str) -> None:
        """Have an operation imported.

        Raises:
            SandboxUnavailable: the process did not come up, or cannot import it.
        """
        if operation in self.ready:
            return
        frame = frames.pack(frames.Request(frames.PREPARE, operation))
        try:
            async with asyncio.timeout(START_SECONDS):
                answer = await self.exchange(frame)
        except (TimeoutError, *_DEATHS) as error:
            raise SandboxUnavailable("A worker process did not start") from error
        if isinstance(answer, frames.Broken):
            raise SandboxUnavailable(f"A worker process cannot import {operation}: {answer.error}")
        self.ready.add(operation)

    async def exchange(self, frame: bytes) -> frames.Answer:
        reader, writer = self.process.stdout, self.process.stdin
        if reader is None or writer is None:
            raise Bug("the worker was started without pipes")
        writer.write(frame)
        await writer.drain()
        (length,) = frames.HEADER.unpack(await reader.readexactly(frames.HEADER.size))
        if length > frames.MAX_FRAME_BYTES:
            raise SandboxCrashed("The answer of the worker is too large")
        return frames.unpack_answer(await reader.readexactly(length))

    async def exchange_within(self, frame: bytes, deadline: float) -> frames.Answer:
        """Exchange; ``TimeoutError`` when the worker has used ``deadline`` seconds of processor.

        On a busy machine that takes longer by the clock, which is not the operation's fault.
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
    """A fixed number of workers, started when first needed.

    Args:
        operations: name → ``module:function``, imported in the worker only.
        workers: how many processes at most; also how many calls run side by side.
        memory_bytes: address space of each worker.
        import_path: further folders that the workers import from.
        readable: files that operations read, besides Python's and hoglet's own code; a worker can
            read nothing else, see ``hoglet.sandbox.confinement``.
        niceness: by how much they stand back when the processors are all busy (``man nice``).
        on_death: is told of each worker that is lost, for metrics.

    Concurrency: any number of tasks of one event loop may call; they queue in order of arrival.
    """

    def __init__(
        self,
        operations: Mapping[str, str],
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
                "operations": dict(operations),
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

    async def call(self, operation: str, payload: Any, *, deadline: float) -> Any:
        """Run one operation in a worker.

        Args:
            operation: a name of the table.
            payload: what the operation is given; lists, dicts and scalars.
            deadline: seconds of processor time; not counted are waiting for a free worker, and
                starting one.

        Returns:
            What the operation returned, as plain values (tuples arrive as lists).

        Raises:
            SourceError: the operation refused the text.
            SandboxTimedOut: the deadline passed; retrying does not help.
            SandboxCrashed: the process died; retrying rarely helps.
            SandboxUnavailable: no process can be started; retrying later may help.
            Bug: the operation raised something else.
        """
        frame = frames.pack(frames.Request(operation, payload))
        async with self._slots:
            worker = await self._take()
            answer = await self._exchange(worker, frame, operation, deadline)
        return _value_of(answer, operation)

    async def close(self) -> None:
        """Kill all workers; running calls end with SandboxUnavailable."""
        self._closed = True
        await asyncio.gather(*(worker.kill() for worker in [*self._idle, *self._busy]))
        self._idle.clear()

    async def stop_idle(self) -> None:
        """Kill the workers that wait for calls; the next call starts fresh ones."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(worker.kill() for worker in idle))

    def recent_deaths(self) -> int:
        """How many workers were lost in the last five minutes."""
        oldest = time.monotonic() - RECENT_SECONDS
        return sum(at > oldest for at in self._deaths)

    def _note_death(self, how: str) -> None:
        if self._closed:
            raise SandboxUnavailable("The server is stopping")
        self._deaths.append(time.monotonic())
        if self._on_death is not None:
            self._on_death(how)

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
            raise SandboxTimedOut(f"{operation} ran longer than {deadline:g} seconds") from None
        except _DEATHS as error:
            self._note_death("crashed")
            raise SandboxCrashed(f"The worker process died during {operation}") from error
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
            if worker.process.returncode is None:
                return worker
        return await self._start()

    async def _start(self) -> _Worker:
        if self._closed:
            raise SandboxUnavailable("The server is stopping")
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-m",
                "hoglet.sandbox.worker",
                self._setup,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,  # a worker may write to no file, of logs neither
                env={"LANG": "C.UTF-8"},
                limit=1024 * 1024,
            )
        except OSError as error:
            self._note_death("not_started")
            raise SandboxUnavailable(f"No worker process can be started: {error}") from error
        return _Worker(process)


async def _log_errors(process: asyncio.subprocess.Process) -> None:
    """What a worker writes to standard error: a warning, or the interpreter's last words."""
    stream = process.stderr
    while stream is not None and (chunk := await stream.read(_MOST_LOGGED)):
        text = chunk.decode(errors="replace").strip()
        log.warning("a worker wrote to standard error", action="worker_stderr", text=text)


def processor_seconds(pid: int) -> float:
    """What a process has used so far; where that is not told, the time of the clock."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _value_of(answer: frames.Answer, operation: str) -> Any:
    match answer:
        case frames.Done(value):
            return value
        case frames.Refused():
            raise SourceError(
                answer.message,
                line=answer.line,
                column=answer.column,
                start=answer.start,
                end=answer.end,
                hint=answer.hint,
                code=answer.code,
                attr=answer.attr,
            )
        case frames.Broken(error, trace):
            log.error("sandbox operation failed", operation=operation, error=error, trace=trace)
            raise Bug(f"{operation} failed: {error}")
