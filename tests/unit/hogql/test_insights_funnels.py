"""Funnels of generated data against plain Python."""

import itertools
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from statistics import mean, median

import msgspec
import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from support.hogql_generated import CONTEXT, EVENTS, PEOPLE, Seen
from support.hogql_reference import Calendar, local, text, within
from support.hogql_world import HogqlWorld

FIRST, LAST = local(2026, 10, 14, "UTC"), local(2026, 10, 31, "UTC")
RANGE = within(FIRST, LAST + timedelta(days=1) - timedelta(microseconds=1))
STEPS = ("$pageview", "added", "paid")
SERIES = [{"kind": "EventsNode", "event": name} for name in STEPS]
Attempt = list[Seen]


@pytest.fixture
def answer(generated_world: HogqlWorld):
    def answer(zone: str = "UTC", **query):
        context = msgspec.structs.replace(CONTEXT, timezone=zone)
        dates = {"date_from": "2026-10-14", "date_to": "2026-10-31"}
        full = {"kind": "FunnelsQuery", "series": SERIES, "dateRange": dates, **query}
        plan = build_insight(full, context)
        compiled = [compile_query(each, context=context) for each in plan.queries]
        return plan.shape([generated_world.raw(each) for each in compiled])

    return answer


# --- the same in Python


def actors(events: list[Seen] = RANGE, key: Callable[[Seen], object] | None = None):
    groups: dict[object, list[Seen]] = defaultdict(list)
    for seen in events:
        groups[key(seen) if key else seen.human.id].append(seen)
    return groups


def ordered(events: list[Seen], window: timedelta, steps=STEPS) -> list[Attempt]:
    attempts = []
    for index, entry in enumerate(events):
        if entry.event != steps[0]:
            continue
        reached = [entry]
        for seen in events[index + 1 :]:
            in_time = seen.at <= entry.at + window
            if len(reached) < len(steps) and seen.event == steps[len(reached)] and in_time:
                reached.append(seen)
        attempts.append(reached)
    return attempts


def strict(events: list[Seen], window: timedelta, steps=STEPS) -> list[Attempt]:
    attempts = []
    for index, entry in enumerate(events):
        reached = []
        for step, seen in zip(steps, events[index:], strict=False):
            if seen.event != step or seen.at > entry.at + window:
                break
            reached.append(seen)
        if reached:
            attempts.append(reached)
    return attempts


def unordered(events: list[Seen], window: timedelta, steps=STEPS) -> list[Attempt]:
    attempts = []
    for index, entry in enumerate(events):
        if entry.event not in steps:
            continue
        firsts = {}
        for seen in events[index:]:
            if seen.event in steps and seen.at <= entry.at + window:
                firsts.setdefault(seen.event, seen)
        attempts.append(sorted(firsts.values(), key=lambda seen: seen.at))
    return attempts


ORDERS = {"ordered": ordered, "strict": strict, "unordered": unordered}


def best_of(attempts: list[Attempt]) -> Attempt | None:
    if not attempts:
        return None
    most = max(len(attempt) for attempt in attempts)
    return next(attempt for attempt in attempts if len(attempt) == most)


def counts(attempts: list[Attempt], steps: int = 3) -> list[int]:
    return [sum(len(attempt) > step for attempt in attempts) for step in range(steps)]


def seconds(attempts: list[Attempt], step: int) -> list[float]:
    return [
        (each[step].at - each[step - 1].at).total_seconds() for each in attempts if len(each) > step
    ]


# --- steps


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("amount", "unit", "window"), [
    (14, "day", timedelta(days=14)), (1, "hour", timedelta(hours=1)),
    (3, "minute", timedelta(minutes=3)),
    (1, "week", timedelta(days=7)),
])  # fmt: skip
def test_steps(answer, order: str, amount: int, unit: str, window: timedelta) -> None:
    filter_ = {
        "funnelOrderType": order,
        "funnelWindowInterval": amount,
        "funnelWindowIntervalUnit": unit,
    }

    steps = answer(funnelsFilter=filter_)

    attempts = [
        best for events in actors().values() if (best := best_of(ORDERS[order](events, window)))
    ]
    assert [step["count"] for step in steps] == counts(attempts)
    for index in (1, 2):
        times = seconds(attempts, index)
        if times:
            assert steps[index]["average_conversion_time"] == pytest.approx(mean(times))
            assert steps[index]["median_conversion_time"] == pytest.approx(median(times))


