-- case: rolling seven day actives by array join of days
select d, uniq(person_id) from (select person_id, arrayJoin(arrayMap(i -> toDate(timestamp) + i, range(7))) as d from events where timestamp >= '2026-10-13') group by d having d between '2026-10-20' and '2026-10-25' order by d
-- ordered
[(str(d), humans([e for e in events if e.at.date() >= date(2026, 10, 13) and d - timedelta(6) <= e.at.date() <= d])) for d in [date(2026, 10, 20) + timedelta(i) for i in range(6)]]

-- case: sessionization by sum over lag
select person_id, max(s) as sessions from (select person_id, sum(if(gap is null or gap > 1800, 1, 0)) over (partition by person_id order by timestamp rows between unbounded preceding and current row) as s from (select person_id, timestamp, dateDiff('second', lag(timestamp) over (partition by person_id order by timestamp), timestamp) as gap from events)) group by person_id
-- rows
[(h, sum(1 for i, e in enumerate(r) if i == 0 or seconds(r[i-1].at, e.at) > 1800)) for h, r in by(lambda e: e.human.id).items()]

-- case: day one retention by first day
with firsts as (select person_id, min(toDate(timestamp)) as d0 from events where timestamp >= '2026-10-13' group by person_id)
select f.d0 as d0, uniq(f.person_id) as size, uniqIf(e.person_id, toDate(e.timestamp) = f.d0 + interval 1 day) as d1 from firsts f join events e on e.person_id = f.person_id group by d0 order by d0
-- ordered
[(str(d), len(hs), sum(any(e.human.id == h and e.at.date() == d + timedelta(1) for e in events) for h in hs)) for firsts in [{h: min(e.at.date() for e in r) for h, r in by(lambda e: e.human.id, [e for e in events if e.at.date() >= date(2026,10,13)]).items()}] for d, hs in sorted(by(firsts.get, firsts).items())]

-- case: window funnel levels
select level, count() from (select person_id, windowFunnel(86400)(toDateTime(timestamp), event = '$pageview', event = 'added', event = 'paid') as level from events where timestamp >= '2026-10-13' group by person_id) group by level
-- rows
Counter(steps_done(r, '$pageview', 'added', 'paid', within=timedelta(days=1)) for r in by(lambda e: e.human.id, [e for e in events if e.at.date() >= date(2026,10,13)]).values()).items()

-- case: items quantities by lambda
select sum(arraySum(x -> JSONExtractInt(x, 'qty'), JSONExtractArrayRaw(properties, 'items'))), max(length(JSONExtractArrayRaw(properties, 'items'))) from events where event = 'paid'
-- rows
[[sum(i['qty'] for e in named('paid') for i in get(e, 'items')), max(len(get(e, 'items')) for e in named('paid'))]]

-- case: left array join keeps empty
select count(), countIf(item = '') from (select item from events left array join JSONExtractArrayRaw(properties, 'items') as item where event = 'paid')
-- rows
[[sum(max(1, len(get(e, 'items'))) for e in named('paid')), sum(not get(e, 'items') for e in named('paid'))]]

-- case: version parts to numbers
select toInt(splitByChar('.', assumeNotNull(properties.$lib_version))[2]) as minor, count() from events group by minor order by minor
-- ordered
sorted(Counter(int(get(e, '$lib_version').split('.')[1]) for e in events).items())

-- case: hour of day in berlin
-- zone: Europe/Berlin
select toHour(timestamp) as h, count() from events group by h order by h
-- ordered
sorted(Counter(local(e).hour for e in events).items())

-- case: date trunc in a zone is shown in it
-- zone: America/New_York
select dateTrunc('day', timestamp) as d, count() from events where timestamp >= '2026-10-30' group by d order by d
-- ordered
[(local(r[0], 'America/New_York').replace(hour=0, minute=0, second=0, microsecond=0), len(r)) for _, r in sorted(by(lambda e: local(e, 'America/New_York').date(), [e for e in events if local(e, 'America/New_York').date() >= date(2026, 10, 30)]).items())]

-- case: toStartOfDay with explicit zone
select toString(toDate(toTimeZone(timestamp, 'Asia/Tokyo'))) as d, count() from events group by d
-- rows
Counter(str(local(e, 'Asia/Tokyo').date()) for e in events).items()

-- case: format datetime
select formatDateTime(timestamp, '%Y-%m-%d %H:%i') as m, count() from events group by m order by count() desc, m limit 5
-- ordered
sorted(Counter(e.at.strftime('%Y-%m-%d %H:%M') for e in events).items(), key=lambda r: (-r[1], r[0]))[:5]

-- case: cohort membership as a column
select person_id in cohort 1 as odd, count() from events group by odd
-- rows
Counter(int(e.human in people[0:30:2]) for e in events).items()

-- case: cohort share among payers
select round(100 * uniqIf(person_id, person_id in cohort 'Even') / uniq(person_id), 3) from events where event = 'paid'
-- rows
[[round(100 * humans([e for e in named('paid') if e.human in people[1:30:2]]) / humans(named('paid')), 3)]]

