"""Turns matches into invocations, counters, log lines and dead letters. Pure.

Source: docs/spec/hog-functions.md#45-mappings, docs/spec/hog-functions.md#6-masking,
docs/spec/hog-functions.md#7-status-and-the-watcher and
docs/spec/hog-functions.md#131-pipeline-destinations.
"""

from collections import Counter
from collections.abc import Callable
from time import perf_counter
from uuid import UUID, uuid5

from hoglet.events.parse import Event
from hoglet.functions.executable.matching import SLOW_FILTER_MS, FunctionIndex, mask_key
from hoglet.functions.executable.messages import Match
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import InvokeV1, encode, line_of
from hoglet.functions.json_types import BuiltInputs, Globals, ProjectGlobal
from hoglet.functions.runtime.filter_globals import FilterGlobals
from hoglet.functions.runtime.globals import source_globals
from hoglet.functions.runtime.inputs import (
    InputsFailed,
    build_inputs,
    may_fail,
)
from hoglet.functions.runtime.redaction import clean_line, secret_texts
from hoglet.functions.watcher.rules import DISABLED, LOW_PRIORITY, NOT_RUN
from hoglet.pipeline.ingest.ipc import (
    BatchCounters,
    DeadLetterDraft,
    Handling,
    Invocation,
    Line,
    ProjectFacts,
)

# With more functions than this, those that do not listen to the event's name are counted as
# `filtered` once a minute (`filtered_counts.py`), so that the cost of an event does not grow.
COUNTED_FUNCTIONS = 200
_MAX_TTL = 86_400
_GIVEN_UP = {True: ("failure", "failed"), False: ("other", "filtering_failed")}
# Time spent on the inputs of a group while later events wait. After it, runs build their own.
_INPUTS_SECONDS = 2.0


