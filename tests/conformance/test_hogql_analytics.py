# ruff: noqa: ISC004 (a query is one text)
"""Analytics as people write them by hand, computed again in plain Python from the events.

Nothing here shares code with hoglet. Each case is a query and a function that answers it; both
zones have a change of the clock within the data.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from statistics import mean, median
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from support.hogql_generated import CONTEXT, EVENTS, PEOPLE, Seen
from support.hogql_world import HogqlWorld

ZONES = ("America/New_York", "Europe/Berlin")
type Rows = list[list[Any]]
type Answer = Callable[[str], Rows]
ORDERED = sorted(EVENTS, key=lambda seen: (seen.at, seen.number))


def grouped[K](key: Callable[[Seen], K], events: Iterable[Seen] = ORDERED) -> dict[K, list[Seen]]:
    groups: dict[K, list[Seen]] = defaultdict(list)
    for seen in events:
        groups[key(seen)].append(seen)
    return groups


def person(seen: Seen) -> str:
    return seen.human.id


def local(at: datetime, zone: str) -> datetime:
    return at.astimezone(ZoneInfo(zone))


def day(seen: Seen, zone: str) -> date:
    return local(seen.at, zone).date()


def price(seen: Seen) -> float:
    return float(seen.properties.get("price", 0))


def weeks_later(first: date, later: date) -> int:
    """Borders of weeks, from Monday, between two days."""
    return ((later - timedelta(later.weekday())) - (first - timedelta(first.weekday()))).days // 7


def funnel_level(own: list[Seen], names: tuple[str, ...], seconds: int) -> int:
    """The furthest step within a window that begins with any first step."""
    best = 0
    for start, first in enumerate(own):
        if first.event != names[0]:
            continue
        level = 1
        for seen in own[start + 1 :]:
            inside = int(seen.at.timestamp()) - int(first.at.timestamp()) <= seconds
            if level < len(names) and seen.event == names[level] and inside:
                level += 1
        best = max(best, level)
    return best


def funnel_by_window(_zone: str) -> Rows:
    names = ("signed_up", "added", "paid")
    levels = Counter(funnel_level(own, names, 5 * 86_400) for own in grouped(person).values())
    return [[level, levels[level]] for level in sorted(levels)]


def funnel_by_hand(_zone: str) -> Rows:
    started = converted = 0
    minutes: list[int] = []
    for own in grouped(person).values():
        first = next((seen for seen in own if seen.event == "signed_up"), None)
        if first is None:
            continue
        started += 1
        later = [s for s in own if s.event == "paid" and s.at > first.at]
        if later:
            converted += 1
            minutes.append(int(later[0].at.timestamp()) // 60 - int(first.at.timestamp()) // 60)
    return [[started, converted, round(converted / started, 6), median(minutes)]]


def retention_by_week(zone: str) -> Rows:
    people: dict[tuple[date, int], set[str]] = defaultdict(set)
    for human, own in grouped(person).items():
        first = day(own[0], zone)
        monday = first - timedelta(first.weekday())
        for seen in own:
            people[monday, weeks_later(first, day(seen, zone))].add(human)
    return [[str(m), week, len(people[m, week])] for m, week in sorted(people)]


def retention_curve(zone: str) -> Rows:
    offsets = [
        {(day(seen, zone) - day(own[0], zone)).days for seen in own}
        for own in grouped(person).values()
    ]
    return [[n, sum(n in each for each in offsets)] for n in range(8)]


def new_and_returning(zone: str) -> Rows:
    first = {human: day(own[0], zone) for human, own in grouped(person).items()}
    rows: Rows = []
    for at, own in sorted(grouped(lambda seen: day(seen, zone)).items()):
        people = {person(seen) for seen in own}
        new = sum(first[human] == at for human in people)
        rows.append([str(at), new, len(people) - new])
    return rows


def sessions_by_silence(_zone: str) -> Rows:
    rows: Counter[int] = Counter()
    for own in grouped(person).values():
        gaps = [(two.at - first.at) > timedelta(minutes=30) for first, two in pairwise(own)]
        rows[1 + sum(gaps)] += 1
    return [[count, rows[count]] for count in sorted(rows)]


def sessions_of_days(zone: str) -> Rows:
    groups: dict[date, list[list[Seen]]] = defaultdict(list)
    for name, own in grouped(lambda seen: seen.session).items():
        if name:
            groups[day(own[0], zone)].append(own)
    rows: Rows = []
    for at in sorted(groups):
        seconds = [int(o[-1].at.timestamp()) - int(o[0].at.timestamp()) for o in groups[at]]
        views = sum(seen.event == "$pageview" for own in groups[at] for seen in own)
        rows.append([str(at), len(groups[at]), round(mean(seconds), 6), views])
    return rows


def rolling_week(zone: str) -> Rows:
    days = grouped(lambda seen: day(seen, zone))
    rows: Rows = []
    for at in sorted(days):
        last = [date for date in days if at - timedelta(6) <= date <= at]
        rows.append([str(at), len({person(seen) for date in last for seen in days[date]})])
    return rows


def running_revenue(zone: str) -> Rows:
    rows, total = list[list[Any]](), 0.0
    for at, own in sorted(grouped(lambda seen: day(seen, zone)).items()):
        revenue = sum(price(seen) for seen in own if seen.event == "paid")
        total += revenue
        rows.append([str(at), revenue, total])
    return rows


def growth_by_week(zone: str) -> Rows:
    weeks = Counter(
        day(seen, zone) - timedelta(day(seen, zone).isoweekday() % 7) for seen in EVENTS
    )
    rows, before = list[list[Any]](), 0
    for week in sorted(weeks):
        change = round(weeks[week] / before - 1, 6) if before else None
        rows.append([str(week), weeks[week], change])
        before = weeks[week]
    return rows


def plans_and_ratios(_zone: str) -> Rows:
    plans = grouped(lambda seen: seen.human.properties.get("plan", "none"))
    rows: Rows = []
    for plan, own in sorted(plans.items()):
        paid = [seen for seen in own if seen.event == "paid"]
        buyers = len({person(seen) for seen in paid})
        revenue = sum(price(seen) for seen in paid)
        rows.append([plan, len({person(s) for s in own}), buyers, round(revenue / buyers, 6)])
    return rows


def first_touch(_zone: str) -> Rows:
    revenue: dict[str, float] = defaultdict(float)
    for own in grouped(person).values():
        pages = [seen for seen in own if "$current_url" in seen.properties]
        url = pages[0].properties["$current_url"] if pages else "none"
        revenue[url] += sum(price(seen) for seen in own if seen.event == "paid")
    return [[url, round(revenue[url], 6)] for url in sorted(revenue)]


def last_page_before_paying(_zone: str) -> Rows:
    counts: Counter[str] = Counter()
    for own in grouped(person).values():
        pages = [seen for seen in own if seen.event == "$pageview"]
        times = [seen.at for seen in pages]
        for seen in own:
            position = bisect_right(times, seen.at)
            if seen.event == "paid" and position:
                counts[pages[position - 1].properties["$current_url"]] += 1
    return [[url, counts[url]] for url in sorted(counts)]


def transitions(_zone: str) -> Rows:
    counts = Counter(
        (first.event, two.event)
        for own in grouped(lambda seen: seen.session, (s for s in ORDERED if s.session)).values()
        for first, two in pairwise(own)
    )
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]
    return [[*names, count] for names, count in top]


def top_and_others(_zone: str) -> Rows:
    countries = Counter(seen.properties["country"] for seen in EVENTS)
    top = sorted(countries.items(), key=lambda item: (-item[1], item[0]))[:3]
    rest = len(EVENTS) - sum(count for _, count in top)
    return [*[[name, count] for name, count in top], ["other", rest]]


def pages_by_section(_zone: str) -> Rows:
    counts = Counter(
        seen.properties["$current_url"].split("/")[3]
        for seen in EVENTS
        if "$current_url" in seen.properties
    )
    return [[name, counts[name]] for name in sorted(counts)]


def price_quartiles(_zone: str) -> Rows:
    rows: Rows = []
    for name in ("added", "paid"):
        values = sorted(price(s) for s in EVENTS if s.event == name and "price" in s.properties)
        shares = [(len(values) - 1) * share for share in (0.25, 0.5, 0.75)]
        whole = [int(share) for share in shares]
        cuts = [
            values[low] + (share - low) * (values[min(low + 1, len(values) - 1)] - values[low])
            for low, share in zip(whole, shares, strict=True)
        ]
        rows.append([name, *cuts, len(values)])
    return rows


def people_by_active_days(zone: str) -> Rows:
    days = Counter(len({day(seen, zone) for seen in own}) for own in grouped(person).values())
    return [[count, days[count]] for count in sorted(days)]


def companies(_zone: str) -> Rows:
    sizes = {"acme": "10", "globex": "200"}
    groups = grouped(lambda seen: seen.company)
    return [
        [key, len({person(seen) for seen in groups[key]}), sizes.get(key), len(groups[key])]
        for key in sorted(groups)
        if key
    ]


def evening_share(zone: str) -> Rows:
    late = sum(local(seen.at, zone).hour >= 18 for seen in EVENTS)
    weekend = sum(local(seen.at, zone).isoweekday() > 5 for seen in EVENTS)
    return [[round(late / len(EVENTS), 6), round(weekend / len(EVENTS), 6)]]


def streaks(zone: str) -> Rows:
    """The longest run of days in a row, by number of people."""
    counts: Counter[int] = Counter()
    for own in grouped(person).values():
        days = sorted({day(seen, zone) for seen in own})
        best = run = 1
        for first, two in pairwise(days):
            run = run + 1 if (two - first).days == 1 else 1
            best = max(best, run)
        counts[best] += 1
    return [[length, counts[length]] for length in sorted(counts)]


def lifecycle(zone: str) -> Rows:
    counts: Counter[str] = Counter()
    for own in grouped(person).values():
        days = sorted({day(seen, zone) for seen in own})
        counts["new"] += 1
        for first, two in pairwise(days):
            counts["returning" if (two - first).days == 1 else "resurrecting"] += 1
    return [[name, counts[name]] for name in sorted(counts)]


def created_to_first_event(_zone: str) -> Rows:
    active = grouped(person)
    known = [human for human in PEOPLE if human.id in active]
    late = sum(active[human.id][0].at.astimezone(UTC) > human.created_at for human in known)
    return [[len(known), late]]


def prices_by_browser(_zone: str) -> Rows:
    rows: Rows = []
    for name in ("added", "paid"):
        own = [seen for seen in EVENTS if seen.event == name]
        chrome = sum(price(s) for s in own if s.properties.get("$browser") == "Chrome")
        rows.append([name, chrome, sum("$browser" not in seen.properties for seen in own)])
    return rows


def every_day_of_a_range(zone: str) -> Rows:
    days = Counter(day(seen, zone) for seen in EVENTS)
    first = date(2026, 10, 9)
    return [[str(first + timedelta(n)), days[first + timedelta(n)]] for n in range(12)]


def reached_steps(_zone: str) -> Rows:
    names = ("signed_up", "added", "paid")
    levels = [funnel_level(own, names, 5 * 86_400) for own in grouped(person).values()]
    return [[n, sum(level >= n for level in levels)] for n in sorted(set(levels), reverse=True)]


def first_three_events(_zone: str) -> Rows:
    paths = Counter(" > ".join(seen.event for seen in own[:3]) for own in grouped(person).values())
    return [[p, n] for p, n in sorted(paths.items(), key=lambda item: (-item[1], item[0]))[:4]]


def events_of_sessions(_zone: str) -> Rows:
    sizes = [len(own) for name, own in grouped(lambda seen: seen.session).items() if name]
    return [[len(sizes), sizes.count(1), round(mean(sizes), 6), max(sizes)]]


def keys_of_properties(_zone: str) -> Rows:
    counts = Counter(key for seen in EVENTS for key in seen.properties)
    return [[key, n] for key, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def members_of_a_cohort(_zone: str) -> Rows:
    members = {human.id for human in PEOPLE[:30:2]}
    own = [seen for seen in EVENTS if person(seen) in members]
    return [[len(own), len({person(seen) for seen in own}), len(EVENTS) - len(own)]]


def paid_but_never_added(_zone: str) -> Rows:
    names = {human: {seen.event for seen in own} for human, own in grouped(person).items()}
    return [[h] for h in sorted(names) if "paid" in names[h] and "added" not in names[h]]


CASES: list[tuple[str, Answer]] = [
    ("select event, sumIf(properties.price, properties.$browser = 'Chrome') as chrome, "
     "countIf(properties.$browser is null) from events where event in ('added', 'paid') group by "
     "event order by event", prices_by_browser),
    ("select toDate(timestamp) as d, count() from events where d between '2026-10-09' and "
     "'2026-10-20' group by d order by d with fill from toDate('2026-10-09') to "
     "toDate('2026-10-21') step 1", every_day_of_a_range),
    ("select level, sum(count()) over (order by level desc rows between unbounded preceding and "
     "current row) from (select person_id, windowFunnel(432000)(toDateTime(timestamp), event = "
     "'signed_up', event = 'added', event = 'paid') as level from events group by person_id) "
     "group by level order by level desc", reached_steps),
    ("select path, count() as n from (select arrayStringConcat(arraySlice(arrayMap(x -> x.2, "
     "arraySort(x -> x.1, groupArray((timestamp, event)))), 1, 3), ' > ') as path from events "
     "group by person_id) group by path order by n desc, path limit 4", first_three_events),
    ("select count(), countIf(c = 1), round(avg(c), 6), max(c) from (select $session_id, count() "
     "as c from events where $session_id != '' group by $session_id)", events_of_sessions),
    ("select key, count() as n from events array join JSONExtractKeys(properties) as key group by "
     "key order by n desc, key", keys_of_properties),
    ("select countIf(person_id in cohort 1), uniqIf(person_id, person_id in cohort 'Odd'), "
     "countIf(person_id not in cohort 1) from events", members_of_a_cohort),
    ("select a.person_id from (select distinct person_id from events where event = 'paid') a left "
     "anti join (select distinct person_id from events where event = 'added') b on a.person_id = "
     "b.person_id order by 1", paid_but_never_added),
    ("select level, count() from (select person_id, windowFunnel(432000)(toDateTime(timestamp), "
     "event = 'signed_up', event = 'added', event = 'paid') as level from events group by "
     "person_id) group by level order by level", funnel_by_window),
    ("with a as (select person_id, min(timestamp) as t from events where event = 'signed_up' group "
     "by person_id), b as (select e.person_id as p, min(e.timestamp) as t from events e join a on "
     "a.person_id = e.person_id where e.event = 'paid' and e.timestamp > a.t group by e.person_id) "
     "select count() as started, countIf(b.t > a.t) as converted, round(converted / started, 6), "
     "medianExactIf(dateDiff('minute', a.t, b.t), b.t > a.t) from a left join b on b.p = "
     "a.person_id", funnel_by_hand),
    ("with first as (select person_id, toDate(min(timestamp)) as d from events group by person_id) "
     "select toMonday(first.d) as w, dateDiff('week', first.d, toDate(e.timestamp)) as n, "
     "uniq(e.person_id) from events e join first on first.person_id = e.person_id group by w, n "
     "order by w, n", retention_by_week),
    ("select n, countIf(has(offsets, n)) from (select arrayMap(d -> dateDiff('day', "
     "toDate(min(timestamp)), d), groupUniqArray(toDate(timestamp))) as offsets from events "
     "group by person_id) cross join (select number as n from numbers(8)) as w group by n "
     "order by n", retention_curve),
    ("select toDate(timestamp) as d, uniqIf(person_id, first = d), uniqIf(person_id, first < d) "
     "from (select person_id, timestamp, min(toDate(timestamp)) over (partition by person_id) as "
     "first from events) group by d order by d", new_and_returning),
    ("select sessions, count() from (select person_id, 1 + countIf(gap > 1800) as sessions from "
     "(select person_id, dateDiff('microsecond', lagInFrame(timestamp, 1, timestamp) over "
     "(partition by person_id order by timestamp), timestamp) / 1000000 as gap from events) group "
     "by person_id) group by sessions order by sessions", sessions_by_silence),
    ("select toDate($start_timestamp) as d, count(), round(avg(dateDiff('second', "
     "$start_timestamp, $end_timestamp)), 6), sum($pageview_count) from sessions group by d "
     "order by d", sessions_of_days),
    ("select d.day as day, uniq(e.person_id) from (select distinct toDate(timestamp) as day from "
     "events) d cross join events e where toDate(e.timestamp) <= d.day and toDate(e.timestamp) > "
     "d.day - 7 group by day order by day", rolling_week),
    ("select day, revenue, sum(revenue) over (order by day) from (select toDate(timestamp) as day, "
     "ifNull(sumIf(properties.price, event = 'paid'), 0) as revenue from events group by day) "
     "order by day", running_revenue),
    ("select week, c, if(prev > 0, round(c / prev - 1, 6), null) from (select week, c, "
     "lagInFrame(c) over (order by week) as prev from (select toStartOfWeek(timestamp) as week, "
     "count() as c from events group by week)) order by week", growth_by_week),
    ("select coalesce(person.properties.plan, 'none') as plan, uniq(person_id), uniqIf(person_id, "
     "event = 'paid') as buyers, round(sumIf(properties.price, event = 'paid') / buyers, 6) from "
     "events group by plan order by plan", plans_and_ratios),
    ("select coalesce(touch.url, 'none') as url, round(sum(own.revenue), 6) from (select "
     "person_id, ifNull(sumIf(properties.price, event = 'paid'), 0) as revenue from events group "
     "by person_id) own left join (select person_id, argMin(properties.$current_url, timestamp) as "
     "url from events where properties.$current_url is not null group by person_id) touch on "
     "touch.person_id = own.person_id group by url order by url", first_touch),
    ("select p.url, count() from (select person_id, timestamp from events where event = 'paid') e "
     "asof join (select person_id, timestamp, properties.$current_url as url from events where "
     "event = '$pageview') p on p.person_id = e.person_id and e.timestamp >= p.timestamp group by "
     "p.url order by p.url", last_page_before_paying),
    ("select prev, event, count() as n from (select event, lag(event) over (partition by "
     "$session_id order by timestamp) as prev from events where notEmpty($session_id)) where prev "
     "is not null group by prev, event order by n desc, prev, event limit 5", transitions),
    ("with top as (select properties.country as c, count() as n from events group by c order by n "
     "desc, c limit 3) select if(properties.country in (select c from top), properties.country, "
     "'other') as name, count() as n from events group by name order by name = 'other', n desc, "
     "name", top_and_others),
    ("select splitByChar('/', path(properties.$current_url))[2] as section, count() from events "
     "where properties.$current_url is not null group by section order by section",
     pages_by_section),
    ("select event, quantileExactInclusive(0.25)(properties.price), "
     "quantileExactInclusive(0.5)(properties.price), quantileExactInclusive(0.75)"
     "(properties.price), count() from events where event in ('added', 'paid') and "
     "properties.price is not null group by event order by event", price_quartiles),
    ("select days, count() from (select uniq(toDate(timestamp)) as days from events group by "
     "person_id) group by days order by days", people_by_active_days),
    ("select $group_0 as company, uniq(person_id), any(company.properties.size), count() from "
     "events where $group_0 != '' group by company order by company", companies),
    ("select round(countIf(toHour(timestamp) >= 18) / count(), 6), round(countIf(toDayOfWeek"
     "(timestamp) > 5) / count(), 6) from events", evening_share),
    ("select longest, count() from (select person_id, max(days) as longest from (select person_id, "
     "count() as days from (select person_id, day - row_number() over (partition by person_id "
     "order by day) as island from (select distinct person_id, toDate(timestamp) as day from "
     "events)) group by person_id, island) group by person_id) group by longest order by longest",
     streaks),
    ("select multiIf(before is null, 'new', day - before = 1, 'returning', 'resurrecting') as "
     "state, count() from (select day, lag(day) over (partition by person_id order by day) as "
     "before from (select distinct person_id, toDate(timestamp) as day from events)) group by "
     "state order by state", lifecycle),
    ("select count(), countIf(first > created) from (select person_id, min(timestamp) as first, "
     "any(person.created_at) as created from events group by person_id)", created_to_first_event),
]  # fmt: skip


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("query", "expected"), CASES, ids=[each.__name__ for _, each in CASES])
def test_answers(generated_world: HogqlWorld, query: str, expected: Answer, zone: str) -> None:
    context = msgspec.structs.replace(CONTEXT, timezone=zone)

    assert generated_world.rows(query, context=context) == expected(zone)
