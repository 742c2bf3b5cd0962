"""Expected trends, lifecycle and stickiness of random nodes, computed in plain Python."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import accumulate
from math import ceil
from statistics import mean
from typing import Any, NamedTuple

from support.hogql_generated import AUTUMN, PEOPLE, Seen
from support.hogql_reference import Calendar
from support.insight_events import (
    Key,
    Node,
    actor,
    breakdowns,
    by_actor,
    is_counted,
    key_of,
    measure,
    passes,
    selects,
    until,
)
from support.insight_nodes import NodeDraw, days_before

TOTALS = ("ActionsTable", "BoldNumber")
_OTHER = ("\0",)
_NULL = "$$_hoglet_none_$$"  # where NULL stands among breakdown values of equal size
_FORMULAS: dict[str, Callable[[float, float], float]] = {
    "A * 2 + 1": lambda a, _: a * 2 + 1,
    "A / 4": lambda a, _: a / 4,
    "A + B": lambda a, b: a + b,
    "B - A": lambda a, b: b - a,
    "A / B": lambda a, b: a / b if b else 0,
}


class Line(NamedTuple):
    """One line of trends: its period, the values of its breakdown, the numbers and their sum."""

    period: str | None
    key: Key
    data: list[float]
    total: float


class _Period(NamedTuple):
    name: str | None
    calendar: Calendar


def random_trends(draw: NodeDraw, zone: str) -> tuple[Node, list[Line]]:
    """A TrendsQuery and the lines of its result, in any order."""
    dates, calendar = draw.range(zone)
    series = [draw.item(math=True) for _ in range(draw.choice([1, 1, 2, 3]))]
    query = draw.query("TrendsQuery", series=series, **dates)
    if draw.may(0.6):
        query["breakdownFilter"] = draw.breakdown()
    periods = _compare(draw, query, calendar)
    options: Node = {}
    if draw.may(0.3):
        known = [text for text in _FORMULAS if len(series) > 1 or "B" not in text]
        options["formulas"] = draw.sample(known, 2)
    if draw.may(0.4):
        options["display"] = draw.choice([*TOTALS, "ActionsLineGraphCumulative", "ActionsBar"])
    if draw.may(0.2) and options.get("display") not in TOTALS:
        options["smoothingIntervals"] = draw.choice([2, 3, 7])
    query["trendsFilter"] = options
    return query, [line for period in periods for line in _lines(query, period, periods)]


def _compare(draw: NodeDraw, query: Node, calendar: Calendar) -> list[_Period]:
    if not draw.may(0.3):
        return [_Period(None, calendar)]
    other = draw.choice([None, "-1w", "-3d"])
    query["compareFilter"] = {"compare": True, **({"compare_to": other} if other else {})}
    length = (calendar.end.date() - calendar.start.date()).days + 1
    days = {"-1w": 7, "-3d": 3}.get(other or "", length)
    return [_Period("current", calendar), _Period("previous", days_before(calendar, days))]


def _lines(query: Node, period: _Period, periods: list[_Period]) -> Iterator[Line]:
    options, calendar = query["trendsFilter"], period.calendar
    is_total = options.get("display") in TOTALS
    width = 1 if is_total else len(calendar.starts)
    values: list[dict[Key, list[float]]] = []
    for item in query["series"]:
        groups = _grouped(query, item, calendar, _largest(query, item, periods))
        values.append(
            {
                key: [
                    measure(item, query, [seen for at, seen in events if is_total or at == index])
                    for index in range(width)
                ]
                for key, events in groups.items()
            }
        )
    if "formulas" in options:
        values = [_formula(_FORMULAS[text], values, width) for text in options["formulas"]]
    for rows in values:
        for key, data in rows.items():
            yield Line(period.name, _visible_key(query, key), _drawn(options, data), sum(data))


def _grouped(
    query: Node, item: Node, calendar: Calendar, largest: set[Key]
) -> dict[Key, list[tuple[int, Seen]]]:
    """The item's events with the index of their interval, by the values of the breakdown."""
    groups: dict[Key, list[tuple[int, Seen]]] = defaultdict(list)
    if not breakdowns(query):
        groups[()] = []
    for seen in calendar.events():
        if selects(item, seen) and passes(query, seen) and is_counted(item, query, seen):
            key = key_of(query, seen)
            if key not in largest and breakdowns(query):
                if query["breakdownFilter"].get("breakdown_hide_other_aggregation"):
                    continue
                key = _OTHER
            groups[key].append((calendar.index_of(seen.at), seen))
    return groups


