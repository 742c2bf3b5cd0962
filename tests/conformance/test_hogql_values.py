"""Results of typical queries, recomputed in plain Python from the generated events.

Nothing here shares code with hoglet. The zones have a change of the clock within the data, and one
of them half hours.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from statistics import mean
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from hoglet.hogql import compile_query
from support.hogql_generated import CONTEXT, EVENTS, PEOPLE, Human, Seen
from support.hogql_world import HogqlWorld

ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata")
type Rows = list[list[Any]]


def answer(world: HogqlWorld, query: str, zone: str, **values: Any) -> Rows:
    """The rows as Python values, every one of them: times as instants, the rest as it comes."""
    context = msgspec.structs.replace(CONTEXT, timezone=zone)
    return [list(row) for row in world.raw(compile_query(query, context=context, **values))]


def local(seen: Seen, zone: str) -> datetime:
    """The time on the project's clock."""
    return seen.at.astimezone(ZoneInfo(zone))


def grouped[K](key: Callable[[Seen], K], events: Iterable[Seen] = EVENTS) -> dict[K, list[Seen]]:
    """Events by a key."""
    groups: dict[K, list[Seen]] = defaultdict(list)
    for seen in events:
        groups[key(seen)].append(seen)
    return groups


def number(seen: Seen) -> float | None:
    """The price, which is a number or missing."""
    value = seen.properties.get("price")
    return None if value is None else float(value)


@pytest.mark.parametrize("zone", ZONES)
def test_days_with_counts_people_and_sums(generated_world: HogqlWorld, zone: str) -> None:
    query = """
        SELECT toDate(timestamp) AS day, count(), count(DISTINCT person_id), sum(properties.price),
            countIf(properties.price > 50), round(avgIf(properties.price, event = 'paid'), 6)
        FROM events GROUP BY day ORDER BY day"""

    def row(day: date, events: list[Seen]) -> list[Any]:
        prices = [price for seen in events if (price := number(seen)) is not None]
        paid = [price for seen in events if seen.event == "paid" and (price := number(seen))]
        people = {seen.human.id for seen in events}
        over = sum(price > 50 for price in prices)
        average = round(mean(paid), 6) if paid else None
        return [day, len(events), len(people), sum(prices) if prices else None, over, average]

    days = grouped(lambda seen: local(seen, zone).date())
    rows = answer(generated_world, query, zone)

    assert [[str(row[0]), *_close(row[1:])] for row in rows] == [
        [str(day), *_close(row(day, days[day])[1:])] for day in sorted(days)
    ]


def _close(values: list[Any]) -> list[Any]:
    return [round(value, 6) if isinstance(value, float) else value for value in values]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("sql", "python"),
    [
        ("toHour(timestamp)", lambda at: at.hour),
        ("extract(dow from timestamp)", lambda at: at.isoweekday() % 7),
        ("extract(isodow from timestamp)", lambda at: at.isoweekday()),
        ("extract(week from timestamp)", lambda at: at.isocalendar().week),
        ("extract(isoyear from timestamp)", lambda at: at.isocalendar().year),
        ("extract(doy from timestamp)", lambda at: at.timetuple().tm_yday),
        ("extract(minute from timestamp)", lambda at: at.minute),
        ("extract(epoch from timestamp)", lambda at: int(at.timestamp())),
        ("formatDateTime(timestamp, '%Y-%m-%d %H:%i')", lambda at: f"{at:%Y-%m-%d %H:%M}"),
        ("to_char(timestamp, 'Dy HH12 AM')", lambda at: f"{at:%a %I %p}"),
        ("toString(toMonday(timestamp))", lambda at: str(at.date() - timedelta(at.weekday()))),
        (
            "toString(toStartOfWeek(timestamp))",
            lambda at: str(at.date() - timedelta(at.isoweekday() % 7)),
        ),
        ("toString(date_trunc('month', timestamp))", lambda at: str(at.date().replace(day=1))),
        ("toString(toDate(timestamp + interval 1 day))", lambda at: str(at.date() + timedelta(1))),
        (
            "toHour(timestamp + interval 24 hour)",
            lambda at: (at.astimezone(UTC) + timedelta(1)).astimezone(at.tzinfo).hour,
        ),
        ("toHour(timestamp, 'Asia/Tokyo')", lambda at: at.astimezone(ZoneInfo("Asia/Tokyo")).hour),
    ],
)
def test_parts_of_times(
    generated_world: HogqlWorld, zone: str, sql: str, python: Callable[[datetime], Any]
) -> None:
    rows = answer(generated_world, f"SELECT {sql} AS x, count() FROM events GROUP BY x", zone)

    assert {row[0]: row[1] for row in rows} == Counter(
        python(local(event, zone)) for event in EVENTS
    )


