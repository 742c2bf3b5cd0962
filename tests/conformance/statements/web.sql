-- case: pages with visitors and views
select properties.$pathname as page, uniq(person_id) as visitors, count() as views, round(views / visitors, 2) as per_visitor from events where event = '$pageview' and timestamp >= '2026-10-01' group by page order by views desc, page
-- ordered
sorted(((p, humans(r), len(r), round(len(r) / humans(r) + 1e-12, 2)) for p, r in by(lambda e: get(e, '$pathname'), [e for e in named('$pageview') if e.at.month > 9]).items()), key=lambda r: (-r[2], r[0]))

-- case: visitors, views and sessions of a period and of the one before
select uniqIf(person_id, timestamp >= '2026-10-20') as visitors, uniqIf(person_id, timestamp < '2026-10-20') as visitors_before, countIf(event = '$pageview' and timestamp >= '2026-10-20') as views, uniqIf($session_id, timestamp >= '2026-10-20' and notEmpty($session_id)) as sessions, round((visitors - visitors_before) / visitors_before * 100, 1) as change from events where timestamp >= '2026-10-13' and timestamp < '2026-10-27'
-- rows
[(humans(a), humans(b), len([e for e in a if e.event == '$pageview']), len({e.session for e in a} - {''}), round((humans(a) - humans(b)) / humans(b) * 100, 1)) for a, b in [(between('2026-10-20', '2026-10-26'), between('2026-10-13', '2026-10-19'))]]

-- case: bounce rate of entry pages
select entry, count() as sessions, round(countIf(views = 1) / count() * 100, 2) as bounce from (select $session_id as sid, argMin(properties.$pathname, timestamp) as entry, count() as views from events where event = '$pageview' and $session_id != '' group by sid) group by entry order by sessions desc, entry
-- ordered
sorted(((p, len(s), round(sum(len(r) == 1 for r in s) / len(s) * 100, 2)) for p, s in by(lambda r: get(r[0], '$pathname'), [r for k, r in by(lambda e: e.session, named('$pageview')).items() if k]).items()), key=lambda r: (-r[1], r[0]))

-- case: bounces by the table of sessions
select $entry_pathname as path, count() as n, round(avg($session_duration), 2) as seconds, sum($pageview_count) as views from sessions where $start_timestamp >= '2026-10-13' and $start_timestamp < '2026-10-20' and $pageview_count > 0 group by path order by path
-- ordered
sorted((p, len(s), round(mean(seconds(r[0].at, r[-1].at) for r in s), 2), sum(e.event == '$pageview' for r in s for e in r)) for p, s in by(lambda r: next(path_of(e) for e in r if e.event == '$pageview'), [r for k, r in by(lambda e: e.session).items() if k and '2026-10-13' <= day(r[0]) < '2026-10-20' and any(e.event == '$pageview' for e in r)]).items())

-- case: where visits begin and end
with visits as (select $session_id as s, groupArray((timestamp, properties.$pathname)) as pages from events where event = '$pageview' and $session_id != '' group by s) select arraySort(x -> x.1, pages)[1].2 as entry, arraySort(x -> x.1, pages)[-1].2 as exit, count() as n from visits group by entry, exit having n > 1 order by n desc, entry, exit
-- ordered
sorted(((*k, n) for k, n in Counter((get(r[0], '$pathname'), get(r[-1], '$pathname')) for s, r in by(lambda e: e.session, named('$pageview')).items() if s).items() if n > 1), key=lambda r: (-r[2], r[0], r[1]))

-- case: share of devices
select properties.$device_type as device, count() as n, concat(toString(round(n / sum(n) over () * 100, 1)), '%') as share from events where event = '$pageview' group by device order by n desc
-- ordered
[(d, n, f'{round(n / len(named("$pageview")) * 100, 1):g}%') for d, n in Counter(get(e, '$device_type') for e in named('$pageview')).most_common()]

