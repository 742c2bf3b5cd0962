"""Runs a function until its next host call, and replays it from its journal. Pure.

Used by the pipeline and by test runs, always in a sandbox worker (``worker_operations.py``). Runs
are durable by replay: ``run_step`` executes the program from its beginning, answers recorded host
calls from the journal, and stops at the first call that is not recorded. Nondeterministic values
(``now``, random numbers) are in the journal.

The caller's loop (requests and results are in ``messages.py``, the journal in ``host_calls.py``)::

    journal = new_journal(now, seed)
    while True:
        step = run_step(StepRequest(function=f, globals=g, journal=journal))
        # store step.logs, step.captures
        if step.outcome != "call":
            break
        answer = {"status": 200, "body": {}}      # see fetch.shape_response
        journal = resume(step, answer)            # store it before continuing

Source: docs/spec/hog-functions.md#53-run-time-truth-and-nulls,
docs/spec/hog-functions.md#6-masking, docs/spec/hog-functions.md#132-globals-and-inputs,
docs/spec/hog-functions.md#133-functions,
docs/spec/hog-functions.md#134-retries-hoglet-goes-further and
docs/spec/hog-functions.md#135-limits-logs-metrics.
"""

from time import perf_counter
from typing import Any

import msgspec

from hoglet.functions.executable.matching import match_function
from hoglet.functions.executable.messages import Match
from hoglet.functions.json_types import EventGlobal, Globals, InputValues
from hoglet.functions.runtime import engine
from hoglet.functions.runtime.batch import (
    WrongResults,
    batch_globals,
    event_results,
)
from hoglet.functions.runtime.fetch import is_tolerated
from hoglet.functions.runtime.filter_globals import filter_globals
from hoglet.functions.runtime.globals import ALWAYS_THERE
from hoglet.functions.runtime.handled_statuses import is_handled
from hoglet.functions.runtime.host import Host
from hoglet.functions.runtime.inputs import (
    InputsFailed,
    build_inputs,
)
from hoglet.functions.runtime.loop_guard import DEPTH_PROPERTY, depth_of
from hoglet.functions.runtime.messages import (
    BYTES_TOGETHER,
    RunLogLine,
    Step,
    StepHostCall,
    StepRequest,
    StepsRequest,
)
from hoglet.functions.runtime.redaction import (
    clean_line,
    redacted_trace,
    rendered_call,
    secret_texts,
)
from hoglet.kit.json import JsonObject, is_array, object_at, pack

PROGRAM_MILLISECONDS = 550
MAX_ASYNC_STEPS = 5


# A batch ends after this time; the remaining steps go into the next call. A program may run 550 ms.
BATCH_SECONDS = 0.6
_encoder = msgspec.msgpack.Encoder()
_requests = msgspec.msgpack.Decoder(StepsRequest)
_request = msgspec.msgpack.Decoder(StepRequest)


def run_steps(payload: bytes) -> bytes:
    """The operation of the step batcher: ``StepsRequest`` → the results of its first steps.

    It runs at least one step, then as many as fit in time and size.
    """
    requested = _requests.decode(payload)
    began, size = perf_counter(), 0
    steps: list[msgspec.Raw] = []
    for message in requested.requests:
        if steps and (perf_counter() - began > BATCH_SECONDS or size > BYTES_TOGETHER):
            break
        request = _request.decode(message)
        request.function = requested.function
        step = pack(_encoder, run_step(request))
        size += len(step)
        steps.append(msgspec.Raw(step))
    return pack(_encoder, steps)


def run_step(request: StepRequest) -> Step:
    """Run a function to its end or its next unrecorded host call.

    Errors of the function never raise; a failing program is a ``failed`` step.
    """
    request.globals = {**ALWAYS_THERE, **request.globals}
    mappings: list[int] = []
    if request.from_filter:
        match = match_function(request.function, filter_globals(request.globals))
        if match.outcome != "matched" or match.mappings == []:
            return _stopped_by_filter(request, match)
        mappings = match.mappings or []
        request.mapping = mappings[0] if mappings else None
    step = _run_step(request)
    step.mappings = mappings
    return step


