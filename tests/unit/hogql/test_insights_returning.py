"""Retention, lifecycle and stickiness of generated data against plain Python."""

from collections import defaultdict
from datetime import timedelta

import msgspec
import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from support.hogql_generated import CONTEXT, EVENTS, Seen
from support.hogql_reference import Calendar, local, named, text, within
from support.hogql_world import HogqlWorld

ZONES = ["UTC", "Europe/Berlin", "America/Los_Angeles"]
PAGE = {"kind": "EventsNode", "event": "$pageview"}
TARGET = {"id": "$pageview", "type": "events"}
BACK = {"id": "paid", "type": "events"}


@pytest.fixture
def answer(generated_world: HogqlWorld):
    def answer(kind: str, zone: str = "UTC", **query):
        context = msgspec.structs.replace(CONTEXT, timezone=zone)
        dates = {"date_from": "2026-10-14", "date_to": "2026-10-31"}
        plan = build_insight({"kind": kind, "dateRange": dates, **query}, context)
        compiled = [compile_query(each, context=context) for each in plan.queries]
        return plan.shape([generated_world.raw(each) for each in compiled])

    return answer


def browser(seen: Seen) -> str | None:
    return text(seen.properties.get("$browser"))


# --- retention


def _calendar(zone: str, interval: str, count: int) -> Calendar:
    last = local(2026, 10, 31, zone)
    first = Calendar(last, last, interval).floor(last)
    if interval == "hour":
        first = last + timedelta(days=1) - timedelta(hours=count)
    elif interval == "month":
        first = local(2026, 10 - count + 1, 1, zone)
    else:
        first -= timedelta(days=(7 if interval == "week" else 1) * (count - 1))
    return Calendar(first, last, interval)


def _gaps(calendar: Calendar, starts: list[Seen], returns: list[Seen]) -> dict[int, list[int]]:
    """By starting interval: the gap of every return."""
    gaps: dict[int, list[int]] = {}
    for start in sorted(
        {calendar.index_of(seen.at) for seen in starts if seen.at >= calendar.start}
    ):
        intervals = [calendar.index_of(seen.at) for seen in returns if seen.at >= calendar.start]
        gaps[start] = [interval - start for interval in intervals]
    return gaps


def _table(calendar: Calendar, per_actor, *, least: int = 1, cumulative: bool = False):
    count = len(calendar.starts)
    table = [[0] * (count - start) for start in range(count)]
    for starts, returns in per_actor:
        for start, gaps in _gaps(calendar, starts, returns).items():
            back = {gap for gap in gaps if gap > 0 and gaps.count(gap) >= least}
            counted = set(range(max(back, default=0) + 1)) if cumulative else {0, *back}
            for gap in counted:
                table[start][gap] += 1
    return table


def _events_per_actor(events: list[Seen], key=lambda seen: seen.human.id):
    groups: dict[object, list[Seen]] = defaultdict(list)
    for seen in events:
        groups[key(seen)].append(seen)
    return groups


def _recurring(calendar: Calendar, key=lambda seen: seen.human.id):
    for events in _events_per_actor(calendar.events(), key).values():
        yield (
            [event for event in events if event.event == "$pageview"],
            [event for event in events if event.event == "paid"],
        )


def counts(rows) -> list[list[int]]:
    return [[value["count"] for value in row["values"]] for row in rows]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("period", "count"), [("Day", 18), ("Week", 3), ("Month", 2), ("Hour", 24)]
)
def test_recurring_retention(answer, zone: str, period: str, count: int) -> None:
    filter_ = {"period": period, "totalIntervals": count, "targetEntity": TARGET,
               "returningEntity": BACK}  # fmt: skip

    rows = answer("RetentionQuery", zone, retentionFilter=filter_)

    calendar = _calendar(zone, period.lower(), count)
    assert counts(rows) == _table(calendar, _recurring(calendar))
    assert [row["label"] for row in rows] == [f"{period} {index}" for index in range(count)]
    moments = [start.isoformat().replace("+00:00", "Z") for start in calendar.starts]
    assert [row["date"] for row in rows] == moments


@pytest.mark.parametrize("options", [{"minimumOccurrences": 2}, {"cumulative": True}], ids=str)
def test_retention_options(answer, options) -> None:
    filter_ = {"totalIntervals": 18, "targetEntity": TARGET, "returningEntity": BACK, **options}

    rows = answer("RetentionQuery", retentionFilter=filter_)

    calendar = _calendar("UTC", "day", 18)
    least, cumulative = options.get("minimumOccurrences", 1), "cumulative" in options
    expected = _table(calendar, _recurring(calendar), least=least, cumulative=cumulative)
    assert counts(rows) == expected
    assert expected != _table(calendar, _recurring(calendar))