@pytest.mark.parametrize("order", ["ordered", "strict"])
def test_more_steps_than_fit_beside_a_time(answer, order: str) -> None:
    steps = STEPS[:1] * 11

    result = answer(series=SERIES[:1] * 11, funnelsFilter={"funnelOrderType": order})

    window = timedelta(days=14)
    attempts = [best_of(ORDERS[order](events, window, steps)) for events in actors().values()]
    reached = counts([each for each in attempts if each], len(steps))
    assert [step["count"] for step in result] == reached
    assert order == "strict" or reached[4]


def test_one_event_is_one_step(answer) -> None:
    any_event = {"kind": "EventsNode", "event": None}

    steps = answer(series=[SERIES[2], any_event])

    attempts = [
        any(seen.event == "paid" for seen in events[:-1])
        for events in actors().values()
        if any(seen.event == "paid" for seen in events)
    ]
    assert [step["count"] for step in steps] == [len(attempts), sum(attempts)]


@pytest.mark.parametrize("order", ["ordered", "unordered", "strict"])
def test_the_same_step_twice_needs_two_events(answer, order: str) -> None:
    steps = answer(series=[SERIES[2], SERIES[2]], funnelsFilter={"funnelOrderType": order})

    def two(events: list[Seen]) -> bool:
        pairs = itertools.pairwise(events)
        if order == "strict":
            return any(event.event == other.event == "paid" for event, other in pairs)
        paid = [seen.at for seen in events if seen.event == "paid"]
        return any(b - a <= timedelta(days=14) for a, b in itertools.pairwise(paid))

    payers = [
        events for events in actors().values() if any(event.event == "paid" for event in events)
    ]
    assert [step["count"] for step in steps] == [len(payers), sum(map(two, payers))]


@pytest.mark.parametrize("order", ["ordered", "unordered"])
@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 2), (1, 2)])
def test_exclusions(answer, order: str, start: int, end: int) -> None:
    window = timedelta(hours=2)
    exclusion = {
        "kind": "EventsNode",
        "event": "signed_up",
        "funnelFromStep": start,
        "funnelToStep": end,
    }

    steps = answer(
        funnelsFilter={
            "funnelOrderType": order,
            "funnelWindowInterval": 2,
            "funnelWindowIntervalUnit": "hour",
            "exclusions": [exclusion],
        }
    )

    def is_allowed(attempt: Attempt, events: list[Seen]) -> bool:
        if len(attempt) <= start:
            return True
        until = attempt[end].at if len(attempt) > end else attempt[0].at + window
        return not any(
            attempt[start].at < seen.at < until for seen in events if seen.event == "signed_up"
        )

    bests = []
    for events in actors().values():
        attempts = [each for each in ORDERS[order](events, window) if is_allowed(each, events)]
        if best := best_of(attempts):
            bests.append(best)
    assert [step["count"] for step in steps] == counts(bests)
    plain = [
        best for events in actors().values() if (best := best_of(ORDERS[order](events, window)))
    ]
    assert counts(plain) != counts(bests)


BROWSERS = ["Chrome", "Safari"]


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("math", [
    "first_time_for_user", "first_time_for_user_with_filters", "first_matching_event_for_user",
])  # fmt: skip
def test_steps_that_are_first_events(answer, math: str, step: int) -> None:
    series = [dict(node) for node in SERIES]
    series[step] |= {"math": math, "properties": [{"key": "$browser", "value": BROWSERS}]}

    steps = answer(series=series)

    firsts = set()
    for events in actors(sorted(EVENTS, key=lambda seen: seen.at)).values():
        own = [
            seen for seen in events
            if seen.event == STEPS[step]
            and (math == "first_time_for_user" or browser(seen) in BROWSERS)
        ]  # fmt: skip
        firsts |= {seen.number for seen in own[:1] if browser(seen) in BROWSERS}
    events = [seen for seen in RANGE if seen.event != STEPS[step] or seen.number in firsts]
    window = timedelta(days=14)
    attempts = [
        best for actor in actors(events).values() if (best := best_of(ordered(actor, window)))
    ]
    assert [each["count"] for each in steps] == counts(attempts)
    assert steps[step]["count"]


def test_groups_and_expressions_as_actors(answer) -> None:
    by_group = answer(aggregation_group_type_index=0)
    by_session = answer(funnelsFilter={"funnelAggregateByHogQL": "properties.$session_id"})
    by_column = answer(funnelsFilter={"funnelAggregateByHogQL": "$session_id"})

    def expected(key: Callable[[Seen], object]) -> list[int]:
        groups = actors(key=key)
        groups.pop("", None)
        window = timedelta(days=14)
        return counts(
            [best for each in groups.values() if (best := best_of(ordered(each, window)))]
        )

    assert [step["count"] for step in by_group] == expected(lambda seen: seen.company)
    assert [step["count"] for step in by_column] == expected(lambda seen: seen.session)
    assert [step["count"] for step in by_session] == [0, 0, 0]


