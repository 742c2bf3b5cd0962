"""Which functions an event triggers: an index by event name, then compiled conditions. Pure.

The cost of an event does not grow with the number of functions that wait for other events. Runs in
sandbox workers (``operations.match``), because conditions may hold expressions of users.

Source: spec/hog-functions.md sections 5.3, 5.4, 4.5 and 13.1.
"""

from collections import OrderedDict
from collections.abc import Sequence
from time import perf_counter
from typing import Any, Literal

import msgspec

from hoglet.functions.runnable import RunnableFunction
from hoglet.functions.running import engine
from hoglet.functions.running.filter_globals import filter_globals

SLOW_FILTER_MS = 100


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """What one function makes of one event.

    Attributes:
        function_id: which function.
        outcome: ``matched``; ``filtered`` (evaluated and not true); ``failed`` (the filter
            raised: metric ``filtering_failed``, an error log, a dead letter of class ``filter``).
        mappings: indexes of the mappings that match; None when the function has no mappings.
        unmatched: indexes of enabled mappings that do not match.
        error: why the filter failed.
        milliseconds: time of the filters; above 100 a warn log is due.
    """

    function_id: str
    outcome: Literal["matched", "filtered", "failed"]
    mappings: list[int] | None = None
    unmatched: list[int] = []
    error: str | None = None
    milliseconds: float = 0


class FunctionIndex:
    """The functions of one project and kind, by the event names they wait for.

    Args:
        functions: enabled ones; their order is kept in the answers.
    """

    def __init__(self, functions: Sequence[RunnableFunction]) -> None:
        self.functions = list(functions)
        self._by_name: dict[str, list[int]] = {}
        self._for_any: list[int] = []
        for position, function in enumerate(self.functions):
            if function.events is None:
                self._for_any.append(position)
            for name in function.events or ():
                self._by_name.setdefault(name, []).append(position)

    def candidates(self, event_name: str) -> list[RunnableFunction]:
        """The functions whose conditions have to be asked; all others are ``filtered``."""
        named = self._by_name.get(event_name, [])
        together = sorted({*named, *self._for_any}) if self._for_any else named
        return [self.functions[position] for position in together]

    def match(self, run_globals: dict[str, Any]) -> list[Match]:
        """Ask all candidates.

        Args:
            run_globals: ``{"event": {...}, "person": ..., "groups": ...}`` of one event.

        Returns:
            One entry a candidate. Functions that are not candidates have no entry; they count as
            ``filtered`` (``len(index.functions) - len(answer)`` of them).
        """
        candidates = self.candidates(str((run_globals.get("event") or {}).get("event")))
        if not candidates:
            return []
        values = filter_globals(run_globals)
        return [match_function(function, values) for function in candidates]


class Conditions:
    """Compiled conditions of functions and their mappings, made when first asked.

    The last ``kept`` ones stay: a worker serves several projects.
    """

    def __init__(self, kept: int = 20_000) -> None:
        self._kept = kept
        self._compiled: OrderedDict[tuple[str, int, int | None], engine.Predicate] = OrderedDict()

    def hold(self, function: RunnableFunction, mapping: int | None, values: dict[str, Any]) -> bool:
        """Whether the function's condition (or that of one mapping) gives the boolean true.

        Anything else is no match, such as the number 1 of an incomplete property.

        Raises:
            EvaluationFailed: it raised.
        """
        mappings = function.mappings or ()
        condition = function.filter if mapping is None else mappings[mapping].filter
        if condition is None:
            return False
        key = (function.id, function.version, mapping)
        predicate = self._compiled.get(key)
        if predicate is None:
            predicate = self._compiled[key] = engine.compile_filter(condition)
            if len(self._compiled) > self._kept:
                self._compiled.popitem(last=False)
        return predicate(values) is True


_shared = Conditions()


def match_function(
    function: RunnableFunction, values: dict[str, Any], conditions: Conditions = _shared
) -> Match:
    """Ask one function.

    Args:
        function: with its conditions.
        values: as ``filter_globals`` gives them.
        conditions: compiled ones; those of the process by default.
    """
    begun = perf_counter()
    try:
        matches = conditions.hold(function, None, values)
        mappings, unmatched = _mappings(function, values, conditions) if matches else (None, [])
    except engine.EvaluationFailed as error:
        spent = (perf_counter() - begun) * 1000
        return Match(
            function_id=function.id, outcome="failed", error=str(error), milliseconds=spent
        )
    return Match(
        function_id=function.id,
        outcome="matched" if matches else "filtered",
        mappings=mappings,
        unmatched=unmatched,
        milliseconds=(perf_counter() - begun) * 1000,
    )


def mask_key(function: RunnableFunction, values: dict[str, Any]) -> str | None:
    """The masking hash of a run, or None when it is not masked.

    Args:
        function: with ``masking``.
        values: the globals of the run with ``inputs``.

    Returns:
        md5 (hex) of the stringified result; None for a falsy result or one that fails.
    """
    if not function.masking:
        return None
    return engine.mask_digest(function.masking["hash"], values)


def _mappings(
    function: RunnableFunction, values: dict[str, Any], conditions: Conditions
) -> tuple[list[int] | None, list[int]]:
    if not function.mappings:
        return None, []
    matched: list[int] = []
    unmatched: list[int] = []
    for position, mapping in enumerate(function.mappings):
        if not mapping.disabled:
            holds = conditions.hold(function, position, values)
            (matched if holds else unmatched).append(position)
    return matched, unmatched


def masked_allowance(old: int, new: int, threshold: int | None) -> int:
    """How many of the runs that raised a counter from ``old`` to ``new`` may go.

    Example:
        >>> masked_allowance(0, 5, 2)
        3
    """
    if not threshold:
        return 1 if old == 0 and new > 0 else 0
    return (new - 1) // threshold - (old - 1) // threshold
