"""Transformations give the same events whether their data is known to be settled or not.

Source: docs/spec/hog-functions.md#136-transformations.
"""

import copy
import uuid
from datetime import UTC, datetime
from typing import Any

import msgspec

from hoglet.events.parse import Event
from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.matching import Conditions
from hoglet.functions.executable.model import ExecutableFunction, ExecutableInput
from hoglet.functions.executable.transform import Transformation
from hoglet.pipeline.ingest.ipc import BatchCounters, ProjectFacts
from hoglet.pipeline.ingest.transform import GroupTransformer

EVERY = msgspec.to_builtins(template_tree("{true}"))
AT = datetime(2026, 5, 1, tzinfo=UTC)
COPY = "let e := event; e.properties.seen := upper(event.event); return e"
HALF = "let e := event; e.properties.half := substring('😀', 1, 1); return e"


def _function(hog: str, **fields: Any) -> ExecutableFunction:
    identifier = str(uuid.uuid5(uuid.NAMESPACE_URL, hog))
    return ExecutableFunction(
        id=identifier, project_id=1, type="transformation", hog=hog, filter=EVERY, **fields
    )


def _transformed(programs: list[str], *properties: dict[str, Any]) -> list[dict[str, Any]]:
    facts = ProjectFacts(1, "project", "https://hoglet.example")
    functions = [_function(hog) for hog in programs]
    transformer = GroupTransformer(functions, facts, BatchCounters(), Conditions())
    events = [
        Event(uuid.UUID(int=number), "e", "u", copy.deepcopy(each), AT)
        for number, each in enumerate(properties)
    ]
    assert all(transformer.apply(events))
    return [event.properties for event in events]


def test_one_whole_float_among_many_events_becomes_an_integer() -> None:
    properties = [{"n": 1.5, "o": {"m": [1]}} for _ in range(100)]
    properties[40]["o"]["m"] = [2.0]

    transformed = _transformed([COPY], *properties)

    assert [each["seen"] for each in transformed] == ["E"] * 100
    assert repr(transformed[40]["o"]) == "{'m': [2]}"
    assert [each["o"] for each in transformed[:40]] == [{"m": [1]}] * 40


def test_half_a_character_reaches_no_later_transformation() -> None:
    later = "let e := event; e.properties.copied := event.properties.half; return e"

    (transformed,) = _transformed([COPY, HALF, later], {"n": 1})

    assert transformed["half"] == transformed["copied"] == "�"


def test_known_only_of_what_a_run_was_given_and_wrote() -> None:
    event: Any = {"uuid": "", "event": "e", "distinct_id": "u", "properties": {"o": {}}}
    whole = ExecutableInput(key="box", value={"n": 2.0})

    def is_known(hog: str, *, settled: bool = True, **fields: Any) -> bool:
        transformation = Transformation(
            _function(hog, **fields), {"id": 1, "name": "", "url": ""}, Conditions()
        )
        return transformation.run(event, now="", is_settled=settled).is_settled

    assert is_known(COPY)
    assert not is_known(COPY, settled=False)
    assert not is_known(HALF)
    assert not is_known(COPY, inputs=(whole,))