# --- broken down


def browser(seen: Seen) -> str | None:
    return text(seen.properties.get("$browser"))


def _touched(events: list[Seen], position: int) -> str | None:
    values = [value for seen in events if seen.event in STEPS and (value := browser(seen))]
    return values[position] if values else None


def _by_attribution(attribution: str, step: int) -> dict[str | None, list[Attempt]]:
    window, groups = timedelta(days=14), defaultdict(list)
    if attribution == "all_events":
        for (_, value), events in actors(key=lambda seen: (seen.human.id, browser(seen))).items():
            if best := best_of(ordered(events, window)):
                groups[value].append(best)
        return groups
    for events in actors().values():
        best = best_of(ordered(events, window))
        if best is None or (attribution == "step" and len(best) <= step):
            continue
        value = (
            browser(best[step])
            if attribution == "step"
            else _touched(events, 0 if attribution == "first_touch" else -1)
        )
        groups[value].append(best)
    return groups


@pytest.mark.parametrize(("attribution", "step"), [
    ("first_touch", 0), ("last_touch", 0), ("all_events", 0), ("step", 0), ("step", 1), ("step", 2),
])  # fmt: skip
def test_attribution(answer, attribution: str, step: int) -> None:
    groups = answer(
        breakdownFilter={"breakdown": "$browser"},
        funnelsFilter={"breakdownAttributionType": attribution, "breakdownAttributionValue": step},
    )

    expected = {key: counts(value) for key, value in _by_attribution(attribution, step).items()}
    actual = {group[0]["breakdown_value"][0]: [each["count"] for each in group] for group in groups}
    assert actual == expected
    sizes = [group[0]["count"] for group in groups]
    assert sizes == sorted(sizes, reverse=True)


def test_the_rest_is_lumped_together(answer) -> None:
    filter_ = {"breakdown": "email", "breakdown_type": "person", "breakdown_limit": 2}

    groups = answer(breakdownFilter=filter_)

    assert len(groups) == 3
    assert groups[-1][0]["breakdown_value"] == ["Other"]
    attempts = [
        best for actor in actors().values() if (best := best_of(ordered(actor, timedelta(days=14))))
    ]
    assert [sum(group[index]["count"] for group in groups) for index in range(3)] == counts(
        attempts
    )


def test_the_rest_may_be_hidden(answer) -> None:
    filter_ = {"breakdown": "email", "breakdown_type": "person", "breakdown_limit": 2}
    hidden = {**filter_, "breakdown_hide_other_aggregation": True}

    for kind in ("steps", "trends"):
        every, without_rest = (
            answer(breakdownFilter=each, funnelsFilter={"funnelVizType": kind})
            for each in (filter_, hidden)
        )
        assert without_rest == every[:2]


