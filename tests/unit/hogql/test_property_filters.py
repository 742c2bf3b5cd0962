"""Property filters in SQL, by the rows they match."""

import re

import msgspec
import pytest

from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters.build import build_filter
from hoglet.functions.filters.context import FilterContext
from hoglet.hogql import compile_query, property_condition
from hoglet.hogql.insights.plan import build_insight
from hoglet.kit.errors import SourceError
from support.hogql_world import CONTEXT, HogqlWorld

# filter, numbers of the events found (by the last digit of their uuid)
CASES = [
    ({"key": "$browser", "value": "Chrome"}, [1, 3]),
    ({"key": "$browser", "value": ["Chrome", "Safari"], "operator": "exact"}, [1, 2, 3]),
    ({"key": "$browser", "value": ["Chrome"], "operator": "exact"}, [1, 3]),
    ({"key": "$browser", "value": [], "operator": "exact"}, [1, 2, 3, 4, 5, 6]),
    ({"key": "$browser", "value": "Chrome", "operator": "is_not"}, [2, 4, 5, 6]),
    ({"key": "$browser", "value": ["Chrome", "Safari"], "operator": "is_not"}, [4, 5, 6]),
    ({"key": "$browser", "value": ["Chrome"], "operator": "in"}, [1, 3]),
    ({"key": "$browser", "value": ["Chrome"], "operator": "not_in"}, [2, 4, 5, 6]),
    ({"key": "$browser", "value": "chr", "operator": "icontains"}, [1, 3]),
    ({"key": "$browser", "value": ["chr", "saf"], "operator": "icontains"}, [1, 2, 3]),
    ({"key": "$browser", "value": "chr", "operator": "not_icontains"}, [2, 4, 5, 6]),
    ({"key": "$browser", "value": ["chr", "saf"], "operator": "not_icontains"}, [4, 5, 6]),
    ({"key": "$browser", "value": ["fire"], "operator": "icontains_multi"}, [5]),
    ({"key": "$browser", "value": ["fire"], "operator": "not_icontains_multi"}, [1, 2, 3, 4, 6]),
    ({"key": "$browser", "value": "^C.*e$", "operator": "regex"}, [1, 3]),
    ({"key": "$browser", "value": ["^C", "^S"], "operator": "regex"}, [1, 2, 3]),
    ({"key": "$browser", "value": "^C", "operator": "not_regex"}, [2, 4, 5, 6]),
    ({"key": "price", "value": 7, "operator": "gt"}, [1, 4]),
    ({"key": "price", "value": "7", "operator": "gte"}, [1, 3, 4]),
    ({"key": "price", "value": 7, "operator": "lt"}, [2]),
    ({"key": "price", "value": 7, "operator": "lte"}, [2, 3]),
    ({"key": "price", "value": [2.5, 10], "operator": "between"}, [1, 2, 3]),
    ({"key": "price", "value": [2.5, 10], "operator": "not_between"}, [4]),
    ({"key": "price", "operator": "is_set"}, [1, 2, 3, 4, 5]),
    ({"key": "price", "operator": "is_not_set"}, [6]),
    ({"key": "price", "value": "10", "operator": "exact"}, [1]),
    ({"key": "paid", "value": "true", "operator": "exact"}, [1]),
    ({"key": "paid", "value": ["false"], "operator": "exact"}, [2]),
    ({"key": "when", "value": "2026-01-05", "operator": "is_date_before"}, [4]),
    ({"key": "when", "value": "-30d", "operator": "is_date_after"}, [4]),
    ({"key": "when", "value": "2026-01-04 08:00:00", "operator": "is_date_exact"}, [4]),
    ({"key": "v", "value": "1.9.5", "operator": "semver_gt"}, [4]),
    ({"key": "v", "value": "1.9.0", "operator": "semver_eq"}, [5]),
    ({"key": "v", "value": "1.9", "operator": "semver_tilde"}, [5]),
    ({"key": "v", "value": "1.2.0", "operator": "semver_caret"}, [4, 5]),
    ({"key": "v", "value": "1.10.*", "operator": "semver_wildcard"}, [4]),
    (
        {
            "key": "timestamp",
            "value": ["2026-01-05", 1767780000],
            "type": "event_metadata",
            "operator": "not_in",
        },
        [1, 2, 3, 4, 5, 6],
    ),
    ({"key": "when", "value": [1767513600, "x"]}, [4]),
    ({"key": "price", "value": ["none", None]}, [5, 6]),
    ({"key": "price", "value": ["none", None], "operator": "not_in"}, [1, 2, 3, 4]),
    ({"key": "email", "value": "bob@a.com", "type": "person"}, [5, 6]),
    ({"key": "distinct_id", "value": "anon", "type": "person"}, [1]),
    ({"key": "name", "value": "Acme", "type": "group", "group_type_index": 0}, [1, 2, 4]),
    ({"key": "$pageview_count", "value": 2, "type": "session"}, [1, 2, 3]),
    ({"key": "event", "value": "purchase", "type": "event_metadata"}, [4, 6]),
    ({"key": "properties.price > 50 or event = '$autocapture'", "type": "hogql"}, [3, 4]),
    ({"key": "id", "value": 5, "type": "cohort"}, [1, 2, 3, 4]),
    ({"key": "id", "value": 5, "type": "cohort", "operator": "not_in"}, [5, 6]),
    ({"key": "tag_name", "value": "a", "type": "element"}, [3]),
    ({"key": "text", "value": "Go", "type": "element"}, [3]),
    ({"key": "href", "value": "a.com", "operator": "icontains", "type": "element"}, [3]),
    ({"key": "selector", "value": "a.nav-link", "type": "element"}, [3]),
    ({"key": "selector", "value": "div > a", "type": "element"}, [3]),
    ({"key": "selector", "value": "span", "type": "element"}, []),
    ({"key": "selector", "value": "a > div", "type": "element"}, []),
    ({"key": "selector", "value": '[href="https://a.com/z"]', "type": "element"}, [3]),
    ({"key": "selector", "value": "a#go", "type": "element"}, [3]),
    ({"key": "selector", "value": "a[text=Stop]", "type": "element"}, []),
    ({"key": "tag_name", "value": "div", "type": "element"}, [3]),
    ({"key": "tag_name", "value": "div", "type": "element", "operator": "is_not"}, [1, 2, 4, 5, 6]),
    ({"key": "text", "value": "^g", "type": "element", "operator": "regex"}, []),
    ({"key": "text", "value": "^G", "type": "element", "operator": "regex"}, [3]),
    ({"key": "text", "value": "go", "type": "element", "operator": "icontains"}, [3]),
    ({"key": "text", "value": "Go", "type": "element", "operator": "is_not"}, []),
    ({"key": "text", "value": "Stop", "type": "element", "operator": "is_not"}, [3]),
    ({"key": "price", "value": [90, 2], "operator": "gt"}, [1, 2, 3, 4]),
    ({}, [1, 2, 3, 4, 5, 6]),
    ({"type": "empty"}, [1, 2, 3, 4, 5, 6]),
    ({"type": "empty", "key": None, "value": None, "operator": None}, [1, 2, 3, 4, 5, 6]),
    ({"type": "AND", "values": [{}, {"key": "price", "value": 100}]}, [4]),
    ({"type": "OR", "values": []}, [1, 2, 3, 4, 5, 6]),
    ({"type": "AND", "values": []}, [1, 2, 3, 4, 5, 6]),
    (
        {"type": "OR", "values": [{"key": "price", "value": 100}, {"key": "price", "value": 10}]},
        [1, 4],
    ),
    (
        {"type": "AND", "values": [{"key": "price", "value": 100}, {"key": "plan", "value": "x"}]},
        [],
    ),
]


