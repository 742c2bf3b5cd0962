"""The cost of matching per event with 10, 1,000 and 10,000 enabled functions.

One in a hundred functions waits for an event's name and compares a property. One of those matches,
whatever their number, so each size triggers the same runs. CPU time of the pipeline's worker code,
in this process: ``match`` finds the functions that match, ``work`` is everything the worker does
for an event (parse, persons, match, runs and rows). Sizes are measured in turns.

``waiting`` is the cost per function that waits for the event's name but whose condition is false,
one operator at a time, with 1,000 functions each. ``one_by_one`` is the same without the index;
both must find the same matches.

Not measured: transformations, and loading functions from the database (``load`` is the transfer of
a project's functions to the worker and their first match).

Run: ``.venv/bin/python -m benchmarks.matching [--events 4000]``
"""

import argparse
import json
import platform
import resource
import statistics
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson

from hoglet.events.persons.model import PersonStoreState
from hoglet.functions.executable.matching import FunctionIndex, match_function
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.filters.build import build_filter, event_names
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.runtime.filter_globals import filter_globals
from hoglet.pipeline.ingest import worker_operations as operations
from hoglet.pipeline.ingest.ipc import (
    Part,
    ProcessRequest,
    ProjectFacts,
    ReadRequest,
    encoder,
    process_answers,
)

SIZES = (10, 1_000, 10_000)
NAMES = 100
GROUP = 500
ROUNDS = 5
NOW = datetime(2026, 5, 1, tzinfo=UTC)
WAITING = 1_000
ORDER: dict[str, Any] = {
    "event": "order",
    "distinct_id": "user 1",
    "timestamp": "2026-05-01T00:00:00Z",
    "properties": {
        "plan": "plan 0",
        "price": 12.5,
        "$current_url": "https://shop.example/cart/12",
        "signed_up": "2026-05-01",
        "version": "1.10.0",
        **{f"field_{number}": number for number in range(40)},
    },
}
OPERATORS: dict[str, Callable[[int], dict[str, Any]]] = {
    "exact": lambda n: {"key": "plan", "value": f"plan {n}"},
    "exact_number": lambda n: {"key": "price", "value": n + 100},
    "exact_list": lambda n: {"key": "plan", "value": [f"plan {n}", f"offer {n}"]},
    "is_not": lambda _: {"key": "plan", "value": "plan 0", "operator": "is_not"},
    "gt": lambda n: {"key": "price", "value": n + 100, "operator": "gt"},
    "icontains": lambda n: {"key": "$current_url", "value": f"/p{n}/", "operator": "icontains"},
    "not_icontains": lambda _: {
        "key": "$current_url",
        "value": "SHOP",
        "operator": "not_icontains",
    },
    "regex": lambda n: {"key": "$current_url", "value": f"/p{n}/.*[0-9]$", "operator": "regex"},
    "is_set": lambda n: {"key": f"key_{n}", "value": "is_set", "operator": "is_set"},
    "is_not_set": lambda _: {"key": "plan", "value": "is_not_set", "operator": "is_not_set"},
    "is_date_after": lambda _: {
        "key": "signed_up",
        "value": "2026-06-01",
        "operator": "is_date_after",
    },
}


def function(number: int) -> ExecutableFunction:
    """A function that waits for one name in a hundred and for its own value of a property."""
    filters = {
        "events": [{"id": f"event {number % NAMES}", "type": "events"}],
        "properties": [{"key": "plan", "value": f"plan {number // NAMES}", "type": "event"}],
    }
    context = FilterContext(now=NOW)
    return ExecutableFunction(
        id=str(uuid.UUID(int=number + 1)),
        project_id=1,
        type="destination",
        name=f"function {number}",
        hog="return 1",
        filter=msgspec.to_builtins(build_filter(filters, context)),
        events=event_names(filters, context),
    )


def waiting_us(operator: str) -> tuple[float, float]:
    """Microseconds per waiting function: with the index, and one by one."""
    context = FilterContext(now=NOW)
    functions: list[ExecutableFunction] = []
    for number in range(1, WAITING + 1):
        filters = {
            "events": [{"id": "order", "type": "events"}],
            "properties": [{"type": "event", **OPERATORS[operator](number)}],
        }
        tree = msgspec.to_builtins(build_filter(filters, context))
        functions.append(
            ExecutableFunction(
                id=f"{operator} {number}",
                project_id=1,
                type="destination",
                filter=tree,
                events=["order"],
            )
        )
    index = FunctionIndex(functions)
    run = {"event": ORDER, "person": None, "groups": {}}
    values = filter_globals(run)
    alone = [match_function(each, values) for each in functions]
    matching = [each.function_id for each in alone if each.outcome != "filtered"]
    assert [each.function_id for each in index.match(run)] == matching == []
    return (
        _fastest(lambda: index.match(run)) / WAITING,
        _fastest(lambda: [match_function(each, values) for each in functions]) / WAITING,
    )


