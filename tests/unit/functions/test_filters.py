"""Filters as bytecode: docs/spec/hog-functions.md#5-filters."""

from contextlib import nullcontext
from datetime import UTC, datetime

import pytest

from hoglet.functions.compile.hog import expression_bytecode
from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters.build import build_filter, event_names
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.filters.normalize import normalize_filters

INTERNAL = {
    "type": "person",
    "key": "email",
    "operator": "not_icontains",
    "value": "@posthog.com",
}
PAGEVIEW = {"id": "$pageview", "name": "$pageview", "type": "events", "order": 0}
CONTEXT = FilterContext(
    now=datetime(2026, 1, 8, 12, 30, tzinfo=UTC),
    test_account_filters=[INTERNAL],
    actions={
        "1": [{"event": "$pageview", "url": "docs", "url_matching": "contains"}],
        "2": [{"event": "a"}, {"event": "b"}],
        "3": [{"url": "x"}],
    },
)


def compiled(filters, context=CONTEXT):
    return expression_bytecode(build_filter(normalize_filters(filters), context))


def of_property(**item):
    bytecode = compiled({"properties": [{"key": "k", "type": "event", **item}]})
    assert bytecode[:2] == ["_H", 1]
    return bytecode[2:]


K = [32, "k", 32, "properties", 1, 2]
TEXT_K = [*K, 2, "toString", 1]


def test_the_example_of_the_specification():
    filters = {
        "filter_test_accounts": True,
        "events": [PAGEVIEW],
        "actions": [{"id": 1, "type": "actions", "order": 1}],
    }

    assert compiled(filters) == [
        "_H", 1, 32, "%@posthog.com%", 32, "email", 32, "properties", 32, "person", 1, 3, 2,
        "toString", 1, 20, 32, "$pageview", 32, "event", 1, 1, 11, 32, "$pageview", 32, "event",
        1, 1, 11, 32, "%docs%", 32, "$current_url", 32, "properties", 1, 2, 17, 3, 2, 4, 2, 3, 2,
    ]  # fmt: skip


def test_nothing_at_all_is_true():
    assert compiled({}) == ["_H", 1, 29]
    assert compiled(None) == ["_H", 1, 29]
    assert compiled({"events": [{**PAGEVIEW, "id": None}]}) == ["_H", 1, 29]
    assert compiled({"events": [{"id": "x"}]}) == ["_H", 1, 29]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"value": "v"}, [32, "v", *K, 11]),
        ({"operator": "exact", "value": []}, [33, 1]),
        ({"operator": "exact", "value": ["v"]}, [32, "v", *K, 11]),
        ({"operator": "exact", "value": ["a", "b"]}, [32, "a", 32, "b", 44, 2, *K, 21]),
        ({"operator": "is_not", "value": "v"}, [32, "v", *K, 12]),
        ({"operator": "is_not", "value": ["a", "b"]}, [32, "a", 32, "b", 44, 2, *K, 22]),
        ({"operator": "icontains", "value": "v"}, [32, "%v%", *TEXT_K, 18]),
        ({"operator": "icontains", "value": ["v"]}, [32, "%v%", *TEXT_K, 18]),
        ({"operator": "regex", "value": "^a"},
         [*TEXT_K, 32, "^a", 2, "match", 2, 47, 3, 35, 33, 0]),
        ({"operator": "not_regex", "value": "^a"},
         [*TEXT_K, 32, "^a", 2, "match", 2, 5, 47, 3, 35, 33, 1]),
        ({"operator": "gt", "value": 5}, [33, 5, *K, 13]),
        ({"operator": "min", "value": 5}, [33, 5, *K, 14]),
        ({"operator": "lt", "value": 5}, [33, 5, *K, 15]),
        ({"operator": "lte", "value": [5, 6]}, [33, 5, *K, 16, 33, 6, *K, 16, 4, 2]),
        ({"operator": "is_set"}, [31, *K, 12]),
        ({"operator": "is_not_set", "value": "ignored"}, [31, *K, 11]),
        ({"operator": "between", "value": [1, 2]}, [33, 1, *K, 14, 33, 2, *K, 16, 3, 2]),
        ({"operator": "not_between", "value": ["1", 2]}, [33, 1, *K, 15, 33, 2, *K, 13, 4, 2]),
        ({"operator": "is_date_before", "value": "-7d"},
         [32, "2026-01-01T12:30:00Z", 2, "toString", 1, 2, "toDateTime", 1,
          *TEXT_K, 2, "toDateTime", 1, 15]),
        ({"operator": "is_date_exact", "value": "2024-05-03"},
         [32, "2024-05-03", 2, "toString", 1, 2, "toDateTime", 1,
          *TEXT_K, 2, "toDateTime", 1, 11]),
        ({"operator": "semver_gte", "value": "1.2"},
         [32, "1.2", 2, "sortableSemver", 1, *K, 2, "sortableSemver", 1, 14]),
        ({"operator": "is_cleaned_path_exact", "value": "/a"}, [32, "/a", *K, 11]),
        ({"type": "person", "value": 1},
         [33, 1, 32, "k", 32, "properties", 32, "person", 1, 3, 11]),
        ({"type": "group", "group_type_index": 2, "value": 1},
         [33, 1, 32, "k", 32, "properties", 32, "group_2", 1, 3, 11]),
        ({"type": "event_metadata", "key": "distinct_id", "value": "d"},
         [32, "d", 32, "distinct_id", 1, 1, 11]),
        ({"key": "$elements_chain", "value": "d"}, [32, "d", 32, "elements_chain", 1, 1, 11]),
        ({"type": "element", "key": "href", "value": "/a"},
         [32, "/a", 32, "elements_chain_href", 1, 1, 11]),
        ({"type": "hogql", "key": "properties.k = 1"}, [33, 1, *K, 11]),
        ({"type": "hogql", "key": " "}, [33, 1]),
        ({"type": "hogql", "key": None}, [33, 1]),
        ({"type": None, "value": 1}, [33, 1]),
        ({"type": "empty", "value": 1}, [33, 1]),
        ({"value": None}, [33, 1]),
        ({"operator": "exact", "value": True}, [32, "true", *K, 11]),
    ],
)  # fmt: skip
def test_a_property_becomes(item, expected):
    assert of_property(**item) == expected


