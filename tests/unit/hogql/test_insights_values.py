"""Retention sums and averages, grouped series and person metadata against plain Python."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from support.hogql_generated import CONTEXT, EVENTS, PEOPLE, Seen
from support.hogql_reference import Calendar, local
from support.hogql_world import HogqlWorld

TARGET = {"id": "added", "type": "events"}
BACK = {"id": "paid", "type": "events"}
DAYS = 18
DAY = timedelta(days=1)
SIZES = {human.id: 10.0 * index for index, human in enumerate(PEOPLE)}


@pytest.fixture
def answer(generated_world: HogqlWorld):
    def answer(kind: str, zone: str = "UTC", **query):
        context = msgspec.structs.replace(CONTEXT, timezone=zone)
        dates = {"date_from": "2026-10-14", "date_to": "2026-10-31"}
        plan = build_insight({"kind": kind, "dateRange": dates, **query}, context)
        compiled = [compile_query(each, context=context) for each in plan.queries]
        return plan.shape([generated_world.raw(each) for each in compiled])

    return answer


def calendar_of(zone: str = "UTC") -> Calendar:
    return Calendar(local(2026, 10, 14, zone), local(2026, 10, 31, zone), "day")


def price(seen: Seen) -> float:
    return float(seen.properties.get("price", 0))


# --- retention


def _actors(calendar: Calendar) -> Iterator[tuple[list[Seen], list[Seen]]]:
    groups: dict[str, list[Seen]] = defaultdict(list)
    for seen in sorted(calendar.events(), key=lambda seen: seen.at):
        groups[seen.human.id].append(seen)
    for events in groups.values():
        yield (
            [seen for seen in events if seen.event == TARGET["id"]],
            [seen for seen in events if seen.event == BACK["id"]],
        )


def _cells(
    calendar: Calendar, *, elapsed: bool, column=lambda gap: gap, least: int = 1
) -> dict[tuple[int, int], list[float]]:
    """By start and gap: what each actor of the cell adds."""
    cells: dict[tuple[int, int], list[float]] = defaultdict(list)
    for starts, returns in _actors(calendar):
        firsts: dict[int, Seen] = {}
        for seen in starts:
            firsts.setdefault(calendar.index_of(seen.at), seen)

        def gap(first: Seen, seen: Seen) -> int:
            if elapsed:
                return (seen.at - first.at) // DAY
            return calendar.index_of(seen.at) - calendar.index_of(first.at)

        for start, first in firsts.items():
            cells[start, 0].append(sum(price(each) for each in starts if gap(first, each) == 0))
            later: dict[int, list[float]] = defaultdict(list)
            for seen in returns:
                if gap(first, seen) > 0:
                    later[column(gap(first, seen))].append(price(seen))
            for index, prices in later.items():
                if len(prices) >= least:
                    cells[start, index].append(sum(prices))
    return cells


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles"])
@pytest.mark.parametrize("kind", ["sum", "avg"])
@pytest.mark.parametrize(
    "options",
    [{}, {"timeWindowMode": "24_hour_windows"}, {"minimumOccurrences": 2}],
    ids=lambda options: next(iter(options), "plain"),
)
def test_retention_adds_up_a_property(answer, zone: str, kind: str, options) -> None:
    filter_ = {"totalIntervals": DAYS, "targetEntity": TARGET, "returningEntity": BACK,
               "aggregationType": kind, "aggregationProperty": "price", **options}  # fmt: skip

    rows = answer("RetentionQuery", zone, retentionFilter=filter_)

    cells = _cells(
        calendar_of(zone),
        elapsed="timeWindowMode" in options,
        least=options.get("minimumOccurrences", 1),
    )
    for start, row in enumerate(rows):
        for gap, value in enumerate(row["values"]):
            added = cells.get((start, gap), [])
            expected = sum(added) / len(added) if added and kind == "avg" else sum(added)
            assert value["count"] == len(added)
            assert value["aggregation_value"] == pytest.approx(expected)
            assert value["label"] == f"Day {gap}"
    assert any(value["aggregation_value"] for row in rows for value in row["values"][1:])


def test_retention_adds_up_over_brackets(answer) -> None:
    filter_ = {"totalIntervals": DAYS, "targetEntity": TARGET, "returningEntity": BACK,
               "aggregationType": "sum", "aggregationProperty": "price",
               "retentionCustomBrackets": [1, 3, 5]}  # fmt: skip

    rows = answer("RetentionQuery", retentionFilter=filter_)

    places = {1: 1, 2: 2, 3: 2, 4: 2, **dict.fromkeys(range(5, 10), 3)}
    cells = _cells(calendar_of(), elapsed=False, column=lambda gap: places.get(gap, 4))
    for start, row in enumerate(rows):
        for index, value in enumerate(row["values"]):
            added = cells.get((start, index), [])
            assert (value["count"], value["aggregation_value"]) == (len(added), sum(added))


def test_a_property_of_persons_counts_once_an_event(answer) -> None:
    filter_ = {"totalIntervals": DAYS, "targetEntity": TARGET, "returningEntity": BACK,
               "aggregationType": "sum", "aggregationProperty": "missing",
               "aggregationPropertyType": "person"}  # fmt: skip

    rows = answer("RetentionQuery", retentionFilter=filter_)

    assert {value["aggregation_value"] for row in rows for value in row["values"]} == {0}
    counted = answer("RetentionQuery", retentionFilter=filter_ | {"aggregationType": "count"})
    assert [[value["count"] for value in row["values"]] for row in rows] == [
        [value["count"] for value in row["values"]] for row in counted
    ]
    assert "aggregation_value" not in counted[0]["values"][0]


def test_retention_adds_up_each_value_of_a_breakdown(answer) -> None:
    filter_ = {"totalIntervals": DAYS, "targetEntity": TARGET, "returningEntity": BACK,
               "aggregationType": "sum", "aggregationProperty": "price"}  # fmt: skip
    breakdown = {"breakdown": "$browser", "breakdown_limit": 1}

    rows = answer("RetentionQuery", retentionFilter=filter_, breakdownFilter=breakdown)

    top = next(row["breakdown_value"] for row in rows)
    rule = (
        {"key": "$browser", "value": top} if top else {"key": "$browser", "operator": "is_not_set"}
    )
    alone = answer("RetentionQuery", retentionFilter=filter_, properties=[rule])
    assert [row["values"] for row in rows if row["breakdown_value"] == top] == [
        row["values"] for row in alone
    ]
    assert {row["breakdown_value"] for row in rows} == {top, "Other"}


# --- groups of series

GROUP = {
    "kind": "GroupNode",
    "operator": "OR",
    "nodes": [
        {"kind": "EventsNode", "event": "added"},
        {"kind": "EventsNode", "event": "paid",
         "properties": [{"key": "price", "operator": "gt", "value": 5}]},
    ],
}  # fmt: skip


def _in_group(seen: Seen) -> bool:
    return seen.event == "added" or (seen.event == "paid" and price(seen) > 5)


def test_a_group_of_series_counts_what_matches_any_of_them(answer) -> None:
    (line,) = answer("TrendsQuery", series=[GROUP])

    calendar = calendar_of()
    expected = [0] * DAYS
    for seen in calendar.events():
        expected[calendar.index_of(seen.at)] += _in_group(seen)
    assert line["data"] == expected
    assert (line["label"], line["action"]["type"]) == ("added, paid", "groups")


def test_a_group_of_series_has_its_own_math_and_properties(answer) -> None:
    rule = {"key": "$browser", "value": "Chrome"}
    node = GROUP | {"math": "sum", "math_property": "price", "name": "Money", "properties": [rule]}
    node["nodes"] = [each | {"math": "dau"} for each in GROUP["nodes"]]

    (line,) = answer("TrendsQuery", series=[node], trendsFilter={"display": "BoldNumber"})

    expected = sum(
        price(seen)
        for seen in calendar_of().events()
        if _in_group(seen) and seen.properties.get("$browser") == "Chrome"
    )
    assert line["aggregated_value"] == pytest.approx(expected)
    assert line["label"] == "Money"


@pytest.mark.parametrize("math", ["dau", "first_time_for_user", "unique_session"])
def test_a_group_of_one_is_that_series(answer, math: str) -> None:
    member = GROUP["nodes"][1]
    (alone,) = answer("TrendsQuery", series=[member | {"math": math}])
    (group,) = answer("TrendsQuery", series=[GROUP | {"nodes": [member], "math": math}])

    assert group["data"] == alone["data"]
    assert sum(group["data"])


@pytest.mark.parametrize("kind", ["FunnelsQuery", "LifecycleQuery", "StickinessQuery"])
def test_a_group_stands_in_every_insight(answer, kind: str) -> None:
    either = {"kind": "EventsNode", "event": None, "properties": [
        {"type": "hogql", "key": "event = 'added' or (event = 'paid' and properties.price > 5)"}
    ]}  # fmt: skip
    more = [{"kind": "EventsNode", "event": "$screen"}] if kind == "FunnelsQuery" else []

    group = answer(kind, series=[GROUP, *more])
    plain = answer(kind, series=[either, *more])

    assert len(group) == len(plain)
    for item, expected in zip(group, plain, strict=True):
        assert item.get("data") == expected.get("data")
        assert item.get("count") == expected.get("count")
        times = (each.get("average_conversion_time") for each in (item, expected))
        assert next(times) == pytest.approx(next(times))  # threads add floats in any order


# --- facts of persons


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ({"key": "created_at", "operator": "is_date_after", "value": "2026-10-16"},
         lambda human: human.created_at > datetime(2026, 10, 16, tzinfo=UTC)),
        ({"key": "created_at", "operator": "is_date_before", "value": "2026-10-16"},
         lambda human: human.created_at < datetime(2026, 10, 16, tzinfo=UTC)),
        ({"key": "is_identified", "operator": "exact", "value": "true"}, lambda _: True),
        ({"key": "is_identified", "operator": "exact", "value": ["false"]}, lambda _: False),
        ({"key": "last_seen_at", "operator": "is_date_before", "value": "2026-10-25"},
         lambda human: human.id in _seen_before(datetime(2026, 10, 25, tzinfo=UTC))),
    ],
    ids=lambda value: f"{value['key']} {value['operator']}" if isinstance(value, dict) else "",
)  # fmt: skip
def test_facts_of_persons_are_filters(answer, rule, holds) -> None:
    series = [{"kind": "EventsNode", "event": None}]
    filters = [{"type": "person_metadata", **rule}]

    (line,) = answer("TrendsQuery", series=series, properties=filters)

    expected = sum(holds(seen.human) for seen in calendar_of().events())
    assert line["count"] == expected


def _seen_before(moment: datetime) -> set[str]:
    last: dict[str, datetime] = {}
    for seen in EVENTS:
        last[seen.human.id] = max(seen.at, last.get(seen.human.id, seen.at))
    return {human for human, at in last.items() if at < moment}


# --- cohorts as breakdown


def test_cohorts_are_shown_by_their_names(answer) -> None:
    breakdown = {"breakdown": [1, 2, "all"], "breakdown_type": "cohort"}
    names = {"1": "Odd", "2": "Even", "all": "all users"}
    series = [{"kind": "EventsNode", "event": "added"}, {"kind": "EventsNode", "event": "paid"}]

    groups = answer("FunnelsQuery", series=series, breakdownFilter=breakdown)
    assert {
        (item["breakdown_value"][0], item["breakdown"][0]) for group in groups for item in group
    } == set(names.items())

    filter_ = {"targetEntity": TARGET, "returningEntity": BACK}
    rows = answer("RetentionQuery", retentionFilter=filter_, breakdownFilter=breakdown)
    assert {(row["breakdown_value"], row["breakdown"]) for row in rows} == set(names.items())

    lines = answer("TrendsQuery", series=series[:1], breakdownFilter=breakdown)
    assert {(line["breakdown_value"], line["label"]) for line in lines} == set(names.items())

    steps = {"funnelVizType": "trends"}
    trends = answer("FunnelsQuery", series=series, breakdownFilter=breakdown, funnelsFilter=steps)
    assert {(line["breakdown_value"][0], line["breakdown"][0]) for line in trends} == set(
        names.items()
    )