@pytest.mark.parametrize(("item", "expected"), CASES, ids=str)
def test_finds(item, expected, hogql_world: HogqlWorld) -> None:
    rows = hogql_world.rows(
        "select uuid from events where {filters} order by timestamp", filters={"properties": [item]}
    )

    assert [int(uuid[-1]) for (uuid,) in rows] == expected


@pytest.mark.parametrize(
    "item",
    [
        {"key": "a", "value": "b", "operator": "sounds_like"},
        {"key": "a", "value": "b", "type": "planet"},
        {"key": "a", "value": [1], "operator": "between"},
        {"key": "a", "value": [5, 1], "operator": "between"},
        {"key": "a", "value": "someday", "operator": "is_date_before"},
        {"key": "a", "value": "x.y", "operator": "semver_gt"},
        {"key": "a", "value": "1.2", "operator": "semver_near"},
        {"key": "id", "value": "many", "type": "cohort"},
        {"key": "a", "value": "1", "type": "group", "group_type_index": 9},
        {"key": "a", "value": {"deep": 1}},
        {"type": "XOR", "values": [{"key": "a", "value": 1}]},
        {"values": [{"key": "a", "value": 1}]},
        {"key": "selektor", "value": "x", "type": "element"},
        {"key": "1 +", "type": "hogql"},
        {"key": "sleep(1)", "type": "hogql"},
    ],
    ids=str,
)
def test_refuses(item) -> None:
    with pytest.raises(SourceError):
        compile_query(
            "select 1 from events where {filters}",
            context=CONTEXT,
            filters={"properties": [item]},
        )


