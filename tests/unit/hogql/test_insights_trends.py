"""Trends of generated data against plain Python."""

from collections import defaultdict
from datetime import timedelta
from statistics import mean

import msgspec
import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from support.hogql_generated import CONTEXT, EVENTS, NOW, PEOPLE, Seen
from support.hogql_reference import (
    Calendar,
    by_interval,
    local,
    named,
    numbers,
    percentile,
    person_count,
    text,
    within,
)
from support.hogql_world import HogqlWorld

ZONES = ["UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata"]
PAGE = {"kind": "EventsNode", "event": "$pageview"}
PAID = {"kind": "EventsNode", "event": "paid"}
PRICE = {"math_property": "price"}


@pytest.fixture
def answer(generated_world: HogqlWorld):
    def answer(query, zone: str = "UTC"):
        context = msgspec.structs.replace(CONTEXT, timezone=zone)
        plan = build_insight(query, context)
        compiled = [compile_query(each, context=context) for each in plan.queries]
        return plan.shape([generated_world.raw(each) for each in compiled])

    return answer


def trend(series, first: str, last: str, **more):
    nodes = series if isinstance(series, list) else [series]
    dates = {"date_from": first, "date_to": last}
    return {"kind": "TrendsQuery", "series": nodes, "dateRange": dates, **more}


RANGES = {
    "autumn": ((2026, 10, 23), (2026, 10, 27)),
    "spring": ((2026, 3, 28), (2026, 3, 30)),
    "weeks": ((2026, 10, 14), (2026, 11, 1)),
}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("range_", "interval"),
    [("autumn", "hour"), ("spring", "hour"), ("weeks", "day"), ("weeks", "week"),
     ("weeks", "month"), ("spring", "day")],
)  # fmt: skip
def test_counts_in_every_interval_and_zone(answer, zone, range_, interval) -> None:
    first, last = RANGES[range_]
    calendar = Calendar(local(*first, zone), local(*last, zone), interval)
    dates = ("-".join(f"{part:02}" for part in each) for each in (first, last))

    (line,) = answer(trend(PAGE, *dates, interval=interval), zone)

    assert line["data"] == by_interval(calendar, named("$pageview"), len)
    clock = " %H:%M:%S" if interval == "hour" else ""
    assert line["days"] == [at.strftime(f"%Y-%m-%d{clock}") for at in calendar.starts]
    assert line["count"] == sum(line["data"])


def prices(aggregate):
    return lambda events: aggregate(numbers(events, "price")) if numbers(events, "price") else 0


def sessions(events: list[Seen]) -> int:
    return len({seen.session for seen in events if seen.session})


def groups(events: list[Seen]) -> int:
    return len({seen.company for seen in events if seen.company})


def per_person(aggregate):
    def measure(events: list[Seen]) -> float:
        counts: dict[str, int] = {}
        for seen in events:
            counts[seen.human.id] = counts.get(seen.human.id, 0) + 1
        return aggregate(list(counts.values()))

    return measure


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize(
    ("math", "measure"),
    [
        ({"math": "total"}, len),
        ({"math": "dau"}, person_count),
        ({"math": "unique_session"}, sessions),
        ({"math": "unique_group", "math_group_type_index": 0}, groups),
        ({"math": "sum", **PRICE}, prices(sum)),
        ({"math": "avg", **PRICE}, prices(mean)),
        ({"math": "min", **PRICE}, prices(min)),
        ({"math": "max", **PRICE}, prices(max)),
        ({"math": "median", **PRICE}, prices(lambda values: percentile(values, 0.5))),
        ({"math": "p90", **PRICE}, prices(lambda values: percentile(values, 0.9))),
        ({"math": "p95", **PRICE}, prices(lambda values: percentile(values, 0.95))),
        ({"math": "p99", **PRICE}, prices(lambda values: percentile(values, 0.99))),
        ({"math": "hogql", "math_hogql": "sum(properties.price) / count()"},
         lambda events: sum(numbers(events, "price")) / len(events)),
        ({"math": "avg_count_per_actor"}, per_person(mean)),
        ({"math": "max_count_per_actor"}, per_person(max)),
    ],
    ids=lambda value: value["math"] if isinstance(value, dict) else "",
)  # fmt: skip
def test_math(answer, math, measure, zone: str) -> None:
    calendar = Calendar(local(2026, 10, 14, zone), local(2026, 11, 1, zone), "day")

    (line,) = answer(trend({**PAID, **math}, "2026-10-14", "2026-11-01"), zone)

    assert line["data"] == pytest.approx(by_interval(calendar, named("paid"), measure))


