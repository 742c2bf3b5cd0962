"""Hog as Python: the printer, the engine for its output, and batch predicates.

Use :func:`compile_python` and :func:`run_program`, or :class:`Execution` to run in steps.
"""

from hoglet.hog.python.budget import Budget
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.predicate import compile_batch_predicate, compile_predicate
from hoglet.hog.python.program import (
    CompiledProgram,
    compile_expression,
    compile_python,
    load,
)
from hoglet.hog.python.run_to_end import ProgramOutcome, run_program
from hoglet.hog.python.steps import Chunk, Failed, Finished, HostCallRequest, ProgramHost
from hoglet.hog.runtime.errors import RunError

__all__ = [
    "Budget",
    "Chunk",
    "CompiledProgram",
    "Execution",
    "Failed",
    "Finished",
    "HostCallRequest",
    "ProgramHost",
    "ProgramOutcome",
    "RunError",
    "compile_batch_predicate",
    "compile_expression",
    "compile_predicate",
    "compile_python",
    "load",
    "run_program",
]
