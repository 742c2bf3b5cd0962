"""Filters over many events."""

import pytest

from hoglet.hog.compile import compile_expression
from hoglet.hog.python.predicate import PredicateFailed, compile_batch_predicate, compile_predicate

EVENTS = [
    {"event": "a", "properties": {"n": 5, "url": "https://x.test/buy", "tags": ["p", "q"]}},
    {"event": "b", "properties": {"n": "5", "url": None}},
    {"event": None, "properties": {"n": 5.5}},
    {"event": "a", "properties": None},
    {"event": True, "properties": {"n": None, "url": "buy"}},
]

CASES = {
    "event = 'a'": [True, False, False, True, False],
    "event != 'a'": [False, True, True, False, True],
    "event = 'true'": [False, False, False, False, True],
    "properties.n = 5": [True, True, False, False, False],
    "properties.n > 5": [False, False, True, False, False],
    "properties.n is null": [False, False, False, True, True],
    "properties.url like '%buy%'": [True, False, False, False, True],
    "properties.url not like '%buy%'": [False, True, True, True, False],
    "properties.url =~ 'buy$'": [True, False, False, False, True],
    "event in ('a', 'c') and properties.n = 5": [True, False, False, False, False],
    "event not in ['a', 'c']": [False, True, True, False, True],
    "not (event = 'a' or properties.n = 5.5)": [False, True, False, False, True],
    "properties.tags[2] = 'q'": [True, False, False, False, False],
    "lower(properties.url) = 'buy'": [False, False, False, False, True],
    "arrayExists(t -> t = 'q', properties.tags)": [True, False, False, False, False],
    "length(properties.url) > 4": [True, False, False, False, False],
}


@pytest.mark.parametrize("known", [frozenset(), frozenset({"event", "properties"})])
@pytest.mark.parametrize("text", CASES)
def test_one_by_one_and_in_batches(text: str, known: frozenset[str]) -> None:
    expression = compile_expression(text)
    single = compile_predicate(expression, known_globals=known)
    batch = compile_batch_predicate(expression, known_globals=known)
    before = repr(EVENTS)

    assert batch(EVENTS) == CASES[text]
    assert [single(event) for event in EVENTS] == CASES[text]
    assert repr(EVENTS) == before


def test_events_with_errors_do_not_match_and_are_told() -> None:
    reported = []
    batch = compile_batch_predicate(
        compile_expression("missing.x = 1"),
        on_error=lambda _event, error: reported.append(error.text),
    )

    assert batch([{"missing": {"x": 1}}, {"event": 1}, {"missing": {"x": 2}}]) == [
        True,
        False,
        False,
    ]
    assert reported == ["Global variable not found: missing.x"]


def test_one_event_with_an_error_raises() -> None:
    with pytest.raises(PredicateFailed, match="Global variable not found: missing"):
        compile_predicate(compile_expression("missing"))({"event": 1})


@pytest.mark.parametrize(
    "text", ["arrayMap(x -> range(x), [100000000])", "range(100000000)", "fetch('x')", "nope(1)"]
)
def test_nothing_gets_past_the_budget(text: str) -> None:
    predicate = compile_predicate(compile_expression(text))

    with pytest.raises(PredicateFailed):
        predicate({"event": 1})


def test_truth_of_other_values() -> None:
    batch = compile_batch_predicate(compile_expression("x"))

    values = [None, 0, "", False, float("nan"), [], {}, "0", 1, True]
    assert batch([{"x": value} for value in values]) == [False] * 5 + [True] * 5
