"""What a batch of events reveals about its properties."""

from datetime import UTC, datetime
from typing import Any

import pytest

from hoglet.definitions.observer import (
    PropertyObserver,
    PropertySample,
    merge_forms,
    merge_observations,
)

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def _observed(*events: tuple[str, dict[str, Any]]) -> tuple[dict[str, tuple[str, str]], Any]:
    observer = PropertyObserver()
    for event, properties in events:
        observer.observe_event(event, properties, AT)
    observation = observer.observation()
    samples = {each.name: (each.property_type, each.form) for each in observation.properties}
    return samples, observation.event_properties


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1, 2.5, -3), ("Numeric", "number")),
        ((2.5, 1), ("Numeric", "number")),
        ((1, 5.0), ("Numeric", "number")),
        ((1, 2.5, "a"), ("Numeric", "mixed")),
        ((1, -3), ("Numeric", "integer")),
        ((1, 2**63), ("Numeric", "mixed")),
        ((1, -(2**63) - 1), ("Numeric", "mixed")),
        ((-(2**63), 2**63 - 1), ("Numeric", "integer")),
        (("a", "2026-01-01"), ("String", "text")),
        (("2026-01-01", "a"), ("DateTime", "text")),
        (("true", "a"), ("Boolean", "text")),
        ((True, False), ("Boolean", "boolean")),
        ((True, 1), ("Boolean", "mixed")),
        ((None, 1), ("Numeric", "integer")),
        ((1, None, 1), ("Numeric", "integer")),
        ((None, None), ("", "")),
        (([], 1), ("Numeric", "mixed")),
        ((1, {}), ("Numeric", "mixed")),
        (([],), ("", "mixed")),
        ((5, "old"), ("Numeric", "mixed")),
    ],
)
def test_the_first_type_and_every_form_count(values: tuple[Any, ...], expected: tuple[str, str]):
    same_event, _ = _observed(*(("e", {"k": value}) for value in values))
    other_events, _ = _observed(*((f"e{at}", {"k": value}) for at, value in enumerate(values)))

    assert same_event == other_events == {"k": expected}


@pytest.mark.parametrize(
    "name",
    ["$set", "$set_once", "$unset", "$groups", "$group_0", "$group_4", "x" * 201, "é" * 101],
)
def test_some_names_are_no_properties(name: str):
    assert _observed(("e", {name: 1, "k": 1})) == ({"k": ("Numeric", "integer")}, {"e": ["k"]})


def test_names_are_made_storable():
    properties, of_events = _observed(
        ("e", {"a\0b": 1, "half\ud83d": 2, "é" * 100: 3, "$group_5": 4})
    )

    assert list(properties) == ["a\ufffdb", "half\ufffd", "é" * 100, "$group_5"]
    assert of_events == {"e": list(properties)}


def test_which_event_carried_which_property():
    _, of_events = _observed(
        ("a", {"x": 1, "$feature/f": True, "$feature_enrollment/f": True}),
        ("a", {"x": 2, "y": None}),
        ("b", {"x": 1}),
        ("c", {}),
    )

    assert of_events == {"a": ["x", "y"], "b": ["x"], "c": []}


@pytest.mark.parametrize("event", ["$$plugin_metrics", "x" * 201, "é" * 101])
def test_some_events_define_nothing(event: str):
    assert _observed((event, {"k": 1})) == ({}, {})


def test_group_identify_defines_only_properties_of_the_group():
    observer = PropertyObserver()
    observer.observe_event("$groupidentify", {"$group_set": {"name": "x"}, "k": 1}, AT)
    observer.observe("group_1", {"name": "x"}, AT)
    observer.observe("person", {"$set": 1}, AT)
    observation = observer.observation()

    assert observation.properties == [
        PropertySample("group_1", "name", "String", "text"),
        PropertySample("person", "$set", "Numeric", "integer"),
    ]
    assert observation.event_properties == {"$groupidentify": []}


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("", "", ""),
        ("", "text", "text"),
        ("text", "", "text"),
        ("text", "text", "text"),
        ("text", "integer", "mixed"),
        ("integer", "number", "number"),
        ("number", "integer", "number"),
        ("integer", "boolean", "mixed"),
        ("mixed", "text", "mixed"),
        ("mixed", "", "mixed"),
    ],
)
def test_forms_of_two_batches(first: str, second: str, both: str):
    assert merge_forms(first, second) == both


def test_parts_of_a_batch_add_up():
    parts: list[Any] = []
    for values in (({"k": None, "a": 1}, {"b": "x"}), ({"k": 5, "a": "y"},)):
        observer = PropertyObserver()
        for index, properties in enumerate(values):
            observer.observe_event(f"e{index}", properties, AT)
        parts.append(observer.observation())
    merged = merge_observations(parts)

    assert merged.properties == [
        PropertySample("event", "k", "Numeric", "integer"),
        PropertySample("event", "a", "Numeric", "mixed"),
        PropertySample("event", "b", "String", "text"),
    ]
    assert merged.event_properties == {"e0": ["k", "a"], "e1": ["b"]}
