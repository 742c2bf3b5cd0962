"""What workers return about matching and transforming an event."""

from typing import Literal, TypedDict

import msgspec

from hoglet.functions.json_types import EventGlobal
from hoglet.functions.runtime.messages import RunLogLine
from hoglet.hog.runtime.trace import TraceStep
from hoglet.kit.json import JsonObject

type Outcome = Literal["matched", "filtered", "failed"]


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """The result of matching one function with one event.

    Attributes:
        function_id: the function.
        outcome: ``matched``; ``filtered`` (not true); ``failed`` (the filter raised: metric
            ``filtering_failed``, an error log, a dead letter of class ``filter``).
        mappings: numbers of the matching mappings; None without mappings.
        unmatched: numbers of enabled mappings that do not match.
        error: why the filter failed.
        milliseconds: evaluation time; above 100 a warning is logged.
    """

    function_id: str
    outcome: Outcome
    mappings: list[int] | None = None
    unmatched: list[int] = []
    error: str | None = None
    milliseconds: float = 0


class TransformationResult(msgspec.Struct, kw_only=True):
    """The result of one transformation of one event.

    Attributes:
        function_id: the transformation.
        outcome: ``succeeded``, ``failed``, ``skipped`` (its filter does not match) or ``dropped``.
        error: why it failed, redacted.
        error_class: ``filter``, ``inputs``, ``timeout`` or ``hog``.
        logs: lines of this run.
        milliseconds: time spent in the program itself.
        event: the event, or log record, afterwards; None when it was dropped.
        trace: the statements that ran, redacted, of a traced transformation.
        is_settled: the event is known to be :mod:`hoglet.hog.runtime.settled_data`.
    """

    function_id: str
    outcome: Literal["succeeded", "failed", "skipped", "dropped"]
    error: str | None = None
    error_class: str | None = None
    logs: list[RunLogLine] = []
    milliseconds: float = 0
    event: EventGlobal | None = None
    trace: list[TraceStep] = []
    is_settled: bool = False


class MatchAnswer(TypedDict):
    """A ``Match`` as plain values, and why the filter, or the mapping by number, does not match.

    ``reasons`` is ``{"": "event = 'a' does not hold: …", "0": "…"}``.
    """

    match: JsonObject
    reasons: dict[str, str]


class MatchOutcomes(TypedDict):
    """One outcome for each event, fewer if time runs out, and the first error of a filter."""

    outcomes: list[Outcome]
    error: str | None
