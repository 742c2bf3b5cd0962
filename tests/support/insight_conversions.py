"""Expected funnels, retention and paths of random nodes, computed in plain Python."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from itertools import pairwise

from support.hogql_generated import Seen
from support.hogql_paths import Edge, Steps, edges, item, micros
from support.hogql_reference import Calendar, local, within
from support.insight_events import Node, by_actor, selects, until
from support.insight_nodes import NodeDraw

type Attempt = list[Seen]
_WINDOWS = {"minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_SESSION = timedelta(minutes=30)


def random_funnel(draw: NodeDraw, zone: str) -> tuple[Node, list[tuple[int, float | None]]]:
    """A FunnelsQuery of steps; for each step the persons, and the mean seconds to get there."""
    dates, calendar = draw.range(zone)
    steps = [draw.item() for _ in range(draw.choice([1, 2, 2, 3, 4]))]
    query = draw.query("FunnelsQuery", series=steps, **dates)
    window, unit = draw.choice([(1, "minute"), (1, "hour"), (1, "day"), (10, "day"), (2, "week")])
    options: Node = {
        "funnelOrderType": draw.choice(["ordered", "ordered", "strict"]),
        "funnelWindowInterval": window,
        "funnelWindowIntervalUnit": unit,
    }
    if len(steps) > 1 and draw.may(0.4):
        options["exclusions"] = [_exclusion(draw, len(steps))]
    query["funnelsFilter"] = options
    limit = timedelta(seconds=window * _WINDOWS[unit])
    best = [
        max(attempts, key=len)
        for events in by_actor(query, calendar.events()).values()
        if (attempts := _attempts(options, steps, events, limit))
    ]
    return query, [_reached(best, index) for index in range(len(steps))]


def _exclusion(draw: NodeDraw, count: int) -> Node:
    first = draw.randint(0, count - 2)
    last = draw.randint(first + 1, count - 1)
    return {**draw.item(), "funnelFromStep": first, "funnelToStep": last}


def _attempts(
    options: Node, steps: list[Node], events: list[Seen], limit: timedelta
) -> list[Attempt]:
    """What follows each event that passes the first step, as far as it goes within the window."""
    attempts: list[Attempt] = []
    for start, first in enumerate(events):
        if not selects(steps[0], first):
            continue
        attempt, at = [first], start
        for step in steps[1:]:
            is_strict = options["funnelOrderType"] == "strict"
            rest = range(at + 1, min(at + 2, len(events)) if is_strict else len(events))
            following = next((index for index in rest if selects(step, events[index])), None)
            if following is None or events[following].at - first.at > limit:
                break
            at = following
            attempt.append(events[at])
        excluded = options.get("exclusions", ())
        if not any(_is_excluded(each, attempt, events, limit) for each in excluded):
            attempts.append(attempt)
    return attempts


def _is_excluded(exclusion: Node, attempt: Attempt, events: list[Seen], limit: timedelta) -> bool:
    """Whether such an event lies between its two steps, or after the first of a shorter attempt."""
    first, last = exclusion["funnelFromStep"], exclusion["funnelToStep"]
    if len(attempt) <= first:
        return False
    end = attempt[last].at if len(attempt) > last else attempt[0].at + limit
    within_window = len(attempt) <= last
    return any(
        attempt[first].at < seen.at and (seen.at < end or (within_window and seen.at == end))
        for seen in events
        if selects(exclusion, seen)
    )


def _reached(best: list[Attempt], index: int) -> tuple[int, float | None]:
    done = [attempt for attempt in best if len(attempt) > index]
    seconds = [
        (attempt[index].at - attempt[index - 1].at).total_seconds() for attempt in done if index
    ]
    return len(done), sum(seconds) / len(seconds) if seconds else None


def random_retention(draw: NodeDraw, zone: str) -> tuple[Node, list[list[int]]]:
    """A RetentionQuery, and the actors of each start and gap."""
    period, count = draw.choice([("Day", 8), ("Day", 15), ("Week", 3), ("Hour", 20), ("Month", 2)])
    target, back = draw.item(), draw.item()
    kind = draw.choice(["retention_recurring", "retention_first_time"])
    options: Node = {
        "period": period,
        "totalIntervals": count,
        "targetEntity": _entity(target),
        "returningEntity": _entity(back),
        "retentionType": kind,
        "cumulative": draw.may(0.25),
        "minimumOccurrences": draw.choice([1, 1, 1, 2]),
    }
    query = draw.query(
        "RetentionQuery", retentionFilter=options, dateRange={"date_to": "2026-10-31"}
    )
    calendar = _last(zone, period.lower(), count)
    table = [[0] * (count - start) for start in range(count)]
    for events in by_actor(query, until(calendar)).values():
        starts = [seen.at for seen in events if selects(target, seen)]
        if kind == "retention_first_time":
            starts = starts[:1]
        returns = [
            calendar.index_of(seen.at)
            for seen in events
            if selects(back, seen) and seen.at >= calendar.start
        ]
        for start in {calendar.index_of(at) for at in starts if at >= calendar.start}:
            for gap in _gaps(options, start, returns):
                table[start][gap] += 1
    return query, table


def _gaps(options: Node, start: int, returns: list[int]) -> Iterable[int]:
    times = Counter(index - start for index in returns if index > start)
    enough = {gap for gap, count in times.items() if count >= options["minimumOccurrences"]}
    return range(max(enough, default=0) + 1) if options["cumulative"] else {0, *enough}


def _entity(node: Node) -> Node:
    is_action = node["kind"] == "ActionsNode"
    entity = {"id": node["id"] if is_action else node["event"]}
    entity["type"] = "actions" if is_action else "events"
    return entity | ({"properties": node["properties"]} if "properties" in node else {})


def _last(zone: str, interval: str, count: int) -> Calendar:
    """The last intervals until the end of October."""
    day = local(2026, 10, 31, zone)
    first = Calendar(day, day, interval).floor(day)
    if interval == "hour":
        first = day + timedelta(days=1) - timedelta(hours=count)
    elif interval == "month":
        first = local(2026, 11 - count, 1, zone)
    else:
        first -= timedelta(days=(7 if interval == "week" else 1) * (count - 1))
    return Calendar(first, day, interval)


def random_paths(draw: NodeDraw) -> tuple[Node, list[Edge]]:
    """A PathsQuery in UTC and its edges."""
    options: Node = {"edgeLimit": 1000, "stepLimit": draw.choice([2, 3, 5, 7])}
    kinds = draw.choice([["$pageview"], ["$screen"], ["custom_event"], ["$pageview", "$screen"]])
    options["includeEventTypes"] = kinds
    points = ["https://x.com/pricing", "https://x.com/docs/a", "paid", "Home"]
    start, end = (draw.choice([None, None, *points]) for _ in range(2))
    if draw.may(0.5):
        end = None
    else:
        start = None
    options |= {"startPoint": start} if start else {"endPoint": end} if end else {}
    dates = {"date_from": "2026-10-14", "date_to": "2026-10-31"}
    query = draw.query("PathsQuery", pathsFilter=options, dateRange=dates)
    paths = [
        _cut(path, options)
        for events in by_actor(query, _days()).values()
        for path in _sessions([seen for seen in events if _is_included(seen, kinds)])
    ]
    return query, edges(paths, limit=1000)


def _days() -> list[Seen]:
    last = local(2026, 11, 1, "UTC") - timedelta(microseconds=1)
    return within(local(2026, 10, 14, "UTC"), last)


def _is_included(seen: Seen, kinds: list[str]) -> bool:
    kind = seen.event if seen.event.startswith("$") else "custom_event"
    return kind in kinds


def _sessions(events: list[Seen]) -> list[Steps]:
    """Runs of events less than half an hour apart, without repeated names."""
    runs: list[list[Seen]] = [events[:1]]
    for before, seen in pairwise(events):
        if seen.at - before.at > _SESSION:
            runs.append([])
        runs[-1].append(seen)
    return [
        [
            (micros(seen), item(seen))
            for index, seen in enumerate(run)
            if not index or item(run[index - 1]) != item(seen)
        ]
        for run in runs
    ]


def _cut(path: Steps, options: Node) -> Steps:
    names = [name for _, name in path]
    if start := options.get("startPoint"):
        path = path[names.index(start) :] if start in names else []
    if end := options.get("endPoint"):
        path = path[: names.index(end) + 1] if end in names else []
        return path[-options["stepLimit"] :]
    return path[: options["stepLimit"]]