BRACKETS = {0: "0", 1: "1", **dict.fromkeys((2, 3, 4), "2-4"), **dict.fromkeys(range(5, 10), "5-9")}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("options", [{}, {"minimumOccurrences": 2}, {"cumulative": True}], ids=str)
def test_retention_in_brackets(answer, zone: str, options) -> None:
    filter_ = {"totalIntervals": 18, "targetEntity": TARGET, "returningEntity": BACK,
               "retentionCustomBrackets": [1, 3, 5], **options}  # fmt: skip

    rows = answer("RetentionQuery", zone, retentionFilter=filter_)

    calendar = _calendar(zone, "day", 18)
    columns = list(dict.fromkeys(BRACKETS.values()))
    expected = [dict.fromkeys(columns, 0) for _ in calendar.starts]
    for starts, returns in _recurring(calendar):
        for start, gaps in _gaps(calendar, starts, returns).items():
            later = [BRACKETS.get(gap, "later") for gap in gaps if gap > 0]
            often = [name for name in later if later.count(name) >= options.get(
                "minimumOccurrences", 1)]  # fmt: skip
            for index, name in enumerate(columns):
                reached = {"later", *columns[index:]} if "cumulative" in options else {name}
                expected[start][name] += index == 0 or bool(reached & set(often))
    for index, row in enumerate(rows):
        begun = [name for name in columns if index + int(name.split("-")[0]) < 18]
        actual = {value["label"]: value["count"] for value in row["values"]}
        assert actual == {f"Day {name}": expected[index][name] for name in begun}
    assert sum(row["values"][-1]["count"] for row in rows)


def test_brackets_of_one_interval_are_none(answer) -> None:
    filter_ = {"totalIntervals": 6, "period": "Week", "timeWindowMode": "24_hour_windows"}
    plain = answer("RetentionQuery", retentionFilter=filter_)

    single = {**filter_, "retentionCustomBrackets": [1] * 5}
    assert answer("RetentionQuery", retentionFilter=single) == plain


@pytest.mark.parametrize("type_", ["retention_first_time", "retention_first_ever_occurrence"])
def test_first_time_retention(answer, type_: str) -> None:
    target = {**TARGET, "properties": [{"key": "$browser", "value": "Chrome"}]}
    filter_ = {"totalIntervals": 10, "targetEntity": target, "returningEntity": BACK,
               "retentionType": type_}  # fmt: skip

    rows = answer("RetentionQuery", retentionFilter=filter_)

    calendar = _calendar("UTC", "day", 10)

    def per_actor():
        before = [seen for seen in EVENTS if seen.at <= calendar.end]
        for events in _events_per_actor(sorted(before, key=lambda seen: seen.at)).values():
            pages = [seen for seen in events if seen.event == "$pageview"]
            if type_ == "retention_first_time":
                pages = [seen for seen in pages if browser(seen) == "Chrome"]
            first = [seen for seen in pages[:1] if browser(seen) == "Chrome"]
            yield first, [seen for seen in events if seen.event == "paid"]

    expected = _table(calendar, per_actor())
    assert counts(rows) == expected
    assert sum(map(sum, expected))


