"""Funnels with optional steps against plain Python, which tries every match."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import combinations
from statistics import mean, median

import pytest

from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from hoglet.kit.errors import SourceError
from support.hogql_generated import CONTEXT, Seen
from support.hogql_reference import Calendar, local, within
from support.hogql_world import HogqlWorld

RANGE = within(local(2026, 10, 14, "UTC"), local(2026, 11, 1, "UTC") - timedelta(microseconds=1))
NAMES = {"view": "$pageview", "sign": "signed_up", "add": "added", "pay": "paid", "see": "$screen"}
type Attempt = dict[int, Seen]


@pytest.fixture
def answer(generated_world: HogqlWorld):
    def answer(steps: str, order: str = "ordered", hours: int = 14 * 24, **query):
        """``view add? pay`` are three steps of which the second is optional."""
        series = [
            {"kind": "EventsNode", "event": NAMES[word.rstrip("?")],
             "optionalInFunnel": word.endswith("?")}
            for word in steps.split()
        ]  # fmt: skip
        window = {"funnelWindowInterval": hours, "funnelWindowIntervalUnit": "hour"}
        filter_ = {**window, "funnelOrderType": order, **query.pop("funnelsFilter", {})}
        dates = {"date_from": "2026-10-14", "date_to": "2026-10-31"}
        full = {"kind": "FunnelsQuery", "series": series, "dateRange": dates,
                "funnelsFilter": filter_, **query}  # fmt: skip
        plan = build_insight(full, CONTEXT)
        compiled = [compile_query(each, context=CONTEXT) for each in plan.queries]
        return plan.shape([generated_world.raw(each) for each in compiled])

    return answer


# --- the same in Python: required steps first, then every choice of the optional ones between them


def events_per_person(events: Sequence[Seen] = RANGE) -> list[list[Seen]]:
    events_of: dict[str, list[Seen]] = {}
    for seen in events:
        events_of.setdefault(seen.human.id, []).append(seen)
    return list(events_of.values())


def parsed(steps: str) -> list[tuple[str, bool]]:
    return [(NAMES[word.rstrip("?")], word.endswith("?")) for word in steps.split()]


def attempts(steps: str, events: list[Seen], window: timedelta) -> list[Attempt]:
    tried = []
    for index, entry in enumerate(events):
        if entry.event == parsed(steps)[0][0]:
            whole = attempt(parsed(steps), events, index)
            until = entry.at + window
            tried.append({step: seen for step, seen in whole.items() if seen.at <= until})
    return tried


def attempt(steps: list[tuple[str, bool]], events: list[Seen], index: int) -> Attempt:
    reached = {0: events[index]}
    between: list[int] = []
    for step, (name, is_optional) in enumerate([*steps[1:], ("", False)], 1):
        if is_optional:
            between.append(step)
            continue
        following = (at for at in range(index + 1, len(events)) if events[at].event == name)
        until = next(following, len(events))
        names = {each: steps[each][0] for each in between}
        reached |= most(names, events[index + 1 : until])
        if until == len(events):
            break
        reached[step], index, between = events[until], until, []
    return reached


def most(names: dict[int, str], events: list[Seen]) -> Attempt:
    """The longest sequence of steps that can be done in order; of several, the first."""
    for count in range(len(names), 0, -1):
        ways = [done for chosen in combinations(names, count)
                if (done := in_order({step: names[step] for step in chosen}, events))]  # fmt: skip
        if ways:
            return min(ways, key=lambda way: [(seen.at, step) for step, seen in way.items()])
    return {}


def in_order(names: dict[int, str], events: list[Seen]) -> Attempt | None:
    reached, rest = {}, iter(events)
    for step, name in names.items():
        seen = next((each for each in rest if each.event == name), None)
        if seen is None:
            return None
        reached[step] = seen
    return reached


def best_of(steps: str, attempts: list[Attempt]) -> Attempt | None:
    def rank(attempt: Attempt) -> tuple[int, int]:
        required = sum(not parsed(steps)[step][1] for step in attempt)
        return required, len(attempt)

    return max(attempts, key=rank, default=None)  # the first of several


def bests(steps: str, window: timedelta, events: Sequence[Seen] = RANGE) -> list[Attempt]:
    candidates = (best_of(steps, attempts(steps, own, window)) for own in events_per_person(events))
    return [best for best in candidates if best]


def counts(attempts: list[Attempt], steps: str) -> list[int]:
    return [sum(step in each for each in attempts) for step in range(len(steps.split()))]


FUNNELS = [
    "view add? pay",
    "view add? sign? pay",
    "view sign pay?",
    "view add? pay?",
    "view add? sign see? pay? add?",
    "view see? add? sign? see? pay",
    "sign sign? add? pay",
]


@pytest.mark.parametrize("steps", FUNNELS)
@pytest.mark.parametrize("hours", [1, 30, 14 * 24])
def test_steps(answer, steps: str, hours: int) -> None:
    response = answer(steps, hours=hours)

    attempts_made = bests(steps, timedelta(hours=hours))
    assert [step["count"] for step in response] == counts(attempts_made, steps)
    words = steps.split()
    for index in range(1, len(words)):
        start = max(step for step in range(index) if "?" not in words[step])
        times = [
            (each[index].at - each[start].at).total_seconds()
            for each in attempts_made
            if index in each
        ]
        if times:
            assert response[index]["average_conversion_time"] == pytest.approx(mean(times))
            assert response[index]["median_conversion_time"] == pytest.approx(median(times))


@pytest.mark.parametrize("steps", FUNNELS)
def test_required_steps_count_as_without_the_optional_ones(answer, steps: str) -> None:
    words = steps.split()
    required = " ".join(word for word in words if "?" not in word)

    optional, plain = answer(steps, hours=30), answer(required, hours=30)

    required_counts = [
        step["count"] for step, word in zip(optional, words, strict=True) if "?" not in word
    ]
    assert required_counts == [step["count"] for step in plain]


def test_an_optional_step_counts_in_its_place_only() -> None:
    """What the reference means, event by event."""

    def done(steps: str, *words: str) -> list[int]:
        at = datetime(2026, 1, 1)  # noqa: DTZ001 (compared among each other)
        human = RANGE[0].human
        events = [
            Seen(n, NAMES[word], at + timedelta(hours=n), "d", human, "", "", {})
            for n, word in enumerate(words)
        ]
        (best,) = bests(steps, timedelta(days=9), events)
        return sorted(best)

    assert done("view add? pay", "view", "add", "pay") == [0, 1, 2]
    assert done("view add? pay", "view", "pay", "add", "pay") == [0, 2]
    assert done("view add? pay", "add", "view", "pay") == [0, 2]
    assert done("view add? pay", "view", "add") == [0, 1]
    assert done("view add? sign? pay", "view", "sign", "add", "pay") == [0, 2, 3]
    assert done("view add? sign? pay", "view", "sign", "add", "sign", "pay") == [0, 1, 2, 3]


def strict_ways(steps: list[tuple[str, bool]], events: list[Seen]) -> list[Attempt]:
    """Every way to go through ``steps`` with no other event in between."""
    if not steps or not events:
        return [{}]
    (name, is_optional), offset = steps[0], -len(steps)
    ways = []
    if events[0].event == name:
        ways = [{offset: events[0], **rest} for rest in strict_ways(steps[1:], events[1:])]
    if is_optional:
        ways += strict_ways(steps[1:], events)
    return ways or [{}]


@pytest.mark.parametrize("steps", ["view add? pay", "view see? add? pay", "view sign? view see?"])
def test_strict_funnels(answer, steps: str) -> None:
    response = answer(steps, "strict", hours=1)

    size, reached_steps = len(steps.split()), []
    for own in events_per_person():
        ways: list[Attempt] = []
        for index in range(len(own)):
            until = own[index].at + timedelta(hours=1)
            tried = strict_ways(parsed(steps), own[index:])
            ways += [
                {size + step: seen for step, seen in way.items() if seen.at <= until}
                for way in tried if way
            ]  # fmt: skip
        if best := best_of(steps, ways):
            reached_steps.append(best)
    assert [step["count"] for step in response] == counts(reached_steps, steps)


# --- what else a funnel does


def test_trends_and_times_end_with_the_last_required_step(answer) -> None:
    steps = "view add? pay see?"
    (line,) = answer(steps, hours=24, funnelsFilter={"funnelVizType": "trends"})
    times = answer(steps, hours=24, funnelsFilter={"funnelVizType": "time_to_convert"})

    calendar = Calendar(local(2026, 10, 14, "UTC"), local(2026, 10, 31, "UTC"), "day")
    entered, done = [[set() for _ in calendar.starts] for _ in range(2)]
    for number, own in enumerate(events_per_person()):
        for attempt in attempts(steps, own, timedelta(hours=24)):
            index = calendar.index_of(attempt[0].at)
            entered[index].add(number)
            if 2 in attempt:
                done[index].add(number)
    rates = [
        len(two) / len(attempt) * 100 if attempt else 0
        for attempt, two in zip(entered, done, strict=True)
    ]
    assert line["data"] == [round(rate, 2) for rate in rates]
    finished = [attempt for attempt in bests(steps, timedelta(hours=24)) if 2 in attempt]
    seconds = [(attempt[2].at - attempt[0].at).total_seconds() for attempt in finished]
    assert times["average_conversion_time"] == pytest.approx(mean(seconds))


def test_times_end_with_the_last_step_where_all_that_follow_are_optional(answer) -> None:
    times = answer("view add? pay?", funnelsFilter={"funnelVizType": "time_to_convert"})

    finished = [attempt for attempt in bests("view add? pay?", timedelta(days=14)) if 2 in attempt]
    seconds = [(attempt[2].at - attempt[0].at).total_seconds() for attempt in finished]
    assert times["average_conversion_time"] == pytest.approx(mean(seconds))


def test_conversion_between_optional_steps_is_of_those_who_did_them(answer) -> None:
    section = {"funnelVizType": "time_to_convert", "funnelFromStep": 1, "funnelToStep": 2}

    times = answer("view add? pay", funnelsFilter=section)

    both = [best for best in bests("view add? pay", timedelta(days=14)) if {1, 2} <= set(best)]
    assert sum(count for _, count in times["bins"]) == len(both)


@pytest.mark.parametrize(("start", "end"), [(0, 1), (1, 2), (0, 2)])
def test_exclusions_reach_to_the_next_step_that_was_done(answer, start: int, end: int) -> None:
    steps, window = "view add? pay", timedelta(hours=3)
    exclusion = {"kind": "EventsNode", "event": "signed_up", "funnelFromStep": start,
                 "funnelToStep": end}  # fmt: skip

    results = answer(steps, hours=3, funnelsFilter={"exclusions": [exclusion]})

    def is_allowed(attempt: Attempt, own: list[Seen]) -> bool:
        after = max(seen.at for step, seen in attempt.items() if step <= start)
        before = min((seen.at for step, seen in attempt.items() if step >= end),
                     default=attempt[0].at + window)  # fmt: skip
        return not any(after < seen.at < before for seen in own if seen.event == "signed_up")

    expected = []
    for own in events_per_person():
        ways = [attempt for attempt in attempts(steps, own, window) if is_allowed(attempt, own)]
        if best := best_of(steps, ways):
            expected.append(best)
    assert [step["count"] for step in results] == counts(expected, steps)
    assert counts(expected, steps) != counts(bests(steps, window), steps)


def test_breakdown_by_the_value_at_an_optional_step(answer) -> None:
    groups = answer(
        "view add? pay",
        breakdownFilter={"breakdown": "$browser"},
        funnelsFilter={"breakdownAttributionType": "step", "breakdownAttributionValue": 1},
    )

    by_browser: dict[str | None, list[Attempt]] = {}
    for best in bests("view add? pay", timedelta(days=14)):
        if 1 in best:
            by_browser.setdefault(best[1].properties.get("$browser"), []).append(best)
    assert {group[0]["breakdown_value"][0]: [step["count"] for step in group]
            for group in groups} == {
        value: counts(own, "view add? pay") for value, own in by_browser.items()
    }  # fmt: skip


def test_as_many_steps_as_there_may_be(answer) -> None:
    steps = " ".join(["view", *["add?", "sign?"] * 6, "see?", "pay"])

    results = answer(steps)

    assert [step["count"] for step in results] == counts(bests(steps, timedelta(days=14)), steps)


@pytest.mark.parametrize(("steps", "order", "words"), [
    ("view? pay", "ordered", "first step"), ("view pay?", "unordered", "unordered"),
])  # fmt: skip
def test_refused(answer, steps: str, order: str, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        answer(steps, order)
