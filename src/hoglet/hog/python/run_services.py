"""The services of a run for generated code and library functions.

Time, random numbers, host functions, chunks and output; results are recorded in the journal.

Source: docs/spec/hog-language.md#12-bytecode.
"""

import math
from collections.abc import Callable, Mapping
from random import Random, SystemRandom
from typing import Any, Final

import msgspec

from hoglet.hog.python.budget import Budget
from hoglet.hog.python.journal import Journal
from hoglet.hog.python.memory import MemoryMeter
from hoglet.hog.python.program import LoadedProgram, load_for
from hoglet.hog.python.steps import NO_CHUNKS, NO_HOST, ProgramHost
from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.convert import export_value, import_value
from hoglet.hog.runtime.cpu_clock import CpuClock
from hoglet.hog.runtime.errors import EngineError, HogThrow, HostFailure
from hoglet.hog.runtime.formatting import printed
from hoglet.hog.runtime.host_data import HostValue
from hoglet.hog.runtime.trace import TraceStep
from hoglet.hog.runtime.values import HogError
from hoglet.kit.clock import Clock, random_id_text, unix_seconds

_TRACED_TEXT: Final = 500
DEFAULT_BUDGET: Final = Budget()
_REAL_RANDOM: Final = SystemRandom()
_UUID_FIXED: Final = 0xF << 76 | 0x3 << 62  # the bits of version and variant
_UUID_4: Final = 0x4 << 76 | 0x2 << 62
NOTHING_PARSED: Final[tuple[str | None, Any]] = (None, None)


class _Traced(msgspec.Struct):
    """The records of a traced run."""

    steps: list[TraceStep] = []
    values: list[dict[str, Any]] = []


class RunServices(msgspec.Struct, kw_only=True, eq=False, repr_omit_defaults=True):
    """The state of a run and its services, see :class:`hoglet.hog.python.execution.Execution`.

    It is a struct because these are created in C: a constructor in Python would take as long as
    the statements of a short program.
    """

    globals: Mapping[str, Any] = NO_CHUNKS
    host: ProgramHost = NO_HOST
    on_print: Callable[[str], None] | None = None
    budget: Budget = DEFAULT_BUDGET
    clock: Clock | None = None
    seed: int | None = None
    shares_data: bool = False
    is_settled: bool = False

    ops: int = 0
    used_s: float = 0.0
    alarmed: bool = False
    parsed_json: tuple[str | None, Any] = NOTHING_PARSED
    writes_repeatedly: bool = False
    _loaded: LoadedProgram | None = None
    _generator: Any = None
    _journal: Journal | None = None
    _memory: MemoryMeter | None = None
    _charged: int = 0
    _random: Random | None = None
    _steps: int = 0
    _printed: int = 0
    _imported: Mapping[str, Any] = NO_CHUNKS
    _chunks: tuple[LoadedProgram, ...] = ()
    _traced: _Traced | None = None

    @property
    def _running(self) -> LoadedProgram:
        if self._loaded is None:
            raise RuntimeError("the execution has not started")
        return self._loaded

    def _let_run(self) -> None:
        for loaded in (self._running, *self._chunks):
            loaded.limit(self.budget)

    def now(self) -> float:
        """Seconds since 1970, to the millisecond."""
        return self._recorded("now", self._milliseconds)

    def _milliseconds(self) -> float:
        seconds = unix_seconds() if self.clock is None else self.clock.now().timestamp()
        return math.floor(seconds * 1000 + 0.5) / 1000

    def random(self) -> float:
        """A number in [0, 1)."""
        return self._recorded("random", self._numbers().random)

    def uuid(self) -> str:
        """A random UUID."""
        return self._recorded("uuid", random_id_text if self.seed is None else self._seeded_uuid)

    def _seeded_uuid(self) -> str:
        bits = self._numbers().getrandbits(128) & ~_UUID_FIXED | _UUID_4
        code = f"{bits:032x}"
        return f"{code[:8]}-{code[8:12]}-{code[12:16]}-{code[16:20]}-{code[20:]}"

    def _numbers(self) -> Random:
        if self._random is None:
            seed = self.seed
            self._random = _REAL_RANDOM if seed is None else Random(seed)  # noqa: S311 (a seed asks for it)
        return self._random

    def _recorded(self, kind: str, make: Callable[[], Any]) -> Any:
        past = self._journal
        if past is not None and past.replaying:
            return past.take(kind)
        value = make()
        self._record(kind, value)
        return value

    def call_host(self, name: str, given: list[Any]) -> Any:
        """Call a synchronous function of the host."""
        past = self._past()
        if past is not None:
            if past.peek() == "raise":
                raise thrown(past.take("raise"))
            return import_value(past.take("host"))
        function = self.host.functions.get(name)
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
            raise thrown(error) from None
        except Exception as error:
            raise EngineError(f"{name} failed: {error}") from error
        finally:
            self.used_s -= CpuClock.since(called)
        self._record("host", result)
        return import_value(result)

    def import_chunk(self, depth: int, name: str) -> Any:
        """The result of a chunk, which runs on first import."""
        if name in self._imported:
            return self._imported[name]
        chunk = self.host.chunks.get(name)
        if chunk is None:
            raise EngineError(f"Unknown chunk: {name}")
        if chunk.program.suspends:
            raise EngineError(f"The chunk {name} cannot wait for the host")
        loaded = load_for(chunk.program, chunk.globals)
        self._chunks += (loaded,)
        self._let_run()
        self._imported = {**self._imported, name: None}  # for a chunk that imports itself
        result = loaded.main(depth + 1, dict(chunk.globals))
        if type(result) is HostValue:
            result = import_value(result.value)
        elif type(result) is tuple:
            result = result[0]
        self._imported = {**self._imported, name: result}
        return result

    def write_line(self, text: str) -> None:
        """Write a line of ``print``."""
        on_print = self.on_print
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

    def _past(self) -> Journal | None:
        """The journal of an earlier run while it has unread entries, else None."""
        journal = self._journal
        return journal if journal is not None and journal.replaying else None

    def _record(self, kind: str, value: Any) -> None:
        if self._journal is None:
            self._journal = Journal([[kind, value]], unread=False)
        else:
            self._journal.record(kind, value)


def thrown(error: list[Any]) -> HogThrow:
    """The exception for a recorded error ``[type, message, payload]``."""
    type_name, message, payload = error
    return HogThrow(HogError(type_name, message, import_value(payload)))
