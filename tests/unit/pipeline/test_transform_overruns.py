"""Endless transformations delay a group by seconds, however many there are."""

import time
import uuid
from datetime import UTC, datetime

import msgspec
import pytest

from hoglet.events.parse import Event
from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.matching import Conditions
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.pipeline.ingest.ipc import BatchCounters, ProjectFacts
from hoglet.pipeline.ingest.transform import GroupTransformer

pytestmark = pytest.mark.engine

EVERY = msgspec.to_builtins(template_tree("{true}"))


def _transformation(number: int, hog: str) -> ExecutableFunction:
    return ExecutableFunction(
        id=str(uuid.UUID(int=number)), project_id=1, type="transformation", hog=hog, filter=EVERY
    )


@pytest.mark.slow
def test_twenty_endless_ones_cost_a_few_seconds_and_the_others_still_run():
    kind = "let changed := event; changed.properties.seen := true; return changed"
    functions = [_transformation(number, "while (true) {}") for number in range(1, 21)]
    functions.append(_transformation(99, kind))
    tally = BatchCounters()
    facts = ProjectFacts(1, "project", "https://hoglet.example")
    transformer = GroupTransformer(functions, facts, tally, Conditions())

    began = time.thread_time()
    at = datetime(2026, 5, 1, tzinfo=UTC)
    events = [Event(uuid.UUID(int=1), "e", "u", {}, at) for _ in range(50)]
    stays = transformer.apply(events)
    spent = time.thread_time() - began

    assert spent < 8  # 33 s if each could run into its limit three times
    assert stays == [True] * 50
    assert all(event.properties["seen"] is True for event in events)
    given_up = [line.function_id for line in tally.lines if "rest of a batch" in line.message]
    assert sorted(given_up) == [function.id for function in functions[:20]]
    assert tally.counts[functions[0].id]["failure/failed"] == 50