def test_session_durations_count_once_a_session(answer) -> None:
    node = {**PAGE, "math": "sum", "math_property": "$session_duration"}
    spans: dict[str, list[Seen]] = {}
    for seen in EVENTS:
        spans.setdefault(seen.session, []).append(seen)
    long = {
        key: int(max(each.at for each in all_).timestamp())
        - int(min(each.at for each in all_).timestamp())
        for key, all_ in spans.items()
        if key
    }

    def measure(events: list[Seen]) -> float:
        return sum(long[key] for key in {seen.session for seen in events if seen.session})

    (line,) = answer(trend(node, "2026-10-14", "2026-10-20"))

    calendar = Calendar(local(2026, 10, 14, "UTC"), local(2026, 10, 20, "UTC"), "day")
    assert line["data"] == by_interval(calendar, named("$pageview"), measure)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
@pytest.mark.parametrize(("math", "days"), [("weekly_active", 7), ("monthly_active", 30)])
@pytest.mark.parametrize("interval", ["day", "hour", "week"])
def test_active_people_of_the_days_before(answer, math, days, interval, zone) -> None:
    calendar = Calendar(local(2026, 10, 24, zone), local(2026, 10, 30, zone), interval)
    node = {**PAID, "math": math}

    (line,) = answer(trend(node, "2026-10-24", "2026-10-30", interval=interval), zone)

    expected = []
    for start in calendar.starts:
        ends = calendar.next(start)
        begins = ends - timedelta(days=days)
        if interval == "hour":
            begins = ends.astimezone(local(2026, 1, 1, "UTC").tzinfo) - timedelta(days=days)
        last = min(ends - timedelta(microseconds=1), calendar.end)
        paid = [seen for seen in within(begins, last) if seen.event == "paid"]
        if interval == "week" and math == "weekly_active":
            paid = [seen for seen in paid if seen.at >= calendar.start]
        expected.append(person_count(paid))
    assert line["data"] == expected


def test_active_people_as_one_number(answer) -> None:
    node = {**PAID, "math": "weekly_active"}
    query = trend(node, "2026-10-14", "2026-10-30", trendsFilter={"display": "BoldNumber"})

    (line,) = answer(query)

    last = local(2026, 10, 31, "UTC")
    week = within(last - timedelta(days=7), last - timedelta(microseconds=1))
    assert line["aggregated_value"] == person_count(seen for seen in week if seen.event == "paid")


@pytest.mark.parametrize("display", ["ActionsLineGraph", "BoldNumber"])
def test_active_people_by_values_of_the_days_before(answer, display) -> None:
    node = {**PAGE, "math": "weekly_active"}
    query = trend(node, "2026-10-24", "2026-10-24", trendsFilter={"display": display},
                  breakdownFilter={"breakdown": "$browser"})  # fmt: skip

    lines = answer(query)

    last = local(2026, 10, 25, "UTC")
    week = within(last - timedelta(days=7), last - timedelta(microseconds=1))
    by_value: dict[str | None, list[Seen]] = {}
    for seen in week:
        if seen.event == "$pageview":
            by_value.setdefault(seen.properties.get("$browser"), []).append(seen)
    day = {seen.properties.get("$browser") for seen in week if seen.at >= last - timedelta(days=1)}
    assert set(by_value) - day  # values of earlier days only do not become "other"
    last_values = {
        line["breakdown_value"]: line["data"][-1] if line["data"] else line["aggregated_value"]
        for line in lines
    }
    assert last_values == {value: person_count(seen) for value, seen in by_value.items()}


