-- case: views of each browser, the most first
select properties.$browser as browser, count() as views
from events where event = '$pageview'
group by browser order by views desc, browser
-- ordered
sorted(Counter(get(e, '$browser') for e in named('$pageview')).items(), key=lambda r: (-r[1], r[0] is None, r[0] or ''))

-- case: people of each day in the last two weeks
SELECT toStartOfDay(timestamp) AS day, count(DISTINCT person_id) AS dau
FROM events
WHERE timestamp >= now() - INTERVAL 14 DAY AND event = '$pageview'
GROUP BY day
ORDER BY day ASC
-- ordered
[(f"{d} 00:00:00", len({e.human.id for e in group})) for d, group in sorted(by(day, [e for e in named('$pageview') if e.at >= NOW - timedelta(days=14)]).items())]

-- case: the share of a step
select round(countIf(event = 'paid') / nullIf(countIf(event = 'added'), 0) * 100, 2) as conversion from events
-- rows
[[round(len(named('paid')) / len(named('added')) * 100, 2)]]

-- case: FILTER after an aggregate
select count(*) filter (where event = '$pageview') as views, count(distinct distinct_id) filter (where event = 'paid') as buyers from events
-- rows
[[len(named('$pageview')), len({e.distinct_id for e in named('paid')})]]

-- case: percent of the total with a window over groups
select event, count() as n, round(n * 100 / sum(n) over (), 3) as percent from events group by event order by n desc, event
-- ordered
[(name, n, round(n * 100 / len(events), 3)) for name, n in sorted(Counter(e.event for e in events).items(), key=lambda r: (-r[1], r[0]))]

-- case: buckets by multiIf
select multiIf(properties.price > 100, 'large', properties.price >= 10, 'medium', properties.price is null, 'none', 'small') as bucket, count()
from events where event in ('paid', 'added') group by bucket
-- rows
Counter('none' if get(e) is None else 'large' if get(e) > 100 else 'medium' if get(e) >= 10 else 'small' for e in named('paid', 'added')).items()

-- case: case when with like, and null without ELSE
select case when event = 'paid' then 'money' when event like '$%' then 'automatic' end as kind, count() from events group by kind
-- rows
Counter('money' if e.event == 'paid' else 'automatic' if e.event[0] == '$' else None for e in events).items()

-- case: quantiles of a number
select quantile(0.5)(properties.price), quantile(0.9)(properties.price), median(properties.price), avg(properties.price), min(properties.price), max(properties.price) from events
-- rows
[[percentile(p, 0.5), percentile(p, 0.9), percentile(p, 0.5), mean(p), min(p), max(p)] for p in [[get(e) for e in events if get(e) is not None]]]

-- case: average order value by conditional aggregates
select sumIf(properties.price, event = 'paid') / countIf(event = 'paid' and properties.price is not null) as aov, avgIf(properties.price, event = 'paid'), maxIf(timestamp, event = 'paid') from events
-- rows
[[mean(p), mean(p), named('paid')[-1].at] for p in [[get(e) for e in named('paid') if get(e) is not None]]]

-- case: revenue of each plan and per head
select person.properties.plan as plan, sum(toFloat(properties.price)) as revenue, round(revenue / uniq(person_id), 4) as arpu
from events where event = 'paid' group by plan having revenue > 0 order by revenue desc
-- rows
[(plan, total(map(get, rows)), round(total(map(get, rows)) / len({e.human.id for e in rows}), 4)) for plan, rows in by(lambda e: e.human.properties.get('plan'), named('paid')).items() if (total(map(get, rows)) or 0) > 0]

-- case: the ten best customers
select person_id, sum(toFloatOrZero(properties.price)) as ltv from events where event = 'paid' group by person_id order by ltv desc, toString(person_id) limit 10
-- ordered
sorted(((human, sum(get(e) or 0 for e in rows)) for human, rows in by(lambda e: e.human.id, named('paid')).items()), key=lambda r: (-r[1], r[0]))[:10]

