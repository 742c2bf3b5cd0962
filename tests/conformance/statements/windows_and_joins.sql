-- case: running total
select day, n, sum(n) over (order by day rows between unbounded preceding and current row) as running from (select toDate(timestamp) as day, count() as n from events where event = 'paid' group by day) order by day
-- ordered
[(d, n, sum(m for other, m in c.items() if other <= d)) for c in [Counter(day(e) for e in named('paid'))] for d, n in sorted(c.items())]

-- case: mean of seven rows
select day, round(avg(n) over (order by day rows between 6 preceding and current row), 4) from (select toDate(timestamp) as day, count() as n from events group by day) order by day
-- ordered
[(d, round(mean(n for _, n in days[max(0, i - 6):i + 1]), 4)) for days in [sorted(Counter(day(e) for e in events).items())] for i, (d, _) in enumerate(days)]

-- case: growth by lagInFrame over groups
select toStartOfWeek(timestamp, 1) as w, uniq(person_id) as wau, lagInFrame(wau) over (order by w rows between unbounded preceding and current row) as before, wau - before as growth from events where timestamp > '2026-10-01' group by w order by w
-- ordered
[(str(w), n, b, n - b) for weeks in [sorted((w, len({e.human.id for e in r})) for w, r in by(lambda e: e.at.date() - timedelta(e.at.weekday()), [e for e in events if e.at > datetime(2026, 10, 1, tzinfo=UTC)]).items())] for i, (w, n) in enumerate(weeks) for b in [weeks[i - 1][1] if i else 0]]

-- case: what came before in the session
select prev, event, count() as n from (select event, lag(event) over (partition by $session_id order by timestamp) as prev from events where $session_id != '') group by prev, event
-- rows
[(*k, n) for k, n in Counter((r[i - 1].event if i else None, e.event) for s, r in by(lambda e: e.session).items() if s for i, e in enumerate(r)).items()]

-- case: the newest two of each person
select person_id, event from (select person_id, event, row_number() over (partition by person_id order by timestamp desc) as rn from events) where rn <= 2
-- rows
[(h, e.event) for h, r in by(lambda e: e.human.id).items() for e in r[-2:]]

-- case: QUALIFY
select person_id, event from events qualify row_number() over (partition by person_id order by timestamp) = 1
-- rows
[(h, r[0].event) for h, r in by(lambda e: e.human.id).items()]

-- case: quarters by spending
select quarter, count(), sum(ltv) from (select person_id, sum(properties.price) as ltv, ntile(4) over (order by ltv desc, toString(person_id)) as quarter from events where properties.price is not null group by person_id) group by quarter order by quarter
-- ordered
[(q + 1, len(part), sum(v for v, _ in part)) for best in [sorted(((sum(map(get, r)), h) for h, r in by(lambda e: e.human.id, [e for e in events if get(e) is not None]).items()), key=lambda r: (-r[0], r[1]))] for size, more in [divmod(len(best), 4)] for q in range(4) for part in [best[q * size + min(q, more):(q + 1) * size + min(q + 1, more)]]]

-- case: ranks with ties
select event, count() as n, rank() over (order by n desc), dense_rank() over (order by n desc) from events group by event
-- rows
[(name, n, 1 + sum(m > n for m in c.values()), 1 + len({m for m in c.values() if m > n})) for c in [Counter(e.event for e in events)] for name, n in c.items()]

-- case: sessions made by hand, after half an hour of silence
select count(), uniq(person_id) from (select person_id, dateDiff('second', lag(timestamp) over (partition by person_id order by timestamp), timestamp) as gap from events) where gap is null or gap > 1800
-- rows
[[sum(1 + sum(seconds(a.at, b.at) > 1800 for a, b in pairwise(r)) for r in by(lambda e: e.human.id).values()), len({e.human.id for e in events})]]

-- case: first and next within a window of frames
select first_event, next_event, count() from (select event as first_event, first_value(event) over w as next_event from events window w as (partition by person_id order by timestamp asc rows between 1 following and 1 following)) as t where first_event = 'added' group by first_event, next_event
-- rows
[('added', k, n) for k, n in Counter(r[i + 1].event if i + 1 < len(r) else '' for r in by(lambda e: e.human.id).values() for i, e in enumerate(r) if e.event == 'added').items()]