@pytest.mark.parametrize("matching", [False, True])
def test_first_time_users(answer, matching: bool) -> None:
    rule = {"key": "$browser", "value": "Chrome"}
    math = "first_matching_event_for_user" if matching else "first_time_for_user"
    node = {**PAGE, "math": math, "properties": [rule]}
    chrome = [seen for seen in EVENTS if seen.event == "$pageview"]
    if matching:
        chrome = [seen for seen in chrome if seen.properties.get("$browser") == "Chrome"]
    first: dict[str, Seen] = {}
    for seen in sorted(chrome, key=lambda value: value.at):
        first.setdefault(seen.human.id, seen)
    counted = {
        seen.number for seen in first.values() if seen.properties.get("$browser") == "Chrome"
    }

    (line,) = answer(trend(node, "2026-10-14", "2026-11-01"))

    calendar = Calendar(local(2026, 10, 14, "UTC"), local(2026, 11, 1, "UTC"), "day")
    assert line["data"] == by_interval(calendar, lambda seen: seen.number in counted, len)


# --- broken down


def lines_by(key, measure=len, test=None) -> dict[object, float]:
    calendar = Calendar(local(2026, 10, 14, "UTC"), local(2026, 11, 1, "UTC"), "day")
    split: dict[object, list[Seen]] = {}
    for seen in calendar.events():
        if (test or named("$pageview"))(seen):
            split.setdefault(key(seen), []).append(seen)
    return {name: measure(value) for name, value in split.items()}


@pytest.mark.parametrize(
    ("filter_", "key"),
    [
        ({"breakdown": "$browser"}, lambda seen: text(seen.properties.get("$browser"))),
        ({"breakdown": "returning"}, lambda seen: text(seen.properties.get("returning"))),
        ({"breakdown": "plan", "breakdown_type": "person"},
         lambda seen: text(seen.human.properties.get("plan"))),
        ({"breakdown": "size", "breakdown_type": "group", "breakdown_group_type_index": 0},
         lambda seen: {"acme": "10", "globex": "200"}.get(seen.company)),
        ({"breakdown": "upper(properties.$browser)", "breakdown_type": "hogql"},
         lambda seen: (text(seen.properties.get("$browser")) or "").upper() or None),
    ],
)  # fmt: skip
def test_breakdowns(answer, filter_, key) -> None:
    lines = answer(trend(PAGE, "2026-10-14", "2026-11-01", breakdownFilter=filter_))

    assert {line["breakdown_value"]: line["count"] for line in lines} == lines_by(key)
    assert [line["count"] for line in lines] == sorted(
        (line["count"] for line in lines), reverse=True
    )


def test_several_breakdowns(answer) -> None:
    parts = [{"property": "$browser"}, {"property": "plan", "type": "person"}]
    filter_ = {"breakdowns": parts, "breakdown_limit": 100}

    lines = answer(trend(PAGE, "2026-10-14", "2026-11-01", breakdownFilter=filter_))

    assert {tuple(line["breakdown_value"]): line["count"] for line in lines} == lines_by(
        lambda seen: (
            text(seen.properties.get("$browser")),
            text(seen.human.properties.get("plan")),
        )
    )


@pytest.mark.parametrize(("math", "measure"), [
    ({}, len), ({"math": "dau"}, person_count), ({"math": "avg", **PRICE}, prices(mean)),
])  # fmt: skip
def test_the_rest_is_computed_of_its_own_events(answer, math, measure) -> None:
    filter_ = {"breakdown": "country", "breakdown_limit": 4}
    query = trend({**PAID, **math}, "2026-10-14", "2026-11-01", breakdownFilter=filter_,
                  trendsFilter={"display": "ActionsTable"})  # fmt: skip

    lines = answer(query)

    sizes = lines_by(lambda seen: seen.properties["country"], measure, named("paid"))
    top = sorted(sizes, key=lambda name: (-sizes[name], name))[:4]
    expected = lines_by(
        lambda seen: seen.properties["country"] if seen.properties["country"] in top else "Other",
        measure,
        named("paid"),
    )
    assert {line["breakdown_value"]: line["aggregated_value"] for line in lines} == pytest.approx(
        expected
    )
    assert lines[-1]["breakdown_value"] == "Other"


