"""The messages to and from a sandbox worker that runs a step of a function.

The caller keeps the journal between steps: :func:`~.host_calls.new_journal` begins one,
:func:`~.host_calls.resume` adds the result of a host call.

Source: docs/spec/hog-functions.md#134-retries-hoglet-goes-further.
"""

from typing import Any, Literal, TypedDict

import msgspec

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.json_types import Globals, HostRequest
from hoglet.functions.runtime.journal import RunJournal
from hoglet.hog.runtime.trace import TraceStep
from hoglet.kit.json import Properties

type ErrorClass = Literal["filter", "inputs", "fetch", "timeout", "hog"]


class Pinned(msgspec.Struct, frozen=True):
    """Makes a run reproducible: an ISO instant for ``now`` and a seed for random numbers."""

    now: str
    seed: int = 0


BYTES_TOGETHER = 16 * 1024 * 1024  # of requests, and of results; a larger one gets its own call


class CapturedEvent(TypedDict):
    """An event that a program captured with ``postHogCapture``."""

    event: str
    distinct_id: str
    properties: Properties


class EventResult(msgspec.Struct, frozen=True):
    """The result of one event; ``error`` is None if it succeeded."""

    error: str | None = None
    error_class: Literal["fetch", "hog"] = "hog"
    may_retry: bool = False


class RunLogLine(msgspec.Struct, frozen=True):
    """One redacted line; ``level`` is ``debug``, ``info``, ``warn`` or ``error``."""

    level: str
    message: str


class StepHostCall(msgspec.Struct, frozen=True, kw_only=True):
    """A host call to perform: ``fetch`` or ``sendEmail``.

    For ``fetch`` the ``request`` is a normalized :class:`~.fetch.FetchRequest` as a dict (``{"url",
    "method", "headers", "body"}``). It contains secrets: do not store it. To retry a call later,
    run the step again with its journal: it yields the same call, and no log line twice.
    ``rendered`` is the call as the program wrote it, redacted; for test runs only.
    """

    name: str
    request: HostRequest
    rendered: str = ""


class StepRequest(msgspec.Struct, kw_only=True):
    """The arguments of :func:`~.step.run_step`.

    Attributes:
        function: the function to run.
        globals: ``{"project", "source", "event", "person"?, "groups"?, "request"?}``; see
            docs/spec/hog-functions.md#132-globals-and-inputs.
        journal: the result of :func:`~.host_calls.new_journal` or :func:`~.host_calls.resume`.
        mapping: number of the mapping whose inputs override the function's, or None.
        with_rendering: fill in ``StepHostCall.rendered``.
        from_filter: evaluate the filter first (a redriven dead letter of class ``filter``).
        with_trace: fill in ``Step.trace``; the program runs more slowly.
        pinned: the time and randomness of the program, for tests of functions.
        events: globals of the events of a batch; ``globals`` are then unused. A batched function
            without it runs with the one event of ``globals``.
    """

    function: ExecutableFunction
    globals: Globals
    journal: RunJournal
    mapping: int | None = None
    with_rendering: bool = False
    from_filter: bool = False
    with_trace: bool = False
    pinned: Pinned | None = None
    events: list[Globals] | None = None


class Step(msgspec.Struct, kw_only=True):
    """The result of a step.

    Attributes:
        outcome: ``finished``; ``failed`` (see ``error``, ``error_class``); ``call``: perform
            ``call`` and continue with :func:`~.host_calls.resume`.
        result: the program's return value (even if an unhandled status failed the run).
        error: one line, redacted.
        error_class: the dead letter's class.
        logs: new lines, oldest first, including the closing line.
        captures: ``postHogCapture`` calls to perform now:
            ``[{"event", "distinct_id", "properties"}]``.
        journal: the journal to store.
        milliseconds: CPU time of this step, without the replay.
        fetches: number of completed ``fetch`` calls in the whole run.
        mappings: with ``from_filter``, the matching mappings; the first one ran.
        trace: with ``with_trace``, the statements of the whole run so far, redacted.
        is_filtered: with ``from_filter``, the filter did not match, so nothing ran.
        results: one for each event of a finished batch, in their order.
    """

    outcome: Literal["finished", "failed", "call"]
    journal: RunJournal
    result: Any = None
    call: StepHostCall | None = None
    error: str | None = None
    error_class: ErrorClass | None = None
    logs: list[RunLogLine] = []
    captures: list[CapturedEvent] = []
    milliseconds: float = 0
    fetches: int = 0
    mappings: list[int] = []
    is_filtered: bool = False
    trace: list[TraceStep] = []
    results: list[EventResult] = []


class StepsRequest(msgspec.Struct):
    """Steps of one function, which is sent once; a request is an encoded :class:`StepRequest`."""

    function: ExecutableFunction
    requests: list[msgspec.Raw]
