"""The engine for functions: filters, templates and programs. Pure.

Compiled code is cached by its text, so a worker compiles each function once.

Source: docs/spec/hog-functions.md#53-run-time-truth-and-nulls,
docs/spec/hog-functions.md#6-masking, docs/spec/hog-functions.md#133-functions and
docs/spec/hog-functions.md#135-limits-logs-metrics.
"""

import hashlib
import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.field_requirements import cannot_fail
from hoglet.functions.filters.roots import FILTER_ROOTS, global_paths
from hoglet.functions.json_types import ConditionTree, Globals
from hoglet.functions.runtime.host import HOST_FUNCTIONS, Host, HostRefused
from hoglet.functions.runtime.messages import Pinned
from hoglet.hog.compile import bind_expression, compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.execution import Execution
from hoglet.hog.python.predicate import compile_predicate
from hoglet.hog.python.program import CompiledProgram, compile_expression, compile_python
from hoglet.hog.python.steps import Failed, Finished, HostCallRequest, ProgramHost
from hoglet.hog.runtime.convert import export_value
from hoglet.hog.runtime.errors import RunError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.runtime.trace import TraceStep
from hoglet.kit.clock import FixedClock
from hoglet.kit.errors import SourceError
from hoglet.kit.json import JsonObject, encode_utf8
from hoglet.syntax import tree

PROGRAM_GLOBALS = frozenset(
    {"project", "source", "event", "person", "groups", "inputs", "variables", "request", "record"}
)
FILTER_BUDGET = Budget(timeout_s=5)
TEMPLATE_BUDGET = Budget(timeout_s=1)
MASK_BUDGET = Budget(timeout_s=0.05)
_MARK = re.compile(r"^\s*mark\((\d+)\)$", re.MULTILINE)
_LIMITS = frozenset({"timeout", "memory", "steps"})
_CACHED = 4096  # programs and templates cached per worker; each takes a few kilobytes

_conditions: msgspec.json.Decoder[Any] = msgspec.json.Decoder(tree.Expression)

type Predicate = Callable[[Globals], Any]


class EvaluationFailed(Exception):
    """A filter or template raised, or exceeded its budget; the message says why."""


class Ended(msgspec.Struct, frozen=True):
    """The end of a program's step: with a ``call``, an ``error``, or a ``value``.

    ``call`` is ``("fetch", {"url": ...})``, ``arguments`` as passed by the program;
    ``error_class`` is ``hog`` or ``timeout``. For ``is_settled`` see
    :class:`hoglet.hog.python.steps.Finished`.
    """

    milliseconds: float
    entries: list[list[Any]]
    operations: int = 0
    memory_bytes: int = 0
    value: Any = None
    call: tuple[str, JsonObject] | None = None
    arguments: list[Any] = []
    error: str | None = None
    error_class: Any = None
    trace: list[TraceStep] = []
    is_settled: bool = False


class ProgramRunner:
    """Runs a program repeatedly with different globals.

    What runs share is computed once, which is most of the work for short programs.

    Args:
        source: Hog.
        host: the host; reset by the caller before each run (:meth:`Host.begin`).
        with_trace: record statements, see ``Ended.trace``; the program runs more slowly.
        pinned: the time and randomness of the runs; None for real ones.
    """

    def __init__(
        self, source: str, host: Host, *, with_trace: bool = False, pinned: Pinned | None = None
    ) -> None:
        self._source = source
        self._pinned = pinned
        self._with_trace = with_trace
        self._host = host
        self._functions = ProgramHost(host.functions)
        self._program: CompiledProgram | None = None
        self._budget = Budget(timeout_s=0)
        self._runs = 0

    def run(
        self,
        values: Globals,
        *,
        entries: list[list[Any]],
        milliseconds: float,
        async_steps: int,
        is_settled: bool = False,
    ) -> Ended:
        """Run to the end, or to the next host call that is not in the journal.

        Errors of the program are returned, never raised. The value may share parts with the
        globals, so callers modify neither.

        Args:
            values: the globals.
            entries: the entries of the journal.
            milliseconds: limit of CPU time.
            async_steps: limit of host calls.
            is_settled: the globals are :mod:`hoglet.hog.runtime.settled_data`.
        """
        budget = self._budget
        if budget.timeout_s != milliseconds / 1000 or budget.async_steps != async_steps:
            budget = Budget(timeout_s=milliseconds / 1000, async_steps=async_steps)
            self._budget = budget
        try:
            execution = self._begin(values, budget, is_settled)
        except SourceError as error:
            return Ended(0, [], error=f"The code does not compile. {error}", error_class="hog")
        step = execution.replay(entries) if entries else execution.start()
        while isinstance(step, HostCallRequest):
            try:
                call = (step.name, self._host.read_call(step.name, step.args))
            except HostRefused as refused:
                step = execution.fail(str(refused))
            else:
                return _ended(execution, call=call, arguments=step.args)
        if isinstance(step, Finished):
            return _ended(execution, step.result, is_settled=step.is_settled)
        is_limit = step.error.kind in _LIMITS
        kind = "timeout" if is_limit else "hog"
        return _ended(execution, error=_error_text(step.error), error_class=kind)

    def _begin(self, values: Globals, budget: Budget, is_settled: bool) -> "_Run":  # noqa: FBT001 (for speed)
        """A new execution: making one takes half the time of resetting one."""
        if self._program is None:
            names = self._host.async_names
            self._program = _program(self._source, names, trace=self._with_trace)
        pinned = self._pinned
        self._runs += 1
        return _Run(
            self._program,
            output=self._host,
            host=self._functions,
            globals=values,
            budget=budget,
            clock=None if pinned is None else FixedClock(datetime.fromisoformat(pinned.now)),
            seed=None if pinned is None else pinned.seed + self._runs - 1,
            shares_data=True,
            is_settled=is_settled,
        )