def test_the_rest_may_be_hidden(answer) -> None:
    filter_ = {
        "breakdown": "country",
        "breakdown_limit": 3,
        "breakdown_hide_other_aggregation": True,
    }

    lines = answer(trend(PAGE, "2026-10-14", "2026-11-01", breakdownFilter=filter_))

    sizes = lines_by(lambda seen: seen.properties["country"])
    assert [line["count"] for line in lines] == sorted(sizes.values(), reverse=True)[:3]


def test_numbers_fall_into_bins(answer) -> None:
    filter_ = {"breakdowns": [{"property": "price", "histogram_bin_count": 2}]}

    lines = answer(trend(PAID, "2026-10-14", "2026-11-01", breakdownFilter=filter_))

    counts = {line["breakdown_value"][0]: line["count"] for line in lines}
    missing = counts.pop(None)
    calendar = Calendar(local(2026, 10, 14, "UTC"), local(2026, 11, 1, "UTC"), "day")
    paid = [seen for seen in calendar.events() if seen.event == "paid"]
    known = numbers(paid, "price")
    assert missing == len(paid) - len(known)
    assert sum(counts.values()) == len(known)
    middle = percentile(known, 0.5)
    assert sorted(counts) == [f"[1,{middle:g}]", f"[{middle:g},200]"]
    assert counts[f"[1,{middle:g}]"] == sum(value < middle for value in known)
    assert known


def test_cohorts(answer) -> None:
    filter_ = {"breakdown": [1, 2], "breakdown_type": "cohort"}

    lines = answer(trend(PAGE, "2026-10-14", "2026-11-01", breakdownFilter=filter_))

    cohort = {human.id: str(1 + index % 2) for index, human in enumerate(PEOPLE[:30])}
    expected = lines_by(lambda seen: cohort.get(seen.human.id))
    expected.pop(None, None)
    assert {line["breakdown_value"]: line["count"] for line in lines} == expected


def test_urls_without_their_last_slash(answer) -> None:
    filter_ = {"breakdown": "$current_url", "breakdown_normalize_url": True}

    lines = answer(trend(PAGE, "2026-10-14", "2026-11-01", breakdownFilter=filter_))

    expected = lines_by(lambda seen: seen.properties["$current_url"].removesuffix("/"))
    assert {line["breakdown_value"]: line["count"] for line in lines} == expected


def test_the_slash_of_the_root_stays(answer) -> None:
    name = "if(properties.country > 'C2', '/', '/a/?b=/')"
    parts = [{"property": name, "type": "hogql", "normalize_url": True}]

    lines = answer(trend(PAGE, "2026-10-14", "2026-11-01", breakdownFilter={"breakdowns": parts}))

    assert {line["label"] for line in lines} == {"/", "/a?b=/"}


# --- comparison, formulas, displays, sampling


def test_comparison_keeps_the_values_of_the_present(answer) -> None:
    filter_ = {"breakdown": "country", "breakdown_limit": 2}
    query = trend(PAGE, "2026-10-24", "2026-10-30", breakdownFilter=filter_,
                  compareFilter={"compare": True})  # fmt: skip

    lines = answer(query)

    now = {line["breakdown_value"]: line for line in lines if line["compare_label"] == "current"}
    before = {
        line["breakdown_value"]: line for line in lines if line["compare_label"] == "previous"
    }
    assert set(before) <= set(now)
    calendar = Calendar(local(2026, 10, 17, "UTC"), local(2026, 10, 23, "UTC"), "day")
    for name, line in before.items():
        if name != "Other":
            expected = by_interval(
                calendar,
                lambda seen, name=name: (
                    seen.event == "$pageview" and seen.properties["country"] == name
                ),
                len,
            )
            assert line["data"] == expected


