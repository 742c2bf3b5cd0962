"""Executes programs, to the end or step by step between host calls.

``Execution.start()`` and ``resume()`` return one of three steps: :class:`Finished`,
:class:`HostCallRequest` (the host does the work and resumes with its result) or :class:`Failed`.
Whatever the program does, it raises only exceptions of hoglet.

Source: docs/spec/hog-language.md#7-errors, docs/spec/hog-language.md#10-limits and
docs/spec/hog-language.md#12-bytecode.
"""

import math
import sys
from collections.abc import Callable, Mapping
from random import Random, SystemRandom
from types import GeneratorType, TracebackType
from typing import Any, Final

import msgspec

from hoglet.hog.python.budget import Budget
from hoglet.hog.python.failures import failure_of
from hoglet.hog.python.journal import Journal
from hoglet.hog.python.memory import Figures, MemoryMeter, recent_figures
from hoglet.hog.python.program import CompiledProgram, load_for
from hoglet.hog.python.steps import (
    NO_CHUNKS,
    NO_HOST,
    Failed,
    Finished,
    HostCallRequest,
    HostFailure,
    ProgramHost,
    Step,
    TraceStep,
)
from hoglet.hog.python.watchdog import watchdog
from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.convert import export_value, import_value
from hoglet.hog.runtime.cpu_clock import CpuClock, Mark
from hoglet.hog.runtime.errors import EngineError, HogThrow, LimitExceeded
from hoglet.hog.runtime.formatting import printed
from hoglet.hog.runtime.host_data import HostValue, exported
from hoglet.hog.runtime.numbers import number_text
from hoglet.hog.runtime.regex import forget_patterns
from hoglet.hog.runtime.values import HogError
from hoglet.kit.clock import Clock, SystemClock

_TRACED_TEXT: Final = 500
_DEFAULT_BUDGET: Final = Budget()
_SYSTEM_CLOCK: Final = SystemClock()
_REAL_RANDOM: Final = SystemRandom()
_UUID_FIXED: Final = 0xF << 76 | 0x3 << 62  # the bits of version and variant
_UUID_4: Final = 0x4 << 76 | 0x2 << 62


class _Traced(msgspec.Struct):
    """The records of a traced run."""

    steps: list[TraceStep] = []
    values: list[dict[str, Any]] = []


