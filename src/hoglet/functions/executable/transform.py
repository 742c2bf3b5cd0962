"""Runs transformations on events: a single one, or the chain of a project. Pure.

Test runs use a single one; the pipeline runs whole batches through the chain, with batch time
limits and log lines (``hoglet.pipeline.ingest.transform``).

Source: docs/spec/hog-functions.md#136-transformations.
"""

from hoglet.functions.executable.matching import Conditions, match_function
from hoglet.functions.executable.messages import TransformationResult
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.json_types import BuiltInputs, EventGlobal, Globals, ProjectGlobal
from hoglet.functions.runtime import engine
from hoglet.functions.runtime.filter_globals import FilterGlobals
from hoglet.functions.runtime.host import Host
from hoglet.functions.runtime.inputs import InputsFailed, are_constant, build_inputs
from hoglet.functions.runtime.messages import RunLogLine
from hoglet.functions.runtime.redaction import clean_line, redacted_trace, secret_texts
from hoglet.functions.runtime.step import PROGRAM_MILLISECONDS
from hoglet.functions.types import TRANSFORMATION_LOG
from hoglet.hog.runtime.settled_data import is_settled
from hoglet.kit.json import Properties, is_object, without_surrogates

_NOTE = "$transformations_"
_NOTES = (f"{_NOTE}succeeded", f"{_NOTE}failed", f"{_NOTE}skipped")


class Chain:
    """An event passing through the transformations of a project, in order.

    Args:
        event: ``{"uuid", "event", "distinct_id", "properties", "timestamp"}``; not modified.
            Transformation notes of other servers in its properties are removed.

    Attributes:
        event: the event as the last transformation left it.
        is_dropped: a transformation dropped it.
        is_settled: the event is known to be :mod:`hoglet.hog.runtime.settled_data`.
    """

    def __init__(self, event: EventGlobal, *, is_settled: bool = False) -> None:
        self.event = without_notes(event)
        self.is_dropped = False
        self.is_settled = is_settled
        self._notes: dict[str, list[str]] = {}

    def take(self, transformation: "Transformation", result: TransformationResult) -> None:
        """Continue with a transformation's result."""
        if result.event is None:
            self.is_dropped = True
            return
        self.event, self.is_settled = without_notes(result.event), result.is_settled
        note = f"{_NOTE}{result.outcome}"
        if note in self._notes:
            self._notes[note].append(transformation.label)
        else:
            self._notes[note] = [transformation.label]

    def finish(self) -> EventGlobal:
        """The event to store: with ``$transformations_succeeded`` and similar properties."""
        return {**self.event, "properties": {**self.event["properties"], **self._notes}}


def drop_notes(properties: Properties) -> None:
    """Remove transformation notes of other servers from events without transformations."""
    for name in _NOTES:
        properties.pop(name, None)


def without_notes(event: EventGlobal) -> EventGlobal:
    """The event without the properties that list the transformations."""
    properties = event["properties"]
    if properties.keys().isdisjoint(_NOTES):
        return event
    remaining = {name: value for name, value in properties.items() if name not in _NOTES}
    return {**event, "properties": remaining}


