-- case: weekly retention as a table
select cohort, size, arrayMap(w -> countEqual(flat, w), range(0, 4)) as kept from (select cohort, uniq(person_id) as size, arrayFlatten(groupArray(weeks)) as flat from (select person_id, toStartOfWeek(min(timestamp), 1) as cohort, arrayDistinct(groupArray(toInt(dateDiff('week', toStartOfWeek(first, 1), toStartOfWeek(timestamp, 1))))) as weeks from events e join (select person_id as pid, min(timestamp) as first from events group by pid) f on f.pid = e.person_id group by person_id) group by cohort) order by cohort
-- ordered
[(str(c), len(p), [sum(c + timedelta(7 * w) in ws for ws in p) for w in range(4)]) for c, p in sorted(by(min, [{e.at.date() - timedelta(e.at.weekday()) for e in r} for r in by(lambda e: e.human.id).values()]).items())]

-- case: retention by a self join, percent of the cohort
with cohort as (select person_id, toDate(min(timestamp)) as first_day from events where event = '$pageview' and timestamp > '2026-10-13' group by person_id), active as (select distinct person_id, toDate(timestamp) as d from events where timestamp > '2026-10-13') select c.first_day as first_day, count(distinct c.person_id) as n, count(distinct if(a.d = c.first_day + 1, c.person_id, null)) as day1, count(distinct if(a.d = addDays(c.first_day, 7), c.person_id, null)) as day7 from cohort c left join active a on a.person_id = c.person_id group by first_day order by first_day
-- ordered
[(d, len(h), sum(str(date.fromisoformat(d) + timedelta(1)) in act[x] for x in h), sum(str(date.fromisoformat(d) + timedelta(7)) in act[x] for x in h)) for act in [{h: {day(e) for e in r} for h, r in by(lambda e: e.human.id, between('2026-10-13', '2027-01-01')).items()}] for d, h in sorted(by(lambda t: t[1], []).items())] or [(d, len(hs), sum(str(date.fromisoformat(d) + timedelta(1)) in act[h] for h in hs), sum(str(date.fromisoformat(d) + timedelta(7)) in act[h] for h in hs)) for act in [{h: {day(e) for e in r} for h, r in by(lambda e: e.human.id, between('2026-10-13', '2027-01-01')).items()}] for first in [{h: day(r[0]) for h, r in by(lambda e: e.human.id, between('2026-10-13', '2027-01-01', named('$pageview'))).items()}] for d in sorted(set(first.values())) for hs in [[h for h in first if first[h] == d]]]

-- case: the retention function of ClickHouse
select sum(r[1]) as d0, sum(r[2]) as d1, sum(r[3]) as d2 from (select person_id, retention(toDate(timestamp) = '2026-10-20', toDate(timestamp) = '2026-10-21', toDate(timestamp) = '2026-10-22') as r from events where timestamp >= '2026-10-20' and timestamp < '2026-10-23' group by person_id)
-- rows
[(len(a), len(a & b), len(a & c)) for a, b, c in [[{e.human.id for e in between(d, d)} for d in days('2026-10-20', '2026-10-22')]]]

-- case: windowFunnel in strict order
select level, count() from (select windowFunnel(3600, 'strict_increase')(timestamp, event = '$pageview', event = 'added', event = 'paid') as level from events group by person_id) group by level order by level
-- ordered
sorted(Counter(steps_done(r, '$pageview', 'added', 'paid', within=timedelta(hours=1)) for r in by(lambda e: e.human.id).values()).items())

-- case: sequenceMatch and sequenceCount
select countIf(m), sum(c) from (select sequenceMatch('(?1).*(?2)')(timestamp, event = 'added', event = 'paid') as m, sequenceCount('(?1)(?2)')(timestamp, event = 'added', event = 'paid') as c from events group by person_id)
-- rows
[(sum('ap' in ''.join({'added': 'a', 'paid': 'p'}.get(e.event, '') for e in r).replace('aa', 'a') or bool(__import__('re').search('a.*p', ''.join({'added': 'a', 'paid': 'p'}.get(e.event, '') for e in r))) for r in x), sum(''.join({'added': 'a', 'paid': 'p'}.get(e.event, '') for e in r).count('ap') for r in x)) for x in [list(by(lambda e: e.human.id).values())]]

