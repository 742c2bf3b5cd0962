"""Which functions an event triggers.

Source: docs/spec/hog-functions.md#45-mappings,
docs/spec/hog-functions.md#53-run-time-truth-and-nulls
and docs/spec/hog-functions.md#131-pipeline-destinations.
"""

import time

import msgspec
import pytest

from hoglet.functions.compile.function import compile_function_parts
from hoglet.functions.compile.messages import CompileInput
from hoglet.functions.executable.matching import FunctionIndex, mask_key, match_function
from hoglet.functions.executable.model import ExecutableFunction, ExecutableMapping
from hoglet.functions.masking import masked_allowance
from hoglet.functions.runtime.filter_globals import filter_globals

CHAIN = (
    'button.btn.primary:attr__class="btn primary"attr_id="go"href="/x;y"nth-child="2"'
    'text="Go \\"on\\"";'
    'div.card:nth-child="1";a:href="/out"nth-child="1"text="Out"'
)
EVENT = {
    "uuid": "u",
    "event": "$pageview",
    "distinct_id": "d",
    "timestamp": "2026-01-05T12:00:00Z",
    "elements_chain": CHAIN,
    "properties": {"n": 5, "text": "Banana", "yes": True, "when": "2026-01-02", "v": "1.10.0"},
}
RUN = {
    "event": EVENT,
    "person": {"id": "p", "properties": {"email": "ada@x.com"}},
    "groups": {"company": {"id": "acme", "index": 1, "properties": {"plan": "pro"}}},
}


def function(filters, *, id_="f", mappings=None):
    compiled = compile_function_parts(
        CompileInput(type="destination", filters={"source": "events", **filters})
    )
    assert "bytecode_error" not in compiled.filters, compiled.filters
    matcher = msgspec.to_builtins(compiled.matcher)
    return ExecutableFunction(
        id=id_,
        project_id=1,
        type="destination",
        filter=matcher["tree"],
        events=matcher["events"],
        mappings=mappings,
    )


_count = iter(range(1_000_000))


def matches(*properties, run=RUN):
    candidate = function({"properties": list(properties)}, id_=f"f{next(_count)}")
    matches = match_function(candidate, filter_globals(run))
    assert matches.error is None
    return matches.outcome == "matched"


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"key": "n", "value": 5}, True),
        ({"key": "n", "value": "5"}, True),
        ({"key": "n", "value": ["5", "6"]}, False),  # IN does not unify
        ({"key": "n", "value": [5, 6]}, True),
        ({"key": "none", "value": "x"}, False),
        ({"key": "none", "operator": "is_not", "value": "x"}, True),
        ({"key": "none", "operator": "is_not", "value": ["x", "y"]}, True),
        ({"key": "yes", "value": "true"}, True),
        ({"key": "text", "operator": "icontains", "value": "NAN"}, True),
        ({"key": "text", "operator": "icontains", "value": ["x", "NAN"]}, True),
        ({"key": "text", "operator": "not_icontains", "value": ["x", "NAN"]}, False),
        ({"key": "none", "operator": "icontains", "value": "ul"}, True),
        ({"key": "none", "operator": "not_icontains", "value": "@x"}, True),
        ({"key": "none", "operator": "regex", "value": "^null$"}, True),
        ({"key": "text", "operator": "regex", "value": ["^x", "^B"]}, True),
        ({"key": "text", "operator": "not_regex", "value": "^B"}, False),
        ({"key": "none", "operator": "lt", "value": 5}, False),
        ({"key": "none", "operator": "gte", "value": 0}, False),
        ({"key": "n", "operator": "gte", "value": 5}, True),
        ({"key": "n", "operator": "between", "value": [5, 6]}, True),
        ({"key": "n", "operator": "not_between", "value": [5, 6]}, False),
        ({"key": "n", "operator": "is_set"}, True),
        ({"key": "n", "operator": "is_not_set"}, False),
        ({"key": "when", "operator": "is_date_before", "value": "2026-01-03"}, True),
        ({"key": "when", "operator": "is_date_exact", "value": "2026-01-02"}, True),
        ({"key": "none", "operator": "is_date_after", "value": "2026-01-03"}, False),
        ({"key": "v", "operator": "semver_gt", "value": "1.9.0"}, True),
        ({"key": "v", "operator": "semver_caret", "value": "1.2.0"}, True),
        ({"key": "v", "operator": "semver_tilde", "value": "1.9.0"}, False),
        ({"key": "v", "operator": "semver_wildcard", "value": "1.10.*"}, True),
        ({"key": "v", "operator": "semver_eq", "value": "1.10.0"}, True),
        ({"key": "v"}, False),  # incomplete: the number 1, which is not true
        ({"type": "person", "key": "email", "operator": "icontains", "value": "@x"}, True),
        ({"type": "person", "key": "distinct_id", "value": "d"}, False),
        ({"type": "group", "group_type_index": 1, "key": "plan", "value": "pro"}, True),
        ({"type": "group", "group_type_index": 0, "key": "plan", "value": "pro"}, False),
        ({"type": "event_metadata", "key": "$group_1", "value": "acme"}, True),
        ({"type": "element", "key": "href", "value": "/x;y"}, True),
        ({"type": "element", "key": "text", "value": 'Go "on"'}, True),
        ({"type": "element", "key": "text", "operator": "icontains", "value": "out"}, True),
        ({"type": "element", "key": "tag_name", "value": "div"}, True),
        ({"type": "element", "key": "tag_name", "value": "form"}, False),
        ({"type": "element", "key": "selector", "value": "div.card > button#go"}, True),
        ({"type": "element", "key": "selector", "value": "a > button"}, False),
        ({"type": "element", "key": "selector", "value": "a .primary.btn"}, True),
        ({"type": "element", "key": "selector", "operator": "is_not", "value": "form"}, True),
        ({"type": "hogql", "key": "properties.n > 4 and event = '$pageview'"}, True),
        ({"type": "hogql", "key": "arrayExists(t -> t = 'Out', elements_chain_texts)"}, True),
    ],
)
def test_a_property_filter(item, expected):
    assert matches({"type": "event", **item}) is expected


