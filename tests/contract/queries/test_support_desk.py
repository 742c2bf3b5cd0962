# ruff: noqa: ISC004 (a query is one text)
"""Queries of a support desk, computed again in plain Python from the same events."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from statistics import mean, median
from typing import Any, NamedTuple

from support.queries import QueryWorld

START = datetime(2025, 12, 20, tzinfo=UTC)
KINDS = ("ticket_opened", "ticket_replied", "ticket_closed")


class Event(NamedTuple):
    name: str
    at: datetime
    who: str
    properties: dict[str, Any]


def desk() -> list[Event]:
    """240 events of 17 customers over 12 days; a few lack a property."""
    chance = random.Random(20)  # noqa: S311 (the same events in every run)
    events: list[Event] = []
    for number in range(240):
        properties: dict[str, Any] = {
            "priority": chance.choice(["low", "normal", "high"]),
            "minutes": chance.randrange(1, 300),
            "tags": chance.sample(["billing", "login", "api"], chance.randrange(3)),
            "agent": {"team": chance.choice(["north", "south"]), "id": number % 5},
        }
        if number % 11 == 0:
            del properties["priority"]
        at = START + timedelta(minutes=71 * number + chance.randrange(60))
        who = f"customer{chance.randrange(17)}"
        events.append(Event(chance.choice(KINDS), at, who, properties))
    return events


DESK = desk()
OPENED = [each for each in DESK if each.name == "ticket_opened"]
CLOSED = [each for each in DESK if each.name == "ticket_closed"]


def day(event: Event) -> date:
    return event.at.date()


def by[K](key: Callable[[Event], K], events: list[Event]) -> dict[K, list[Event]]:
    groups: dict[K, list[Event]] = defaultdict(list)
    for event in events:
        groups[key(event)].append(event)
    return dict(groups)


def minutes(events: list[Event]) -> list[int]:
    return [event.properties["minutes"] for event in events]


def weekday_rows() -> list[list[Any]]:
    counts = Counter(event.at.isoweekday() for event in DESK)
    return [[number, counts[number]] for number in sorted(counts)]


def running_rows() -> list[list[Any]]:
    rows: list[list[Any]] = []
    total = 0
    for at, events in sorted(by(day, OPENED).items()):
        total += len(events)
        rows.append([str(at), len(events), total])
    return rows


def first_and_last() -> list[list[Any]]:
    rows: list[list[Any]] = []
    for who, events in sorted(by(lambda each: each.who, DESK).items()):
        ordered = sorted(events, key=lambda each: each.at)
        rows.append([who, ordered[0].name, (day(ordered[-1]) - day(ordered[0])).days])
    return rows


def repeat_openers() -> list[list[Any]]:
    counts = Counter(event.who for event in OPENED)
    return sorted([[who, n] for who, n in counts.items() if n >= 5], key=lambda r: (-r[1], r[0]))


def tags() -> list[list[Any]]:
    counts = Counter(tag for event in DESK for tag in event.properties["tags"])
    return [[tag, counts[tag]] for tag in sorted(counts)]


def gaps() -> list[list[Any]]:
    """Longest silence of each customer, in whole hours."""
    rows: list[list[Any]] = []
    for who, events in sorted(by(lambda each: each.who, DESK).items()):
        times = sorted(int(event.at.timestamp()) for event in events)
        longest = max((b - a for a, b in pairwise(times)), default=0)
        rows.append([who, longest // 3600])
    return rows


def share_closed() -> list[list[Any]]:
    rows: list[list[Any]] = []
    for team, events in sorted(by(lambda each: each.properties["agent"]["team"], DESK).items()):
        closed = sum(event.name == "ticket_closed" for event in events)
        rows.append([team, round(100 * closed / len(events), 1)])
    return rows


def missing_priority() -> list[list[Any]]:
    counts = Counter(event.properties.get("priority") or "none" for event in DESK)
    return sorted([[name, n] for name, n in counts.items()], key=lambda row: (-row[1], row[0]))


STATEMENTS: list[tuple[str, list[list[Any]]]] = [
    (
        "select toDayOfWeek(timestamp) as d, count() from events group by d order by d",
        weekday_rows(),
    ),
    (
        "select toDate(timestamp) as d, count() as n, sum(n) over (order by d) from events "
        "where event = 'ticket_opened' group by d order by d",
        running_rows(),
    ),
    (
        "select distinct_id, argMin(event, timestamp), "
        "dateDiff('day', min(timestamp), max(timestamp)) from events "
        "group by distinct_id order by distinct_id",
        first_and_last(),
    ),
    (
        "select distinct_id, countIf(event = 'ticket_opened') as n from events "
        "group by distinct_id having n >= 5 order by n desc, distinct_id",
        repeat_openers(),
    ),
    (
        "select arrayJoin(JSONExtract(properties, 'tags', 'Array(String)')) as tag, count() "
        "from events group by tag order by tag",
        tags(),
    ),
    (
        "select distinct_id, intDiv(max(gap), 3600) from (select distinct_id, "
        "toUnixTimestamp(timestamp) - lagInFrame(toUnixTimestamp(timestamp), 1, "
        "toUnixTimestamp(timestamp)) over (partition by distinct_id order by timestamp rows "
        "between unbounded preceding and unbounded following) as gap from events) "
        "group by distinct_id order by distinct_id",
        gaps(),
    ),
    (
        "select properties.agent.team as team, "
        "round(100 * countIf(event = 'ticket_closed') / count(), 1) from events "
        "group by team order by team",
        share_closed(),
    ),
    (
        "select coalesce(properties.priority, 'none') as p, count() as n from events "
        "group by p order by n desc, p",
        missing_priority(),
    ),
    (
        "with slow as (select * from events where properties.minutes > 200) "
        "select count(), round(avg(toFloat(properties.minutes)), 4) from slow",
        [[len(slow := [m for m in minutes(DESK) if m > 200]), round(mean(slow), 4)]],
    ),
    (
        "select quantileExact(0.5)(toFloat(properties.minutes)), max(toInt(properties.minutes)) "
        "from events where event = 'ticket_closed'",
        [[sorted(minutes(CLOSED))[len(CLOSED) // 2], max(minutes(CLOSED))]],
    ),
    (
        "select if(properties.minutes >= 120, 'long', 'short') as size, uniqExact(distinct_id) "
        "from events group by size order by size",
        [
            ["long", len({e.who for e in DESK if e.properties["minutes"] >= 120})],
            ["short", len({e.who for e in DESK if e.properties["minutes"] < 120})],
        ],
    ),
    (
        "select count() from events where event in ('ticket_opened', 'ticket_closed') "
        "and properties.priority != 'low' and toHour(timestamp) between 9 and 16",
        [
            [
                sum(
                    e.name != "ticket_replied"
                    and e.properties.get("priority") != "low"
                    and 9 <= e.at.hour <= 16
                    for e in DESK
                )
            ]
        ],
    ),
    (
        "select distinct_id from events where distinct_id not in (select distinct_id from events "
        "where event = 'ticket_closed') group by distinct_id order by distinct_id",
        [[who] for who in sorted({e.who for e in DESK} - {e.who for e in CLOSED})],
    ),
]
SPAN = {"date_from": "2025-12-20", "date_to": "2025-12-31"}
DAYS = [START.date() + timedelta(days=number) for number in range(12)]


def daily(events: list[Event], value: Callable[[list[Event]], float]) -> list[float]:
    by_day = by(day, events)
    return [value(by_day[at]) if at in by_day else 0 for at in DAYS]


def series(event: str, **more: Any) -> dict[str, Any]:
    return {"kind": "EventsNode", "event": event} | more


TRENDS: list[tuple[dict[str, Any], list[list[float]]]] = [
    ({"series": [series("ticket_opened")]}, [daily(OPENED, len)]),
    (
        {"series": [series("ticket_opened", math="hogql", math_hogql="uniqExact(distinct_id)")]},
        [daily(OPENED, lambda events: len({event.who for event in events}))],
    ),
    (
        {"series": [series("ticket_closed", math="sum", math_property="minutes")]},
        [daily(CLOSED, lambda events: sum(minutes(events)))],
    ),
    (
        {"series": [series("ticket_closed", math="median", math_property="minutes")]},
        [daily(CLOSED, lambda events: median(minutes(events)))],
    ),
    (
        {
            "series": [series("ticket_opened"), series("ticket_closed")],
            "trendsFilter": {"formula": "A - B"},
        },
        [[a - b for a, b in zip(daily(OPENED, len), daily(CLOSED, len), strict=True)]],
    ),
    (
        {"series": [series("ticket_opened", properties=[{"key": "priority", "value": ["high"]}])]},
        [daily([e for e in OPENED if e.properties.get("priority") == "high"], len)],
    ),
    (
        {
            "series": [series("ticket_opened")],
            "properties": [{"key": "minutes", "operator": "gt", "value": 150}],
            "trendsFilter": {"display": "ActionsLineGraphCumulative"},
        },
        [[sum(e.properties["minutes"] > 150 and day(e) <= at for e in OPENED) for at in DAYS]],
    ),
]


async def test_statements_and_insights(queries: QueryWorld) -> None:
    await queries.endpoints.add_events(
        [(each.name, each.at, each.who, json.dumps(each.properties)) for each in DESK]
    )
    for sql, expected in STATEMENTS:
        answer = await queries.ran(f"{sql} limit 1000")
        assert answer["results"] == expected, sql
    for query, expected in TRENDS:
        answer = await queries.ran({"kind": "TrendsQuery", "dateRange": SPAN} | query)
        assert [each["data"] for each in answer["results"]] == expected, query