PRO = {"key": "plan", "value": "pro"}


@pytest.mark.parametrize(
    ("item", "attr", "part"),
    [
        ({"key": "plan"}, "value", "'plan' needs a value for its operator 'exact'"),
        ({"key": "plan", "value": None, "operator": "gt"}, "value", "'gt'"),
        ({"key": "email", "type": "person"}, "value", "'email' needs a value"),
        ({"key": "created_at", "type": "person_metadata"}, "value", "needs a value"),
        ({"key": "text", "type": "element"}, "value", "needs a value"),
        ({"value": "pro"}, "key", "needs a key"),
        ({"value": "pro", "key": " "}, "key", "needs a key"),
        ({"type": "event"}, "key", "needs a key"),
        ({"operator": "is_set"}, "key", "needs a key"),
        ({"type": "hogql"}, "key", "needs a key"),
        ({"type": "cohort"}, "value", "Not a cohort id"),
        ({**PRO, "type": "evnt"}, "type", "Did you mean 'event'?"),
        ({"type": "evnt"}, "type", "Did you mean 'event'?"),
        ({"key": "plan", "type": "persn"}, "type", "Did you mean 'person'?"),
        ({**PRO, "type": "empty"}, "type", "Use one of"),
        ({**PRO, "type": "group"}, "group_type_index", "group type"),
        ({"type": "OR", "values": [PRO, {"key": "plan"}]}, "values__1__value", "needs a value"),
    ],
    ids=str,
)
def test_incomplete_filters_are_refused(item, attr, part) -> None:
    with pytest.raises(SourceError, match=re.escape(part)) as error:
        compile_query(
            "select 1 from events where {filters}", context=CONTEXT, filters={"properties": [item]}
        )

    assert error.value.attr == f"filters__properties__0__{attr}"


def test_values_are_bound() -> None:
    compiled = compile_query(
        "select 1 from events where {filters}",
        context=CONTEXT,
        filters={
            "properties": [
                {"key": "plan", "value": "'; drop table events", "operator": "icontains"}
            ]
        },
    )

    assert "drop table" not in compiled.sql
    assert compiled.params["v0"] == "%'; drop table events%"


def test_booleans_stay_text_without_a_definition() -> None:
    context = msgspec.structs.replace(CONTEXT, property_types={})

    condition = property_condition({"key": "paid", "value": True}, context)

    assert condition.right.value == "true"


COHORT_KINDS = ["cohort", "static-cohort", "dynamic-cohort", "precalculated-cohort"]
EVENTS = [{"kind": "EventsNode", "event": "a"}]


@pytest.mark.parametrize("more", [{}, {"operator": "not_in"}, {"negation": True}], ids=str)
@pytest.mark.parametrize("kind", COHORT_KINDS)
def test_a_cohort_that_does_not_exist_is_refused(kind: str, more: dict[str, object]) -> None:
    rule = {"key": "id", "type": kind, "value": 99, **more}
    tests = msgspec.structs.replace(CONTEXT, test_account_filters=(rule,))
    query = "select 1 from events where {filters}"
    trend = {"kind": "TrendsQuery", "series": EVENTS}
    refused = pytest.raises(SourceError, match="Cohort 99 does not exist")

    with refused:
        compile_query(query, context=CONTEXT, filters={"properties": [rule]})
    with refused:
        compile_query(query, context=tests, filters={"filterTestAccounts": True})
    with refused:
        build_insight({**trend, "properties": [rule]}, CONTEXT)
    with refused:
        build_insight({**trend, "series": [{**EVENTS[0], "properties": [rule]}]}, CONTEXT)
    with refused:
        build_insight({**trend, "filterTestAccounts": True}, tests)
    with refused:
        breakdown = {"breakdown": [5, 99], "breakdown_type": "cohort"}
        build_insight({**trend, "breakdownFilter": breakdown}, CONTEXT)
    with pytest.raises(FilterRefused, match="person property filters"):
        build_filter({"properties": [rule]}, FilterContext())
    with pytest.raises(FilterRefused, match="person property filters"):
        build_filter({"filter_test_accounts": True}, FilterContext(test_account_filters=[rule]))