def test_persons_may_be_missing():
    run = {"event": EVENT, "person": None}

    assert not matches({"type": "person", "key": "email", "value": "x"}, run=run)
    assert matches({"type": "person", "key": "email", "operator": "is_not", "value": "x"}, run=run)


def test_activity_events_have_dotted_keys():
    event = {**EVENT, "event": "$activity_log_entry_created"}
    event["properties"] = {"detail": {"name": "x"}}

    assert matches({"type": "event", "key": "detail.name", "value": "x"}, run={"event": event})


def test_a_filter_that_raises_is_reported():
    raising = function(
        {"properties": [{"type": "hogql", "key": "jsonParse('{') = 1"}]}, id_="raises"
    )
    matches = match_function(raising, filter_globals(RUN))

    assert (matches.outcome, bool(matches.error)) == ("failed", True)


def test_mappings_are_asked_after_the_function():
    page = function({"events": [{"id": "$pageview", "type": "events"}]}).filter
    other = function({"events": [{"id": "other", "type": "events"}]}).filter
    mappings = (
        ExecutableMapping(number=0, filter=page),
        ExecutableMapping(number=1, filter=other),
        ExecutableMapping(number=2, filter=page, disabled=True),
    )
    matches = match_function(function({}, id_="mapped", mappings=mappings), filter_globals(RUN))

    assert (matches.outcome, matches.mappings, matches.unmatched) == ("matched", [0], [1])


def test_masking_keys_and_allowances():
    masked = msgspec.structs.replace(
        function({}), masking={"ttl": 60, "threshold": None, "hash": "{person.properties.email}"}
    )

    assert len(mask_key(masked, RUN)) == 32
    assert mask_key(masked, {"person": None}) is None
    assert [masked_allowance(old, old + 1, None) for old in range(3)] == [1, 0, 0]
    assert [masked_allowance(old, old + 1, 2) for old in range(5)] == [1, 0, 1, 0, 1]


def test_the_cost_of_an_event_does_not_grow_with_functions_that_wait_for_others():
    def index(count):
        waiting = {"events": [{"id": "other", "type": "events"}]}
        template = function(waiting)
        others = [msgspec.structs.replace(template, id=f"o{i}") for i in range(count)]
        fires = function({"events": [{"id": "$pageview", "type": "events"}]}, id_="fires")
        return FunctionIndex([*others, fires])

    def cost(index):
        def measure():
            begun = time.thread_time()
            for _ in range(60):
                assert len(index.match(RUN)) == 1
            return time.thread_time() - begun

        return min(measure() for _ in range(5))

    assert cost(index(10_000)) < 5 * cost(index(10))