class TriggerMatcher:
    """Matches the events of a group; collects its invocations, dead letters and counters."""

    def __init__(
        self,
        project: ProjectFacts,
        globals_: ProjectGlobal,
        tally: BatchCounters,
        handling: Handling = "run",
        reason: str = "",
    ) -> None:
        self._handling = handling
        self._reason = reason
        self._project = project
        self._url: str = globals_["url"]
        self._tally = tally
        self._events: dict[int, Counter[str]] = {}
        self._not_filtered: Counter[str] = Counter()  # events that were not filtered, by function
        self._may_fail: dict[tuple[str, int, int | None], bool] = {}
        self._inputs_seconds = 0.0
        self.invocations: list[Invocation] = []
        self.trace: str | None = None  # of the event that is being matched
        self.shared_globals: Globals | None = None

    def count(self, index: FunctionIndex, event: Event) -> bool:
        """Count an event, once before :meth:`match`; False if no function waits for its name."""
        names = self._events.get(id(index))
        if names is None:
            names = self._events[id(index)] = Counter()
        names[event.event] += 1
        return index.waits_for(event.event)

    def match(
        self,
        index: FunctionIndex,
        event: Event,
        values: FilterGlobals,
        run_globals: Callable[[], Globals],
    ) -> None:
        """Match an event with the functions of an index that wait for its name.

        Args:
            index: index of the project's functions.
            event: the event.
            values: the globals of filters.
            run_globals: returns the globals of runs, without ``source``; called only if there are
                runs.
        """
        if self._handling == "store":
            whole = run_globals()
            for function in index.waiting_for(event.event):
                self._not_filtered[function.id] += 1
                self._give_up(function, event.uuid, whole, None)
            return
        for match in index.matches(values):
            self._take(index.by_id[match.function_id], match, event, run_globals)

    def count_filtered(self, index: FunctionIndex, *, later: bool = False) -> None:
        """Count the events that each function filtered out; call it once, after all events.

        With ``later`` and more than ``COUNTED_FUNCTIONS`` functions, those that listen to other
        names are left to the count of ``filtered_counts``.
        """
        names = self._events.get(id(index), Counter())
        missed: Counter[str] = Counter()
        if not later or len(index.functions) <= COUNTED_FUNCTIONS:
            missed.update(dict.fromkeys(index.by_id, names.total()))
        else:
            self._tally.deferred = dict(names)
            for name, number in names.items():
                missed.update({function.id: number for function in index.waiting_for(name)})
        for function_id, number in missed.items():
            if number > self._not_filtered[function_id]:
                filtered = number - self._not_filtered[function_id]
                self._tally.count(function_id, "other", "filtered", filtered)

    def _take(
        self,
        function: ExecutableFunction,
        match: Match,
        event: Event,
        run_globals: Callable[[], Globals],
    ) -> None:
        if match.milliseconds > SLOW_FILTER_MS:
            text = f"The filter took {match.milliseconds:.0f} ms on event {event.uuid}"
            self._tally.lines.append(Line(function.id, "", "warn", text))
        if match.outcome == "filtered" or match.mappings == []:
            return  # counted at the end, like functions that the index skipped
        self._not_filtered[function.id] += 1
        if match.outcome == "failed":
            self._filter_failed(function, match, event, run_globals())
        else:
            source = source_globals(
                project_url=self._url, function_id=function.id, name=function.name
            )
            full = {**run_globals(), "source": source}
            for mapping in match.mappings if match.mappings is not None else [None]:
                self._invoke(function, event, full, mapping)

    def _filter_failed(
        self, function: ExecutableFunction, match: Match, event: Event, run_globals: Globals
    ) -> None:
        error = match.error or "the filter failed"
        run = invocation_id(event.uuid, function.id, None)
        self._tally.count(function.id, "other", "filtering_failed")
        self._tally.count(function.id, "other", "dead_lettered")
        text = f"Error filtering event {event.uuid}: {error}"
        self._tally.lines.append(Line(function.id, str(run), "error", text))
        self._add(DeadLetterDraft(function.id, run, "filter", error, run_globals))

    def _invoke(
        self,
        function: ExecutableFunction,
        event: Event,
        run_globals: Globals,
        mapping: int | None,
    ) -> None:
        if self._handling == "match":
            self._give_up(function, event.uuid, run_globals, mapping)
            return
        run = invocation_id(event.uuid, function.id, mapping)
        try:
            inputs = self._inputs(function, run_globals, mapping)
        except InputsFailed as error:
            self._inputs_failed(function, run, run_globals, mapping, error)
            return
        if function.state in NOT_RUN:
            self._refuse(function, run, run_globals, mapping)
            return
        invoke = InvokeV1(
            project_id=self._project.id,
            function_id=UUID(function.id),
            invocation_id=run,
            globals=run_globals,
            mapping=mapping,
            trace=self.trace,
        )
        ready = Invocation(
            id=run,
            function_id=function.id,
            event_uuid=event.uuid,
            payload=encode(invoke),
            is_slow=function.state in LOW_PRIORITY,
        )
        if function.delivery.ordered_by:
            ready.line = line_of(function.id, event.distinct_id)
        if function.masking:
            _mask(ready, function, {**run_globals, "inputs": inputs})
        self.invocations.append(ready)

    def _inputs(
        self, function: ExecutableFunction, run_globals: Globals, mapping: int | None
    ) -> BuiltInputs:
        """Build the inputs if they are needed now: for a masking hash, or because they may fail.

        Raises:
            InputsFailed: the inputs cannot be built, so there is no run.
        """
        key = (function.id, function.version, mapping)
        if key not in self._may_fail:
            self._may_fail[key] = may_fail(function, mapping)
        is_late = self._inputs_seconds > _INPUTS_SECONDS
        if not function.masking and (is_late or not self._may_fail[key]):
            return {}
        began = perf_counter()
        try:
            now: str = run_globals["event"]["timestamp"]
            return build_inputs(function, run_globals, mapping=mapping, now=now)
        finally:
            self._inputs_seconds += perf_counter() - began

    def _inputs_failed(
        self,
        function: ExecutableFunction,
        run: UUID,
        run_globals: Globals,
        mapping: int | None,
        error: InputsFailed,
    ) -> None:
        self._tally.count(function.id, "failure", "inputs_failed")
        self._tally.count(function.id, "other", "dead_lettered")
        message = clean_line(str(error), secret_texts(function.inputs_of(mapping), {}))
        text = f"Error building inputs for event {run_globals['event']['uuid']}: {message}"
        self._tally.lines.append(Line(function.id, str(run), "error", text))
        self._add(DeadLetterDraft(function.id, run, "inputs", message, run_globals, mapping))

    def _refuse(
        self,
        function: ExecutableFunction,
        run: UUID,
        run_globals: Globals,
        mapping: int | None,
    ) -> None:
        """Refuse runs of a function disabled by the watcher (3) or an administrator (12)."""
        self._tally.count(function.id, "failure", "disabled_permanently")
        if function.state == DISABLED:
            self._tally.count(function.id, "other", "dead_lettered")
            error = "The function was disabled because it failed or was slow too often"
            self._add(DeadLetterDraft(function.id, run, "disabled", error, run_globals, mapping))

    def _give_up(
        self,
        function: ExecutableFunction,
        event_uuid: UUID,
        run_globals: Globals,
        mapping: int | None,
    ) -> None:
        """Add a dead letter for an invocation that matched or may match (``store``) but cannot run.

        A redrive starts at the filter for class ``filter``, and at the inputs of the matching
        mapping for class ``hog``.
        """
        run = invocation_id(event_uuid, function.id, mapping)
        if function.state in NOT_RUN:
            self._refuse(function, run, run_globals, mapping)
            return
        is_asked = self._handling == "match"
        self._tally.count(function.id, *_GIVEN_UP[is_asked])
        self._tally.count(function.id, "other", "dead_lettered")
        text = f"Event {event_uuid} could not be processed: {self._reason}"
        self._tally.lines.append(Line(function.id, str(run), "error", text))
        error_class = "hog" if is_asked else "filter"
        self._add(
            DeadLetterDraft(function.id, run, error_class, self._reason, run_globals, mapping)
        )

    def _add(self, dead_letter: DeadLetterDraft) -> None:
        """Add a dead letter; dead letters of the same event share their globals."""
        if self._handling != "run":
            own = {name: value for name, value in dead_letter.globals.items() if name == "source"}
            self.shared_globals = self.shared_globals or _without_source(dead_letter.globals)
            dead_letter.globals = own
        self._tally.dead_letters.append(dead_letter)


def _without_source(run_globals: Globals) -> Globals:
    """The globals of a run that do not depend on its function."""
    return {name: value for name, value in run_globals.items() if name != "source"}


def invocation_id(event_uuid: UUID, function_id: str, mapping: int | None) -> UUID:
    """The stable id of a run: the same event, function and mapping always give the same."""
    return uuid5(event_uuid, f"{function_id}:{'' if mapping is None else mapping}")


def _mask(ready: Invocation, function: ExecutableFunction, values: Globals) -> None:
    masking = function.masking
    if masking is None:
        return
    ready.mask = mask_key(function, values) or ""
    ready.mask_ttl = min(max(int(masking.get("ttl") or 1), 1), _MAX_TTL)
    ready.mask_threshold = int(masking.get("threshold") or 0)