-- case: truth in its forms
select countIf(properties.returning = true), countIf(properties.returning), countIf(not properties.returning), countIf(properties.returning = 'true'), countIf(properties.returning is null), countIf(properties.returning != true) from events
-- rows
[[c[True], c[True], c[False], c[True], c[None], c[False] + c[None]] for c in [Counter(get(e, 'returning') for e in events)]]

-- case: what is there and what is not; empty() of nothing is null
select countIf(properties.price is null), countIf(isNull(properties.price)), countIf(isNotNull(properties.price)), countIf(empty(properties.$browser)), countIf(notEmpty(properties.$browser)), countIf(properties.nothing = ''), countIf(properties.nothing != 'x') from events
-- rows
[[sum(get(e) is None for e in events), sum(get(e) is None for e in events), sum(get(e) is not None for e in events), 0, sum(get(e, '$browser') is not None for e in events), 0, len(events)]]

-- case: functional and, or, notIn with a comma too many
select count() from events where and(event = '$pageview', or(properties.$browser = 'Chrome', properties.$os = 'Mac'), notIn(properties.country, tuple('C01', 'C02', 'C03')),)
-- rows
[[sum((get(e, '$browser') == 'Chrome' or get(e, '$os') == 'Mac') and get(e, 'country') not in ('C01', 'C02', 'C03') for e in named('$pageview'))]]

-- case: the limit of each group
select properties.$browser as browser, event, count() as n from events where notEmpty(browser) group by browser, event order by browser, n desc, event limit 2 by browser
-- ordered
[(b, *row) for b, rows in sorted(by(lambda e: get(e, '$browser'), [e for e in events if get(e, '$browser')]).items()) for row in sorted(Counter(e.event for e in rows).items(), key=lambda r: (-r[1], r[0]))[:2]]

-- case: rollup, the last row is the total
select event, count() as n from events group by event with rollup order by n desc limit 1
-- rows
[['', len(events)]]

-- case: any and positional grouping
select lower(event) as e, properties.$os, count() from events group by 1, 2 order by 3 desc, 1, 2 limit 5
-- ordered
[(*k, n) for k, n in sorted(Counter((e.event.lower(), get(e, '$os')) for e in events).items(), key=lambda r: (-r[1], r[0]))[:5]]

-- case: named columns in quotes
select events.event as `Event Name`, count() as "Total Count" from events group by `Event Name` having "Total Count" > 20 order by "Total Count"
-- rows
[row for row in Counter(e.event for e in events).items() if row[1] > 20]

-- case: limit, offset and ties
select event, count() as n from events group by event order by n desc limit 2 offset 1
-- ordered
Counter(e.event for e in events).most_common(3)[1:]

-- case: distinct pairs
select count(distinct (event, properties.$os)), uniq(event, properties.$os), uniqExact(event) from events
-- rows
[[len({(e.event, get(e, '$os')) for e in events})] * 2 + [len({e.event for e in events})]]

-- case: campaigns against the rest, null last
select properties.utm_source as source, uniq(person_id) as people from events group by source order by source nulls last
-- ordered
[('news', len({e.human.id for e in events if get(e, 'utm_source')})), (None, len({e.human.id for e in events if not get(e, 'utm_source')}))]

-- case: a sparkline of each event by day
select event, sparkline(arrayMap(d -> countEqual(groupArray(dateDiff('day', timestamp, now())), d), range(0, 7))) from events group by event order by event
-- ordered
[(name, ['__hx_tag', 'Sparkline', 'data', [sum((NOW.date() - e.at.date()).days == d for e in rows) for d in range(7)]]) for name, rows in sorted(by(lambda e: e.event).items())]

-- case: a LIMIT that WITH names
with 2 as n select event, count() as c from events group by event order by c desc limit n
-- ordered
Counter(e.event for e in events).most_common(2)

-- case: wide integers and times that do not parse
select toString(toInt128('170141183460469231731687303715884105727')), toInt128('x'), toString(toUInt256(count())), toDateTime64OrNull('no', 3), toDateTime64OrNull('2026-10-20 10:00:00.5', 3) from events
-- rows
[(str(2**127 - 1), None, str(len(events)), None, '2026-10-20 10:00:00.500000')]