class Transformation:
    """A transformation prepared for many events: what its runs share is computed once.

    Args:
        function: the transformation.
        project: ``{"id": 1, "name": "", "url": "https://host"}``.
        conditions: compiled filters to reuse; a new cache for functions that are not stored.
        with_trace: record statements.
        pinned: the time and randomness of the program; None for real ones.
    """

    def __init__(
        self,
        function: ExecutableFunction,
        project: ProjectGlobal,
        conditions: Conditions,
        *,
        with_trace: bool = False,
        pinned: engine.Pinned | None = None,
    ) -> None:
        self.function = function
        self.label = f"{function.name or ''} ({function.id})"
        self._project = project
        self._conditions = conditions
        self._key = (function.id, function.version, None)
        self._is_log = function.type == TRANSFORMATION_LOG
        self._host = Host({"project": project}, may_call=False, facilities=function.facilities)
        self._program = engine.ProgramRunner(
            function.hog, self._host, with_trace=with_trace, pinned=pinned
        )
        self._constant: tuple[BuiltInputs, list[str]] | None = None
        if are_constant(function.inputs) and function.problem is None:
            inputs = build_inputs(function, {}, now="")
            self._constant = (inputs, secret_texts(function.inputs, inputs))
        self._is_settled = self._constant is not None and is_settled([project, self._constant[0]])

    def run(
        self,
        event: EventGlobal,
        *,
        now: str,
        milliseconds: float = PROGRAM_MILLISECONDS,
        is_settled: bool = False,
    ) -> TransformationResult:
        """Transform one event.

        Args:
            event: ``{"uuid", "event", "distinct_id", "properties", "timestamp", ...}``, or the
                log record of a ``transformation_log``; not modified.
            now: ISO time for input templates.
            milliseconds: the program's time limit.
            is_settled: the event is known to be :mod:`hoglet.hog.runtime.settled_data`.
        """
        result = TransformationResult(
            function_id=self.function.id, outcome="succeeded", event=event, is_settled=is_settled
        )
        try:
            if not self._applies_to(event):
                result.outcome = "skipped"
                return result
        except engine.EvaluationFailed as error:
            return _failed(result, "filter", str(error))
        values = {"project": self._project, "record" if self._is_log else "event": event}
        try:
            inputs, secrets = self._constant or self._inputs(values, now)
        except InputsFailed as error:
            secrets = secret_texts(self.function.inputs, {})
            return _failed(result, "inputs", clean_line(str(error), secrets))
        values["inputs"] = inputs
        self._run_program(values, secrets, result, milliseconds)
        return result

    def _applies_to(self, event: EventGlobal) -> bool:
        """Whether the filter matches; mappings have no effect, but can fail.

        Raises:
            EvaluationFailed: a filter raised.
        """
        condition = self._conditions.of_function(self._key, self.function)
        if condition is None:
            return False
        if not condition.reads and not self.function.mappings:
            return condition.holds(_NO_GLOBALS)
        values = FilterGlobals({} if self._is_log else event, _no_person, _no_groups)
        if not self.function.mappings:
            return condition.holds(values)
        match = match_function(self.function, values, self._conditions)
        if match.outcome == "failed":
            raise engine.EvaluationFailed(match.error or "")
        return match.outcome == "matched"

    def _inputs(self, values: Globals, now: str) -> tuple[BuiltInputs, list[str]]:
        inputs = build_inputs(self.function, values, now=now)
        return inputs, secret_texts(self.function.inputs, inputs)

    def _run_program(
        self,
        values: Globals,
        secrets: list[str],
        result: TransformationResult,
        milliseconds: float,
    ) -> None:
        host = self._host
        host.begin(values.get("event") or {})
        ended = self._program.run(
            values,
            entries=[],
            milliseconds=milliseconds,
            async_steps=0,
            is_settled=result.is_settled and self._is_settled,
        )
        if host.lines:
            result.logs = [
                RunLogLine(level, clean_line(text, secrets)) for level, text in host.lines
            ]
        result.milliseconds = ended.milliseconds
        if ended.trace:
            result.trace = redacted_trace(ended.trace, secrets)
        if ended.error is not None:
            _failed(result, ended.error_class, clean_line(ended.error, secrets))
        else:
            _take_over(result, ended, is_log=self._is_log)


def _no_person() -> None:
    return None


def _no_groups() -> Globals:
    return {}


_NO_GLOBALS = FilterGlobals({}, _no_person, _no_groups)


def _failed(result: TransformationResult, error_class: str, error: str) -> TransformationResult:
    result.outcome, result.error_class, result.error = "failed", error_class, error
    uuid = (result.event or {}).get("uuid")
    line = RunLogLine("error", f"Error executing function on event {uuid}: {error}")
    result.logs = [*result.logs, line]
    return result


def _take_over(result: TransformationResult, ended: engine.Ended, *, is_log: bool) -> None:
    """Apply a program's return value."""
    returned = ended.value if ended.is_settled else without_surrogates(ended.value)
    result.is_settled = ended.is_settled
    if is_log and is_object(returned) and returned:
        result.event = returned
        return
    if not returned:
        result.outcome, result.event = "dropped", None
        return
    properties = returned.get("properties") if is_object(returned) else None
    if result.event is None or not is_object(properties):
        return
    result.event = {**result.event, "properties": properties}
    if "$ip" in properties:
        result.event["ip"] = properties["$ip"]
    for name in ("event", "distinct_id"):
        if name not in returned:
            continue
        if not isinstance(returned[name], str):
            _failed(result, "hog", f"The returned {name} is not a string")
            return
        result.event[name] = returned[name]
