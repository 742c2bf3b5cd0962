"""Describes failed runs: message, line, frames.

Source: docs/spec/hog-language.md#7-errors and docs/spec/hog-language.md#10-limits.
"""

from types import TracebackType
from typing import Final

from hoglet.hog.python.budget import Budget
from hoglet.hog.python.program import LoadedProgram
from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.convert import export_value
from hoglet.hog.runtime.errors import (
    EngineError,
    FailureKind,
    HogThrow,
    LimitExceeded,
    RunError,
    TraceFrame,
)
from hoglet.hog.runtime.formatting import as_text, printed
from hoglet.hog.runtime.values import HogError

FRAMES_KEPT: Final = 50


def failure_of(
    error: BaseException, traceback: TracebackType | None, program: LoadedProgram, budget: Budget
) -> RunError:
    """The failure of a run as data; its payload is plain."""
    frames = _frames(traceback, program)
    line = frames[-1].line if frames else 0
    if isinstance(error, HogThrow):
        try:
            return _uncaught(error.value, line, frames)
        except (EngineError, LimitExceeded, RecursionError, MemoryError) as fault:
            error = fault  # the thrown value is too deep or too large to be shown
    kind, message = _describe(error, budget)
    return RunError(
        type="Error",
        message=message,
        text=message,
        payload=None,
        line=line,
        kind=kind,
        frames=frames,
    )


def _frames(traceback: TracebackType | None, program: LoadedProgram) -> tuple[TraceFrame, ...]:
    frames: list[TraceFrame] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if traceback.tb_frame.f_globals is program.namespace:
            line, *inlined = program.source_line(traceback.tb_lineno)
            if code.co_name[0] == "f":
                frames.append(_frame(program, int(code.co_name[1:]), line))
            elif code.co_name[0] == "b" and frames:  # a block of the function before it
                frames[-1] = TraceFrame(frames[-1].function, line)
            if inlined:
                frames.append(_frame(program, *inlined))
        traceback = traceback.tb_next
    return tuple(frames[-FRAMES_KEPT:])


def _frame(program: LoadedProgram, number: int, line: int) -> TraceFrame:
    name, _ = program.namespace["FUNCTIONS"][number]
    return TraceFrame(name, line)


def _uncaught(error: HogError, line: int, frames: tuple[TraceFrame, ...]) -> RunError:
    message = as_text(error.message)
    type_name = as_text(error.type)
    return RunError(
        type=type_name,
        message=message,
        text=f"{type_name}({printed([error.message])[1:-1]})",
        payload=export_value(error.payload),
        line=line,
        kind="uncaught",
        frames=frames,
    )


def _describe(error: BaseException, budget: Budget) -> tuple[FailureKind, str]:
    if isinstance(error, LimitExceeded):
        return error.kind, str(error)
    if isinstance(error, RecursionError):
        return "depth", str(meter.depth_exceeded(budget.call_depth))
    if isinstance(error, MemoryError):
        return "memory", str(meter.memory_exceeded(budget.memory_bytes, budget.memory_bytes))
    return "engine", str(error)