def test_a_boolean_property_is_compared_with_a_boolean():
    context = FilterContext(boolean_properties=["event:paid"])
    item = {"key": "paid", "type": "event", "value": "true"}

    assert compiled({"properties": [item]}, context) == [
        "_H", 1, 29, 32, "paid", 32, "properties", 1, 2, 11,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"type": "cohort", "value": 1}, "person property"),
        ({"type": "evnt", "value": 1}, "Did you mean 'event'?"),
        ({"type": "evnt"}, "Did you mean 'event'?"),
        ({"type": "group", "value": 1}, "group_type_index"),
        ({"operator": "between", "value": [2, 1]}, "lower"),
        ({"operator": "between", "value": ["a", 1]}, "numbers"),
        ({"operator": "in", "value": "a"}, "list"),
        ({"operator": "nope", "value": "a"}, "nope"),
        ({"type": "hogql", "key": "(select 1)"}, "Queries"),
        ({"type": "hogql", "key": "nothere.x = 1"}, "nothere"),
        ({"type": "hogql", "key": "a ="}, "parse"),
        ({"type": "session", "value": 1}, "session"),
        ({"operator": "semver_caret", "value": "x"}, "version"),
    ],
)
def test_a_property_is_refused(item, reason):
    with pytest.raises(FilterRefused, match=reason):
        of_property(**item)


@pytest.mark.parametrize(("groups", "is_refused"), [(11, False), (12, True), (5000, True)])
def test_property_groups_are_nested_to_a_limit(groups, is_refused):
    nested = {"type": "event", "key": "k", "value": "a"}
    for _ in range(groups):
        nested = {"type": "AND", "values": [nested]}
    expected = pytest.raises(FilterRefused, match="nested") if is_refused else nullcontext()

    with expected:
        compiled({"properties": [nested]})


def test_an_unknown_action_is_refused():
    with pytest.raises(FilterRefused, match="99"):
        compiled({"actions": [{"id": 99, "type": "actions"}]})


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, None),
        ({"events": [PAGEVIEW]}, ["$pageview"]),
        ({"events": [PAGEVIEW, {**PAGEVIEW, "id": None}]}, None),
        ({"events": [{"id": "x"}]}, None),
        ({"events": [PAGEVIEW], "actions": [{"id": "2"}]}, ["$pageview", "a", "b"]),
        ({"actions": [{"id": "3"}]}, None),
    ],
)
def test_the_events_that_can_match(filters, expected):
    assert event_names(normalize_filters(filters), CONTEXT) == expected


def test_lists_of_other_sources_are_dropped():
    stored = normalize_filters(
        {"source": "person-updates", "events": [PAGEVIEW], "actions": [], "properties": []}
    )

    assert stored == {"source": "person-updates", "properties": []}
    warehouse = {
        "source": "data-warehouse-table",
        "data_warehouse": [{"name": "Select a table"}, {"name": "orders"}],
    }
    assert normalize_filters(warehouse)["data_warehouse"] == [{"name": "orders"}]