def _run_step(request: StepRequest) -> Step:
    function, journal = request.function, request.journal
    try:
        if function.is_batched:
            events = [request.globals] if request.events is None else request.events
            together = batch_globals(
                function,
                [{**ALWAYS_THERE, **event} for event in events],
                mapping=request.mapping,
                now=journal.started_at,
                seed=journal.seed,
            )
            batch = msgspec.structs.replace(request, globals=together)
            return _Run(batch, together["inputs"]).go()
        inputs = build_inputs(
            function,
            request.globals,
            mapping=request.mapping,
            now=journal.started_at,
            seed=journal.seed,
        )
    except InputsFailed as error:
        return _inputs_failed(request, error)
    return _Run(request, inputs).go()


class _Run:
    def __init__(self, request: StepRequest, inputs: InputValues) -> None:
        self.request = request
        self.function = request.function
        self.inputs = inputs
        self.secrets = secret_texts(self.function.inputs_of(request.mapping), inputs)
        self.host = Host(
            {**_of_deepest_event(request.globals), "inputs": inputs},
            facilities=self.function.facilities,
            printed=request.journal.printed,
            captured=request.journal.captured,
        )

    def go(self) -> Step:
        journal = self.request.journal
        runner = engine.ProgramRunner(
            self.function.hog,
            self.host,
            with_trace=self.request.with_trace,
            pinned=self.request.pinned,
        )
        ended = runner.run(
            {**self.request.globals, "inputs": self.inputs},
            entries=journal.entries,
            milliseconds=PROGRAM_MILLISECONDS,
            async_steps=MAX_ASYNC_STEPS,
        )
        step = Step(
            outcome="finished",
            journal=journal,
            milliseconds=max(0.0, ended.milliseconds - journal.spent_ms),
            captures=self.host.captures,
            fetches=sum(name == "fetch" for name, _ in journal.calls),
            trace=redacted_trace(ended.trace, self.secrets),
        )
        self._settle(step, ended)
        return self._close(step, ended)

    def _settle(self, step: Step, ended: engine.Ended) -> None:
        if ended.call is not None:
            step.outcome = "call"
            step.call = self._host_call(ended.call, ended.arguments)
        elif ended.error is not None:
            step.outcome, step.error_class = "failed", ended.error_class
            step.error = clean_line(ended.error, self.secrets)
            self._judge_statuses(step)
        else:
            step.result = ended.value
            if "events" in self.request.globals and self.function.is_batched:
                self._settle_events(step)
            else:
                self._judge_statuses(step)

    def _settle_events(self, step: Step) -> None:
        """Set the result of each event of a batch, by the returned list or the statuses."""
        count = len(self.request.globals["events"])
        try:
            results = event_results(self.function, step.result, count, mapping=self.request.mapping)
        except WrongResults as error:
            step.outcome, step.error_class, step.error = "failed", "hog", str(error)
            return
        if not is_array(step.result):
            self._judge_statuses(step)
        results = [
            msgspec.structs.replace(each, error=each.error and clean_line(each.error, self.secrets))
            for each in results
        ]
        if self.request.events is not None:
            step.results = results
        elif results and results[0].error is not None:
            step.outcome, step.error_class = "failed", results[0].error_class
            step.error = results[0].error

    def _host_call(self, call: tuple[str, JsonObject], arguments: list[Any]) -> StepHostCall:
        if not self.request.with_rendering:
            return StepHostCall(name=call[0], request=call[1])
        rendered = clean_line(rendered_call(call[0], arguments), self.secrets)
        return StepHostCall(name=call[0], request=call[1], rendered=rendered)

    def _judge_statuses(self, step: Step) -> None:
        """Fail the run for a final status of 400 or more that the program did not handle.

        If a program throws because of its last response, the request failed, not the code.
        """
        codes = self.function.tolerated_codes(self.request.mapping)
        last = len(step.journal.calls) - 1
        for number, (name, status) in enumerate(step.journal.calls):
            if status is None or status < 400:
                continue
            if name == "fetch" and is_tolerated(status, codes):
                self.host.log(
                    "info", f"Status {status} is configured as not a failure of this function"
                )
                continue
            threw_over_it = step.outcome == "failed" and number == last
            if not threw_over_it and is_handled(self.function.hog, status):
                continue
            if step.error_class != "fetch":
                step.outcome, step.error_class = "failed", "fetch"
                what = "request" if name == "fetch" else "email"
                step.error = step.error or self._refusal_text(what, status)

    def _refusal_text(self, what: str, status: int) -> str:
        """Why a call failed: the receiver's response, or why there was none."""
        journal = self.request.journal
        reason = f" with status {status}" if journal.has_answer else ""
        text = f"The {what} failed{reason}" + (f": {journal.refusal}" if journal.refusal else "")
        return clean_line(text, self.secrets)

    def _close(self, step: Step, ended: engine.Ended) -> Step:
        if step.outcome == "call" and step.journal.waiting:
            step.captures = []
            return step  # a retry: lines and captures before this call were already returned
        step.logs = [
            RunLogLine(level, clean_line(text, self.secrets)) for level, text in self.host.lines
        ]
        if step.outcome != "call":
            step.logs.append(self._closing_line(step, ended))
        step.journal = msgspec.structs.replace(
            step.journal,
            entries=ended.entries,
            printed=self.host.printed,
            captured=self.host.captured,
            waiting=step.outcome == "call",
            spent_ms=max(step.journal.spent_ms, ended.milliseconds),
        )
        return step

    def _closing_line(self, step: Step, ended: engine.Ended) -> RunLogLine:
        event = object_at(self.request.globals, "event")
        if step.outcome == "failed":
            what = f"event {event.get('uuid')}"
            if "events" in self.request.globals:
                what = f"a batch of {len(self.request.globals['events'])} events"
            text = f"Error executing function on {what}: {step.error}"
            return RunLogLine("error", clean_line(text, self.secrets))
        total = ended.milliseconds + step.journal.waited_ms
        text = (
            f"Function completed in {two_digits(total)}ms. "
            f"Sync: {two_digits(ended.milliseconds)}ms. Mem: {ended.memory_bytes} bytes. "
            f"Ops: {ended.operations}. {self._what_it_ran_on(event)}"
        )
        return RunLogLine("debug", clean_line(text, self.secrets))

    def _what_it_ran_on(self, event: EventGlobal) -> str:
        if "events" in self.request.globals:
            return f"Batch: {len(self.request.globals['events'])} events"
        return f"Event: '{event.get('url', '')}'"