-- case: a funnel with times of the steps by joins
with s1 as (select person_id, min(timestamp) as t from events where event = '$pageview' and timestamp > '2026-10-13' group by person_id), s2 as (select e.person_id as person_id, min(e.timestamp) as t from events e join s1 on s1.person_id = e.person_id where e.event = 'added' and e.timestamp > s1.t group by e.person_id), s3 as (select e.person_id as person_id, min(e.timestamp) as t from events e join s2 on s2.person_id = e.person_id where e.event = 'paid' and e.timestamp > s2.t group by e.person_id) select 'viewed' as step, (select count() from s1) as n union all select 'added', (select count() from s2) union all select 'paid', (select count() from s3)
-- rows
[(s, n) for s1, x in [({h: next(e.at for e in r if e.event == '$pageview') for h, r in by(lambda e: e.human.id, between('2026-10-13', '2027-01-01')).items() if any(e.event == '$pageview' for e in r)}, by(lambda e: e.human.id))] for s2 in [{h: t for h in s1 for t in [min((e.at for e in x[h] if e.event == 'added' and e.at > s1[h]), default=None)] if t}] for s3 in [{h for h in s2 if any(e.event == 'paid' and e.at > s2[h] for e in x[h])}] for s, n in (('viewed', len(s1)), ('added', len(s2)), ('paid', len(s3)))]

