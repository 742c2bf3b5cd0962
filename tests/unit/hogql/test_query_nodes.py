"""A misspelled key anywhere in a query is refused with its path and the right key."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest

from hoglet.hogql import QueryContext
from hoglet.hogql.insights.plan import build_insight, compile_insight
from hoglet.hogql.query_json.nodes import (
    ANY,
    FLAG,
    NODES,
    PROPERTIES,
    PROPERTY,
    SERIES,
    Choice,
    EachValue,
)
from hoglet.hogql.query_json.parts import Display, Range
from hoglet.hogql.query_json.upgrade import upgraded
from hoglet.hogql.query_json.validation import check_node
from hoglet.kit.errors import SourceError

CONTEXT = QueryContext(project_id=1)
PAGE = {"kind": "EventsNode", "event": "$pageview"}
TREND = {"kind": "TrendsQuery", "series": [PAGE]}


def places(  # noqa: C901 (one case a kind of shape)
    shape: Any,
) -> Iterator[tuple[list[str | int], Mapping[str, Any]]]:
    """Every object of a shape, with the path of keys and indexes to it."""
    if shape is PROPERTIES:
        yield [0], PROPERTY
        yield ["values", 0], PROPERTY
    elif isinstance(shape, EachValue):
        for path, keys in places(shape[0]):
            yield ["some", *path], keys
    elif isinstance(shape, list) and callable(shape[0]):
        for kind, keys in SERIES.items():
            own = {key: inner for key, inner in keys.items() if key != "nodes"}
            for path, inner in places({**own, "kind": Choice((kind,))}):
                yield [0, *path], inner
    elif isinstance(shape, list):
        for path, keys in places(shape[0]):
            yield [0, *path], keys
    elif isinstance(shape, dict):
        yield [], shape
        for key, inner in shape.items():
            for path, keys in places(inner):
                yield [key, *path], keys


def sample(shape: Any) -> Any:
    """A value that fits."""
    if shape is ANY or shape is PROPERTIES or isinstance(shape, EachValue):
        return None
    if isinstance(shape, Range):
        return shape.low
    if shape == FLAG:
        return True
    if isinstance(shape, Choice):
        return shape[0]
    return "x" if str in shape else 1 if isinstance(shape, tuple) else None


def with_key(path: list[str | int], key: str, keys: Mapping[str, Any]) -> Any:
    """An object that holds only the path to a key and the kind of the object there."""
    if not path:
        kind = {"kind": keys["kind"][0]} if isinstance(keys.get("kind"), Choice) else {}
        return {**kind, key: None}
    first, *rest = path
    inner = with_key(rest, key, keys)
    return [inner] if first == 0 else {first: inner}


def cases(kind: str) -> Iterator[tuple[list[str | int], str, Mapping[str, Any]]]:
    """Path, key and keys: about a hundred per kind, too many for one test each."""
    for path, keys in places(NODES[kind]):
        for key in keys:
            yield path, key, keys


def refusal(query: dict[str, Any]) -> SourceError | None:
    try:
        check_node(query)
    except SourceError as error:
        return error
    return None


def misspellings(key: str) -> list[str]:
    return [key[0] + key, key + "_"]


@pytest.mark.parametrize("kind", NODES)
def test_every_misspelt_key_is_refused_with_the_right_one(kind: str) -> None:
    for path, key, keys in cases(kind):
        for wrong in misspellings(key):
            if wrong in keys:
                continue
            case = f"{kind} {path} {wrong}"
            error = refusal({"kind": kind} | with_key(path, wrong, keys))
            assert error is not None, f"{case} is accepted"
            assert error.attr == "__".join(map(str, [*path, wrong])), case
            assert f"Did you mean '{key}'" in error.message, case
            assert "1:1" not in str(error), case


@pytest.mark.parametrize("kind", NODES)
def test_every_key_is_accepted(kind: str) -> None:
    for path, key, keys in cases(kind):
        query = with_key(path, key, keys)
        node = query
        for step in path:
            node = node[step]
        node[key] = kind if key == "kind" and not path else sample(keys[key])

        check_node({"kind": kind} | query)  # an error says the path of the key


@pytest.mark.parametrize(
    ("query", "attr", "meant"),
    [
        ({**TREND, "foo": 1}, "foo", "Its keys are"),
        ({**TREND, "breakdownFilters": {}}, "breakdownFilters", "breakdownFilter"),
        ({**TREND, "filterTestAccount": True}, "filterTestAccount", "filterTestAccounts"),
        ({**TREND, "dateRange": {"dateFrom": "-7d"}}, "dateRange__dateFrom", "date_from"),
        ({**TREND, "series": [{**PAGE, "mth": "dau"}]}, "series__0__mth", "math"),
        ({**TREND, "series": [PAGE, {**PAGE, "properties": [{"kee": "a"}]}]},
         "series__1__properties__0__kee", "key"),
        ({**TREND, "properties": {"type": "AND",
                                  "values": [{"type": "OR", "values": [{"valu": 1}]}]}},
         "properties__values__0__values__0__valu", "value"),
        ({**TREND, "modifiers": {"personsOnEventMode": 1}}, "modifiers__personsOnEventMode",
         "personsOnEventsMode"),
        ({"kind": "RetentionQuery", "retentionFilter": {}, "compareFilter": {}}, "compareFilter",
         "Its keys are"),
        ({"kind": "FunnelsQuery", "series": [PAGE],
          "funnelsFilter": {"funnelWindowIntervalUnits": "day"}},
         "funnelsFilter__funnelWindowIntervalUnits", "funnelWindowIntervalUnit"),
        ({"kind": "StickinessQuery", "series": [PAGE], "aggregation_group_type_index": 0},
         "aggregation_group_type_index", "Its keys are"),
        ({**TREND, "trendsFilter": {"display": "WorldMapp"}}, "trendsFilter__display", "WorldMap"),
        ({**TREND, "series": [{"kind": "EventNode"}]}, "series__0__kind", "EventsNode"),
        ({**TREND, "series": [{"kind": "DataWarehouseNode"}]}, "series__0__kind",
         "EventsNode, ActionsNode"),
        ({**TREND, "series": [{"kind": "ActionsNode", "id": 1, "event": "a"}]}, "series__0__event",
         "Its keys are"),
        ({**TREND, "breakdownFilter": {"breakdowns": [{"property": "a"}] * 4}},
         "breakdownFilter__breakdowns", "at most 3"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_what_was_ignored_is_refused(query: dict[str, Any], attr: str, meant: str) -> None:
    with pytest.raises(SourceError) as error:
        build_insight(query, CONTEXT)

    assert error.value.attr == attr
    assert meant in error.value.message


@pytest.mark.parametrize(
    ("query", "attr"),
    [
        ({"series": [PAGE], "properties": [{"key": "a"}]}, "properties__0__value"),
        ({"series": [{**PAGE, "properties": [{"value": 1}]}]}, "series__0__properties__0__key"),
        ({"series": [{**PAGE, "math_hogql": "sum(1)"}]}, "series__0__math_hogql"),
        ({"series": [{**PAGE, "math": "total", "math_hogql": "sum(1)"}]}, "series__0__math_hogql"),
        ({"series": [{**PAGE, "math": "hogql"}]}, "series__0__math_hogql"),
        ({"series": [{**PAGE, "math_property": "price"}]}, "series__0__math"),
        ({"series": [{**PAGE, "math": "unique_group"}]}, "series__0__math_group_type_index"),
        ({"series": [{**PAGE, "math_property_revenue_currency": {"static": "USD"}}]},
         "series__0__math_property_revenue_currency"),
        ({"series": [PAGE], "breakdownFilter": {"breakdown": "size", "breakdown_type": "group"}},
         "breakdownFilter__breakdown_group_type_index"),
        ({"series": [PAGE], "breakdownFilter": {"breakdowns": [{"property": 1, "type": "group"}]}},
         "breakdownFilter__breakdowns__0__group_type_index"),
        ({"series": [PAGE], "tags": {"scene": "Insight", "foo": 1}}, "tags__foo"),
        ({"series": [PAGE], "tags": {"scene": 1}}, "tags__scene"),
        ({"series": [PAGE], "response": "a"}, "response"),
        ({"kind": "FunnelsQuery", "series": [{**PAGE, "math": "sum", "math_property": "a"}, PAGE]},
         "series__0__math"),
        ({"kind": "LifecycleQuery", "series": [{**PAGE, "math": "sum", "math_property": "a"}]},
         "series__0__math"),
        ({"kind": "RetentionQuery", "retentionFilter": {"targetEntity": {**PAGE, "math": "sum"}}},
         "retentionFilter__targetEntity__math"),
    ],
)  # fmt: skip
def test_incomplete_parts_and_keys_without_effect_are_refused(
    query: dict[str, Any], attr: str
) -> None:
    with pytest.raises(SourceError) as caught:
        compile_insight({"kind": "TrendsQuery", **query}, CONTEXT)

    assert caught.value.attr == attr


@pytest.mark.parametrize(
    ("query", "attr"),
    [
        ({"series": []}, "series"),
        ({"series": [{**PAGE, "math": "summ"}]}, "series__0__math"),
        ({"series": [PAGE, {**PAGE, "math": "sum"}]}, "series__1__math_property"),
        ({"series": [PAGE, {"kind": "ActionsNode", "id": 9}]}, "series__1__id"),
        ({"series": [{**PAGE, "properties": [{"key": "a", "operator": "exakt", "value": 1}]}]},
         "series__0__properties__0__operator"),
        ({"series": [PAGE], "properties": [{"key": "a", "operator": "between", "value": 1}]},
         "properties__0__value"),
        ({"series": [PAGE], "properties": [{"key": "id", "type": "cohort", "value": 99}]},
         "properties__0__value"),
        ({"series": [PAGE], "breakdownFilter": {"breakdown_type": "nope"}},
         "breakdownFilter__breakdown_type"),
        ({"series": [PAGE], "breakdownFilter": {"breakdowns": [{"type": "event"}]}},
         "breakdownFilter__breakdowns__0__property"),
        ({"series": [PAGE], "properties": [{"key": "a +", "type": "hogql"}]}, "properties__0__key"),
        ({"series": [PAGE], "properties": [{"key": "a", "value": 1, "type": "person"},
                                           {"key": "nope(1)", "type": "hogql"}]},
         "properties__1__key"),
        ({"series": [{**PAGE, "math": "hogql", "math_hogql": "sum(nope)"}]},
         "series__0__math_hogql"),
        ({"series": [PAGE], "breakdownFilter": {"breakdown": "nope(1)", "breakdown_type": "hogql"}},
         "breakdownFilter__breakdown"),
        ({"series": [PAGE], "breakdownFilter": {"breakdown": "a", "breakdown_type": "planet"}},
         "breakdownFilter__breakdown_type"),
        ({"series": [PAGE], "trendsFilter": {"formula": "A + C"}}, "trendsFilter__formula"),
        ({"series": [PAGE], "samplingFactor": 2}, "samplingFactor"),
        ({"series": [PAGE], "dateRange": {"date_from": "soon"}}, "dateRange__date_from"),
        ({"series": [PAGE], "compareFilter": {"compare": True, "compare_to": "x"}},
         "compareFilter__compare_to"),
        ({"series": [PAGE], "aggregation_group_type_index": 7}, "aggregation_group_type_index"),
        ({"series": [PAGE], "conversionGoal": {"event": "a"}}, "conversionGoal"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_errors_name_their_place(query: dict[str, Any], attr: str) -> None:
    with pytest.raises(SourceError) as error:
        compile_insight({"kind": "TrendsQuery", **query}, CONTEXT)

    assert error.value.attr == attr
    is_expression = attr.endswith(("__key", "__math_hogql", "__breakdown"))
    assert (re.match(r"1:\d+: ", str(error.value)) is not None) == is_expression
    assert "None" not in str(error.value)


@pytest.mark.parametrize(
    ("query", "attr", "right"),
    [
        ({"properties": [{"key": "a", "value": 1}, {"type": "session", "key": "$sesion_duration",
                                                    "operator": "gt", "value": 1}]},
         "properties__1__key", "$session_duration"),
        ({"properties": {"type": "OR", "values": [{"type": "event_metadata", "key": "evnt",
                                                   "value": "a"}]}},
         "properties__values__0__key", "event"),
        ({"series": [{**PAGE, "properties": [{"type": "event_metadata", "key": "evnt",
                                              "value": "a"}]}]},
         "series__0__properties__0__key", "event"),
        ({"series": [PAGE, {**PAGE, "math": "avg", "math_property": "$session_duraton",
                            "math_property_type": "session_properties"}]},
         "series__1__math_property", "$session_duration"),
        ({"breakdownFilter": {"breakdown": "evnt", "breakdown_type": "event_metadata"}},
         "breakdownFilter__breakdown", "event"),
        ({"breakdownFilter": {"breakdowns": [{"property": "a"},
                                             {"property": "$sesion_duration", "type": "session"}]}},
         "breakdownFilter__breakdowns__1__property", "$session_duration"),
        ({"kind": "RetentionQuery", "series": None,
          "retentionFilter": {"targetEntity": {"id": "a", "type": "action"}}},
         "retentionFilter__targetEntity__type", "actions"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_names_of_columns_have_a_place_and_the_nearest(
    query: dict[str, Any], attr: str, right: str
) -> None:
    whole = {"kind": "TrendsQuery", "series": [PAGE], **query}
    whole = {key: value for key, value in whole.items() if value is not None}

    with pytest.raises(SourceError, match=re.escape(f"Did you mean '{right}'?")) as error:
        compile_insight(whole, CONTEXT)

    assert error.value.attr == attr


def test_a_variable_must_be_an_object_but_a_value_may_be_null() -> None:
    query = {"kind": "HogQLQuery", "query": "select {a}"}
    check_node(query | {"values": {"a": None}, "variables": {"id": {"value": None}}})
    for wrong in (None, "x", 1, []):
        with pytest.raises(SourceError) as error:
            check_node(query | {"variables": {"id": wrong}})
        assert error.value.attr == "variables__id"


def test_a_series_item_without_a_kind() -> None:
    series = [
        {"event": "a"}, {"id": 7}, {"id": "a", "type": "events"}, {"id": 7, "type": "actions"},
        {"kind": None, "event": "a"},
    ]  # fmt: skip

    upgraded_series = upgraded({"kind": "TrendsQuery", "series": series})["series"]

    events, action = {"kind": "EventsNode", "event": "a"}, {"kind": "ActionsNode", "id": 7}
    assert upgraded_series == [events, action, events, action, events]


@pytest.mark.parametrize("display", get_args(Display.__value__))
def test_displays_are_accepted(display: str) -> None:
    drawing = {"display": display, "goalLines": [{"label": "x", "value": 1}], "showLegend": True}

    assert build_insight({**TREND, "trendsFilter": drawing}, CONTEXT).queries


def test_older_words_are_read_as_todays() -> None:
    old = {
        "kind": "FunnelsQuery",
        "series": [PAGE],
        "funnelsFilter": {
            "funnel_viz_type": "trends",
            "funnel_window_interval": 3,
            "funnel_aggregate_by_hogql": "distinct_id",
            "bin_count": 5,
        },
        "customAggregationTarget": None,
    }

    assert upgraded(old) == {
        "kind": "FunnelsQuery",
        "series": [PAGE],
        "funnelsFilter": {
            "funnelVizType": "trends",
            "funnelWindowInterval": 3,
            "funnelAggregateByHogQL": "distinct_id",
            "binCount": 5,
        },
    }


def test_deep_groups_end() -> None:
    group: dict[str, Any] = {"key": "a", "value": 1}
    for _ in range(60):
        group = {"type": "AND", "values": [group]}

    with pytest.raises(SourceError, match="nested too deeply"):
        build_insight({**TREND, "properties": group}, CONTEXT)


@pytest.mark.parametrize(
    ("changes", "attr"),
    [
        ({"nods": []}, "series__0__nods"),
        ({"nodes": [PAGE, {**PAGE, "evnt": "a"}]}, "series__0__nodes__1__evnt"),
        ({"nodes": [{"kind": "ActionsNode", "event": "a"}]}, "series__0__nodes__0__event"),
        ({"nodes": PAGE}, "series__0__nodes"),
        ({"nodes": [PAGE] * 51}, "series__0__nodes"),
        ({"nodes": [None]}, "series__0__nodes__0"),
        ({"operator": "AND"}, "series__0__operator"),
        ({"operator": "or"}, "series__0__operator"),
    ],
)
def test_groups_of_series_are_closed(changes: dict[str, Any], attr: str) -> None:
    group = {"kind": "GroupNode", "operator": "OR", "nodes": [PAGE], **changes}
    with pytest.raises(SourceError) as refused:
        check_node({"kind": "TrendsQuery", "series": [group]})
    assert refused.value.attr == attr


def within(path: str, value: Any) -> dict[str, Any]:
    """A trend, funnel, … with one option, e.g. ``funnelsFilter__binCount``."""
    first, _, rest = path.partition("__")
    if not rest:
        return {path: value}
    inner = within(rest, value)
    return {first: [inner] if first == "breakdowns" else inner}


RANGES = [
    ("TrendsQuery", "breakdownFilter__breakdown_limit", 1, 10_000),
    ("TrendsQuery", "breakdownFilter__breakdown_histogram_bin_count", 1, 100),
    ("TrendsQuery", "breakdownFilter__breakdown_group_type_index", 0, 4),
    ("TrendsQuery", "trendsFilter__smoothingIntervals", 1, 1000),
    ("TrendsQuery", "aggregation_group_type_index", 0, 4),
    ("FunnelsQuery", "funnelsFilter__binCount", 1, 90),
    ("FunnelsQuery", "funnelsFilter__funnelWindowInterval", 1, 10**9),
    ("FunnelsQuery", "funnelsFilter__breakdownAttributionValue", 0, 2),
    ("FunnelsQuery", "funnelsFilter__funnelFromStep", 0, 1),
    ("FunnelsQuery", "funnelsFilter__funnelToStep", 1, 2),
    ("RetentionQuery", "retentionFilter__totalIntervals", 1, 100),
    ("RetentionQuery", "retentionFilter__minimumOccurrences", 1, 10**9),
    ("PathsQuery", "pathsFilter__edgeLimit", 1, 1000),
    ("PathsQuery", "pathsFilter__stepLimit", 2, 20),
    ("PathsQuery", "pathsFilter__minEdgeWeight", 0, 10**9),
    ("PathsQuery", "pathsFilter__maxEdgeWeight", 1, 10**9),
    ("StickinessQuery", "intervalCount", 1, 10**9),
    ("StickinessQuery", "stickinessFilter__stickinessCriteria__value", 0, 10**9),
]


def ranged(kind: str, path: str, value: Any) -> dict[str, Any]:
    series = {} if kind in {"RetentionQuery", "PathsQuery"} else {"series": [PAGE, PAGE, PAGE]}
    query: dict[str, Any] = {"kind": kind, **series, **within(path, value)}
    query.get("funnelsFilter", {})["funnelVizType"] = "trends"
    return query


@pytest.mark.parametrize(("kind", "path", "low", "high"), RANGES, ids=str)
def test_numbers_out_of_range_are_refused(kind: str, path: str, low: int, high: int) -> None:
    for value in (low, high, None):
        assert build_insight(ranged(kind, path, value), CONTEXT).queries
    below = low - 1
    for value in (below, -1, -(10**9), high + 1, 10**12, 10**30, low + 0.5, True, False, "2", [2]):
        with pytest.raises(SourceError) as error:
            build_insight(ranged(kind, path, value), CONTEXT)
        assert error.value.attr == path, value


@pytest.mark.parametrize(
    ("query", "attr"),
    [
        ({"funnelsFilter": {"funnelFromStep": 1, "funnelToStep": 1}}, "funnelFromStep"),
        ({"funnelsFilter": {"funnelFromStep": 2, "funnelToStep": 1}}, "funnelFromStep"),
        ({"funnelsFilter": {"funnelToStep": 0}}, "funnelToStep"),
        ({"funnelsFilter": {"exclusions": [{"event": "x", "funnelToStep": 3}]}},
         "exclusions__0__funnelToStep"),
        ({"funnelsFilter": {"exclusions": [{"event": "x"}, {"event": "x", "funnelFromStep": 2}]}},
         "exclusions__1__funnelFromStep"),
        ({"funnelsFilter": {"exclusions": [{"event": "x", "funnelFromStep": -1}]}},
         "exclusions__0__funnelFromStep"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("display", ["trends", "time_to_convert"])
def test_steps_in_the_wrong_order_are_refused(
    query: dict[str, Any], attr: str, display: str
) -> None:
    query["funnelsFilter"]["funnelVizType"] = display
    with pytest.raises(SourceError) as error:
        build_insight({"kind": "FunnelsQuery", "series": [PAGE] * 3, **query}, CONTEXT)

    assert error.value.attr == f"funnelsFilter__{attr}"


@pytest.mark.parametrize(
    ("query", "attr"),
    [
        ({"dateRange": {"date_from": "2026-01-10", "date_to": "2026-01-09"}},
         "dateRange__date_from"),
        ({"dateRange": {"date_from": "+1d"}}, "dateRange__date_from"),
        ({"dateRange": {"date_from": "-1d", "date_to": "-2d"}}, "dateRange__date_from"),
        ({"dateRange": {"date_to": "1960-01-01"}}, "dateRange__date_to"),
        ({"compareFilter": {"compare_to": "x"}}, "compareFilter__compare_to"),
        ({"compareFilter": {"compare": True, "compare_to": "-0d"}}, "compareFilter__compare_to"),
        ({"compareFilter": {"compare": True, "compare_to": "+1d"}}, "compareFilter__compare_to"),
        ({"compareFilter": {"compare": False, "compare_to": "-1W"}}, "compareFilter__compare_to"),
    ],
    ids=str,
)  # fmt: skip
def test_ranges_that_end_before_they_start_are_refused(query: dict[str, Any], attr: str) -> None:
    with pytest.raises(SourceError) as error:
        build_insight({**TREND, **query}, CONTEXT)

    assert error.value.attr == attr


def test_retention_needs_no_start() -> None:
    query = {"kind": "RetentionQuery", "dateRange": {"date_to": "2020-01-01"}}

    assert build_insight(query, CONTEXT).date_range["date_to"].startswith("2020-01-01")


def test_edge_weights_in_the_wrong_order_are_refused() -> None:
    filter_ = {"minEdgeWeight": 3, "maxEdgeWeight": 2}
    with pytest.raises(SourceError) as error:
        build_insight({"kind": "PathsQuery", "pathsFilter": filter_}, CONTEXT)

    assert error.value.attr == "pathsFilter__minEdgeWeight"