def _fastest(work: Callable[[], object]) -> float:
    """Microseconds of CPU time, the lowest of several rounds."""
    spent: list[float] = []
    for _ in range(3 * ROUNDS):
        began = time.thread_time()
        work()
        spent.append(time.thread_time() - began)
    return min(spent) * 1e6


def body(start: int) -> bytes:
    """Events with names that even the ten functions wait for."""
    batch = [
        {
            "event": f"event {number % 10}",
            "distinct_id": f"user {number % 200}",
            "uuid": str(uuid.UUID(int=number + 1)),
            "timestamp": "2026-05-01T00:00:00Z",
            "properties": {
                "plan": "plan 0",
                "$current_url": f"https://shop.example/{number % 500}",
                "$browser": "Firefox",
                "price": number % 97 + 0.5,
                "$session_id": f"0193e8c6-{number % 1000:04}",
            },
        }
        for number in range(start, start + GROUP)
    ]
    return orjson.dumps({"batch": batch})


class Side:
    """One size, loaded into this process as a worker has it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.facts = ProjectFacts(size, "project", "https://hoglet.example")
        functions = [function(number) for number in range(size)]
        memory = _resident_mb()
        began = time.process_time()
        self.triggered = 0
        self.group(0, functions)
        self.load_ms = (time.process_time() - began) * 1000
        self.memory_mb = _resident_mb() - memory
        self.rounds: list[float] = []
        self.matching: list[float] = []

    def group(self, start: int, functions: list[ExecutableFunction] | None = None) -> float:
        """Process one group; CPU seconds."""
        part = Part(uuid.uuid4(), body(start), NOW, None, None)
        read = ReadRequest(uuid.uuid4(), self.facts, [part], "key", functions)
        encoded = encoder.encode(read)
        act = encoder.encode(
            ProcessRequest(read.group, self.facts.id, PersonStoreState(), {}, [], [])
        )
        began = time.process_time()
        operations.read(encoded)
        answer = operations.process(act)
        spent = time.process_time() - began
        self.triggered = len(process_answers.decode(answer).invocations)  # pyright: ignore[reportAttributeAccessIssue]
        return spent

    def match(self) -> float:
        """CPU seconds to match one group of events."""
        index = operations._functions[self.size].on_events  # noqa: SLF001 (what a worker holds)
        events = orjson.loads(body(0))["batch"]
        asked = [{"event": run, "person": None, "groups": {}} for run in events]
        began = time.process_time()
        for run in asked:
            index.match(run)
        return time.process_time() - began


def _resident_mb() -> float:
    pages = int(open("/proc/self/statm").read().split()[1])  # noqa: SIM115, PTH123
    return pages * resource.getpagesize() / 1024**2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=4000, help="events of each round and size")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    waiting = {operator: waiting_us(operator) for operator in OPERATORS}
    sides = [Side(size) for size in SIZES]
    for _ in range(ROUNDS):
        for side in sides:
            groups = options.events // GROUP
            spent = sum(side.group(start * GROUP) for start in range(groups))
            side.rounds.append(spent / options.events * 1e6)
            side.matching.append(side.match() / GROUP * 1e6)
    assert {side.triggered for side in sides} == {GROUP}, "every size triggers the same runs"
    work = {side.size: round(statistics.median(side.rounds), 1) for side in sides}
    match = {side.size: round(statistics.median(side.matching), 1) for side in sides}
    figures = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "waiting_us_per_function": {name: round(cost[0], 3) for name, cost in waiting.items()},
        "one_by_one_us_per_function": {name: round(cost[1], 3) for name, cost in waiting.items()},
        "waiting_mean": round(statistics.mean(cost[0] for cost in waiting.values()), 3),
        "match_us_per_event": match,
        "match_ratio": round(match[SIZES[-1]] / match[SIZES[0]], 2),
        "work_us_per_event": work,
        "work_ratio": round(work[SIZES[-1]] / work[SIZES[0]], 2),
        "load_ms": {side.size: round(side.load_ms) for side in sides},
        "memory_mb": {side.size: round(side.memory_mb, 1) for side in sides},
    }
    print(json.dumps(figures, indent=None if options.json else 2))


if __name__ == "__main__":
    main()
