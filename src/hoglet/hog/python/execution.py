"""Executes programs, to the end or step by step between host calls.

``Execution.start()`` and ``resume()`` return one of three steps: :class:`Finished`,
:class:`HostCallRequest` (the host does the work and resumes with its result) or :class:`Failed`.
Whatever the program does, it raises only exceptions of hoglet.

Source: docs/spec/hog-language.md#7-errors, docs/spec/hog-language.md#10-limits and
docs/spec/hog-language.md#12-bytecode.
"""

import sys
from collections.abc import Callable
from time import perf_counter
from types import GeneratorType, TracebackType
from typing import Any, Final

from hoglet.hog.python.failures import failure_of
from hoglet.hog.python.journal import Journal
from hoglet.hog.python.memory import MemoryMeter, recent_figures
from hoglet.hog.python.program import CompiledProgram, LoadedProgram, load_for
from hoglet.hog.python.run_services import RunServices, thrown
from hoglet.hog.python.steps import Failed, Finished, HostCallRequest, Step
from hoglet.hog.python.watchdog import watchdog
from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.convert import export_value, import_value
from hoglet.hog.runtime.cpu_clock import SHORT_S, CpuClock
from hoglet.hog.runtime.errors import EngineError, HogThrow, LimitExceeded
from hoglet.hog.runtime.host_data import HostValue, exported
from hoglet.hog.runtime.numbers import number_text
from hoglet.hog.runtime.regex import forget_patterns
from hoglet.hog.runtime.trace import TraceStep

_CONTAINERS: Final = frozenset({dict, list})


class Execution(RunServices):
    """One run of a program.

    Args:
        program: a compiled program.
        globals: plain data by name; never modified.
        host: functions and chunks of the host.
        on_print: called with each line that ``print`` writes.
        budget: resource limits.
        clock: source of ``now`` and ``today``.
        seed: the seed of ``randomFloat`` and ``generateUUIDv4``; None for real randomness.
        shares_data: the result may contain parts of the globals; the caller then modifies neither.
        is_settled: it may, and all globals are :mod:`hoglet.hog.runtime.settled_data`.

    Attributes:
        used_s: CPU seconds used so far.
        journal: entries to store with the run, for :meth:`replay` after a crash.
        steps: the statements that ran in traced programs, with the values they set and their calls.
        trace: ``{"line": 3, "name": "total", "value": "4"}`` of traced programs.

    An execution belongs to one thread at a time and cannot be copied or stored; its journal can.
    """

    program: CompiledProgram

    # --- steps

    @classmethod
    def begin(cls, program: CompiledProgram, **options: Any) -> "tuple[Execution, Step]":
        """Make an execution and start it."""
        execution = cls(program, **options)
        return execution, execution.start()

    def start(self) -> Step:
        """Run to the first suspending call or to the end."""
        given = self.globals
        if type(given) is not dict:
            given = dict(given)
        self._loaded = loaded = load_for(self.program, given)
        return self._advance(loaded, loaded.main, 1, given)

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
    def async_names(self) -> frozenset[str]:
        """Names of calls that suspend the run."""
        return self.program.async_names

    @property
    def memory_bytes(self) -> int:
        """Limit of all live values together, and of a single value."""
        return self.budget.memory_bytes

    @property
    def charged_bytes(self) -> int:
        """Recently allocated large values, in bytes; an indication, not the memory in use."""
        return self._charged if self._memory is None else self._memory.charged

    def _send(self, value: Any) -> Step:
        return self._advance(self._running, self._sent, self._generator, value)

    def _sent(self, generator: Any, value: Any) -> Step:
        self._go_on()
        return self._suspended(generator.send(import_value(value)))

    def _throw(self, error: list[Any]) -> Step:
        return self._advance(self._running, self._thrown, self._generator, error)

    def _thrown(self, generator: Any, error: list[Any]) -> Step:
        self._go_on()
        return self._suspended(generator.throw(thrown(error)))

    def _go_on(self) -> None:
        """Restore what a suspended run had beyond its start."""
        if self._chunks:
            self._let_run()
        if self._memory is not None:
            self._memory.go_on(meter.running.thread.figures)

    def _advance(  # noqa: C901, PLR0911 (one branch a kind of step)
        self, loaded: LoadedProgram, action: Callable[[Any, Any], Any], first: Any, second: Any
    ) -> Step:
        thread = meter.running.thread
        before = thread.run
        outer = None if before is None else (thread.mark, thread.figures)
        thread.run = self  # what changes in each run is kept there: a struct is slow to change
        if not watchdog.awake:
            watchdog.wake()
        if loaded.budget is not self.budget:
            loaded.limit(self.budget)
        thread.figures = recent_figures.known or recent_figures.get()
        clock, wall = thread.clock, perf_counter()
        if wall - clock.read_at > SHORT_S:
            clock.read(wall)
        thread.mark = wall, clock.lead
        try:
            value = action(first, second)
            kind = type(value)
            if kind is tuple:
                return Finished(value[0])
            if kind is GeneratorType:
                self._generator = value
                return self._suspended(next(value))
            if kind is HostValue and self.is_settled and type(value.value) in _CONTAINERS:
                return Finished(value.value, is_settled=True)
            is_done = kind is not HostCallRequest
            return Finished(exported(value, self.shares_data)) if is_done else value
        except StopIteration as stop:
            return Finished(exported(stop.value, self.shares_data))
        except (HogThrow, EngineError, LimitExceeded, RecursionError, MemoryError) as error:
            return self._failed(error)
        except Exception as error:  # noqa: BLE001 (a bug in hoglet must not crash the host)
            return self._failed(EngineError(f"Internal error: {error!r}"), error.__traceback__)
        finally:
            wall = perf_counter() - wall
            self.used_s += wall if wall < SHORT_S else CpuClock.since(thread.mark)
            thread.run = before
            if outer is not None:
                thread.mark, thread.figures = outer

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

    # --- failures

    def _failed(self, error: BaseException, traceback: TracebackType | None = None) -> Failed:
        failure = failure_of(error, traceback or error.__traceback__, self._running, self.budget)
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
        for loaded in (self._running, *self._chunks):
            loaded.namespace["LIMIT"] = 0

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
        used = self.used_s + CpuClock.since(meter.running.thread.mark)
        if used > self.budget.timeout_s:
            seconds = number_text(self.budget.timeout_s)
            unit = "second" if self.budget.timeout_s == 1 else "seconds"
            message = f"Execution timed out after {seconds} {unit}. Performed {self.ops} ops."
            raise LimitExceeded(message, kind="timeout")

    def charge(self, size: int) -> None:
        """Account for a new large value."""
        if size > self.budget.memory_bytes:
            raise meter.memory_exceeded(self.budget.memory_bytes, size)
        if self._memory is None and self._charged + size <= self.budget.memory_bytes >> 3:
            self._charged += size
            recent_figures.add_allocated(size)
        else:
            memory = self._memory or self._open_memory()
            memory.charged += size
            if memory.charged > memory.soon:
                self._look_at_memory(size)
        if self.alarmed:
            self.check_in(0)

    def _open_memory(self) -> MemoryMeter:
        memory = self._memory = MemoryMeter(self.budget.memory_bytes, meter.running.thread.figures)
        memory.charged = self._charged
        return memory

    def _look_at_memory(self, size: int) -> None:
        """Check memory; ``size`` is that of the value a library call will return."""
        memory = self._memory or self._open_memory()
        frame = sys._getframe()  # noqa: SLF001 (the only way to reach frames)
        memory.check(frame, self._check_time, size)