@pytest.mark.parametrize("attribution", ["first_touch", "step"])
def test_bins_are_of_the_funnel(answer, attribution: str) -> None:
    groups = answer(
        series=SERIES[1:],
        breakdownFilter={"breakdown": "price", "breakdown_histogram_bin_count": 2},
        funnelsFilter={"breakdownAttributionType": attribution},
    )

    prices = sorted(
        seen.properties["price"]
        for seen in RANGE
        if seen.event in STEPS[1:] and "price" in seen.properties
    )
    middle = prices[len(prices) // 2]
    edges = {f"[{low:g},{high:g}]" for low, high in ((1, middle), (middle, 200))}
    assert {group[0]["breakdown_value"][0] for group in groups} - {None} == edges


def test_cohorts(answer) -> None:
    groups = answer(breakdownFilter={"breakdown": [1, 2], "breakdown_type": "cohort"})

    cohort = {human.id: str(1 + index % 2) for index, human in enumerate(PEOPLE[:30])}
    expected: dict[str, list[Attempt]] = defaultdict(list)
    for human, events in actors().items():
        best = best_of(ordered(events, timedelta(days=14)))
        if best and human in cohort:
            expected[cohort[str(human)]].append(best)
    actual = {group[0]["breakdown_value"][0]: [each["count"] for each in group] for group in groups}
    assert actual == {key: counts(value) for key, value in expected.items()}


# --- trends and times


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Los_Angeles"])
@pytest.mark.parametrize("section", [(0, 2), (0, 1), (1, 2)])
def test_trends(answer, zone: str, section: tuple[int, int]) -> None:
    start, end = section
    filter_ = {"funnelVizType": "trends", "funnelFromStep": start, "funnelToStep": end,
               "funnelWindowInterval": 1}  # fmt: skip

    (line,) = answer(zone, funnelsFilter=filter_)

    calendar = Calendar(local(2026, 10, 14, zone), local(2026, 10, 31, zone), "day")
    reached: dict[tuple[object, int], int] = {}
    for actor, events in actors(calendar.events()).items():
        for attempt in ordered(events, timedelta(days=1)):
            key = (actor, calendar.index_of(attempt[0].at))
            reached[key] = max(reached.get(key, 0), len(attempt))
    expected = []
    for day in range(len(calendar.starts)):
        depths = [depth for (_, key), depth in reached.items() if key == day]
        entered, done = (sum(depth > step for depth in depths) for step in (start, end))
        expected.append(round(100 * done / entered, 2) if entered else 0)
    assert line["data"] == expected
    assert line["days"][0] == "2026-10-14"


def test_trends_broken_down(answer) -> None:
    lines = answer(
        breakdownFilter={"breakdown": "$browser"},
        funnelsFilter={"funnelVizType": "trends", "breakdownAttributionType": "all_events"},
        interval="month",
    )

    for line in lines:
        (value,) = line["breakdown_value"]
        split = actors(key=lambda seen: (seen.human.id, browser(seen)))
        depths = [
            max(len(attempt) for attempt in attempts)
            for (_, own), events in split.items()
            if own == value and (attempts := ordered(events, timedelta(days=14)))
        ]
        assert line["data"] == [round(100 * sum(depth > 2 for depth in depths) / len(depths), 2)]


@pytest.mark.parametrize("section", [(0, 2), (0, 1), (1, 2)])
def test_time_to_convert(answer, section: tuple[int, int]) -> None:
    start, end = section
    filter_ = {"funnelVizType": "time_to_convert", "funnelFromStep": start, "funnelToStep": end}

    rows = answer(funnelsFilter={**filter_, "binCount": 5})

    best = [
        attempt
        for events in actors().values()
        if (attempt := best_of(ordered(events, timedelta(days=14))))
    ]
    times = [
        (attempt[end].at - attempt[start].at).total_seconds()
        for attempt in best
        if len(attempt) > end
    ]
    assert rows["average_conversion_time"] == pytest.approx(mean(times))
    assert sum(count for _, count in rows["bins"]) == len(times)
    edges = [edge for edge, _ in rows["bins"]]
    assert len(edges) == 6
    for (edge, count), following in zip(rows["bins"], [*edges[1:], float("inf")], strict=True):
        assert count == sum(edge <= value < following for value in times)


def test_filters_and_test_accounts(answer) -> None:
    rule = {"key": "plan", "value": "pro", "type": "person"}
    step = {**SERIES[0], "properties": [{"key": "$browser", "value": "Chrome"}]}

    steps = answer(series=[step, *SERIES[1:]], properties=[rule], filterTestAccounts=True)

    events = [
        seen
        for seen in RANGE
        if seen.human.properties.get("plan") == "pro"
        and "@test.com" not in seen.human.properties["email"]
        and (seen.event != "$pageview" or browser(seen) == "Chrome")
    ]
    window = timedelta(days=14)
    attempts = [
        best for actor in actors(events).values() if (best := best_of(ordered(actor, window)))
    ]
    assert [step["count"] for step in steps] == counts(attempts)


def test_sampling(answer, generated_world: HogqlWorld) -> None:
    steps = answer(samplingFactor=0.5)

    rows = generated_world.rows(
        "select distinct distinct_id from events sample 0.5", context=CONTEXT
    )
    ids = {row[0] for row in rows}
    events = actors([seen for seen in RANGE if seen.distinct_id in ids])
    attempts = [
        best for event in events.values() if (best := best_of(ordered(event, timedelta(days=14))))
    ]
    assert [step["count"] for step in steps] == [count * 2 for count in counts(attempts)]


def test_a_histogram_of_a_sample_is_scaled_up(answer) -> None:
    filter_ = {"funnelVizType": "time_to_convert", "binCount": 5}

    (*_, steps) = answer(samplingFactor=0.5)
    rows = answer(funnelsFilter=filter_, samplingFactor=0.5)
    both = answer(funnelsFilter=filter_, samplingFactor=0.5, compareFilter={"compare": True})

    assert steps["count"] > 0
    assert sum(persons for _, persons in rows["bins"]) == steps["count"]
    assert sum(persons for _, persons in both[0]["bins"]) == steps["count"]