-- case: new and returning visitors of each day
select toDate(timestamp) as d, uniqIf(person_id, d = first) as new, uniqIf(person_id, d > first) as returning from events e join (select person_id as p, min(toDate(timestamp)) as first from events group by p) f on e.person_id = f.p where timestamp > '2026-10-13' group by d order by d
-- ordered
[(d, len({e.human.id for e in r if first[e.human.id] == d}), len({e.human.id for e in r if first[e.human.id] < d})) for first in [{h: day(r[0]) for h, r in by(lambda e: e.human.id).items()}] for d, r in sorted(by(day, [e for e in events if day(e) >= '2026-10-13']).items())]

-- case: the next page after a page
select page, next_page, count() as n from (select properties.$pathname as page, leadInFrame(properties.$pathname) over (partition by $session_id order by timestamp rows between current row and unbounded following) as next_page from events where event = '$pageview' and $session_id != '') where page = '/pricing' group by page, next_page order by n desc, next_page
-- rows
[('/pricing', k, n) for k, n in Counter(get(r[i + 1], '$pathname') if i + 1 < len(r) else None for s, r in by(lambda e: e.session, named('$pageview')).items() if s for i, e in enumerate(r) if get(e, '$pathname') == '/pricing').items()]

-- case: time on a page by lead
select page, count(), round(avg(secs), 1) from (select properties.$pathname as page, dateDiff('second', timestamp, lead(timestamp) over (partition by $session_id order by timestamp)) as secs from events where event = '$pageview' and $session_id != '') where secs is not null and secs < 1800 group by page
-- rows
[(p, len(v), round(mean(v), 1)) for p, v in ((p, [x for _, x in r]) for p, r in by(lambda t: t[0], [(get(a, '$pathname'), seconds(a.at, b.at)) for s, r in by(lambda e: e.session, named('$pageview')).items() if s for a, b in pairwise(r) if seconds(a.at, b.at) < 1800]).items())]

-- case: sections of the site by a pattern
select multiIf(properties.$pathname = '/', 'home', match(properties.$pathname, '^/docs'), 'docs', startsWith(properties.$pathname, '/user/'), 'user', 'other') as section, uniq(person_id), count() from events where event = '$pageview' group by section
-- rows
[(s, humans(r), len(r)) for s, r in by(lambda e: (lambda p: 'home' if p == '/' else 'docs' if p.startswith('/docs') else 'user' if p.startswith('/user/') else 'other')(get(e, '$pathname')), named('$pageview')).items()]

-- case: ids in paths replaced, trailing slashes cut
select trimRight(replaceRegexpAll(assumeNotNull(properties.$pathname), '/[0-9]+', '/:id'), '/') as page, count() from events where event = '$pageview' group by page
-- rows
Counter(('/user/:id' if get(e, '$pathname').startswith('/user') else get(e, '$pathname')).rstrip('/') for e in named('$pageview')).items()

-- case: views by hour and weekday as a matrix
select toHour(timestamp) as h, countIf(toDayOfWeek(timestamp) = 1) as mon, countIf(toDayOfWeek(timestamp) in (6, 7)) as weekend from events where event = '$pageview' group by h order by h
-- ordered
[(h, sum(e.at.isoweekday() == 1 for e in r), sum(e.at.isoweekday() > 5 for e in r)) for h, r in sorted(by(lambda e: e.at.hour, named('$pageview')).items())]

-- case: campaigns with conversions in the same session
select utm, count() as sessions, countIf(paid) as converted, round(100 * converted / sessions, 2) as rate from (select $session_id as s, argMinIf(properties.utm_source, timestamp, properties.utm_source is not null) as utm, countIf(event = 'paid') > 0 as paid from events where $session_id != '' group by s) group by utm order by utm
-- rows
[(u, len(r), sum(r), round(100 * sum(r) / len(r), 2)) for u, r in ((u, [p for _, p in x]) for u, x in by(lambda t: t[0], [(next((get(e, 'utm_source') for e in r if get(e, 'utm_source')), None), any(e.event == 'paid' for e in r)) for s, r in by(lambda e: e.session).items() if s]).items())]

