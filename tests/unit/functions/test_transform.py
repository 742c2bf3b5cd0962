"""Runs of a prepared transformation over many events share no state.

Source: docs/spec/hog-functions.md#136-transformations.
"""

import copy
import uuid
from typing import Any

import msgspec
import pytest

from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable.matching import Conditions
from hoglet.functions.executable.model import (
    ExecutableFunction,
    ExecutableInput,
    ExecutableMapping,
)
from hoglet.functions.executable.transform import Transformation

PROJECT = {"id": 1, "name": "", "url": "https://hoglet.example"}
NOW = "2026-05-01T12:00:00.000000Z"


def prepared(hog: str, *, condition: str = "{true}", **fields: Any) -> Transformation:
    function = ExecutableFunction(
        id=str(uuid.uuid4()),
        project_id=1,
        type="transformation",
        hog=hog,
        filter=msgspec.to_builtins(template_tree(condition)),
        **fields,
    )
    return Transformation(function, PROJECT, Conditions())


def event(number: int, **properties: Any) -> dict[str, Any]:
    return {
        "uuid": str(uuid.UUID(int=number)),
        "event": "order",
        "distinct_id": f"user {number}",
        "properties": {"number": number, **properties},
        "elements_chain": "",
        "timestamp": NOW,
    }


PROGRAMS = {
    "returns a copy": "let changed := event; changed.properties.seen := true; return changed",
    "reads twice": (
        "let one := event; one.properties.a := 1; let two := event;"
        "two.properties.b := one.properties.a; return two"
    ),
    "mutates inputs": (
        "let box := inputs.box; box.count := box.count + event.properties.number;"
        "let changed := event; changed.properties.count := box.count; return changed"
    ),
    "drops odd ones": "if (event.properties.number % 2 == 1) { return null } return event",
    "throws for odd ones": (
        "if (event.properties.number % 2 == 1) { throw Error('odd') } return event"
    ),
    "prints": "print(event.properties.number); print('x'); return event",
    "prints too much": "for (let i := 0; i < 40; i := i + 1) { print(i) } return event",
    "returns shared parts": (
        "let part := {'a': [1, 2.0, 2.5]};"
        "return {'properties': {'one': part, 'two': part, 'number': event.properties.number}}"
    ),
    "asks for a request": "fetch('https://hoglet.example'); return event",
    "recurses": "fun down(n) { return down(n + 1) } return down(0)",
    "uses a missing global": "return inputs.nothing.at.all ?? event",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_a_run_gives_what_it_gives_alone(program: str):
    inputs = (ExecutableInput(key="box", value={"count": 100}, type="json"),)
    many = prepared(program, inputs=inputs)
    given = [event(number, nested={"list": [1, {"x": number}]}) for number in range(6)]
    untouched = copy.deepcopy(given)

    together = [many.run(each, now=NOW) for each in given]
    alone = [
        Transformation(many.function, PROJECT, Conditions()).run(each, now=NOW) for each in given
    ]

    for batched, other in zip(together, alone, strict=True):
        assert (batched.outcome, batched.error_class, batched.error) == (
            other.outcome, other.error_class, other.error,
        )  # fmt: skip
        assert batched.event == other.event
        assert [line.message for line in batched.logs] == [line.message for line in other.logs]
    assert given == untouched


def test_a_run_into_the_time_limit_leaves_the_next_its_whole_time():
    many = prepared("while (event.properties.number == 0) {} return event")

    outcomes = [many.run(event(number), now=NOW, milliseconds=60) for number in (0, 1, 0, 2)]

    assert [outcome.error_class for outcome in outcomes] == ["timeout", None, "timeout", None]
    assert all(outcome.milliseconds < 60 for outcome in outcomes[1::2])


def test_a_run_over_the_memory_limit_leaves_the_next_its_memory():
    grow = "let all := []; while (event.properties.number == 0) { all := arrayPushBack(all, all) }"
    many = prepared(f"{grow} return event")

    first, second = (many.run(event(number), now=NOW) for number in (0, 1))

    assert (first.outcome, second.outcome) == ("failed", "succeeded")


def test_inputs_with_templates_are_built_for_each_event():
    inputs = (
        ExecutableInput(key="name", value="{event.distinct_id}"),
        ExecutableInput(key="brace", value="\\{kept}"),
    )
    many = prepared(
        "let changed := event; changed.properties.name := inputs.name;"
        "changed.properties.brace := inputs.brace; return changed",
        inputs=inputs,
    )

    results = [many.run(event(number), now=NOW) for number in (1, 2)]

    properties = [each.event["properties"] for each in results if each.event]
    assert [each["name"] for each in properties] == ["user 1", "user 2"]
    assert [each["brace"] for each in properties] == ["{kept}", "{kept}"]


def test_secrets_stay_out_of_the_lines_of_every_run():
    inputs = (ExecutableInput(key="token", value="hunter22", secret=True),)
    many = prepared("print(inputs.token, event.properties.number); return event", inputs=inputs)

    lines = [many.run(event(number), now=NOW).logs[0].message for number in (1, 2)]

    assert lines == ["***REDACTED***, 1", "***REDACTED***, 2"]


@pytest.mark.parametrize(
    ("condition", "outcomes"),
    [
        ("{properties.number > 1}", ["skipped", "succeeded"]),
        ("{distinct_id = 'user 1'}", ["succeeded", "skipped"]),
        ("{person.properties.email = 'x'}", ["skipped", "skipped"]),
        ("{empty(elements_chain_href) and $group_0 = null}", ["succeeded", "succeeded"]),
        ("{jsonParse(properties.text) = 1}", ["failed", "failed"]),
        ("{properties.number}", ["skipped", "skipped"]),  # only true counts, not every truthy value
    ],
)
def test_a_filter_is_asked_for_every_event(condition: str, outcomes: list[str]):
    many = prepared("return event", condition=condition)

    results = [many.run(event(number, text="{"), now=NOW) for number in (1, 2)]

    assert [each.outcome for each in results] == outcomes


def test_a_mapping_whose_filter_fails_fails_the_run():
    failing = msgspec.to_builtins(template_tree("{jsonParse('{') = 1}"))
    many = prepared("return event", mappings=(ExecutableMapping(number=0, filter=failing),))

    result = many.run(event(1), now=NOW)

    assert (result.outcome, result.error_class) == ("failed", "filter")