def test_retention_in_windows_of_24_hours(answer) -> None:
    filter_ = {"totalIntervals": 10, "targetEntity": TARGET, "returningEntity": BACK,
               "timeWindowMode": "24_hour_windows"}  # fmt: skip

    rows = answer("RetentionQuery", retentionFilter=filter_)

    calendar = _calendar("UTC", "day", 10)
    table = [[0] * (10 - start) for start in range(10)]
    for starts, returns in _recurring(calendar):
        firsts: dict[int, Seen] = {}
        for seen in starts:
            firsts.setdefault(calendar.index_of(seen.at), seen)
        for start, first in firsts.items():
            gaps = {(seen.at - first.at) // timedelta(days=1) for seen in returns}
            for gap in {0, *(gap for gap in gaps if gap > 0)}:
                table[start][gap] += 1
    assert counts(rows) == table


@pytest.mark.parametrize("limit", [25, 2])
def test_retention_broken_down_is_retention_of_each_value(answer, limit: int) -> None:
    filter_ = {"totalIntervals": 18, "targetEntity": TARGET, "returningEntity": BACK}
    breakdown = {"breakdown": "$browser", "breakdown_limit": limit}

    rows = answer("RetentionQuery", retentionFilter=filter_, breakdownFilter=breakdown)

    calendar = _calendar("UTC", "day", 18)
    sizes = {
        value: len({seen.human.id for seen in events if seen.event == "$pageview"})
        for value, events in _events_per_actor(calendar.events(), browser).items()
    }
    names = {None: "$$"}
    top = sorted(sizes, key=lambda value: (-sizes[value], names.get(value, value)))[:limit]

    def split(seen: Seen) -> str | None:
        return browser(seen) if browser(seen) in top else "Other"

    values = list(dict.fromkeys(row["breakdown_value"] for row in rows))
    assert set(values) == {split(seen) for seen in calendar.events()}
    for value in values:
        events = [seen for seen in calendar.events() if split(seen) == value]
        per_actor = [
            (
                [seen for seen in own if seen.event == "$pageview"],
                [seen for seen in own if seen.event == "paid"],
            )
            for own in _events_per_actor(events).values()
        ]
        own = [row for row in rows if row["breakdown_value"] == value]
        assert counts(own) == _table(calendar, per_actor)


def test_retention_of_groups_and_filters(answer) -> None:
    filter_ = {"totalIntervals": 18, "targetEntity": TARGET, "returningEntity": BACK}
    rule = {"key": "$browser", "operator": "is_set"}

    rows = answer("RetentionQuery", retentionFilter=filter_, properties=[rule],
                  aggregation_group_type_index=0)  # fmt: skip

    calendar = _calendar("UTC", "day", 18)
    of_companies = [seen for seen in calendar.events() if seen.company and browser(seen)]
    per_actor = [
        (
            [each for each in own if each.event == "$pageview"],
            [each for each in own if each.event == "paid"],
        )
        for own in _events_per_actor(of_companies, lambda seen: seen.company).values()
    ]
    assert counts(rows) == _table(calendar, per_actor)


# --- lifecycle


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("interval", ["day", "week", "hour", "month"])
def test_lifecycle(answer, zone: str, interval: str) -> None:
    first, last = (24, 26) if interval == "hour" else (14, 31)
    dates = {"date_from": f"2026-10-{first}", "date_to": f"2026-10-{last}"}

    lines = answer("LifecycleQuery", zone, series=[PAGE], interval=interval, dateRange=dates)

    calendar = Calendar(local(2026, 10, first, zone), local(2026, 10, last, zone), interval)
    before = calendar.starts[0] - timedelta(hours=1)
    earlier = Calendar(before.replace(minute=0), before, interval).floor(before)
    wide = Calendar(earlier.astimezone(calendar.zone), local(2026, 10, last, zone), interval)
    expected = {status: [0] * len(calendar.starts) for status in
                ("new", "returning", "resurrecting", "dormant")}  # fmt: skip
    events = [seen for seen in within(wide.start, wide.end) if seen.event == "$pageview"]
    ever = _events_per_actor(EVENTS)
    for actor, own in _events_per_actor(events).items():
        active = {wide.index_of(seen.at) - 1 for seen in own}
        born = min(own[0].human.created_at, *(seen.at for seen in ever[actor]))
        for index in range(len(calendar.starts)):
            if index in active:
                is_new = born >= calendar.starts[index]
                status = "new" if is_new else "returning" if index - 1 in active else "resurrecting"
                expected[status][index] += 1
            elif index - 1 in active:
                expected["dormant"][index] -= 1
    assert {line["status"]: line["data"] for line in lines} == expected
    assert all(line["count"] == sum(line["data"]) for line in lines)


def test_lifecycle_of_groups_that_were_active_before_the_range(answer) -> None:
    lines = answer(
        "LifecycleQuery", series=[PAGE], aggregation_group_type_index=0, interval="month"
    )

    ever = _events_per_actor([seen for seen in EVENTS if seen.company], lambda seen: seen.company)
    assert ever
    new = [
        own for own in ever.values() if min(seen.at for seen in own) >= local(2026, 10, 1, "UTC")
    ]
    assert {line["status"]: line["count"] for line in lines}["new"] == len(new) < len(ever)


def test_toggled_lifecycles(answer) -> None:
    lines = answer(
        "LifecycleQuery", series=[PAGE], lifecycleFilter={"toggledLifecycles": ["new", "dormant"]}
    )

    assert [line["status"] for line in lines] == ["new", "dormant"]


# --- stickiness


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("interval", ["day", "week", "hour"])
@pytest.mark.parametrize("math", [None, "unique_group"])
def test_stickiness(answer, zone: str, interval: str, math: str | None) -> None:
    node = {**PAGE, "math": math, "math_group_type_index": 0}

    (line,) = answer("StickinessQuery", zone, series=[node], interval=interval)

    calendar = Calendar(local(2026, 10, 14, zone), local(2026, 10, 31, zone), interval)
    assert line["data"] == _sticky(calendar, "company" if math else "human")
    assert line["labels"][:2] == [f"1 {interval}", f"2 {interval}s"]
    assert line["days"] == list(range(1, len(calendar.starts) + 1))


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("interval", "width", "count"), [
    ("day", 4, 5), ("day", 18, 1), ("hour", 24, 18), ("week", 2, 2),
])  # fmt: skip
def test_stickiness_in_periods_of_several_intervals(
    answer, zone: str, interval: str, width: int, count: int
) -> None:
    whole, cumulative = (
        answer("StickinessQuery", zone, series=[PAGE], interval=interval, intervalCount=width,
               stickinessFilter={"computedAs": word})[0]
        for word in ("non_cumulative", "cumulative")
    )  # fmt: skip

    calendar = Calendar(local(2026, 10, 14, zone), local(2026, 10, 31, zone), interval)
    data = _sticky(calendar, width=width)
    assert whole["data"] == data
    assert cumulative["data"] == [sum(data[index:]) for index in range(len(data))]
    has_25_hours = interval == "hour" and zone == "Europe/Berlin"  # one of its days
    assert len(whole["days"]) == len(data) == count + has_25_hours
    assert whole["labels"][0] == f"1 period of {width} {interval}s"