-- case: time to convert between two events of a session
select floor(secs / 600) * 10 as minutes, count() from (select $session_id, minIf(timestamp, event = 'added') as a, minIf(timestamp, event = 'paid' ) as p, dateDiff('second', a, p) as secs from events where $session_id != '' group by $session_id having countIf(event = 'added') > 0 and countIf(event = 'paid') > 0) where secs >= 0 group by minutes order by minutes
-- ordered
sorted(Counter(s // 600 * 10 for r in by(lambda e: e.session, [e for e in events if e.session]).values() for a, p in [[next((e.at for e in r if e.event == n), None) for n in ('added', 'paid')]] if a and p for s in [seconds(a, p)] if s >= 0).items())

-- case: power users, active on several days
select active_days, count() as people, sum(people) over (order by active_days desc) as at_least from (select person_id, count(distinct toDate(timestamp)) as active_days from events where timestamp >= '2026-10-13' group by person_id) group by active_days order by active_days
-- ordered
[(d, n, sum(m for k, m in c.items() if k >= d)) for c in [Counter(len({day(e) for e in r}) for r in by(lambda e: e.human.id, [e for e in events if day(e) >= '2026-10-13']).values())] for d, n in sorted(c.items())]

-- case: longest streak of days
select max(streak) from (select person_id, count() as streak from (select person_id, d, toRelativeDayNum(d) - row_number() over (partition by person_id order by d) as grp from (select distinct person_id, toDate(timestamp) as d from events)) group by person_id, grp)
-- rows
[[max(len(list(g)) for r in by(lambda e: e.human.id).values() for _, g in __import__('itertools').groupby(enumerate(sorted({e.at.toordinal() for e in r})), lambda t: t[1] - t[0]))]]

-- case: first and last touch
select first_source, last_source, count() as n from (select person_id, coalesce(argMin(properties.utm_source, timestamp), 'none') as first_source, argMaxIf(properties.$browser, timestamp, properties.$browser is not null) as last_source from events group by person_id) group by first_source, last_source order by n desc, first_source, last_source
-- ordered
sorted(((*k, n) for k, n in Counter((next((get(e, 'utm_source') for e in r if get(e, 'utm_source') is not None), 'none'), next((get(e, '$browser') for e in reversed(r) if get(e, '$browser')), None)) for r in by(lambda e: e.human.id).values()).items()), key=lambda r: (-r[2], r[0], repr(r[1])))

-- case: the path of events as text, the most frequent
select path, count() as n from (select arrayStringConcat(arrayMap(t -> t.2, arraySlice(arraySort(t -> t.1, groupArray(tuple(timestamp, event))), 1, 4)), ' → ') as path from events where $session_id != '' group by $session_id) group by path order by n desc, path limit 7
-- ordered
sorted(Counter(' → '.join(e.event for e in r[:4]) for s, r in by(lambda e: e.session).items() if s).items(), key=lambda r: (-r[1], r[0]))[:7]

-- case: consecutive duplicates removed
select arrayCompact(groupArray(event)) as steps, count() as n from (select event, $session_id from events where $session_id != '' order by timestamp) group by $session_id having length(steps) = 2 order by steps, n
-- ordered
sorted([[a, b], len(r)] for s, r in by(lambda e: e.session).items() if s for c in [[e.event for i, e in enumerate(r) if not i or r[i - 1].event != e.event]] if len(c) == 2 for a, b in [c])

-- case: who did at least three of a kind in the last week before the end
select person.properties.email as email, count() as n from events where event = 'added' and timestamp >= toDateTime('2026-11-02 00:00:00') - interval 1 week group by email having n >= 3 order by n desc, email
-- ordered
sorted(((h, n) for h, n in Counter(e.human.properties['email'] for e in named('added') if datetime(2026, 10, 26, tzinfo=UTC) <= e.at).items() if n >= 3), key=lambda r: (-r[1], r[0]))

-- case: people without an event for ten days
select person_id, dateDiff('day', max(timestamp), toDateTime('2026-11-02 00:00:00')) as silent from events group by person_id having silent > 10 order by silent desc, toString(person_id)
-- ordered
sorted(((h, (date(2026, 11, 2) - r[-1].at.date()).days) for h, r in by(lambda e: e.human.id).items() if (date(2026, 11, 2) - r[-1].at.date()).days > 10), key=lambda r: (-r[1], r[0]))

-- case: active persons of a day, the mean of the same weekday
select d, dau, round(avg(dau) over (partition by toDayOfWeek(d) order by d rows between 1 preceding and 1 preceding), 2) as week_before from (select toDate(timestamp) as d, count(distinct person_id) as dau from events where timestamp >= '2026-10-13' group by d) order by d
-- ordered
[(d, x[d], float(p[-1]) if p else None) for x in [{d: humans(r) for d, r in sorted(by(day, [e for e in events if day(e) >= '2026-10-13']).items())}] for d in x for p in [[x[o] for o in x if o < d and date.fromisoformat(o).weekday() == date.fromisoformat(d).weekday()]]]

-- case: what correlates, conversion with and without an event
select feature, uniqIf(person_id, paid) as converted, uniq(person_id) as people, round(converted / people, 4) as rate from (select event as feature, person_id, person_id in (select person_id from events where event = 'paid') as paid from events where event in ('added', 'signed_up', '$screen')) group by feature order by rate desc, feature
-- ordered
sorted(((f, len(p & buyers), len(p), round(len(p & buyers) / len(p), 4)) for buyers in [{e.human.id for e in named('paid')}] for f in ('added', 'signed_up', '$screen') for p in [{e.human.id for e in named(f)}]), key=lambda r: (-r[3], r[0]))

-- case: event counts of each person as a pivot
select person.properties.email, countIf(event = '$pageview') as v, countIf(event = 'added') as a, countIf(event = 'paid') as p, v + a + p as all from events where event in ('$pageview', 'added', 'paid') group by 1 having p > 5 order by all desc, 1
-- ordered
sorted(((h, *c, sum(c)) for h, r in by(lambda e: e.human.properties['email']).items() for c in [[sum(e.event == n for e in r) for n in ('$pageview', 'added', 'paid')]] if c[2] > 5), key=lambda r: (-r[-1], r[0]))

-- case: percent of sessions with each event
select event, round(uniq($session_id) * 100 / (select uniq($session_id) from events where $session_id != ''), 2) as pct from events where $session_id != '' group by event order by pct desc, event
-- ordered
sorted(((n, round(len({e.session for e in r}) * 100 / len({e.session for e in events} - {''}), 2)) for n, r in by(lambda e: e.event, [e for e in events if e.session]).items()), key=lambda r: (-r[1], r[0]))