-- case: persons plan by left join where none
select coalesce(p.properties.plan, 'none') as plan, count(distinct e.distinct_id) from events e left join persons p on p.id = e.person_id group by plan
-- rows
[(k, len({e.distinct_id for e in r})) for k, r in by(lambda e: e.human.properties.get('plan') or 'none').items()]

-- case: group size bands
select multiIf(toFloat(group_0.properties.size) >= 100, 'big', toFloat(group_0.properties.size) > 0, 'small', 'none') as band, count() from events group by band
-- rows
Counter({'globex': 'big', 'acme': 'small'}.get(e.company, 'none') for e in events).items()

-- case: company property by name
select company.properties.size, count() from events where $group_0 != '' group by company.properties.size
-- rows
Counter({'globex': '200', 'acme': '10'}.get(e.company) for e in events if e.company).items()

-- case: quantiles exact
select quantileExact(0.5)(toFloat(properties.price)), min(properties.price), max(properties.price) from events where event = 'paid'
-- rows
[[sorted(v)[len(v) // 2], min(v), max(v)] for v in [[get(e) for e in named('paid') if get(e) is not None]]]

-- case: quantile interpolated arrays
select quantiles(0.25, 0.5, 0.75)(properties.price) from events where event = 'added'
-- rows
[[[percentile(v, q) for q in (.25, .5, .75)]] for v in [[get(e) for e in named('added') if get(e) is not None]]]

-- case: argMax of a nullable
select person_id, argMax(properties.$browser, timestamp) from events group by person_id
-- rows
[(h, next((get(e, '$browser') for e in reversed(r) if get(e, '$browser') is not None), None)) for h, r in by(lambda e: e.human.id).items()]

-- case: argMinIf of page
select person_id, argMinIf(properties.$pathname, timestamp, event = '$pageview') as landing from events group by person_id having countIf(event = '$pageview') > 0
-- rows
[(h, r[0].properties['$pathname']) for h, r in by(lambda e: e.human.id, named('$pageview')).items()]

-- case: union all with literal kind, outer order
select kind, n from (select 'a' as kind, count() as n from events where event = 'added' union all select 'p', count() from events where event = 'paid' union all select 'z', 0) order by n desc, kind
-- ordered
sorted([('a', len(named('added'))), ('p', len(named('paid'))), ('z', 0)], key=lambda r: (-r[1], r[0]))

-- case: union distinct
select $session_id from events where event = 'added' and $session_id != '' union distinct select $session_id from events where event = 'paid' and $session_id != ''
-- rows
[[s] for s in {e.session for e in named('added', 'paid') if e.session}]

-- case: intersect
select distinct person_id from events where event = 'added' intersect select distinct person_id from events where event = 'paid'
-- rows
[[h] for h in {e.human.id for e in named('added')} & {e.human.id for e in named('paid')}]

-- case: except
select distinct person_id from events where event = 'added' except select distinct person_id from events where event = 'paid'
-- rows
[[h] for h in {e.human.id for e in named('added')} - {e.human.id for e in named('paid')}]

-- case: type names
select distinct toTypeName(timestamp), toTypeName(event), toTypeName(count()) from events group by timestamp, event limit 1
-- rows
[["DateTime64(6, 'UTC')", 'String', 'UInt64']]

-- case: nullable arithmetic
select count(properties.price * 2), sum(properties.price * 2 + 1), sum(coalesce(properties.price, 0) + 1), countIf(properties.price + 1 is null) from events where event in ('paid', 'added')
-- rows
[[len(v), sum(2 * x + 1 for x in v), sum(v) + n, n - len(v)] for n, v in [(len(named('paid', 'added')), [get(e) for e in named('paid', 'added') if get(e) is not None])]]

-- case: division and nullif
select event, sum(properties.price) / nullIf(count(properties.price), 0) as aov from events group by event
-- rows
[(n, mean(v) if v else None) for n, r in by(lambda e: e.event).items() for v in [[get(e) for e in r if get(e) is not None]]]

-- case: text to number conversions
select toFloat(properties.country), toInt(replaceOne(properties.country, 'C', '')) as n, count() from events group by 1, 2 order by n limit 3
-- ordered
[(None, n, c) for n, c in sorted(Counter(int(get(e, 'country')[1:]) for e in events).items())[:3]]

-- case: regex groups
select extract(distinct_id, '^d([0-9]+)_') as num, uniq(distinct_id) from events group by num
-- rows
[(k, len({e.distinct_id for e in r})) for k, r in by(lambda e: e.distinct_id[1:].split('_')[0]).items()]

-- case: regex operators
select countIf(properties.$pathname =~ '^/docs/[ab]$'), countIf(properties.$pathname !~ '^/docs'), countIf(match(properties.$pathname, 'user')) from events where event = '$pageview'
-- rows
[[sum(p in ('/docs/a', '/docs/b') for p in v), sum(not p.startswith('/docs') for p in v), sum('user' in p for p in v)] for v in [[path_of(e) for e in named('$pageview')]]]

-- case: replaceRegexp in groups
select replaceRegexpAll(properties.$pathname, '/[0-9]+', '/:id') as p, count() from events where event = '$pageview' group by p
-- rows
Counter('/user/:id' if path_of(e).startswith('/user/') else path_of(e) for e in named('$pageview')).items()

-- case: interval subtraction
select count() from events where timestamp >= now() - interval 7 day and timestamp < now() - toIntervalHour(24)
-- rows
[[sum(NOW - timedelta(7) <= e.at < NOW - timedelta(1) for e in events)]]

-- case: interval with text
select count() from events where timestamp > now() - interval '2 weeks'
-- rows
[[sum(e.at > NOW - timedelta(14) for e in events)]]

-- case: rollup two keys
select event, properties.$os as os, count() from events where event in ('paid', 'added') group by rollup(event, os)
-- rows
[(*k, n) for c in [[(e.event, get(e, '$os')) for e in named('paid', 'added')]] for k, n in [*Counter(c).items(), *(((a, None), n) for a, n in Counter(a for a, _ in c).items()), (('', None), len(c))]]

-- case: sparkline sumMap
select sumMap(map(event, 1)) from events
-- rows
[[dict(Counter(e.event for e in events))]]

-- case: mapped keys
select arraySort(mapKeys(sumMap(map(event, 1)))) from events
-- rows
[[sorted({e.event for e in events})]]

-- case: groupArray sorted by time
select person_id, arrayStringConcat(arrayMap(x -> x.2, arraySort(x -> x.1, groupArray((timestamp, event)))), '>') from events where person_id = (select min(person_id) from events) group by person_id
-- rows
[(h, '>'.join(e.event for e in r)) for h, r in by(lambda e: e.human.id).items() if h == min(e.human.id for e in events)]

-- case: array functions chain
select arrayFilter(n -> n > 1, arrayMap(t -> t.2, arrayZip(groupUniqArray(event), arrayEnumerate(groupUniqArray(event))))) from events
-- rows
[[list(range(2, len({e.event for e in events}) + 1))]]

-- case: arrayReduce and arrayCumSum
select arrayReduce('max', groupArray(toFloat(properties.price))), arrayCumSum([1, 2, 3]), arrayDifference([1, 4, 9]) from events where event = 'paid'
-- rows
[[max(get(e) for e in named('paid') if get(e) is not None), [1, 3, 6], [0, 3, 5]]]

-- case: session entry pathname
select $entry_pathname, count() from sessions group by $entry_pathname
-- rows
Counter(next((path_of(e) for e in r if '$current_url' in e.properties), None) for s, r in by(lambda e: e.session).items() if s).items()

-- case: session pageviews and duration
select session_id, $pageview_count, $session_duration from sessions
-- rows
[(s, sum(e.event == '$pageview' for e in r), seconds(r[0].at, r[-1].at)) for s, r in by(lambda e: e.session).items() if s]

-- case: session columns on events
select session.$entry_pathname as entry, uniq($session_id) from events where event = 'paid' and $session_id != '' group by entry
-- rows
[(k, len(v)) for k, v in by(lambda s: next((path_of(e) for e in events if e.session == s and '$current_url' in e.properties), None), {e.session for e in named('paid') if e.session}).items()]

-- case: bounce by single event
select countIf(n = 1) / count() from (select $session_id, count() as n from events where $session_id != '' group by $session_id)
-- rows
[[sum(len(r) == 1 for r in g) / len(g)] for g in [[r for s, r in by(lambda e: e.session).items() if s]]]

-- case: percent of total by window
select event, count() as n, round(100 * n / sum(n) over (), 2) as pct from events group by event order by n desc, event
-- ordered
[(k, n, round(100 * n / len(events), 2)) for k, n in sorted(Counter(e.event for e in events).items(), key=lambda r: (-r[1], r[0]))]

-- case: moving average rows
select d, avg(n) over (order by d rows between 2 preceding and current row) from (select toDate(timestamp) as d, count() as n from events where timestamp >= '2026-10-20' and timestamp < '2026-10-28' group by d) order by d
-- ordered
[(d, mean(n for _, n in c[max(0, i-2):i+1])) for c in [sorted(Counter(day(e) for e in between('2026-10-20', '2026-10-27')).items())] for i, (d, _) in enumerate(c)]

-- case: lead time to next purchase
select round(avg(gap), 3) from (select dateDiff('second', timestamp, leadInFrame(timestamp) over (partition by person_id order by timestamp rows between unbounded preceding and unbounded following)) as gap, row_number() over (partition by person_id order by timestamp desc) as back from events where event = 'paid') where back > 1
-- rows
[[round(mean(seconds(a.at, b.at) for r in by(lambda e: e.human.id, named('paid')).values() for a, b in pairwise(r)), 3)]]

-- case: first value and last value
select distinct person_id, first_value(event) over w as f, last_value(event) over w as l from events window w as (partition by person_id order by timestamp rows between unbounded preceding and unbounded following)
-- rows
[(h, r[0].event, r[-1].event) for h, r in by(lambda e: e.human.id).items()]

-- case: nth_value and ntile and percent_rank
select event, n, percent_rank() over (order by n) from (select event, count() as n from events group by event) order by n, event
-- ordered
[(k, n, sum(m < n for m in c.values()) / (len(c) - 1)) for c in [Counter(e.event for e in events)] for k, n in sorted(c.items(), key=lambda r: (r[1], r[0]))]

-- case: cte used twice
with daily as (select toDate(timestamp) as d, uniq(person_id) as dau from events group by d)
select d, dau from daily where dau = (select max(dau) from daily) order by d
-- ordered
[(d, n) for c in [{d: humans(r) for d, r in by(day).items()}] for d, n in sorted(c.items()) if n == max(c.values())]

-- case: cte chain
with a as (select person_id, count() as n from events group by person_id), b as (select n, count() as people from a group by n), c as (select sum(people) as total from b) select n, people, people / (select total from c) from b order by n
-- ordered
[(n, c, c / sum(d.values())) for d in [Counter(len(r) for r in by(lambda e: e.human.id).values())] for n, c in sorted(d.items())]

-- case: having on alias and expression
select distinct_id, count() as n, uniq(event) as kinds from events group by distinct_id having n >= 10 and kinds > 4
-- rows
[(k, len(r), len({e.event for e in r})) for k, r in by(lambda e: e.distinct_id).items() if len(r) >= 10 and len({e.event for e in r}) > 4]

-- case: limit by
select event, distinct_id, timestamp from events order by event, timestamp limit 2 by event
-- ordered
[(n, e.distinct_id, e.at) for n, r in sorted(by(lambda e: e.event).items()) for e in r[:2]]

-- case: distinct with expressions
select distinct event, properties.$device_type from events where event in ('paid', '$screen')
-- rows
[list(k) for k in {(e.event, get(e, '$device_type')) for e in named('paid', '$screen')}]

-- case: boolean properties
select properties.returning, count() from events group by properties.returning
-- rows
Counter(get(e, 'returning') for e in events).items()

-- case: boolean conditions
select countIf(properties.returning), countIf(not properties.returning), countIf(properties.returning = true), countIf(properties.returning = 'true'), countIf(properties.returning is null) from events
-- rows
[[t, f, t, t, n] for t, f, n in [[sum(get(e, 'returning') is x for e in events) for x in (True, False, None)]]]

-- case: feature flags by quoted name
select properties."$feature/new-ui" as v, uniq(person_id) from events where v is not null group by v
-- rows
[(str(k).lower() if k is True else k, humans(r)) for k, r in by(lambda e: get(e, '$feature/new-ui'), [e for e in events if get(e, '$feature/new-ui')]).items()]

-- case: json type and length
select JSONType(properties, 'items'), sum(JSONLength(properties, 'items')) from events where event = 'paid' group by 1
-- rows
[['Array', sum(len(get(e, 'items')) for e in named('paid'))]]

-- case: nested json paths
select properties.meta.app.version as v, properties.meta.tags.2 as tag, count() from events where event = 'signed_up' group by v, tag
-- rows
[(*k, n) for k, n in Counter((get(e, 'meta')['app']['version'], get(e, 'meta')['tags'][1]) for e in named('signed_up')).items()]

-- case: json extract typed
select sum(JSONExtractFloat(properties, 'price')), sum(JSONExtract(properties, 'price', 'Float64')), countIf(JSONHas(properties, 'price')) from events
-- rows
[[s, s, n] for s, n in [(sum(get(e) or 0 for e in events), sum(get(e) is not None for e in events))]]

-- case: keys of properties
select arrayJoin(JSONExtractKeys(properties)) as k, count() from events group by k order by k
-- ordered
sorted(Counter(k for e in events for k in e.properties).items())

-- case: in with tuples
select count() from events where (event, properties.$os) in (('paid', 'Mac'), ('added', 'iOS'))
-- rows
[[sum((e.event, get(e, '$os')) in {('paid', 'Mac'), ('added', 'iOS')} for e in events)]]

-- case: not in subquery
select count() from events where person_id not in (select person_id from events where event = 'paid')
-- rows
[[sum(e.human.id not in {x.human.id for x in named('paid')} for e in events)]]

-- case: scalar subquery share
select round(count() / (select count() from events), 5) from events where event = 'paid'
-- rows
[[round(len(named('paid')) / len(events), 5)]]

-- case: correlated count of earlier
select e.uuid, (select count() from events i where i.person_id = e.person_id and i.timestamp < e.timestamp) as before from events e where e.event = 'signed_up'
-- rows
[(uuid_of(e), sum(x.human is e.human and x.at < e.at for x in events)) for e in named('signed_up')]

-- case: weekday names
select formatDateTime(timestamp, '%a') as wd, count() from events group by wd
-- rows
Counter(e.at.strftime('%a') for e in events).items()

-- case: iso week and year
select toISOYear(timestamp), toISOWeek(timestamp), count() from events group by 1, 2 order by 1, 2
-- ordered
[(*k, n) for k, n in sorted(Counter(tuple(e.at.isocalendar())[:2] for e in events).items())]

-- case: age in days of the person
select dateDiff('day', toDate(person.created_at), toDate(timestamp)) as age, count() from events where event = 'paid' group by age
-- rows
Counter((e.at.date() - e.human.created_at.date()).days for e in named('paid')).items()

-- case: months between by date_diff
select date_diff('month', min(timestamp), max(timestamp)), date_diff('week', min(timestamp), max(timestamp)) from events
-- rows
[[(b.year - a.year) * 12 + b.month - a.month, ((b.date() - timedelta(b.weekday())) - (a.date() - timedelta(a.weekday()))).days // 7] for a, b in [(events[0].at, events[-1].at)]]

-- case: case insensitive search
select countIf(event ilike '%PAGE%'), countIf(event like '%page%'), countIf(position(event, 'ign') > 0), countIf(lower(properties.$os) = 'mac') from events
-- rows
[[p, p, len(named('signed_up')), sum(get(e, '$os') == 'Mac' for e in events)] for p in [len(named('$pageview'))]]

-- case: underscore is a wildcard
select countIf(event like 'p_id'), countIf(event like 'p\\_id'), countIf(properties.country like 'C0_') from events
-- rows
[[len(named('paid')), 0, sum(get(e, 'country').startswith('C0') for e in events)]]

-- case: concat and null
select concat(event, '-', properties.$browser) as k, count() from events group by k
-- rows
Counter(f"{e.event}-{get(e, '$browser') or ''}" for e in events).items()

-- case: substring and length
select substring(distinct_id, 2, length(distinct_id) - 3) as n, count() from events group by n
-- rows
Counter(e.distinct_id[1:1 + len(e.distinct_id) - 3] for e in events).items()

-- case: split and index from the end
select splitByChar('/', properties.$pathname)[-1] as last, count() from events where event = '$pageview' group by last
-- rows
Counter(path_of(e).split('/')[-1] for e in named('$pageview')).items()

-- case: url functions
select domain(properties.$current_url), path(properties.$current_url), count() from events where event = '$pageview' group by 1, 2
-- rows
[('x.com', k, n) for k, n in Counter(path_of(e) for e in named('$pageview')).items()]

-- case: stickiness by hand
select days, count() from (select person_id, uniq(toDate(timestamp)) as days from events where timestamp >= '2026-10-13' group by person_id) group by days order by days
-- ordered
sorted(Counter(len({e.at.date() for e in r}) for r in by(lambda e: e.human.id, [e for e in events if e.at.date() >= date(2026,10,13)]).values()).items())

-- case: lifecycle by hand
with days as (select distinct person_id, toDate(timestamp) as d from events where timestamp >= '2026-10-13'), firsts as (select person_id, min(d) as f from days group by person_id)
select d.d, countIf(d.d = f.f) as new, countIf(p.d = d.d - 1 and d.d != f.f) as returning from days d join firsts f on f.person_id = d.person_id left join days p on p.person_id = d.person_id and p.d = d.d - interval 1 day group by d.d order by d.d
-- ordered
[(str(d), sum(h not in seen or seen[h] == d for h in hs), sum((h, d - timedelta(1)) in pairs for h in hs)) for pairs in [{(e.human.id, e.at.date()) for e in events if e.at.date() >= date(2026,10,13)}] for seen in [{h: min(d for x, d in pairs if x == h) for h, _ in pairs}] for d in sorted({d for _, d in pairs}) for hs in [[h for h, x in pairs if x == d]]]

-- case: attribution of first utm
select coalesce(src, 'none'), count(), sum(rev) from (select person_id, argMinIf(properties.utm_source, timestamp, properties.utm_source is not null) as src, sum(properties.price) as rev from events group by person_id) group by 1
-- rows
[(k, len(v), total(total(map(get, r)) for r in v)) for k, v in by(lambda r: 'news' if any(get(e, 'utm_source') for e in r) else 'none', by(lambda e: e.human.id).values()).items()]

-- case: conversion by device, a join without partner gives the epoch
select v.device, count() as views, countIf(p.t > v.t) from (select person_id, properties.$device_type as device, min(timestamp) as t from events where event = '$pageview' group by person_id, device) v left join (select person_id, min(timestamp) as t from events where event = 'paid' group by person_id) p on p.person_id = v.person_id and p.t > v.t group by v.device
-- rows
[(d, len(ks), sum(h in paid and paid[h] > v[h, d] for h in ks)) for v in [{(h, d): r[0].at for (h, d), r in by(lambda e: (e.human.id, get(e, '$device_type')), named('$pageview')).items()}] for paid in [{h: r[0].at for h, r in by(lambda e: e.human.id, named('paid')).items()}] for d in {x for _, x in v} for ks in [[h for h, x in v if x == d]]]

-- case: greatest, least and bar
select greatest(1, 2, 3), least(2, 1), if(1 > 2, 'a', 'b'), multiIf(false, 1, true, 2, 3), coalesce(null, 'x'), ifNull(null, 5), intDiv(7, 2), 7 % 2, modulo(-7, 3), abs(-1), round(2.5), round(3.5), floor(-1.5), ceil(1.2), pow(2, 10), sqrt(16)
-- rows
[[3, 1, 'b', 2, 'x', 5, 3, 1, -1, 1, 2.0, 4.0, -2.0, 2.0, 1024.0, 4.0]]

-- case: dates without the table
select toDate('2026-02-28') + interval 1 month, toStartOfMonth(toDate('2026-02-28')), toLastDayOfMonth(toDate('2028-02-10')), dateDiff('day', toDate('2026-01-01'), toDate('2026-03-01')), toDayOfWeek(toDate('2026-11-01')), addMonths(toDate('2026-01-31'), 1), toQuarter(toDate('2026-05-05'))
-- rows
[['2026-03-28', '2026-02-01', '2028-02-29', 59, 7, '2026-02-28', 2]]

-- case: every day, counted by condition
select d, countIf(e.event != '') from (select toDate('2026-10-10') + number as d from numbers(8)) c left join events e on toDate(e.timestamp) = c.d group by d order by d
-- ordered
[(d, sum(day(e) == d for e in events)) for d in days('2026-10-10', '2026-10-17')]

-- case: with fill over a week
select toDate(timestamp) as d, count() from events where timestamp >= '2026-03-25' and timestamp < '2026-04-05' group by d order by d with fill from toDate('2026-03-25') to toDate('2026-04-06') step 1
-- ordered
[(d, sum(day(e) == d for e in events)) for d in days('2026-03-25', '2026-04-05')]

-- case: top per group by QUALIFY
select event, properties.country as c, count() as n from events group by event, c qualify row_number() over (partition by event order by n desc, c) = 1
-- rows
[(k, *min(Counter(get(e, 'country') for e in r).items(), key=lambda x: (-x[1], x[0]))) for k, r in by(lambda e: e.event).items()]

-- case: distinct counts with filters
select count(distinct person_id), count(distinct if(event = 'paid', person_id, null)), uniqIf(person_id, event = 'paid'), uniqExact(distinct_id), count(distinct event, properties.$os) from events
-- rows
[[humans(events), humans(named('paid')), humans(named('paid')), len({e.distinct_id for e in events}), len({(e.event, get(e, '$os')) for e in events})]]

-- case: sample of everything
select count() from events sample 1
-- rows
[[len(events)]]

-- case: recursion makes days
with recursive d as (select toDate('2026-10-13') as day union all select day + 1 from d where day < '2026-10-16') select day, (select count() from events where toDate(timestamp) = d.day) from d order by day
-- ordered
[(d, sum(day(e) == d for e in events)) for d in days('2026-10-13', '2026-10-16')]

-- case: asof join of the latest view before a purchase
select p.uuid, v.path from (select uuid, person_id, timestamp from events where event = 'paid') p asof join (select person_id, timestamp, properties.$pathname as path from events where event = '$pageview') v on v.person_id = p.person_id and v.timestamp <= p.timestamp
-- rows
[(uuid_of(e), path_of(before[-1])) for e in named('paid') for before in [[x for x in named('$pageview') if x.human is e.human and x.at <= e.at]] if before]

-- case: bool arithmetic and sums of conditions
select sum(event = 'paid'), avg(event = 'paid'), countIf(event = 'paid') * 1.0 / count(), max(event = 'x') from events
-- rows
[[n, n / len(events), n / len(events), 0] for n in [len(named('paid'))]]

-- case: approximate tops
select topK(2)(event)[1] from events
-- rows
[[Counter(e.event for e in events).most_common(1)[0][0]]]

-- case: timestamps as numbers
select toUnixTimestamp(min(timestamp)), toUnixTimestamp64Milli(max(timestamp)), toInt(floor(toFloat('3.7'))), toString(1.5), toInt('x') from events
-- rows
[[int(events[0].at.timestamp()), int(events[-1].at.timestamp() * 1000), 3, '1.5', None]]

-- case: compare times with text and dates
select countIf(timestamp > '2026-10-20'), countIf(timestamp >= toDate('2026-10-20')), countIf(toDate(timestamp) = '2026-10-20'), countIf(timestamp between '2026-10-20' and '2026-10-21 12:00:00') from events
-- rows
[[sum(e.at > a for e in events), sum(e.at >= a for e in events), sum(day(e) == '2026-10-20' for e in events), sum(a <= e.at <= a + timedelta(hours=36) for e in events)] for a in [datetime(2026, 10, 20, tzinfo=UTC)]]

-- case: zone of texts in comparisons
-- zone: Europe/Berlin
select countIf(timestamp >= '2026-10-25'), countIf(timestamp < '2026-10-25 03:30:00'), countIf(toStartOfDay(timestamp) = '2026-10-25') from events
-- rows
[[sum(e.at >= datetime(2026, 10, 24, 22, tzinfo=UTC) for e in events), sum(e.at < datetime(2026, 10, 25, 2, 30, tzinfo=UTC) for e in events), sum(str(local(e).date()) == '2026-10-25' for e in events)]]

-- case: hours over the autumn change
-- zone: Europe/Berlin
select toStartOfHour(timestamp) as h, count() from events where toDate(timestamp) = '2026-10-25' group by h order by h
-- ordered
[(local(r[0]).replace(minute=0, second=0, microsecond=0), len(r)) for _, r in sorted(by(lambda e: e.at.replace(minute=0, second=0, microsecond=0), [e for e in events if str(local(e).date()) == '2026-10-25']).items())]

-- case: property arrays contains
select count() from events where has(JSONExtractArrayRaw(properties.meta.tags), '"t1"')
-- rows
[[sum('t1' in get(e, 'meta')['tags'] for e in named('signed_up'))]]

-- case: json extract array of strings
select arrayJoin(JSONExtract(properties, 'meta', 'tags', 'Array(String)')) as tag, count() from events where event = 'signed_up' group by tag
-- rows
Counter(t for e in named('signed_up') for t in get(e, 'meta')['tags']).items()

-- case: price from array of objects
select sum(JSONExtractInt(item, 'qty')) as q, JSONExtractString(item, 'sku') as sku from events array join JSONExtractArrayRaw(properties, 'items') as item where event = 'paid' group by sku having q > 3 order by q desc, sku
-- ordered
sorted(((q, s) for s, q in {s: sum(i['qty'] for e in named('paid') for i in get(e, 'items') if i['sku'] == s) for s in ('k0', 'k1', 'k2', 'k3')}.items() if q > 3), key=lambda r: (-r[0], r[1]))

-- case: funnel by joins on sessions
select count(distinct v.s), count(distinct a.s) from (select $session_id as s, min(timestamp) as t from events where event = '$pageview' and $session_id != '' group by s) v left join (select $session_id as s, max(timestamp) as t from events where event = 'added' and $session_id != '' group by s) a on a.s = v.s and a.t > v.t
-- rows
[[len(v), len({s for s in v if s in a and a[s] > v[s]}) + 1] for v in [{s: r[0].at for s, r in by(lambda e: e.session, named('$pageview')).items() if s}] for a in [{s: r[-1].at for s, r in by(lambda e: e.session, named('added')).items() if s}]]

-- case: active days median
select median(d), avg(d), max(d) from (select person_id, count(distinct toDate(timestamp)) as d from events group by person_id)
-- rows
[[percentile(v, .5), mean(v), max(v)] for v in [[len({day(e) for e in r}) for r in by(lambda e: e.human.id).values()]]]

-- case: week over week change
select w, n, round(100 * (n - prev) / prev, 2) from (select w, n, lag(n) over (order by w) as prev from (select toStartOfWeek(timestamp) as w, count() as n from events where timestamp >= '2026-10-11' group by w)) where prev > 0 order by w
-- ordered
[(str(b[0]), b[1], round(100 * (b[1] - a[1]) / a[1], 2)) for a, b in pairwise(sorted(Counter(e.at.date() - timedelta((e.at.weekday() + 1) % 7) for e in events if e.at.date() >= date(2026, 10, 11)).items()))]

-- case: persons created by month
select toStartOfMonth(created_at) as m, count(), countIf(properties.plan = 'pro') from persons group by m order by m
-- ordered
[(str(m), len(r), sum(h.properties.get('plan') == 'pro' for h in r)) for m, r in sorted(by(lambda h: h.created_at.date().replace(day=1), people).items())]

-- case: email domains
select splitByChar('@', assumeNotNull(properties.email))[2] as d, count() from persons group by d order by count() desc, d
-- ordered
sorted(Counter(h.properties['email'].split('@')[1] for h in people).items(), key=lambda r: (-r[1], r[0]))

-- case: revenue by group via join
select g.key, sum(e.properties.price) from events e join groups g on g.key = e.$group_0 and g.index = 0 where e.event = 'paid' group by g.key
-- rows
[(k, total(map(get, r))) for k, r in by(lambda e: e.company, named('paid')).items() if k in ('acme', 'globex')]

-- case: cohort people table
select cohort_id, count(distinct person_id) from cohort_people group by cohort_id
-- rows
[[1, 15], [2, 15]]

-- case: first event per day
select toDate(timestamp) as d, argMin(event, timestamp), argMax(event, timestamp) from events where timestamp >= '2026-10-20' and timestamp < '2026-10-24' group by d
-- rows
[(d, r[0].event, r[-1].event) for d, r in by(day, between('2026-10-20', '2026-10-23')).items()]

-- case: null safe comparison of two properties
select countIf(properties.utm_source = properties.missing), countIf(properties.utm_source != properties.missing) from events
-- rows
[[sum(get(e, 'utm_source') is None for e in events), sum(get(e, 'utm_source') is not None for e in events)]]

-- case: not like on missing
select countIf(properties.utm_source not like '%new%'), countIf(not (properties.utm_source like '%new%')), countIf(properties.utm_source not in ('news')) from events
-- rows
[[n, n, n] for n in [sum(get(e, 'utm_source') is None for e in events)]]

-- case: order comparison with missing numbers
select countIf(properties.price > 5), countIf(not (properties.price > 5)), countIf(properties.price <= 5) from events
-- rows
[[a, len(events) - a, b] for a, b in [(sum((get(e) or 0) > 5 for e in events), sum(get(e) is not None and get(e) <= 5 for e in events))]]

-- case: case without else in sum
select sum(case when event = 'paid' then properties.price end), count(case when event = 'paid' then 1 end) from events
-- rows
[[total(map(get, named('paid'))), len(named('paid'))]]

-- case: nested case in group by
select case when properties.$os in ('Mac', 'Windows') then 'desktop' when properties.$os = 'iOS' then case when event = 'paid' then 'buyer' else 'phone' end end as k, count() from events group by k
-- rows
Counter('desktop' if get(e, '$os') != 'iOS' else 'buyer' if e.event == 'paid' else 'phone' for e in events).items()

-- case: cumulative distinct persons
select d, sum(n) over (order by d) from (select d, count() as n from (select person_id, min(toDate(timestamp)) as d from events group by person_id) group by d) order by d
-- ordered
[(d, sum(m for x, m in c.items() if x <= d)) for c in [Counter(day(r[0]) for r in by(lambda e: e.human.id).values())] for d in sorted(c)]

-- case: percent rank of spenders
select person_id, s from (select person_id, sum(properties.price) as s, cume_dist() over (order by s) as c from events where properties.price is not null group by person_id) where c > 0.9
-- rows
[(h, s) for t in [{h: sum(map(get, r)) for h, r in by(lambda e: e.human.id, [e for e in events if get(e) is not None]).items()}] for h, s in t.items() if sum(x <= s for x in t.values()) / len(t) > .9]

-- case: quarter hours
select toStartOfFifteenMinutes(timestamp) as t, count() from events group by t having count() >= 6
-- rows
[(t, n) for t, n in Counter(e.at.replace(minute=e.at.minute // 15 * 15, second=0, microsecond=0) for e in events).items() if n >= 6]

-- case: dateTrunc month, quarter, year with names
select dateTrunc('month', timestamp) as m, dateTrunc('quarter', timestamp) as q, count() from events group by m, q order by m
-- ordered
[(str(date(y, m, 1)), str(date(y, (m - 1) // 3 * 3 + 1, 1)), n) for (y, m), n in sorted(Counter((e.at.year, e.at.month) for e in events).items())]

-- case: week mode
select toWeek(timestamp, 3), count() from events group by 1
-- rows
Counter(e.at.isocalendar()[1] for e in events).items()

-- case: variables of with in a join
with (select max(timestamp) from events) as last_seen select count() from events where timestamp > last_seen - interval 3 day
-- rows
[[sum(e.at > events[-1].at - timedelta(3) for e in events)]]

-- case: array of tuples sorted by count
select arraySlice(arrayReverseSort(x -> x.2, arrayZip(mapKeys(m), mapValues(m))), 1, 1) from (select sumMap(map(event, 1)) as m from events)
-- rows
[[[list(Counter(e.event for e in events).most_common(1)[0])]]]

-- case: string aggregation distinct
select arrayStringConcat(arraySort(groupUniqArray(properties.$os)), ',') from events
-- rows
[['Mac,Windows,iOS']]

-- case: countIf of two conditions with between
select countIf(properties.price between 2 and 100), countIf(properties.price not between 2 and 100) from events
-- rows
[[sum(get(e) is not None and 2 <= get(e) <= 100 for e in events), sum(get(e) is not None and not 2 <= get(e) <= 100 for e in events)]]

-- case: distinct id prefix groups
select left(distinct_id, 2) as p, right(distinct_id, 1) as s, count() from events group by p, s
-- rows
[(*k, n) for k, n in Counter((e.distinct_id[:2], e.distinct_id[-1]) for e in events).items()]

-- case: lower and trim and replace
select upper(trim(concat('  ', event, ' '))), replaceAll(event, '$', ''), count() from events group by event
-- rows
[(k.upper(), k.replace('$', ''), n) for k, n in Counter(e.event for e in events).items()]