def _sticky(
    calendar: Calendar, actor: str = "human", fits=lambda times: times >= 1, width: int = 1
) -> list[int]:
    times: dict[object, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for seen in calendar.events():
        who = getattr(seen, actor)
        if seen.event == "$pageview" and who:
            times[who.id if actor == "human" else who][calendar.index_of(seen.at) // width] += 1
    data = [0] * -(-len(calendar.starts) // width)
    for places in times.values():
        active = sum(map(fits, places.values()))
        if active:
            data[active - 1] += 1
    return data


@pytest.mark.parametrize(("operator", "fits"), [
    ("gte", lambda times: times >= 2), ("lte", lambda times: times <= 2),
    ("exact", lambda times: times == 2),
])  # fmt: skip
def test_stickiness_criteria(answer, operator: str, fits) -> None:
    criteria = {"operator": operator, "value": 2}

    (line,) = answer(
        "StickinessQuery", series=[PAGE], stickinessFilter={"stickinessCriteria": criteria}
    )

    calendar = Calendar(local(2026, 10, 14, "UTC"), local(2026, 10, 31, "UTC"), "day")
    assert line["data"] == _sticky(calendar, fits=fits)


def test_cumulative_stickiness_and_comparison(answer) -> None:
    filter_ = {"computedAs": "cumulative"}
    dates = {"date_from": "2026-10-24", "date_to": "2026-10-30"}

    now, before = answer("StickinessQuery", series=[PAGE], stickinessFilter=filter_,
                         compareFilter={"compare": True}, dateRange=dates)  # fmt: skip

    for line, first, last in ((now, 24, 30), (before, 17, 23)):
        calendar = Calendar(local(2026, 10, first, "UTC"), local(2026, 10, last, "UTC"), "day")
        plain = _sticky(calendar)
        assert line["data"] == [sum(plain[index:]) for index in range(7)]
    assert (now["compare_label"], before["compare_label"]) == ("current", "previous")


@pytest.mark.parametrize("kind", ["LifecycleQuery", "StickinessQuery"])
def test_sampling(answer, kind: str, generated_world: HogqlWorld) -> None:
    lines = answer(kind, series=[PAGE], samplingFactor=0.5)

    rows = generated_world.rows(
        "select distinct distinct_id from events sample 0.5", context=CONTEXT
    )
    ids = {row[0] for row in rows}
    calendar = Calendar(local(2026, 10, 14, "UTC"), local(2026, 10, 31, "UTC"), "day")
    sampled = [
        seen for seen in calendar.events() if seen.distinct_id in ids and named("$pageview")(seen)
    ]
    if kind == "StickinessQuery":
        assert lines[0]["count"] == 2 * len({seen.human.id for seen in sampled})
    else:
        active = {(seen.human.id, calendar.index_of(seen.at)) for seen in sampled}
        active_counts = [line["count"] for line in lines if line["status"] != "dormant"]
        assert sum(active_counts) == 2 * len(active)