class Execution:
    """One run of a program.

    Args:
        program: a compiled program.
        globals: plain data by name; never modified.
        host: functions, chunks and output of the host.
        budget: resource limits.
        clock: source of ``now`` and ``today``.
        seed: the seed of ``randomFloat`` and ``generateUUIDv4``; None for real randomness.
        shares_data: the result may contain parts of the globals; the caller then modifies neither.

    Attributes:
        journal: entries to store with the run, for :meth:`replay` after a crash.
        steps: the statements that ran in traced programs, with the values they set and their calls.
        trace: ``{"line": 3, "name": "total", "value": "4"}`` of traced programs.

    An execution belongs to one thread at a time and cannot be copied or stored; its journal can.
    """

    ops = 0  # class defaults; an execution gets its own attributes when they change
    alarmed = False
    parsed_json: tuple[str | None, Any] = (None, None)
    _generator: Any = None
    _journal: Journal | None = None
    _memory: MemoryMeter | None = None
    _charged = 0
    _random: Random | None = None
    _used_s = 0.0
    _steps = 0
    _printed = 0
    _imported: Mapping[str, Any] = NO_CHUNKS
    _chunk_namespaces: tuple[dict[str, Any], ...] = ()
    _traced: _Traced | None = None
    _mark: Mark
    _figures: Figures

    def __init__(
        self,
        program: CompiledProgram,
        *,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 (the language's own word)
        host: ProgramHost = NO_HOST,
        budget: Budget | None = None,
        clock: Clock | None = None,
        seed: int | None = None,
        shares_data: bool = False,
    ) -> None:
        self.async_names = program.async_names
        self._compiled = program
        self._provided = host
        self._clock = clock or _SYSTEM_CLOCK
        self._seed = seed
        self._shares_data = shares_data
        self._begin(globals or {}, budget or _DEFAULT_BUDGET)

    def _begin(self, globals: Mapping[str, Any], budget: Budget) -> None:  # noqa: A002 (as above)
        """Reset the state of a run, except for attributes that still have the class defaults."""
        self.budget = budget
        self.memory_bytes = budget.memory_bytes
        self._globals = globals if type(globals) is dict else dict(globals)
        self._program = load_for(self._compiled, self._globals)

    # --- steps

    @classmethod
    def begin(cls, program: CompiledProgram, **options: Any) -> "tuple[Execution, Step]":
        """Make an execution and start it."""
        execution = cls(program, **options)
        return execution, execution.start()

    def start(self) -> Step:
        """Run to the first suspending call or to the end."""
        return self._advance(self._program.main, 1, self._globals)

    def begin_again(self, globals: Mapping[str, Any], budget: Budget) -> None:  # noqa: A002 (as above)
        """Reset; :meth:`start` or :meth:`replay` then starts a run with other globals.

        For many short runs of one program, where creating the execution would dominate. The clock
        and the random source stay.
        """
        self.ops, self._used_s, self._steps, self._printed = 0, 0.0, 0, 0
        self.alarmed, self.parsed_json = False, (None, None)
        self._generator, self._journal = None, None
        self._memory, self._charged = None, 0
        self._imported, self._chunk_namespaces = NO_CHUNKS, ()
        self._traced = None
        self._begin(globals, budget)

    def resume(self, value: Any) -> Step:
        """Continue with the result of the call; plain data, recorded in the journal."""
        self._record("host", value)
        return self._send(value)

    def fail(self, message: str, *, type_name: str = "Error", payload: Any = None) -> Step:
        """Continue by throwing a catchable error at the call."""
        self._record("raise", [type_name, message, payload])
        return self._throw([type_name, message, payload])

    def replay(self, journal: list[list[Any]]) -> Step:
        """Bring a new execution to the point at which another one recorded ``journal``.

        Lines printed on the way are not printed again.
        """
        past = self._journal = Journal(journal)
        step = self.start()
        while isinstance(step, HostCallRequest) and past.replaying:
            if past.peek() == "raise":
                step = self._throw(past.take("raise"))
            else:
                step = self._send(past.take("host"))
        return step

    @property
    def journal(self) -> list[list[Any]]:
        """External results so far, as plain JSON."""
        return [] if self._journal is None else self._journal.entries

    @property
    def steps(self) -> list[TraceStep]:
        """See the class."""
        return [] if self._traced is None else self._traced.steps

    @property
    def trace(self) -> list[dict[str, Any]]:
        """See the class."""
        return [] if self._traced is None else self._traced.values

    @property
    def charged_bytes(self) -> int:
        """Recently allocated large values, in bytes; an indication, not the memory in use."""
        return self._charged if self._memory is None else self._memory.charged

    @property
    def used_s(self) -> float:
        """CPU seconds used so far."""
        return self._used_s

    def _send(self, value: Any) -> Step:
        return self._advance(lambda: self._generator.send(import_value(value)))

    def _throw(self, error: list[Any]) -> Step:
        type_name, message, payload = error
        thrown = HogThrow(HogError(type_name, message, import_value(payload)))
        return self._advance(lambda: self._generator.throw(thrown))

    def _advance(self, action: Callable[..., Any], *arguments: Any) -> Step:
        thread = meter.running.thread
        before, thread.run = thread.run, self
        if not watchdog.awake:
            watchdog.wake()
        namespace = self._program.namespace
        namespace["LIMIT"], namespace["CAP"] = self.budget.call_depth, self.memory_bytes
        if self._chunk_namespaces:
            self._let_run()
        self._figures = recent_figures.known or recent_figures.get()
        if self._memory is not None:
            self._memory.go_on(self._figures)
        self._mark = thread.clock.mark()
        try:
            value = action(*arguments)
            if self._generator is not None:
                return self._suspended(value)
            if type(value) is not GeneratorType:
                return Finished(exported(value, shared=self._shares_data))
            self._generator = value
            return self._suspended(next(value))
        except StopIteration as stop:
            return Finished(exported(stop.value, shared=self._shares_data))
        except (HogThrow, EngineError, LimitExceeded, RecursionError, MemoryError) as error:
            return self._failed(error)
        except Exception as error:  # noqa: BLE001 (a bug in hoglet must not crash the host)
            return self._failed(EngineError(f"Internal error: {error!r}"), error.__traceback__)
        finally:
            self._used_s += CpuClock.since(self._mark)
            thread.run = before

    def _suspended(self, request: tuple[str, list[Any]]) -> Step:
        self._steps += 1
        if self._steps > self.budget.async_steps:
            limit = self.budget.async_steps
            message = f"Exceeded maximum number of async steps: {limit}"
            raise LimitExceeded(message, kind="steps")
        name, args = request
        self._mark_call(name)
        return HostCallRequest(name, [export_value(item) for item in args])

    def _mark_call(self, name: str) -> None:
        """Record the call, or compare it with the recorded one during a replay."""
        past = self._past()
        if past is None:
            self._record("call", name)
        elif past.take("call") != name:
            raise EngineError(f"Replay called {name} where another call was recorded")

    def _past(self) -> Journal | None:
        """The journal of an earlier run while it has unread entries, else None."""
        journal = self._journal
        return journal if journal is not None and journal.replaying else None

    def _record(self, kind: str, value: Any) -> None:
        if self._journal is None:
            self._journal = Journal()
        self._journal.record(kind, value)

    # --- failures

    def _failed(self, error: BaseException, traceback: TracebackType | None = None) -> Failed:
        failure = failure_of(error, traceback or error.__traceback__, self._program, self.budget)
        error.__traceback__ = None
        if self._generator is not None:
            self._generator.close()
        if failure.kind == "memory":
            forget_patterns()
        return Failed(failure)

    # --- budget of this run

    def alarm(self) -> None:
        """Called by the watchdog from its own thread: makes the program check its budget."""
        self.alarmed = True
        for namespace in (self._program.namespace, *self._chunk_namespaces):
            namespace["LIMIT"] = 0

    def _let_run(self) -> None:
        depth = self.budget.call_depth
        namespace = self._program.namespace
        namespace["LIMIT"] = depth
        namespace["CAP"] = self.memory_bytes
        for namespace in self._chunk_namespaces:
            namespace["LIMIT"] = depth
            namespace["CAP"] = self.memory_bytes

    def check_in(self, depth: int) -> int:
        """Check depth, time and memory."""
        self.alarmed = False
        self.ops += 1
        self._let_run()
        if depth > self.budget.call_depth:
            raise meter.depth_exceeded(self.budget.call_depth)
        self._check_time()
        self._look_at_memory(0)
        return depth

    def _check_time(self) -> None:
        used = self._used_s + CpuClock.since(self._mark)
        if used > self.budget.timeout_s:
            seconds = number_text(self.budget.timeout_s)
            unit = "second" if self.budget.timeout_s == 1 else "seconds"
            message = f"Execution timed out after {seconds} {unit}. Performed {self.ops} ops."
            raise LimitExceeded(message, kind="timeout")

    def charge(self, size: int) -> None:
        """Account for a new large value."""
        if size > self.memory_bytes:
            raise meter.memory_exceeded(self.memory_bytes, size)
        if self._memory is None and self._charged + size <= self.memory_bytes >> 3:
            self._charged += size
        else:
            memory = self._memory or self._open_memory()
            memory.charged += size
            if memory.charged > memory.soon:
                self._look_at_memory(size)
        if self.alarmed:
            self.check_in(0)

    def _open_memory(self) -> MemoryMeter:
        memory = self._memory = MemoryMeter(self.memory_bytes, self._figures)
        memory.charged = self._charged
        return memory

    def _look_at_memory(self, size: int) -> None:
        """Check memory; ``size`` is that of the value a library call will return."""
        memory = self._memory or self._open_memory()
        frame = sys._getframe()  # noqa: SLF001 (the only way to reach frames)
        memory.check(frame, self._check_time, size)

    # --- services for library functions

    def now(self) -> float:
        """Seconds since 1970, to the millisecond."""
        return self._recorded("now", self._milliseconds)

    def _milliseconds(self) -> float:
        return math.floor(self._clock.now().timestamp() * 1000 + 0.5) / 1000

    def random(self) -> float:
        """A number in [0, 1)."""
        return self._recorded("random", self._numbers().random)

    def uuid(self) -> str:
        """A random UUID."""
        return self._recorded("uuid", self._fourth_version)

    def _fourth_version(self) -> str:
        bits = self._numbers().getrandbits(128) & ~_UUID_FIXED | _UUID_4
        code = f"{bits:032x}"
        return f"{code[:8]}-{code[8:12]}-{code[12:16]}-{code[16:20]}-{code[20:]}"

    def _numbers(self) -> Random:
        if self._random is None:
            seed = self._seed
            self._random = _REAL_RANDOM if seed is None else Random(seed)  # noqa: S311 (a seed asks for it)
        return self._random

    def _recorded(self, kind: str, make: Callable[[], Any]) -> Any:
        past = self._past()
        if past is not None:
            return past.take(kind)
        value = make()
        self._record(kind, value)
        return value

    def call_host(self, name: str, given: list[Any]) -> Any:
        """Call a synchronous function of the host."""
        past = self._past()
        if past is not None:
            if past.peek() == "raise":
                raise _thrown(past.take("raise"))
            return import_value(past.take("host"))
        function = self._provided.functions.get(name)
        if function is None:
            raise EngineError(f"Unsupported function call: {name}")
        return self._call(name, function, [export_value(item) for item in given])

    def _call(self, name: str, function: Callable[..., Any], given: list[Any]) -> Any:
        called = meter.running.thread.clock.mark()
        try:
            result = function(*given)
        except HostFailure as failure:
            error = [failure.type_name, failure.message, failure.payload]
            self._record("raise", error)
            raise _thrown(error) from None
        except Exception as error:
            raise EngineError(f"{name} failed: {error}") from error
        finally:
            self._used_s -= CpuClock.since(called)
        self._record("host", result)
        return import_value(result)

    def import_chunk(self, depth: int, name: str) -> Any:
        """The result of a chunk, which runs on first import."""
        if name in self._imported:
            return self._imported[name]
        chunk = self._provided.chunks.get(name)
        if chunk is None:
            raise EngineError(f"Unknown chunk: {name}")
        if chunk.program.suspends:
            raise EngineError(f"The chunk {name} cannot wait for the host")
        loaded = load_for(chunk.program, chunk.globals)
        self._chunk_namespaces += (loaded.namespace,)
        self._let_run()
        self._imported = {**self._imported, name: None}  # for a chunk that imports itself
        result = loaded.main(depth + 1, dict(chunk.globals))
        if type(result) is HostValue:
            result = import_value(result.value)
        self._imported = {**self._imported, name: result}
        return result

    def write_line(self, text: str) -> None:
        """Write a line of ``print``."""
        on_print = self._provided.on_print
        if on_print is None or (self._journal is not None and self._journal.replaying):
            return
        self._printed += len(text) + 1
        if self._printed <= self.budget.output_bytes:
            on_print(text)

    def log_line(self, line: int) -> None:
        """Record that a statement begins, in traced runs."""
        steps = self._open_trace().steps
        if len(steps) < self.budget.trace_entries:
            steps.append(TraceStep(line))

    def log_trace(self, entry: tuple[int, str, Any]) -> None:
        """Record a value or the result of a call, in traced runs."""
        traced = self._open_trace()
        if len(traced.values) < self.budget.trace_entries:
            line, name, value = entry
            text = printed(value)[:_TRACED_TEXT]
            traced.values.append({"line": line, "name": name, "value": text})
            step = next((each for each in reversed(traced.steps) if each.line == line), None)
            if step is not None and name.endswith("()"):
                step.calls.append(f"{name}: {text}")
            elif step is not None:
                step.values[name] = text

    def _open_trace(self) -> _Traced:
        if self._traced is None:
            self._traced = _Traced()
        return self._traced


def _thrown(error: list[Any]) -> HogThrow:
    type_name, message, payload = error
    return HogThrow(HogError(type_name, message, import_value(payload)))