def compile_filter(condition: ConditionTree) -> Predicate:
    """Compile a condition (JSON of ``hoglet.syntax.tree``) to a function of filter globals.

    It returns the value of the condition or raises :class:`EvaluationFailed`. Equal conditions
    share it, because compiling takes about a millisecond and many functions have the same filters.

    Raises:
        EvaluationFailed: the stored condition does not compile.
    """
    return _filter(msgspec.json.encode(condition))


def filter_roots(condition: ConditionTree) -> frozenset[str]:
    """The globals that a condition may read, e.g. ``{"properties", "person"}``."""
    return _roots(msgspec.json.encode(condition))


@lru_cache(maxsize=_CACHED)
def _roots(condition: bytes) -> frozenset[str]:
    try:
        return frozenset(str(path[0]) for path in global_paths(_conditions.decode(condition)))
    except msgspec.ValidationError:
        return frozenset()  # it does not compile


@lru_cache(maxsize=_CACHED)
def _filter(condition: bytes) -> Predicate:
    try:
        return compile_predicate(
            bind_expression(_conditions.decode(condition)),
            known_globals=FILTER_ROOTS,
            budget=FILTER_BUDGET,
            failure=lambda error: EvaluationFailed(_error_text(error)),
        )
    except (SourceError, msgspec.ValidationError) as error:
        raise EvaluationFailed(f"The filter does not compile: {error}") from None


def evaluate_template(
    text: str, values: Globals, *, with_record: bool, now: str | None = None, seed: int = 0
) -> Any:
    """The value of a template; a template that is a single ``{expr}`` keeps its type.

    Args:
        text: ``Hello {person.name}``.
        values: the globals.
        with_record: ``record.x`` means ``event.properties.x``.
        now: ISO time returned by ``now()``, so that replays build the same inputs.
        seed: seed of random numbers, for the same reason.

    Raises:
        EvaluationFailed: it does not compile, raised, or exceeded its budget.
    """
    return _evaluate(_template(text, with_record), values, TEMPLATE_BUDGET, now=now, seed=seed)


@lru_cache(maxsize=_CACHED)
def is_harmless(text: str, with_record: bool, roots: frozenset[str]) -> bool:  # noqa: FBT001 (a cache key)
    """Whether a template never fails, given that ``roots`` exist."""
    try:
        return cannot_fail(msgspec.to_builtins(template_tree(text, with_record=with_record)), roots)
    except SourceError:
        return False


def mask_digest(text: str, values: Globals) -> str | None:
    """MD5 of the rendered hash template; None if it is falsy or fails.

    Source: docs/spec/hog-functions.md#6-masking.
    """
    try:
        rendered = _evaluate(_template(text, False), values, MASK_BUDGET)
    except EvaluationFailed:
        return None
    if not rendered:
        return None
    text = rendered if isinstance(rendered, str) else as_text(rendered)
    return hashlib.md5(encode_utf8(text), usedforsecurity=False).hexdigest()


class _Run(Execution, kw_only=True):
    """An execution whose ``print`` goes to the host and is not recorded in the journal."""

    output: Host

    def call_host(self, name: str, given: list[Any]) -> Any:
        if name != "print":
            return super().call_host(name, given)
        if self._past() is None:
            self.output.print(*[export_value(item) for item in given])
        return None


def _error_text(error: RunError) -> str:
    """A thrown value as text: ``no such plan``, ``PlanError: no such plan``."""
    if error.kind != "uncaught":
        return error.text
    return error.message if error.type == "Error" else f"{error.type}: {error.message}"


def _ended(
    execution: Execution,
    value: Any = None,
    *,
    call: tuple[str, JsonObject] | None = None,
    arguments: list[Any] | None = None,
    error: str | None = None,
    error_class: str | None = None,
    is_settled: bool = False,
) -> Ended:
    return Ended(
        execution.used_s * 1000,
        execution.journal,
        execution.ops,
        execution.charged_bytes,
        value,
        call,
        [] if arguments is None else arguments,
        error,
        error_class,
        execution.steps,
        is_settled,
    )


def _evaluate(
    program: CompiledProgram,
    values: Globals,
    budget: Budget,
    *,
    now: str | None = None,
    seed: int | None = None,
) -> Any:
    clock = FixedClock(datetime.fromisoformat(now)) if now else None
    execution = Execution(program, globals=values, budget=budget, clock=clock, seed=seed)
    step = execution.start()
    if isinstance(step, Finished):
        return step.result
    if isinstance(step, Failed):
        raise EvaluationFailed(_error_text(step.error))
    raise EvaluationFailed(f"{step.name} cannot be called here")


def statement_lines(source: str) -> list[int]:
    """The lines of a program on which statements begin: the lines that a trace can name.

    Raises:
        SourceError: it does not compile.
    """
    traced = _program(source, frozenset({"fetch", "sendEmail"}), trace=True)
    return sorted({int(line) for line in _MARK.findall(traced.source)})


@lru_cache(maxsize=_CACHED)
def _program(source: str, async_names: frozenset[str], *, trace: bool = False) -> CompiledProgram:
    return compile_python(
        compile_program(source, known_globals=PROGRAM_GLOBALS),
        functions=HOST_FUNCTIONS,
        async_functions=async_names,
        trace=trace,
    )


@lru_cache(maxsize=_CACHED)
def _template(text: str, with_record: bool) -> CompiledProgram:  # noqa: FBT001 (a cache key)
    try:
        return compile_expression(bind_expression(template_tree(text, with_record=with_record)))
    except SourceError as error:
        raise EvaluationFailed(f"The template does not compile: {error}") from None