-- case: from one event to the next of the same person
select a.person_id, dateDiff('minute', a.t, b.t) as minutes from (select person_id, min(timestamp) as t from events where event = 'added' group by person_id) a inner join (select person_id, min(timestamp) as t from events where event = 'paid' group by person_id) b on a.person_id = b.person_id where b.t > a.t
-- rows
[(h, int(paid[h].timestamp()) // 60 - int(added[h].timestamp()) // 60) for added, paid in [[{h: r[0].at for h, r in by(lambda e: e.human.id, named(n)).items()} for n in ('added', 'paid')]] for h in added if h in paid and paid[h] > added[h]]

-- case: a funnel with minIf
with f as (select person_id, minIf(timestamp, event = '$pageview') as v, minIf(timestamp, event = 'added') as a, countIf(event = 'added') as n from events group by person_id having countIf(event = '$pageview') > 0)
select count(), countIf(n > 0 and a > v), round(countIf(n > 0 and a > v) / count(), 4) from f
-- rows
[[len(v), both, round(both / len(v), 4)] for v, a in [[{h: r[0].at for h, r in by(lambda e: e.human.id, named(n)).items()} for n in ('$pageview', 'added')]] for both in [sum(h in a and a[h] > v[h] for h in v)]]

-- case: weeks since the first week
with first as (select person_id, min(toStartOfWeek(timestamp, 1)) as week from events group by person_id)
select f.week as cohort, dateDiff('week', f.week, toStartOfWeek(e.timestamp, 1)) as n, count(distinct e.person_id) from events e join first f on f.person_id = e.person_id group by cohort, n order by cohort, n
-- ordered
[(str(c), n, len({h for h, *_ in r})) for first in [{h: min(e.at.date() - timedelta(e.at.weekday()) for e in r) for h, r in by(lambda e: e.human.id).items()}] for (c, n), r in sorted(by(lambda r: (r[1], r[2]), [(e.human.id, first[e.human.id], (e.at.date() - timedelta(e.at.weekday()) - first[e.human.id]).days // 7) for e in events]).items())]

-- case: several steps of WITH
with views as (select $session_id as s, count() as n from events where event = '$pageview' and $session_id != '' group by s), orders as (select $session_id as s, sum(properties.price) as total from events where event = 'paid' group by s)
select if(v.n > 2, 'many', 'few') as kind, count(), countIf(o.total > 0), sum(o.total) from views v left join orders o on o.s = v.s group by kind
-- rows
[(kind, len(ss), sum((orders.get(s) or 0) > 0 for s in ss), total(orders.get(s) for s in ss)) for views in [Counter(e.session for e in named('$pageview') if e.session)] for orders in [{s: total(map(get, r)) for s, r in by(lambda e: e.session, named('paid')).items()}] for kind, ss in by(lambda s: 'many' if views[s] > 2 else 'few', views).items()]

-- case: a union with a total
select * from (select event as name, count() as n from events group by event union all select 'all' as name, count() as n from events) order by n desc, name
-- ordered
sorted([*Counter(e.event for e in events).items(), ('all', len(events))], key=lambda r: (-r[1], r[0]))

-- case: who did both, who only the one
select count() from (select distinct person_id from events where event = 'added' intersect select person_id from events where event = 'paid') union all select count() from (select distinct person_id from events where event = 'added' except select person_id from events where event = 'paid')
-- rows
[[len(a & p)] if both else [len(a - p)] for a, p in [[{e.human.id for e in named(n)} for n in ('added', 'paid')]] for both in (True, False)]

-- case: scalar subqueries
select (select count() from events where event = 'paid') as paid, round(paid / (select count() from events), 6) as share, (select max(timestamp) from events) > '2026-10-01' as fresh
-- rows
[[len(named('paid')), round(len(named('paid')) / len(events), 6), True]]

-- case: the last day by a WITH expression
with (select max(timestamp) from events) as last select event, count() from events where timestamp > last - interval 1 day group by event
-- rows
Counter(e.event for e in events if e.at > events[-1].at - timedelta(1)).items()

-- case: windowFunnel by person
select level, count() from (select person_id, windowFunnel(86400)(toDateTime(timestamp), event = '$pageview', event = 'added') as level from events group by person_id) group by level
-- rows
Counter(2 if any(v.event == '$pageview' and a.event == 'added' and 0 <= seconds(v.at, a.at) <= 86400 for i, v in enumerate(r) for a in r[i + 1:]) else 1 if any(e.event == '$pageview' for e in r) else 0 for r in by(lambda e: e.human.id).values()).items()