@pytest.mark.parametrize("limit", [3, 5, 25])
@pytest.mark.parametrize("math", ["total", "dau", "avg"])
def test_values_of_the_past_fill_the_places_that_are_left(answer, limit: int, math: str) -> None:
    node = {**(PAID if math == "avg" else PAGE), "math": math, "math_property": "price"}
    filter_ = {"breakdown": "country", "breakdown_limit": limit}
    query = trend(node, "2026-10-26", "2026-10-26", breakdownFilter=filter_,
                  compareFilter={"compare": True, "compare_to": "-1w"})  # fmt: skip

    lines = answer(query)

    def sizes(day: int) -> dict[str, float]:
        groups: dict[str, list[Seen]] = defaultdict(list)
        for seen in Calendar(
            local(2026, 10, day, "UTC"), local(2026, 10, day, "UTC"), "day"
        ).events():
            if seen.event == node["event"]:
                groups[seen.properties["country"]].append(seen)
        measures = {
            "total": len,
            "dau": person_count,
            "avg": lambda own: mean(numbers(own, "price") or [-1]),
        }
        return {name: measures[math](own) for name, own in groups.items()}

    now, before = sizes(26), sizes(19)
    top = sorted(now, key=lambda name: (-now[name], name))
    top += sorted(before.keys() - now, key=lambda name: (-before[name], name))
    for label, own in (("current", now), ("previous", before)):
        values = {line["breakdown_value"] for line in lines if line["compare_label"] == label}
        assert values == {name if name in top[:limit] else "Other" for name in own}
    assert before.keys() - now


def test_formulas_join_series_by_their_values(answer) -> None:
    query = trend(
        [PAID, PAGE], "2026-10-14", "2026-11-01",
        breakdownFilter={"breakdown": "country", "breakdown_limit": 5},
        trendsFilter={"formulas": ["A / B * 100", "A + B"], "display": "ActionsTable"},
    )  # fmt: skip

    lines = answer(query)

    paid = lines_by(lambda seen: seen.properties["country"], len, named("paid"))
    pages = lines_by(lambda seen: seen.properties["country"])
    both = {key: paid.get(key, 0) + pages.get(key, 0) for key in {*paid, *pages}}
    top = sorted(both, key=lambda key: (-both[key], key))[:5]
    sums = {line["breakdown_value"]: line["aggregated_value"] for line in lines[6:]}
    rest = sum(size for key, size in both.items() if key not in top)
    assert sums == {**{key: both[key] for key in top}, "Other": rest}
    shares = {line["breakdown_value"]: line["aggregated_value"] for line in lines[:6]}
    for key in top:
        assert shares[key] == pytest.approx(100 * paid.get(key, 0) / pages[key])


def test_smoothing_averages_what_came_before(answer) -> None:
    (plain,) = answer(trend(PAGE, "2026-10-14", "2026-10-20"))
    (smooth,) = answer(
        trend(PAGE, "2026-10-14", "2026-10-20", trendsFilter={"smoothingIntervals": 3})
    )

    data = plain["data"]
    expected = [mean(data[max(0, index - 2) : index + 1]) for index in range(len(data))]
    assert smooth["data"] == pytest.approx(expected)


def test_properties_and_test_accounts(answer) -> None:
    rules = [
        {"key": "$browser", "value": ["Chrome", "Safari"], "operator": "exact", "type": "event"},
        {"key": "plan", "operator": "is_set", "type": "person"},
    ]

    (line,) = answer(
        trend(PAGE, "2026-10-14", "2026-11-01", properties=rules, filterTestAccounts=True)
    )

    def fits(seen: Seen) -> bool:
        return (
            seen.event == "$pageview"
            and seen.properties.get("$browser") in {"Chrome", "Safari"}
            and "plan" in seen.human.properties
            and "@test.com" not in seen.human.properties["email"]
        )

    calendar = Calendar(local(2026, 10, 14, "UTC"), local(2026, 11, 1, "UTC"), "day")
    assert line["data"] == by_interval(calendar, fits, len)


