"""Compiled programs: their text, which can be stored and sent, and the loaded form.

Source: docs/spec/hog-language.md#10-limits (limits).
"""

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from types import CodeType
from typing import Any, Final

import msgspec

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.program_analysis import ProgramAnalysis
from hoglet.hog.python.analysis.visitor import everything
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.builtins import VOCABULARY
from hoglet.hog.python.codegen.emitter import ProgramContext
from hoglet.hog.python.codegen.printer import print_program
from hoglet.kit.errors import SourceError

DEFAULT_ASYNC: Final = frozenset({"fetch"})
_CACHE_SIZE: Final = 1024
_FEW: Final = _CACHE_SIZE // 2
_PYTHON_FRAMES: Final = 12_000
"""A Hog frame is at most a few Python frames (a callback with its library function, a generator);
Python functions that call each other use no C stack, so 1000 Hog frames fit easily."""


class CompiledProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program as the text of a Python module; plain data.

    Attributes:
        source: the module, as ``hoglet hog compile --to python`` prints it.
        functions: names of host functions it was compiled against.
        async_names: names of calls that suspend it.
        suspends: whether a run can suspend at all.
        roots: globals it reads; if all of them are given, some tests can stop early.
        careful: the module for runs that lack one of the roots; None if it would be the same.
    """

    source: str
    roots: frozenset[str] = frozenset()
    careful: str | None = None
    functions: frozenset[str] = frozenset()
    async_names: frozenset[str] = frozenset()
    suspends: bool = False


def compile_python(
    program: bound.BoundProgram,
    *,
    functions: Collection[str] = frozenset(),
    async_functions: Collection[str] = DEFAULT_ASYNC,
    known_globals: Collection[str] = frozenset(),
    trace: bool = False,
) -> CompiledProgram:
    """Print a bound program as Python.

    Args:
        program: the result of ``hoglet.hog.compile.compile_program``.
        functions: names of host functions; they hide library functions.
        async_functions: names of calls that suspend the run; ``sleep`` always is one.
        known_globals: roots of globals that every run has. Operands of ``and`` and ``or`` that
            only read these may be skipped.
        trace: record assigned values and calls, see ``Execution.trace``.

    Raises:
        SourceError: the program is nested too deeply to be run.
    """
    return _compiled(program.functions, functions, async_functions, known_globals, trace=trace)


def compile_expression(
    expression: bound.BoundExpression,
    *,
    functions: Collection[str] = frozenset(),
    async_functions: Collection[str] = frozenset(),
    known_globals: Collection[str] = frozenset(),
    batch: bool = False,
) -> CompiledProgram:
    """Print one expression (a filter, a condition, a template) as a program that returns it.

    ``batch`` prints a function over a list of events instead, see ``python.predicate``.

    Raises:
        SourceError: the expression is nested too deeply to be run.
    """
    root = bound.BoundFunction(
        name="root",
        number=0,
        parent=None,
        parameters=(),
        body=bound.Block(
            statements=(
                bound.Return(value=expression.expression, start=expression.expression.start),
            ),
            ends=(),
        ),
        captures=(),
        variables=(),
        has_return=True,
    )
    everything = (root, *expression.functions)
    return _compiled(
        everything, functions, async_functions, known_globals, trace=False, batch=batch
    )


def _compiled(
    all_functions: tuple[bound.BoundFunction, ...],
    functions: Collection[str],
    async_functions: Collection[str],
    known_globals: Collection[str],
    *,
    trace: bool,
    batch: bool = False,
) -> CompiledProgram:
    given = frozenset(functions)
    roots = _roots(all_functions[0])
    async_names = (frozenset(async_functions) | {"sleep"}) - given
    try:
        known = frozenset(known_globals)
        analysis = ProgramAnalysis(all_functions, given, async_names, trace=trace, batch=batch)
        source, suspends = print_program(ProgramContext(analysis, known | roots))
        careful = source
        if not roots <= known:
            careful, _ = print_program(ProgramContext(analysis, known))
        if batch:  # a batch cannot fall back to it
            source = careful
        load(source)
    except RecursionError:
        raise SourceError("The program is nested too deeply") from None
    return CompiledProgram(
        source=source,
        functions=given,
        async_names=async_names,
        suspends=suspends,
        roots=roots,
        careful=None if careful == source else careful,
    )


def _roots(root: bound.BoundFunction) -> frozenset[str]:
    """Roots of all globals that are read as values."""
    return frozenset(
        str(node.path[0])
        for node in everything(root, into_functions=True)
        if isinstance(node, bound.ReadGlobal) and not node.library
    )


def load_for(program: CompiledProgram, given: Mapping[str, Any]) -> "LoadedProgram":
    """The variant of the module for the given globals."""
    if program.careful is not None:
        for root in program.roots:  # comparing sets takes twice as long
            if root not in given:
                return load(program.careful)
    loaded = _loaded.get(program.source)
    return loaded if loaded is not None and len(_loaded) < _FEW else load(program.source)


class LoadedProgram:
    """A program ready to run.

    Attributes:
        main: ``main(1, globals)``: the result, or a generator of requests.
        namespace: the module's names; the watchdog sets ``LIMIT`` in it.
        lines: the Hog line behind each Python line.
        budget: the limits that were set last.
    """

    __slots__ = ("budget", "lines", "main", "namespace")

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.budget: Budget | None = None
        self.main: Callable[[int, dict[str, Any]], Any] = namespace["f0"]
        self.lines: tuple[int | tuple[int, int, int], ...] = namespace["LINES"]

    def limit(self, budget: Budget) -> None:
        """Set the limits of the run that begins or goes on."""
        self.budget = budget
        self.namespace["LIMIT"] = budget.call_depth
        self.namespace["CAP"] = budget.memory_bytes

    def source_line(self, python_line: int) -> tuple[int, ...]:
        """The Hog line behind a Python line, 0 for none.

        In an inlined call also the number of the function and the line in it.
        """
        line = self.lines[python_line] if 0 < python_line < len(self.lines) else 0
        return line if isinstance(line, tuple) else (line,)


_loaded: OrderedDict[str, LoadedProgram] = OrderedDict()
_lock = threading.Lock()


def load(source: str) -> LoadedProgram:
    """Load a module that :func:`compile_python` printed; the last 1024 are cached.

    Never pass text from anywhere else: it is executed as Python.

    Raises:
        SourceError: Python cannot compile it, because it nests too deeply.
    """
    loaded = _loaded.get(source)
    if loaded is not None and len(_loaded) < _FEW:
        return loaded  # far from eviction: no need to reorder
    with _lock:
        loaded = _loaded.get(source)
        if loaded is not None:
            _loaded.move_to_end(source)
            return loaded
    program = LoadedProgram(_execute(_code(source)))
    with _lock:
        _loaded[source] = program
        while len(_loaded) > _CACHE_SIZE:
            _loaded.popitem(last=False)
    return program


def _code(source: str) -> CodeType:
    try:
        return compile(source, "<hog>", "exec", dont_inherit=True, optimize=2)
    except (SyntaxError, RecursionError, MemoryError, OverflowError) as error:
        raise SourceError(f"The program is nested too deeply ({error})") from None


def _execute(code: CodeType) -> dict[str, Any]:
    if sys.getrecursionlimit() < _PYTHON_FRAMES:
        sys.setrecursionlimit(_PYTHON_FRAMES)
    namespace = dict(VOCABULARY)
    exec(code, namespace)  # noqa: S102 (text that our own printer wrote)
    return namespace
