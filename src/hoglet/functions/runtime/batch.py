"""Batches: one run of a program for several events. Pure.

A function with ``delivery.batch`` reads ``events`` instead of ``event``, ``person`` and
``groups``::

    events[1]   {"event": {...}, "person": {...}, "groups": {...}, "inputs": {...}}
    inputs      the inputs whose value does not depend on the event

and may return a list with one result per event::

    [null, {"status": 503}, {"error": "no such user"}, {"error": "busy", "retry": true}]

An event failed if its result is ``false``, has an ``error``, or has a ``status`` of 400 or more.

Source: docs/spec/hog-functions.md#139-batches.
"""

import math
from typing import Any

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.inputs.types import INTEGRATION_TYPES
from hoglet.functions.json_types import BuiltInputs, Globals
from hoglet.functions.runtime.fetch import RETRIED_STATUSES, is_tolerated
from hoglet.functions.runtime.inputs import are_constant, build_inputs
from hoglet.functions.runtime.messages import EventResult
from hoglet.kit.json import is_array, is_object

_RUN_GLOBALS = ("project", "source")


class WrongResults(Exception):
    """The program returned a list that does not have one result per event."""


def batch_globals(
    function: ExecutableFunction,
    events: list[Globals],
    *,
    mapping: int | None,
    now: str,
    seed: int,
) -> Globals:
    """The globals of a batch: ``{"project", "source", "events", "inputs"}``.

    Raises:
        InputsFailed: an input of one of the events could not be built.
    """
    built = [build_inputs(function, event, mapping=mapping, now=now, seed=seed) for event in events]
    own = [
        {key: value for key, value in event.items() if key not in _RUN_GLOBALS} | {"inputs": inputs}
        for event, inputs in zip(events, built, strict=True)
    ]
    first = events[0] if events else {}
    inputs: BuiltInputs = built[0] if built else {}
    same = {item.key for item in function.inputs_of(mapping) if _is_same(item)}
    varies = {item.key for item in function.inputs_of(mapping) if not _is_same(item)}
    return {
        **{name: first[name] for name in _RUN_GLOBALS if name in first},
        "events": own,
        "inputs": {key: value for key, value in inputs.items() if key in same - varies},
    }


def _is_same(item: Any) -> bool:
    return item.type in INTEGRATION_TYPES or are_constant([item])


def event_results(
    function: ExecutableFunction, value: Any, count: int, *, mapping: int | None
) -> list[EventResult]:
    """The results of a program's events; all succeeded unless it returned a list.

    Raises:
        WrongResults: the list has another length.
    """
    if not is_array(value):
        return [EventResult()] * count
    if len(value) != count:
        raise WrongResults(
            f"The program returned {len(value)} results for {count} events. "
            "Return one for each event, in their order, or no list."
        )
    codes = function.tolerated_codes(mapping)
    return [_result(item, codes) for item in value]


def _result(value: Any, codes: list[Any]) -> EventResult:
    if value is False:
        return EventResult("The program returned false for this event.")
    if not is_object(value):
        return EventResult()
    error, retry = value.get("error"), value.get("retry")
    status = _failing_status(value.get("status"), codes)
    if status is None and error in (None, "", False):
        return EventResult()
    text = error if isinstance(error, str) and error else f"The result of this event: {error}"
    if status is not None and not isinstance(error, str):
        text = f"The result of this event has status {status}"
    may_retry = retry if isinstance(retry, bool) else status in RETRIED_STATUSES
    return EventResult(text, "hog" if status is None else "fetch", may_retry)


def _failing_status(value: Any, codes: list[Any]) -> int | None:
    status = _status_of(value)
    return None if status < 400 or is_tolerated(status, codes) else status


def _status_of(value: Any) -> int:
    """A status given as a number or, as in JSON:API errors, as text; 0 for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return int(value)
