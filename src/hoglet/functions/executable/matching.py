"""Finds the functions that an event triggers: an index, then compiled conditions. Pure.

The cost per event does not depend on the number of functions for other events or other values of a
property. Runs in sandbox workers, because conditions can contain user expressions.

Source: docs/spec/hog-functions.md#53-run-time-truth-and-nulls,
docs/spec/hog-functions.md#54-globals-seen-by-filters, docs/spec/hog-functions.md#45-mappings and
docs/spec/hog-functions.md#131-pipeline-destinations.
"""

from collections import OrderedDict
from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

from hoglet.functions.executable.candidates import CandidateIndex
from hoglet.functions.executable.field_requirements import requirements
from hoglet.functions.executable.messages import Match
from hoglet.functions.executable.model import ExecutableFunction, ExecutableMapping
from hoglet.functions.json_types import Globals
from hoglet.functions.runtime import engine
from hoglet.functions.runtime.filter_globals import (
    FilterGlobals,
    lazy_filter_globals,
    parts_read,
)

SLOW_FILTER_MS = 100
_SLOW_FILTER_S = SLOW_FILTER_MS / 1000


class FunctionIndex:
    """The functions of one project and kind, indexed by event name.

    Within a name, functions whose condition requires something of one field are found by that
    (:mod:`hoglet.functions.executable.field_requirements`).

    Args:
        functions: enabled functions; results are in their order.
    """

    def __init__(self, functions: Sequence[ExecutableFunction]) -> None:
        self.functions = list(functions)
        self.by_id = {function.id: function for function in functions}
        self._keys = [(function.id, function.version, None) for function in functions]
        self._by_name: dict[str, CandidateIndex] = {}
        self._for_any = CandidateIndex()
        for position, function in enumerate(self.functions):
            if function.events is None:
                self._for_any.add(position, requirements(function.filter))
            for name in dict.fromkeys(function.events or ()):
                index = self._by_name.get(name)
                if index is None:
                    index = self._by_name[name] = CandidateIndex()
                index.add(position, requirements(function.filter, name))

    def waits_for(self, event_name: str) -> bool:
        """Whether any function can match events with this name."""
        return event_name in self._by_name or bool(self._for_any.everything)

    def waiting_for(self, event_name: str) -> list[ExecutableFunction]:
        """The functions for events with this name; all others are ``filtered``."""
        buckets = (self._by_name.get(event_name), self._for_any)
        positions = {item for bucket in buckets if bucket for item in bucket.everything}
        return [self.functions[position] for position in sorted(positions)]

    def match(self, run_globals: Globals) -> list[Match]:
        """Evaluate all functions that can match.

        Args:
            run_globals: ``{"event": {...}, "person": ..., "groups": ...}`` of an event.

        Returns:
            As :meth:`matches`.
        """
        return self.matches(lazy_filter_globals(run_globals))

    def matches(self, values: FilterGlobals) -> list[Match]:
        """Evaluate all functions that can match.

        Args:
            values: the filter globals of an event.

        Returns:
            One entry for each function that matches, fails, or is slow. All others are
            ``filtered``.
        """
        name = str(values["event"])
        named = self._by_name.get(name)
        positions = named.candidates(values) if named else []
        if self._for_any.everything:
            positions = sorted([*positions, *self._for_any.candidates(values)])
        return self._evaluate(positions, values) if positions else []

    def _evaluate(self, positions: Sequence[int], values: FilterGlobals) -> list[Match]:
        matches: list[Match] = []
        keys, functions, conditions = self._keys, self.functions, _shared
        last = perf_counter()
        for position in positions:
            function = functions[position]
            error = None
            try:
                condition = conditions.of_function(keys[position], function)
                if condition is None:
                    continue
                predicate, parts, _ = condition
                if parts:
                    values.provide(parts)
                holds = predicate(values) is True
            except engine.EvaluationFailed as failure:
                holds, error = False, str(failure)
            now = perf_counter()
            if holds and function.mappings:
                matches.append(match_function(function, values))
            elif holds or error is not None or now - last > _SLOW_FILTER_S:
                outcome = "matched" if holds else "filtered" if error is None else "failed"
                spent = (now - last) * 1000
                matches.append(
                    Match(function_id=function.id, outcome=outcome, error=error, milliseconds=spent)
                )
            last = now
        return matches


type ConditionKey = tuple[str, int, int | None]
"""Id and version of a function, and the number of one of its mappings."""


class Condition(NamedTuple):
    """A compiled condition.

    ``parts`` are the parts of the globals that it reads; ``reads`` is whether it reads any global.
    """

    predicate: engine.Predicate
    parts: int
    reads: bool

    def holds(self, values: FilterGlobals) -> bool:
        """Whether the condition returns true.

        Any other value does not match, such as the 1 of an incomplete property filter.

        Raises:
            EvaluationFailed: it raised.
        """
        if self.parts:
            values.provide(self.parts)
        return self.predicate(values) is True


class Conditions:
    """Compiled conditions of functions and their mappings, compiled on demand.

    An LRU cache: a worker serves several projects.
    """

    def __init__(self, capacity: int = 20_000) -> None:
        self._capacity = capacity
        self._compiled: OrderedDict[ConditionKey, Condition] = OrderedDict()

    def hold(
        self, function: ExecutableFunction, mapping: int | None, values: FilterGlobals
    ) -> bool:
        """Whether the condition of a function (or of one mapping) holds.

        Raises:
            EvaluationFailed: it raised.
        """
        requested = function if mapping is None else function.mapping(mapping)
        if requested is None:
            return False
        condition = self.of_function((function.id, function.version, mapping), requested)
        return condition is not None and condition.holds(values)

    def of_function(
        self, key: ConditionKey, requested: ExecutableFunction | ExecutableMapping
    ) -> Condition | None:
        """The condition of a function or mapping; None if there is none, so nothing matches.

        Raises:
            EvaluationFailed: it does not compile.
        """
        known = self._compiled.get(key)
        if known is None and requested.filter is not None:
            roots = engine.filter_roots(requested.filter)
            predicate = engine.compile_filter(requested.filter)
            known = Condition(predicate, parts_read(roots), bool(roots))
            self._compiled[key] = known
            if len(self._compiled) > self._capacity:
                self._compiled.popitem(last=False)
        return known


_shared = Conditions()


def match_function(
    function: ExecutableFunction, values: FilterGlobals, conditions: Conditions = _shared
) -> Match:
    """Match one function.

    Args:
        function: the function, with its conditions.
        values: the filter globals of an event.
        conditions: compiled conditions; the process-wide cache by default.
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


def mask_key(function: ExecutableFunction, values: Globals) -> str | None:
    """The masking hash of a run, or None if it is not masked.

    Args:
        function: a function with ``masking``.
        values: the globals of the run with ``inputs``.

    Returns:
        md5 (hex) of the stringified result; None if it is falsy or the evaluation fails.
    """
    if not function.masking:
        return None
    return engine.mask_digest(function.masking["hash"], values)


def _mappings(
    function: ExecutableFunction, values: FilterGlobals, conditions: Conditions
) -> tuple[list[int] | None, list[int]]:
    if not function.mappings:
        return None, []
    matched: list[int] = []
    unmatched: list[int] = []
    for mapping in function.mappings:
        if not mapping.disabled:
            holds = conditions.hold(function, mapping.number, values)
            (matched if holds else unmatched).append(mapping.number)
    return matched, unmatched