-- case: sessions of each person, and how many did only one
select round(avg(n), 3), max(n), countIf(n = 1) from (select person_id, uniq($session_id) as n from events where $session_id != '' group by person_id)
-- rows
[(round(mean(c), 3), max(c), sum(n == 1 for n in c)) for c in [[len({e.session for e in r}) for r in by(lambda e: e.human.id, [e for e in events if e.session]).values()]]]

-- case: pages of sessions that paid
select page, uniq(s) from (select arrayJoin(groupUniqArray(properties.$pathname)) as page, $session_id as s from events where event = '$pageview' and $session_id in (select $session_id from events where event = 'paid' and $session_id != '') group by s) group by page
-- rows
[(p, len({e.session for e in r})) for p, r in by(lambda e: get(e, '$pathname'), [e for e in named('$pageview') if e.session in {x.session for x in named('paid')} - {''}]).items()]

-- case: rolling visitors of seven days by a self join of days
select d.day as day, uniq(e.person_id) as wau from (select distinct toDate(timestamp) as day from events where timestamp >= '2026-10-20' and timestamp < '2026-10-25') d cross join events e where toDate(e.timestamp) between d.day - 6 and d.day group by day order by day
-- ordered
[(d, humans(between(str(date.fromisoformat(d) - timedelta(6)), d))) for d in sorted({day(e) for e in between('2026-10-20', '2026-10-24')})]

-- case: stickiness, dau by mau
select round(avg(dau) / any(mau), 4) from (select toDate(timestamp) as d, uniq(person_id) as dau from events where timestamp >= '2026-10-13' group by d) as a cross join (select uniq(person_id) as mau from events where timestamp >= '2026-10-13') as b
-- rows
[(round(mean(humans(r) for r in by(day, x).values()) / humans(x), 4),) for x in [[e for e in events if day(e) >= '2026-10-13']]]

-- case: versions in their order
select properties.$lib_version as v, count() from events group by v order by sortableSemVer(v) desc
-- ordered
sorted(Counter(get(e, '$lib_version') for e in events).items(), key=lambda r: tuple(map(int, r[0].split('.'))), reverse=True)

-- case: versions above one
select count() from events where sortableSemVer(properties.$lib_version) > sortableSemVer('1.9.0')
-- rows
[(sum(tuple(map(int, get(e, '$lib_version').split('.'))) > (1, 9, 0) for e in events),)]

-- case: variants of a flag and their conversion
select properties.`$feature/new-ui` as variant, uniq(person_id) as people, uniqIf(person_id, event = 'paid') as converted, round(converted / people, 4) as rate from events where variant is not null group by variant order by variant
-- ordered
[(v, humans(r), humans([e for e in r if e.event == 'paid']), round(humans([e for e in r if e.event == 'paid']) / humans(r), 4)) for v, r in sorted(by(lambda e: (lambda x: 'true' if x is True else x)(get(e, '$feature/new-ui')), [e for e in events if get(e, '$feature/new-ui') is not None]).items())]

-- case: exposure first, then conversion
with exposed as (select person_id, argMin(properties['$feature/new-ui'], timestamp) as variant, min(timestamp) as at from events where properties['$feature/new-ui'] in ('control', 'test') group by person_id) select variant, count() as n, countIf(buys > 0) as buyers, round(sum(revenue), 2) from (select x.person_id, any(x.variant) as variant, countIf(e.event = 'paid' and e.timestamp > x.at) as buys, sumIf(e.properties.price, e.event = 'paid' and e.timestamp > x.at) as revenue from exposed x left join events e on e.person_id = x.person_id group by x.person_id) group by variant order by variant
-- ordered
[(v, len(p), sum(bool(x[1]) for x in p), round(sum(sum(get(e) or 0 for e in x[1]) for x in p), 2)) for v, p in sorted(by(lambda t: t[0], [(get(f, '$feature/new-ui'), [e for e in r if e.event == 'paid' and e.at > f.at]) for h, r in by(lambda e: e.human.id).items() for f in [next((e for e in r if get(e, '$feature/new-ui') in ('control', 'test')), None)] if f]).items())]
