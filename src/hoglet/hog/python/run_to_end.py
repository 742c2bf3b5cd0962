"""Runs a program to its end in one call, on this thread."""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from hoglet.hog.bind import tree as bound
from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.program import CompiledProgram, compile_python
from hoglet.hog.python.run_services import DEFAULT_BUDGET
from hoglet.hog.python.steps import (
    NO_FUNCTIONS,
    NO_HOST,
    Failed,
    Finished,
    HostCallRequest,
    ProgramHost,
    Step,
)
from hoglet.hog.runtime.errors import HostFailure, RunError
from hoglet.kit.clock import Clock


class ProgramOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a complete run.

    Attributes:
        result: the return value as plain data; None if it failed.
        error: why it failed, None if it did not.
        lines: what it printed.
        used_s: CPU seconds.
        journal: see :class:`Execution`.
        trace: see :class:`Execution`.
    """

    result: Any
    error: RunError | None
    lines: list[str]
    used_s: float
    journal: list[list[Any]]
    trace: list[dict[str, Any]]


def run_program(
    source: "str | bound.BoundProgram | CompiledProgram",
    *,
    globals: Mapping[str, Any] | None = None,  # noqa: A002 (the language's own word)
    functions: Mapping[str, Callable[..., Any]] = NO_FUNCTIONS,
    async_functions: Collection[str] = frozenset(),
    on_print: Callable[[str], None] | None = None,
    budget: Budget | None = None,
    clock: Clock | None = None,
    seed: int | None = None,
    trace: bool = False,
) -> ProgramOutcome:
    """Run a program to its end on this thread; suspending calls are answered at once.

    Args:
        source: Hog text, or a program bound or compiled before.
        globals: plain data by name.
        functions: functions of the host by name, async ones too.
        async_functions: which of them suspend the run.
        on_print: called with each printed line, besides collecting them.
        budget: resource limits.
        clock: source of ``now``.
        seed: the seed of random numbers.
        trace: record values and calls line by line (not for compiled programs).

    Raises:
        SourceError: text that does not compile.
    """
    lines: list[str] = []
    if isinstance(source, CompiledProgram):  # its run takes a microsecond
        program = source
    else:
        program = _program(source, frozenset(functions), frozenset(async_functions), trace=trace)
    execution = Execution(
        program,
        globals=globals or {},
        host=NO_HOST if functions is NO_FUNCTIONS else ProgramHost(functions),
        on_print=lines.append if on_print is None else _writer(lines, on_print),
        budget=budget or DEFAULT_BUDGET,
        clock=clock,
        seed=seed,
    )
    step = run_to_end(execution, functions)
    return ProgramOutcome(
        result=step.result if type(step) is Finished else None,
        error=step.error if type(step) is Failed else None,
        lines=lines,
        used_s=execution.used_s,
        journal=execution.journal,
        trace=execution.trace,
    )


def run_to_end(
    execution: Execution, functions: Mapping[str, Callable[..., Any]] = NO_FUNCTIONS
) -> Finished | Failed:
    """Run an execution that has not started; suspending calls are answered at once."""
    step = execution.start()
    while isinstance(step, HostCallRequest):
        step = _answer(execution, step, functions)
    return step


def _writer(lines: list[str], on_print: Callable[[str], None]) -> Callable[[str], None]:
    def write(text: str) -> None:
        lines.append(text)
        on_print(text)

    return write


def _answer(
    execution: Execution, call: HostCallRequest, functions: Mapping[str, Callable[..., Any]]
) -> Step:
    function = functions.get(call.name)
    if function is None:
        return (
            execution.resume(None)
            if call.name == "sleep"
            else execution.fail(
                f"{call.name} is not available here", type_name="NotImplementedError"
            )
        )
    try:
        result = function(*call.args)
    except HostFailure as failure:
        return execution.fail(failure.message, type_name=failure.type_name, payload=failure.payload)
    return execution.resume(result)


def _program(
    source: "str | bound.BoundProgram",
    functions: frozenset[str],
    async_functions: frozenset[str],
    *,
    trace: bool,
) -> CompiledProgram:
    functions -= async_functions
    if isinstance(source, str):
        return _from_text(source, functions, async_functions, trace)
    return compile_python(source, functions=functions, async_functions=async_functions, trace=trace)


@lru_cache(maxsize=256)
def _from_text(
    source: str,
    functions: frozenset[str],
    async_functions: frozenset[str],
    trace: bool,  # noqa: FBT001 (a cache key)
) -> CompiledProgram:
    return compile_python(
        compile_program(source),
        functions=functions,
        async_functions=async_functions,
        trace=trace,
    )
