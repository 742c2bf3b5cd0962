"""The budget of the run that is executing on this thread: time and memory.

Generated code compares its depth with one number per program, ``LIMIT``. A watchdog thread
periodically sets that number to zero; the next check of the program then calls :func:`check_in`,
which checks time and memory. So a check takes a few nanoseconds.

Library functions that allocate large values call :func:`charge`, and those that iterate over large
values call :func:`poll`.

Source: docs/spec/hog-language.md#10-limits.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, Never, Protocol
from weakref import ref

from hoglet.hog.runtime.cpu_clock import CpuClock, Mark
from hoglet.hog.runtime.errors import LimitExceeded

LARGE: Final = 256
"""Strings and arrays above this size are charged individually, smaller ones by the watchdog."""


_CHUNK: Final = 10_000


class Meter(Protocol):
    """The metering interface of a run."""

    alarmed: bool
    parsed_json: tuple[str | None, Any]
    """The JSON text that was read last, and its parsed value, which is not shared."""
    writes_repeatedly: bool
    """Whether it writes to copies of the host's data in loops or functions."""
    is_settled: bool
    """Whether its globals, and what it wrote into copies of them, are known to be settled."""

    @property
    def memory_bytes(self) -> int:
        """Limit of all live values together, and of a single value."""
        ...

    @property
    def async_names(self) -> frozenset[str]:
        """Names of calls that suspend the run."""
        ...

    def check_in(self, depth: int) -> int:
        """Check time and memory; returns the depth. Raises LimitExceeded."""
        ...

    def alarm(self) -> None:
        """A budget check is due; called from the watchdog's thread."""
        ...

    def charge(self, size: int) -> None:
        """Account for a new value of ``size`` bytes. Raises LimitExceeded."""
        ...

    def now(self) -> float:
        """Seconds since 1970; recorded for replay."""
        ...

    def random(self) -> float:
        """A number in [0, 1); recorded for replay."""
        ...

    def uuid(self) -> str:
        """A random UUID; recorded for replay."""
        ...

    def write_line(self, text: str) -> None:
        """A line of ``print``."""
        ...

    def log_line(self, line: int) -> None:
        """A statement begins, in traced runs."""
        ...

    def log_trace(self, entry: Any) -> None:
        """A line of a traced run."""
        ...

    def import_chunk(self, depth: int, name: str) -> Any:
        """The result of another program, run on first import. Raises EngineError if unknown."""
        ...

    call_host: Callable[[str, list[Any]], Any]


class RunningThread:
    """The state of a thread that runs programs.

    Attributes:
        run: its innermost run.
        clock: its CPU time.
        mark: when that run began or went on.
        figures: bytes of the process and blocks of Python's heap at that time.
    """

    __slots__ = ("__weakref__", "clock", "figures", "mark", "run")

    def __init__(self) -> None:
        self.run: Meter | None = None
        self.clock = CpuClock()
        self.mark: Mark = (0.0, 0.0)
        self.figures: tuple[int, int] = (0, 0)


class _Running(threading.local):
    """The state of the calling thread."""

    def __init__(self) -> None:
        self.thread = RunningThread()
        threads.add(ref(self.thread, threads.discard))


threads: Final[set[ref[RunningThread]]] = set()
"""All threads that ran a program and still live."""

running: Final = _Running()


def current() -> Meter:
    """The run of this thread; only valid while one executes."""
    run = running.thread.run
    if run is None:
        raise RuntimeError("no Hog program is running on this thread")
    return run


def charge(size: int) -> None:
    """Account for a new value of ``size`` bytes; no effect outside of a run.

    Raises:
        LimitExceeded: the value, or all live values together, are over the limit.
    """
    run = running.thread.run
    if run is not None:
        run.charge(size)


def charged(text: str) -> str:
    """A new string, charged if it is large.

    Raises:
        LimitExceeded: see :func:`charge`.
    """
    if len(text) > LARGE:
        charge(len(text))
    return text


def poll() -> None:
    """Check time and memory inside a long library call."""
    run = running.thread.run
    if run is not None and run.alarmed:
        run.check_in(0)


def chunks[Items: (list[Any], str, bytes)](items: Items) -> Iterator[Items]:
    """The items in chunks, with a budget check before each; for long library calls."""
    if len(items) <= _CHUNK:
        yield items
        return
    for start in range(0, len(items), _CHUNK):
        poll()
        yield items[start : start + _CHUNK]


_DEFAULT_BYTES: Final = 64 * 1024 * 1024


def largest_value() -> int:
    """Maximum size of a single value: the memory limit of this thread's run."""
    run = running.thread.run
    return _DEFAULT_BYTES if run is None else run.memory_bytes


def refuse_larger() -> Never:
    """Raise the error for a value beyond that size."""
    raise memory_exceeded(largest_value(), largest_value() + 1)


def memory_exceeded(limit: int, size: int) -> LimitExceeded:
    """The memory error of docs/spec/hog-language.md#10-limits."""
    return LimitExceeded(
        f"Memory limit of {limit} bytes exceeded. Tried to allocate {size} bytes.", kind="memory"
    )


def depth_exceeded(limit: int) -> LimitExceeded:
    """The depth error of docs/spec/hog-language.md#10-limits."""
    return LimitExceeded(f"Call stack exceeded maximum length of {limit}", kind="depth")
