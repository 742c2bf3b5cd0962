"""Filters matched per second on one core, with events in batches."""

import json
import statistics
import time
from pathlib import Path

from hoglet.hog.compile import compile_expression
from hoglet.hog.python.predicate import compile_batch_predicate

GLOBALS = Path(__file__).parent / "programs" / "filter.globals.json"
CONDITION = (
    "event.event = 'order placed' and event.properties.plan in ['pro', 'team'] and "
    "(event.properties.amount > 100 or event.properties.url like '%/checkout%') and "
    "event.properties.email !~ '@test'"
)
EVENTS, ROUNDS = 5000, 20


def events() -> list[dict]:
    """Events; one in three passes each of the first two conditions."""
    batch = []
    for number in range(EVENTS):
        given = json.loads(GLOBALS.read_text())
        given["event"]["event"] = ("order placed", "$pageview", "signed up")[number % 3]
        given["event"]["properties"]["plan"] = ("pro", "free", "team")[number // 3 % 3]
        given["event"]["properties"]["amount"] = number % 200
        batch.append(given)
    return batch


def by_hand(event: dict, properties: dict) -> bool:
    """The condition in Python."""
    return (
        event["event"] == "order placed"
        and properties["plan"] in {"pro", "team"}
        and (properties["amount"] > 100 or "/checkout" in properties["url"])
        and "@test" not in properties["email"]
    )


def report() -> None:
    """Print the rate."""
    batch = events()
    match = compile_batch_predicate(compile_expression(CONDITION), known_globals=["event"])
    expected = sum(by_hand(given["event"], given["event"]["properties"]) for given in batch)
    if sum(match(batch)) != expected:
        raise SystemExit(f"the filter matched {sum(match(batch))} of {expected} events")
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        match(batch)
        times.append(time.process_time() - start)
    rate = EVENTS / statistics.median(times)
    print(f"\nfilters in batches: {rate / 1e6:.2f} million a second on one core (goal: 2)")


if __name__ == "__main__":
    report()
