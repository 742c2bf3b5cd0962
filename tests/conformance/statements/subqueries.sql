-- case: events of persons with a property
select count() from events e where exists (select 1 from persons p where p.id = e.person_id and p.properties.plan = 'pro')
-- rows
[[sum(e.human.properties.get('plan') == 'pro' for e in events)]]

-- case: who signed up and never paid
select count(distinct person_id) from events where event = 'signed_up' and not exists (select 1 from events p where p.person_id = events.person_id and p.event = 'paid')
-- rows
[[len({e.human.id for e in named('signed_up')} - {e.human.id for e in named('paid')})]]

-- case: added, and paid within a day after it
select count() from events e where e.event = 'added' and exists (select 1 from events f where f.person_id = e.person_id and f.event = 'paid' and f.timestamp > e.timestamp and f.timestamp < e.timestamp + interval 1 day)
-- rows
[[sum(any(f.human == e.human and e.at < f.at < e.at + timedelta(days=1) for f in named('paid')) for e in named('added'))]]

-- case: equal properties, also when both are missing
select count() from events e where exists (select 1 from events f where f.properties.$browser = e.properties.$browser and f.event = 'paid' and f.properties.$os = 'Mac')
-- rows
[[sum(get(e, '$browser') in {get(f, '$browser') for f in named('paid') if get(f, '$os') == 'Mac'} for e in events)]]

-- case: a condition on a missing property of the row outside
select count() from events e where exists (select 1 from events f where f.person_id = e.person_id and f.event = 'paid' and (e.properties.price is null or f.properties.price < e.properties.price))
-- rows
[[sum(any(f.human == e.human and (get(e) is None or (get(f) is not None and get(f) < get(e))) for f in named('paid')) for e in events)]]

-- case: a count of each person, 0 without events
select p.properties.email as email, (select count() from events e where e.person_id = p.id and e.event = 'paid') as n from persons p order by n desc, email
-- ordered
sorted(((h.properties['email'], sum(e.human == h for e in named('paid'))) for h in people), key=lambda r: (-r[1], r[0]))

-- case: grouped by whether there are any
select if(exists(select 1 from events e where e.person_id = p.id and e.event = 'paid'), 'buyer', 'other') as kind, count() from persons p group by kind
-- rows
Counter('buyer' if h.id in {e.human.id for e in named('paid')} else 'other' for h in people).items()

-- case: the newest row of each person
select p.id, (select event from events e where e.person_id = p.id order by timestamp desc limit 1) as last, (select properties.price from events e where e.person_id = p.id order by timestamp limit 1) as first_price from persons p
-- rows
[(h, rows[-1].event, get(rows[0])) for h, rows in by(lambda e: e.human.id).items()] + [(h.id, None, None) for h in people if h.id not in {e.human.id for e in events}]

-- case: above the average of its kind
select count() from events e where e.properties.price > (select avg(f.properties.price) from events f where f.event = e.event)
-- rows
[[sum(get(e) > mean(get(f) for f in named(e.event) if get(f) is not None) for e in events if get(e) is not None)]]

-- case: a value that the groups determine
select person_id, count() as n, (select p.properties.email from persons p where p.id = e.person_id) as email from events e group by person_id
-- rows
[(h, len(rows), rows[0].human.properties['email']) for h, rows in by(lambda e: e.human.id).items()]

-- case: the sum of subqueries
select p.properties.plan as plan, sum((select sum(properties.price) from events e where e.person_id = p.id)) from persons p group by plan
-- rows
[(plan, sum(get(e) or 0 for e in events if e.human in group)) for plan, group in by(lambda h: h.properties.get('plan'), people).items()]

-- case: persons of a list made before
with buyers as (select person_id, sum(properties.price) as spent from events where event = 'paid' group by person_id) select count() from events e where exists (select 1 from buyers b where b.person_id = e.person_id and b.spent > 300)
-- rows
[[sum(e.human.id in {h for h, rows in by(lambda f: f.human.id, named('paid')).items() if (total(map(get, rows)) or 0) > 300} for e in events)]]

-- case: a condition without an equality, for rows that repeat
select sum(n) from (select (select count() from events f where toHour(f.timestamp) < toHour(e.timestamp)) as n from events e)
-- rows
[[sum(sum(n for hour, n in hours.items() if hour < e.at.hour) for e in events) for hours in [Counter(f.at.hour for f in events)]]]

-- case: active persons of each day and of its week
with days as (select toDate('2026-10-20') + number as d from numbers(5)) select d, (select uniq(person_id) from events e where toDate(e.timestamp) = days.d) as dau, (select uniq(person_id) from events e where toDate(e.timestamp) between days.d - 6 and days.d) as wau from days order by d
-- ordered
[(str(d), humans(between(str(d), str(d))), humans(between(str(d - timedelta(days=6)), str(d)))) for d in [date(2026, 10, 20) + timedelta(days=n) for n in range(5)]]