def test_sampling_reads_some_people_and_scales_up(answer, generated_world: HogqlWorld) -> None:
    (line,) = answer(trend(PAGE, "2026-10-14", "2026-11-01", samplingFactor=0.4))

    known = generated_world.rows(
        "select distinct distinct_id from events sample 0.4", context=CONTEXT
    )
    ids = {row[0] for row in known}
    assert 0 < len(ids) < len({seen.distinct_id for seen in EVENTS})
    calendar = Calendar(local(2026, 10, 14, "UTC"), local(2026, 11, 1, "UTC"), "day")
    counted = by_interval(
        calendar, lambda seen: seen.event == "$pageview" and seen.distinct_id in ids, len
    )
    assert line["data"] == [round(count / 0.4) for count in counted]


@pytest.mark.parametrize(
    "math",
    [{"math": "unique_group", "math_group_type_index": 0}, {"math": "monthly_active"}],
    ids=str,
)
def test_events_without_a_group_make_no_line(answer, math) -> None:
    by_group = {"breakdown": "nullIf($group_0, '')", "breakdown_type": "hogql"}
    query = trend({**PAGE, **math}, "2026-10-14", "2026-11-01", breakdownFilter=by_group)

    lines = answer({**query, "aggregation_group_type_index": 0})

    assert {line["breakdown_value"] for line in lines} == {seen.company for seen in EVENTS} - {""}


def test_groups_are_counted_where_there_is_one(answer) -> None:
    node = {**PAGE, "math": "dau"}

    (line,) = answer(trend(node, "2026-10-14", "2026-11-01", aggregation_group_type_index=0))

    calendar = Calendar(local(2026, 10, 14, "UTC"), local(2026, 11, 1, "UTC"), "day")
    assert line["data"] == by_interval(calendar, named("$pageview"), groups)


def test_explicit_dates_are_meant_to_the_instant(answer) -> None:
    dates = {"date_from": "-7d", "date_to": "-1d", "explicitDate": True}

    (line,) = answer({"kind": "TrendsQuery", "series": [PAGE], "dateRange": dates})

    pages = [
        seen
        for seen in within(NOW - timedelta(days=7), NOW - timedelta(days=1))
        if seen.event == "$pageview"
    ]
    assert line["count"] == len(pages)
    assert (line["days"][0], line["days"][-1]) == ("2026-10-26", "2026-11-01")


@pytest.mark.parametrize(
    ("dates", "first", "last"),
    [
        ({}, (2026, 10, 26), (2026, 11, 2)),
        ({"date_from": "-3d"}, (2026, 10, 30), (2026, 11, 2)),
        ({"date_from": "-14d", "date_to": "-7d"}, (2026, 10, 19), (2026, 10, 26)),
        ({"date_from": "mStart"}, (2026, 11, 1), (2026, 11, 2)),
        ({"date_from": "-1mStart", "date_to": "-1mEnd"}, (2026, 10, 1), (2026, 10, 31)),
        ({"date_from": "2026-10-20", "date_to": "2026-10-25"}, (2026, 10, 20), (2026, 10, 25)),
    ],
    ids=str,
)
@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles"])
def test_relative_and_absolute_dates(answer, dates, first, last, zone: str) -> None:
    (line,) = answer({"kind": "TrendsQuery", "series": [PAGE], "dateRange": dates}, zone)

    calendar = Calendar(local(*first, zone), local(*last, zone), "day")
    assert line["data"] == by_interval(calendar, named("$pageview"), len)
    assert line["days"][0] == "-".join(f"{part:02}" for part in first)