@pytest.mark.parametrize("zone", ZONES)
def test_starts_of_days_and_hours_are_instants(generated_world: HogqlWorld, zone: str) -> None:
    query = "SELECT toUnixTimestamp({f}) AS x, count() FROM events GROUP BY x"
    starts = {
        "toStartOfDay(timestamp)": lambda at: at.replace(hour=0, minute=0, second=0, microsecond=0),
        "date_trunc('hour', timestamp)": lambda at: (
            at - (timedelta(minutes=at.minute, seconds=at.second, microseconds=at.microsecond))
        ),
    }
    for function, start in starts.items():
        rows = answer(generated_world, query.replace("{f}", function), zone)
        expected: Counter[int] = Counter()
        for seen in EVENTS:
            at = start(local(seen, zone))
            if function.startswith("date"):  # an hour that comes twice has two starts
                at = at.replace(fold=local(seen, zone).fold)
            expected[int(at.timestamp())] += 1

        assert {row[0]: row[1] for row in rows} == expected


@pytest.mark.parametrize("zone", ZONES)
def test_ranges_of_text_are_of_the_zone(generated_world: HogqlWorld, zone: str) -> None:
    start = datetime(2026, 10, 25, tzinfo=ZoneInfo(zone))
    end = datetime(2026, 10, 26, tzinfo=ZoneInfo(zone))
    inside = sum(start <= seen.at < end for seen in EVENTS)
    for condition in (
        "timestamp >= '2026-10-25' AND timestamp < '2026-10-26'",
        "timestamp >= {variables.day} AND timestamp < {variables.day} + interval 1 day",
        "toDate(timestamp) = {variables.day}",
        "timestamp BETWEEN '2026-10-25' AND '2026-10-25 23:59:59.999999'",
        "toStartOfDay(timestamp) = toStartOfDay(toDate({variables.day}))",
        "dateDiff('day', {variables.day}, timestamp) = 0",
        "timestamp >= toDateTime({variables.day}) AND timestamp < toDateTime('2026-10-26')",
    ):
        query = f"SELECT count() FROM events WHERE {condition}"
        variables = {"day": "2026-10-25"}

        assert answer(generated_world, query, zone, variables=variables) == [[inside]], condition


def test_first_and_last_of_each_person(generated_world: HogqlWorld) -> None:
    query = """
        SELECT toString(person_id), toUnixTimestamp64Micro(min(timestamp)),
            argMax(event, timestamp), person.properties.email, any(person.properties.plan),
            uniq(distinct_id)
        FROM events GROUP BY person_id, person.properties.email ORDER BY 1"""

    def row(human: Human) -> list[Any]:
        own = sorted(
            (event for event in EVENTS if event.human is human), key=lambda event: event.at
        )
        micro = round((own[0].at - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))
        plan = human.properties.get("plan")
        ids = len({event.distinct_id for event in own})
        return [human.id, micro, own[-1].event, human.properties["email"], plan, ids]

    active = {seen.human.id for seen in EVENTS}
    expected = [row(human) for human in PEOPLE if human.id in active]

    assert answer(generated_world, query, "UTC") == sorted(expected)


def test_windows_of_each_session(generated_world: HogqlWorld) -> None:
    query = """
        SELECT uuid, row_number() OVER w, lag(event) OVER w, sum(properties.price) OVER w,
            count() OVER (PARTITION BY $session_id),
            dateDiff('second', first_value(timestamp) OVER w, timestamp)
        FROM events WHERE $session_id != ''
        WINDOW w AS (PARTITION BY $session_id ORDER BY timestamp, uuid
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
        ORDER BY $session_id, timestamp, uuid"""
    sessions = grouped(lambda seen: seen.session, (event for event in EVENTS if event.session))
    expected: Rows = []
    for session in sorted(sessions):
        own = sorted(sessions[session], key=lambda event: (event.at, event.number))
        prices: list[float] = []
        for index, seen in enumerate(own):
            prices += [] if number(seen) is None else [float(number(seen) or 0)]
            total = round(sum(prices), 6) if prices else None
            before = own[index - 1].event if index else None
            apart = int(seen.at.timestamp()) - int(own[0].at.timestamp())
            expected.append([index + 1, before, total, len(own), apart])
    rows = answer(generated_world, query, "UTC")

    assert [_close(row[1:]) for row in rows] == expected