@pytest.mark.parametrize(
    "query",
    ["select 1 from events where person_id in cohort 99",
     "select 1 from events where person_id not in cohort 99",
     "select countIf(person_id in cohort {variables.c}) from events"],
)  # fmt: skip
def test_in_cohort_needs_one_that_exists(query: str) -> None:
    with pytest.raises(SourceError, match="Cohort 99 does not exist"):
        compile_query(query, context=CONTEXT, variables={"c": 99})


def test_cohorts_are_filtered_by_membership_only() -> None:
    with pytest.raises(SourceError, match="'in' and 'not_in'"):
        property_condition({"key": "id", "type": "cohort", "value": 5, "operator": "gt"}, CONTEXT)


TIMES = (
    {"key": "when"},
    {"key": "when", "type": "person"},
    {"key": "when", "type": "group", "group_type_index": 0},
    {"key": "$start_timestamp", "type": "session"},
    {"key": "timestamp", "type": "event_metadata"},
    {"key": "created_at", "type": "person_metadata"},
    {"key": "last_seen_at", "type": "person_metadata"},
)
_WHEN = dict.fromkeys([(kind, "when") for kind in ("event", "person", "group_0")], "DateTime")
TIME_CONTEXT = msgspec.structs.replace(CONTEXT, property_types=_WHEN)


@pytest.mark.parametrize("item", TIMES, ids=str)
@pytest.mark.parametrize("operator", ["gt", "gte", "lt", "lte", "min", "max"])
def test_the_order_of_times_needs_a_date(item: dict[str, object], operator: str) -> None:
    for value in ("abc", "", "-7d", "true", "2026-02-30", "1.2.3", ["2026-01-05", "abc"]):
        with pytest.raises(SourceError, match="cannot be compared with a time"):
            property_condition({**item, "operator": operator, "value": value}, TIME_CONTEXT)
    for value in ("2026-01-05", "2026-1-5 10:00", "2026-01-05T10:00:00Z", 1767607200, "1767607200"):
        assert property_condition({**item, "operator": operator, "value": value}, TIME_CONTEXT)


@pytest.mark.parametrize("item", TIMES[3:], ids=str)
@pytest.mark.parametrize("operator", ["exact", "is_not", "in", "not_in"])
def test_times_of_columns_equal_dates_only(item: dict[str, object], operator: str) -> None:
    for value in (["abc"], ["2026-01-05", "x"], [True], ["-7d"]):
        with pytest.raises(SourceError, match="cannot be compared with a time"):
            property_condition({**item, "operator": operator, "value": value}, TIME_CONTEXT)
    many = ["2026-01-05", 1767607200, None]
    assert property_condition({**item, "operator": operator, "value": many}, TIME_CONTEXT)


STEPS: list[tuple[dict[str, object], list[int]]] = [
    ({"event": "$pageview", "url": "a.com/x"}, [1]),
    ({"event": "$pageview", "url": "A.com/x"}, []),
    ({"event": "$pageview", "url": "a.com/x", "url_matching": "exact"}, []),
    ({"event": "$pageview", "url": "https://a.com/y", "url_matching": "exact"}, [2]),
    ({"url": "a.com/[xy]", "url_matching": "regex"}, [1, 2]),
    ({"event": "$autocapture", "text": "Go"}, [3]),
    ({"event": "$autocapture", "text": "G", "text_matching": "contains"}, [3]),
    ({"event": "$autocapture", "text": "^o", "text_matching": "regex"}, []),
    ({"event": "$autocapture", "href": "a.com", "href_matching": "contains"}, [3]),
    ({"event": "$autocapture", "href": "a.com"}, []),
    ({"event": "$autocapture", "href": "https://a.com/z"}, [3]),
    ({"event": "$autocapture", "href": "/z$", "href_matching": "regex"}, [3]),
    ({"event": "$autocapture", "selector": "div > a.nav-link", "tag_name": "a"}, [3]),
    ({"event": "$autocapture", "selector": "a > div"}, []),
    ({"event": "$pageview", "text": "Go"}, [1, 2, 5]),
    ({"event": "purchase", "properties": [{"key": "plan", "value": "pro"}]}, [4]),
]


@pytest.mark.parametrize(("step", "expected"), STEPS, ids=str)
def test_actions(step: dict[str, object], expected: list[int], hogql_world: HogqlWorld) -> None:
    actions = {"7": {"name": "Mine", "steps": [step]}}
    context = msgspec.structs.replace(CONTEXT, actions=actions)
    query = "select uuid from events where matchesAction('Mine') order by timestamp"
    rows = hogql_world.rows(query, context=context)

    assert [int(str(uuid)[-1]) for (uuid,) in rows] == expected
