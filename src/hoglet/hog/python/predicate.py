"""Fast filters: one expression over millions of events.

A simple expression (no lambdas, nothing that can grow or that reads the time) reads the events
in place, without copies and without a budget: its work is bounded by its own length and the event.
Other expressions run as programs, with a budget per event.

Source: docs/spec/hog-language.md#2-statements (an expression compiled on its own yields its value).
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.visitor import everything
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.program import CompiledProgram, compile_expression, load
from hoglet.hog.python.steps import Failed, Finished
from hoglet.hog.runtime.compare import truthy
from hoglet.hog.runtime.convert import import_value
from hoglet.hog.runtime.errors import EngineError, HogThrow, RunError
from hoglet.hog.runtime.host_data import exported
from hoglet.hog.stdlib.table import STL

type Predicate = Callable[[Mapping[str, Any]], Any]
type BatchPredicate = Callable[[list[dict[str, Any]]], list[bool]]
type OnError = Callable[[dict[str, Any], RunError], None]

_GROWING: Final = frozenset({"range", "replaceAll", "splitByString", "arrayStringConcat"})
_BUDGET: Final = Budget(timeout_s=0.5, async_steps=0)


class PredicateFailed(Exception):
    """An expression failed for an event.

    Attributes:
        error: the error, e.g. a missing global.
    """

    def __init__(self, error: RunError) -> None:
        super().__init__(error.text)
        self.error = error


def compile_predicate(
    expression: bound.BoundExpression,
    *,
    known_globals: Collection[str] = frozenset(),
    budget: Budget = _BUDGET,
    failure: Callable[[RunError], Exception] = PredicateFailed,
) -> Predicate:
    """Compile an expression to a function of the globals.

    Args:
        expression: the result of ``hoglet.hog.compile.compile_expression``.
        known_globals: roots that every event has; ``and`` and ``or`` can then stop early.
        budget: the limits of expressions that are not simple.
        failure: makes the exception that the function raises.

    Returns:
        ``predicate({"event": "x"})`` returns the value as plain data; filters use its
            Hog truth. The globals are not changed.

    Raises:
        PredicateFailed: by the function (or the exception made by ``failure``), if the expression
            fails.
    """
    program = compile_expression(expression, known_globals=known_globals)
    if not is_simple(expression):
        return _Budgeted(program, budget, failure)
    main: Any = load(program.source).main
    if program.careful is not None:
        main = _main_for_roots(main, load(program.careful).main, program.roots)

    def predicate(given: Mapping[str, Any]) -> Any:
        try:
            value = main(1, given)
            return value if value is True or value is False else exported(value)
        except (EngineError, HogThrow, RecursionError) as error:
            raise failure(_error(error)) from None

    return predicate


def _main_for_roots(fast: Any, careful: Any, roots: frozenset[str]) -> Any:
    """The fast program if all globals that it relies on exist, else the careful one."""
    return lambda depth, given: (fast if roots <= given.keys() else careful)(depth, given)


def compile_batch_predicate(
    expression: bound.BoundExpression,
    *,
    known_globals: Collection[str] = frozenset(),
    budget: Budget = _BUDGET,
    on_error: OnError | None = None,
) -> BatchPredicate:
    """Compile an expression to a function of many events.

    Args:
        expression: the result of ``hoglet.hog.compile.compile_expression``.
        known_globals: roots that every event has; ``and`` and ``or`` can then stop early.
        budget: the limits per event of expressions that are not simple.
        on_error: called for each event whose evaluation fails.

    Returns:
        ``predicate([{"event": "x"}, {"event": "y"}])`` returns one bool per event, in
            order: the Hog truth of the value, False if it failed. Events are not changed.
    """
    predicate = compile_predicate(expression, known_globals=known_globals, budget=budget)

    def slow(given: dict[str, Any]) -> bool:
        try:
            return truthy(import_value(predicate(given)))
        except PredicateFailed as failure:
            if on_error is not None:
                on_error(given, failure.error)
            return False

    if not is_simple(expression):
        return lambda events: [slow(given) for given in events]
    program = compile_expression(expression, known_globals=known_globals, batch=True)
    batch: Any = load(program.source).main
    return lambda events: batch(events, slow)


def is_simple(expression: bound.BoundExpression) -> bool:
    """Whether an expression needs no budget: bounded work, no functions, no host."""
    return not expression.functions and all(
        _is_simple_node(node) for node in everything(expression.expression, into_functions=True)
    )


def _is_simple_node(node: Any) -> bool:
    if isinstance(node, bound.CallGlobal):
        entry = STL.get(node.name)
        return entry is not None and entry.pure and node.name not in _GROWING
    return not isinstance(node, bound.CallValue | bound.MakeFunction | bound.BoundFunction)


def _error(error: BaseException) -> RunError:
    thrown = isinstance(error, HogThrow)
    message = str(error.value.message) if thrown else str(error) or "The value nests too deeply"
    return RunError(
        type=str(error.value.type) if thrown else "Error",
        message=message,
        text=message,
        payload=None,
        line=1,
        kind="uncaught" if thrown else "engine",
    )


class _Budgeted:
    """A predicate that runs as a program of its own."""

    def __init__(
        self, program: CompiledProgram, budget: Budget, failure: Callable[[RunError], Exception]
    ) -> None:
        self._program = program
        self._budget = budget
        self._failure = failure

    def __call__(self, given: Mapping[str, Any]) -> Any:
        step = Execution(self._program, globals=given, budget=self._budget).start()
        if isinstance(step, Finished):
            return step.result
        if isinstance(step, Failed):
            raise self._failure(step.error)
        raise self._failure(_error(EngineError(f"{step.name} can not be called here")))