def test_joins_sets_and_subqueries(generated_world: HogqlWorld) -> None:
    buyers = {seen.human.id for seen in EVENTS if seen.event == "paid"}
    members = {seen.human.id for seen in EVENTS if seen.event == "signed_up"}
    pairs = sum(
        1
        for event in EVENTS
        for two in EVENTS
        if event.human is two.human and (event.event, two.event) == ("signed_up", "paid")
        if event.at < two.at
    )
    own = "SELECT person_id FROM events WHERE event ="
    cases = {
        f"SELECT uniq(person_id) FROM events WHERE person_id IN ({own} 'paid') "
        f"AND person_id NOT IN ({own} 'signed_up')": len(buyers - members),
        f"SELECT count() FROM ({own} 'paid' INTERSECT DISTINCT {own} 'signed_up')": len(
            buyers & members
        ),
        f"SELECT count() FROM (SELECT DISTINCT person_id FROM ({own} 'paid') "
        f"EXCEPT SELECT DISTINCT person_id FROM ({own} 'signed_up'))": len(buyers - members),
        f"SELECT count() FROM ({own} 'paid' UNION DISTINCT {own} 'signed_up')": len(
            buyers | members
        ),
        "SELECT count() FROM events a JOIN events b ON a.person_id = b.person_id "
        "AND a.event = 'signed_up' AND b.event = 'paid' AND a.timestamp < b.timestamp": pairs,
        f"SELECT count() FROM persons p LEFT SEMI JOIN ({own} 'paid') e ON p.id = e.person_id": len(
            buyers
        ),
        f"SELECT count() FROM persons p LEFT ANTI JOIN ({own} 'paid') e ON p.id = e.person_id": len(
            PEOPLE
        )
        - len(buyers),
        "SELECT count() FROM events WHERE person_id IN COHORT 1": sum(
            PEOPLE.index(seen.human) < 30 and PEOPLE.index(seen.human) % 2 == 0 for seen in EVENTS
        ),
        "SELECT count() FROM events WHERE company.properties.size > 100": sum(
            seen.company == "globex" for seen in EVENTS
        ),
        "SELECT count() FROM events WHERE person.properties.email ILIKE '%@A.COM'": sum(
            seen.human.properties["email"].endswith("@a.com") for seen in EVENTS
        ),
    }
    for query, expected in cases.items():
        assert answer(generated_world, query, "UTC") == [[expected]], query


def test_conditions_on_properties_that_may_be_missing(generated_world: HogqlWorld) -> None:
    browsers = [seen.properties.get("$browser") for seen in EVENTS]
    prices = [number(seen) for seen in EVENTS]
    flags = [seen.properties.get("returning") for seen in EVENTS]
    cases: dict[str, int] = {
        "properties.$browser = 'Chrome'": browsers.count("Chrome"),
        "properties.$browser != 'Chrome'": len(browsers) - browsers.count("Chrome"),
        "NOT properties.$browser = 'Chrome'": len(browsers) - browsers.count("Chrome"),
        "properties.$browser IN ('Chrome', 'Edge')": sum(b in {"Chrome", "Edge"} for b in browsers),
        "properties.$browser NOT IN ('Chrome')": len(browsers) - browsers.count("Chrome"),
        "properties.$browser IS NULL": browsers.count(None),
        "properties.$browser LIKE '%e'": sum(bool(b) and b.endswith("e") for b in browsers),
        "properties.$browser NOT LIKE '%e'": sum(not (b and b.endswith("e")) for b in browsers),
        "properties.$browser =~ '^[CE]'": sum(bool(b) and b[0] in "CE" for b in browsers),
        "properties.price > 10": sum(p is not None and p > 10 for p in prices),
        "NOT properties.price > 10": sum(p is None or p <= 10 for p in prices),
        "properties.price BETWEEN 2.5 AND '10'": sum(
            p is not None and 2.5 <= p <= 10 for p in prices
        ),
        "properties.price = 'none'": 0,
        "properties.price IN ('1', 'x', 200)": sum(p in {1, 200} for p in prices),
        "properties.returning = true": flags.count(True),
        "properties.returning = 'false'": flags.count(False),
        "properties.returning != true": len(flags) - flags.count(True),
        "properties.returning": flags.count(True),
        "properties.returning IS NOT NULL AND NOT properties.returning": flags.count(False),
    }
    for condition, expected in cases.items():
        query = f"SELECT count() FROM events WHERE {condition}"
        assert answer(generated_world, query, "UTC") == [[expected]], condition


def test_tops_limits_and_rollups(generated_world: HogqlWorld) -> None:
    names = Counter(seen.event for seen in EVENTS)
    top = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    rolled = [["", len(EVENTS)], *[[name, count] for name, count in top]]
    query = "SELECT event, count() AS c FROM events GROUP BY event"

    assert answer(generated_world, f"{query} ORDER BY c DESC, event LIMIT 2, 1", "UTC") == [
        list(each) for each in top[1:3]
    ]
    assert answer(generated_world, f"{query} WITH ROLLUP ORDER BY c DESC, event", "UTC") == rolled
    ranked = f"SELECT event, c FROM ({query}) QUALIFY rank() OVER (ORDER BY c DESC) = 1"
    assert answer(generated_world, ranked, "UTC") == [
        list(each) for each in top if each[1] == top[0][1]
    ]
    first = (
        "SELECT event, argMax(uuid, (timestamp, uuid)) FROM events GROUP BY event ORDER BY event"
    )
    last = "SELECT event, uuid FROM events ORDER BY timestamp DESC, uuid DESC LIMIT 1 BY event"
    assert sorted(map(str, answer(generated_world, first, "UTC"))) == sorted(
        map(str, answer(generated_world, last, "UTC"))
    )