def _of_deepest_event(globals_: Globals) -> Globals:
    """The globals for the host; for a batch, those of the longest chain of captures."""
    if "events" not in globals_ or "event" in globals_:
        return globals_
    depth = max((depth_of(object_at(each, "event")) for each in globals_["events"]), default=0)
    return {**globals_, "event": {"properties": {DEPTH_PROPERTY: depth}}}


def two_digits(milliseconds: float) -> str:
    """A duration with two significant digits, e.g. ``0.34``, ``12``, ``120``."""
    return f"{float(f'{milliseconds:.2g}'):g}"


def _stopped_by_filter(request: StepRequest, match: Match) -> Step:
    uuid = object_at(request.globals, "event").get("uuid")
    if match.outcome == "failed":
        line = RunLogLine("error", f"Error filtering event {uuid}: {match.error}")
        return Step(
            outcome="failed",
            journal=request.journal,
            error=match.error,
            error_class="filter",
            logs=[line],
        )
    line = RunLogLine("info", f"Not run: the filter no longer matches event {uuid}")
    return Step(outcome="finished", journal=request.journal, logs=[line], is_filtered=True)


def _inputs_failed(request: StepRequest, error: InputsFailed) -> Step:
    event = object_at(request.globals, "event")
    secrets = secret_texts(request.function.inputs_of(request.mapping), {})
    message = clean_line(str(error), secrets)
    line = RunLogLine("error", f"Error building inputs for event {event.get('uuid')}: {message}")
    return Step(
        outcome="failed",
        journal=request.journal,
        error=message,
        error_class="inputs",
        logs=[line],
    )