def _largest(query: Node, item: Node, periods: list[_Period]) -> set[Key]:
    """The values that get a line: the largest of the current period, then of the previous."""
    counted = query["series"] if "formulas" in query["trendsFilter"] else [item]
    ordered: list[Key] = []
    for period in periods:
        groups: dict[Key, list[Seen]] = defaultdict(list)
        for seen in period.calendar.events():
            if passes(query, seen) and any(selects(each, seen) for each in counted):
                groups[key_of(query, seen)].append(seen)
        new = groups.keys() - set(ordered)
        ordered += sorted(new, key=lambda key: _rank(query, item, key, groups[key]))
    return set(ordered[: query.get("breakdownFilter", {}).get("breakdown_limit", 25)])


def _rank(query: Node, item: Node, key: Key, events: list[Seen]) -> tuple[float, list[str]]:
    by_count = "formulas" in query["trendsFilter"] or "per_actor" in item.get("math", "")
    size = len(events) if by_count else measure(item, query, events, nothing=-1e18)
    return (-size, [_NULL if value is None else value for value in key])


def _formula(
    compute: Callable[[float, float], float], values: list[dict[Key, list[float]]], width: int
) -> dict[Key, list[float]]:
    nothing = [0.0] * width
    first, second = values[0], values[1] if len(values) > 1 else {}
    keys = dict.fromkeys(key for rows in values for key in rows)
    return {key: [*map(compute, first.get(key, nothing), second.get(key, nothing))] for key in keys}


def _drawn(options: Node, data: list[float]) -> list[float]:
    span = options.get("smoothingIntervals", 1)
    smooth = [mean(data[max(0, index - span + 1) : index + 1]) for index in range(len(data))]
    is_cumulative = options.get("display") == "ActionsLineGraphCumulative"
    return [*accumulate(smooth)] if is_cumulative else smooth


def _visible_key(query: Node, key: Key) -> Key:
    return ("Other",) * len(breakdowns(query)) if key == _OTHER else key


def random_lifecycle(draw: NodeDraw, zone: str) -> tuple[Node, dict[str, list[int]]]:
    """A LifecycleQuery and the numbers of each status."""
    dates, calendar = draw.range(zone)
    item = draw.item()
    query = draw.query("LifecycleQuery", series=[item], **dates)
    before = calendar.floor(calendar.starts[0] - timedelta(microseconds=1))
    wider = Calendar(before, calendar.end, calendar.interval)
    width = len(calendar.starts)
    result = {name: [0] * width for name in ("new", "returning", "resurrecting", "dormant")}
    active: dict[str, set[int]] = defaultdict(set)
    for seen in wider.events():
        who = actor(query, seen)
        if who is not None and selects(item, seen) and passes(query, seen):
            active[who].add(wider.index_of(seen.at) - 1)
    for who, intervals in active.items():
        born = _born(query, who, calendar)
        first = wider.index_of(born) - 1 if born >= before else None
        for index in intervals:
            if index >= 0:
                back = "returning" if index - 1 in intervals else "resurrecting"
                result["new" if index == first else back][index] += 1
            if index + 1 not in intervals and index + 1 < width:
                result["dormant"][index + 1] -= 1
    return query, result


def _born(query: Node, who: str, calendar: Calendar) -> Any:
    """The first event of an actor, or its creation if that is earlier."""
    first = min(seen.at for seen in until(calendar) if actor(query, seen) == who)
    if query.get("aggregation_group_type_index") is None:
        return min(first, next(human.created_at for human in PEOPLE if human.id == who))
    return min(first, AUTUMN) if who in ("acme", "globex") else first


def random_stickiness(draw: NodeDraw, zone: str) -> tuple[Node, list[list[int]]]:
    """A StickinessQuery and the numbers of each item of its series."""
    dates, calendar = draw.range(zone)
    series = [draw.item() for _ in range(draw.randint(1, 2))]
    query = draw.query("StickinessQuery", series=series, **dates)
    query.pop("aggregation_group_type_index", None)  # no key of this kind
    options: Node = {}
    width = query["intervalCount"] = draw.choice([1, 1, 2, 3])
    operator, value = draw.choice([("gte", 1), ("gte", 2), ("lte", 1), ("exact", 2)])
    if (operator, value) != ("gte", 1):
        options["stickinessCriteria"] = {"operator": operator, "value": value}
    if draw.may(0.3):
        options["computedAs"] = "cumulative"
    query["stickinessFilter"] = options
    enough = {"gte": value.__le__, "lte": value.__ge__, "exact": value.__eq__}[operator]
    result: list[list[int]] = []
    for item in series:
        data = [0] * ceil(len(calendar.starts) / width)
        for events in by_actor(query, calendar.events()).values():
            counted = [seen for seen in events if selects(item, seen)]
            times = Counter(calendar.index_of(seen.at) // width for seen in counted)
            if intervals := sum(map(enough, times.values())):
                data[intervals - 1] += 1
        if "computedAs" in options:
            data = [*accumulate(reversed(data))][::-1]
        result.append(data)
    return query, result
