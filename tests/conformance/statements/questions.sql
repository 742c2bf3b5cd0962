-- case: the latest event of each person, by DISTINCT ON
select count(), countIf(event = 'paid') from (select distinct on (person_id) person_id, event from events order by person_id, timestamp desc)
-- rows
[(len(by(lambda e: e.human.id)), sum(r[-1].event == 'paid' for r in by(lambda e: e.human.id).values()))]

-- case: the share of purchases beside each event, by FILTER OVER
select distinct event, count() over (partition by event) as n, count() filter (where properties.price > 10) over () as expensive from events
-- rows
[(k, len(r), sum((get(e) or 0) > 10 for e in events)) for k, r in by(lambda e: e.event).items()]

-- case: revenue up to each day, by FILTER OVER an order
select day, sum(n) filter (where n > 2) over (order by day) from (select toDate(timestamp) as day, count() as n from events where event = 'paid' group by day)
-- rows
(lambda d: [(k, sum(v for o, v in d.items() if o <= k and v > 2)) for k in d])({k: len(r) for k, r in sorted(by(day, named('paid')).items())})

-- case: rows that one list has more often than another
select event, count() from (select event from events where properties.$os = 'Mac' except all select event from events where properties.$os = 'iOS') group by event
-- rows
[(k, n) for k, n in (Counter(e.event for e in events if get(e, '$os') == 'Mac') - Counter(e.event for e in events if get(e, '$os') == 'iOS')).items()]

-- case: rows that two lists share
select event, count() from (select event from events where properties.$os = 'Mac' intersect all select event from events where properties.$os = 'iOS') group by event
-- rows
[(k, n) for k, n in (Counter(e.event for e in events if get(e, '$os') == 'Mac') & Counter(e.event for e in events if get(e, '$os') == 'iOS')).items()]

-- case: the second and third event of each name
select event, toUnixTimestamp(timestamp) from events order by event, timestamp limit 2 offset 1 by event
-- ordered
[(k, int(e.at.timestamp())) for k, r in sorted(by(lambda e: e.event).items()) for e in r[1:3]]

-- case: weekly retention by hand
with first as (select person_id, toMonday(min(timestamp)) as start from events where event = 'signed_up' group by person_id), active as (select distinct person_id, toMonday(timestamp) as week from events where event = 'paid') select dateDiff('week', f.start, a.week) as n, count(distinct f.person_id) from first f join active a on a.person_id = f.person_id where a.week >= f.start group by n
-- rows
(lambda monday: Counter((w - s).days // 7 for h, r in by(lambda e: e.human.id).items() for s in [min((monday(e) for e in r if e.event == 'signed_up'), default=None)] if s for w in {monday(e) for e in r if e.event == 'paid'} if w >= s).items())(lambda e: e.at.date() - timedelta(e.at.weekday()))

-- case: persons of two distinct ids and more
select countIf(n > 1), max(n) from (select person_id, count() as n from person_distinct_ids group by person_id)
-- rows
[(sum(len(p.ids) > 1 for p in people), max(len(p.ids) for p in people))]

-- case: segments by cohort
select case when person_id in cohort 'Odd' then 'odd' when person_id in cohort 2 then 'even' else 'none' end as grp, count() from events group by grp
-- rows
(lambda c: Counter(c.get(e.human.id, 'none') for e in events).items())({p.id: ('odd', 'even')[i % 2] for i, p in enumerate(people[:30])})

-- case: revenue by plan of the person and size of the company
select person.properties.plan as plan, company.properties.size as size, sum(properties.price) from events where event = 'paid' group by plan, size
-- rows
(lambda size: [(p, s, total(map(get, r))) for (p, s), r in by(lambda e: (e.human.properties.get('plan'), size.get(e.company)), named('paid')).items()])({'acme': '10', 'globex': '200'})

-- case: skus of items
select JSONExtractString(item, 'sku') as sku, sum(JSONExtractInt(item, 'qty')) from (select arrayJoin(JSONExtractArrayRaw(ifNull(properties.items, '[]'))) as item from events where event = 'paid') group by sku
-- rows
(lambda pairs: [(k, sum(q for s, q in pairs if s == k)) for k in {s for s, _ in pairs}])([(i['sku'], i['qty']) for e in named('paid') for i in get(e, 'items')])

-- case: a histogram of activity
select floor(c / 10) * 10 as bin, count() from (select person_id, count() as c from events group by person_id) group by bin
-- rows
Counter(len(r) // 10 * 10 for r in by(lambda e: e.human.id).values()).items()

-- case: paths without numbers
select replaceRegexpAll(properties.$pathname, '/[0-9]+', '/:id') as path, count() from events where event = '$pageview' group by path
-- rows
Counter('/user/:id' if get(e, '$pathname').startswith('/user/') else get(e, '$pathname') for e in named('$pageview')).items()

-- case: the gap to the event before
select countIf(gap > 1800), max(gap) from (select dateDiff('second', lagInFrame(timestamp) over (partition by $session_id order by timestamp rows between 1 preceding and current row), timestamp) as gap, row_number() over (partition by $session_id order by timestamp) as n from events where notEmpty($session_id)) where n > 1
-- rows
(lambda gaps: [(sum(g > 1800 for g in gaps), max(gaps))])([seconds(a.at, b.at) for s, r in by(lambda e: e.session).items() if s for a, b in pairwise(r)])
