-- case: events of each e-mail, more than ten
SELECT person.properties.email, count() FROM events GROUP BY person.properties.email HAVING count() > 10 ORDER BY count() DESC, person.properties.email
-- ordered
sorted(((h, n) for h, n in Counter(e.human.properties['email'] for e in events).items() if n > 10), key=lambda r: (-r[1], r[0]))

-- case: without test accounts, by hand
select count() from events where person.properties.email is not null and person.properties.email not ilike '%@TEST.com'
-- rows
[[sum(not e.human.properties['email'].endswith('@test.com') for e in events)]]

-- case: who they are, by the first that is there
select coalesce(person.properties.name, person.properties.plan, person.properties.email, distinct_id) as who, max(timestamp) as last_seen from events group by who order by last_seen desc limit 5
-- ordered
sorted(((who, max(e.at for e in rows)) for who, rows in by(lambda e: e.human.properties.get('plan') or e.human.properties['email']).items()), key=lambda r: r[1], reverse=True)[:5]

-- case: persons with their events, also those without
select p.properties.email as email, count(e.uuid) as n, countIf(e.event = 'paid') as paid from persons p left join events e on e.person_id = p.id group by email
-- rows
[(h.properties['email'], sum(e.human is h for e in events), sum(e.human is h for e in named('paid'))) for h in people]

-- case: persons who did one thing and never the other
select properties.email from persons where id in (select person_id from events where event = 'added') and id not in (select person_id from events where event = 'paid')
-- rows
[[h.properties['email']] for h in people if any(e.human is h for e in named('added')) and not any(e.human is h for e in named('paid'))]

-- case: events of persons by a property of the table persons
select e.properties.$os as os, count() from events e where e.person_id in (select id from persons where properties.plan = 'pro') group by os
-- rows
Counter(get(e, '$os') for e in events if e.human.properties.get('plan') == 'pro').items()

-- case: join with persons both ways
select p.properties.plan as plan, uniq(e.person_id) as people, count() as n from events as e inner join persons as p on p.id = e.person.id where p.properties.plan is not null group by plan order by plan
-- ordered
[(plan, len({e.human.id for e in rows}), len(rows)) for plan, rows in sorted(by(lambda e: e.human.properties.get('plan') or '').items()) if plan]

-- case: distinct ids of each person
select person_id, arraySort(groupArray(distinct_id)) as ids from person_distinct_ids group by person_id
-- rows
[(h.id, sorted(h.ids)) for h in people]

-- case: persons by day of coming
select toDate(created_at) as day, count() as n from persons group by day order by day
-- ordered
sorted(Counter(str(h.created_at.date()) for h in people).items())

-- case: persons by the domain of the address
select splitByChar('@', properties.email)[2] as domain, count(), countIf(properties.plan is null) from persons group by domain
-- rows
[(d, len(rows), sum('plan' not in h.properties for h in rows)) for d, rows in by(lambda h: h.properties['email'].split('@')[1], people).items()]

-- case: in a cohort by id and not in another by name
select count(), uniq(person_id) from events where person_id in cohort 1 and person_id not in cohort 'Even'
-- rows
[[sum(e.human in people[:30:2] for e in events), len({e.human.id for e in events if e.human in people[:30:2]})]]

-- case: persons in a cohort
select properties.email from persons where id in cohort 'Even' order by properties.email limit 5
-- ordered
[[email] for email in sorted(h.properties['email'] for h in people[1:30:2])[:5]]

-- case: sizes of cohorts
select cohort_id, count() from cohort_people group by cohort_id order by cohort_id
-- ordered
[(1, 15), (2, 15)]

-- case: events of members by a join
select c.cohort_id, count() from events e join cohort_people c on c.person_id = e.person_id group by c.cohort_id
-- rows
[(1, sum(e.human in people[:30:2] for e in events)), (2, sum(e.human in people[1:30:2] for e in events))]

-- case: companies with their size
select $group_0 as company, company.properties.size as size, uniq(person_id) from events where $group_0 != '' group by 1, 2
-- rows
[(c, {'acme': '10', 'globex': '200'}.get(c), len({e.human.id for e in rows})) for c, rows in by(lambda e: e.company).items() if c]

-- case: groups with their events
select g.key, toInt(g.properties.size) as size, countIf(e.event = 'paid') as paid from groups g left join events e on e.$group_0 = g.key where g.index = 0 group by g.key, size order by size
-- ordered
[(k, size, sum(e.company == k for e in named('paid'))) for k, size in (('acme', 10), ('globex', 200))]

-- case: several ids of one person are one
select uniq(distinct_id) as ids, uniq(person_id) as people from events
-- rows
[[len({e.distinct_id for e in events}), len({e.human.id for e in events})]]

-- case: the person of an id
select person_id, person.properties.email from events where distinct_id = 'd3_0' limit 1
-- rows
[(e.human.id, e.human.properties['email']) for e in events if e.distinct_id == 'd3_0'][:1]

-- case: how long sessions are
select round(avg(d), 3), max(d), countIf(d = 0) from (select $session_id, dateDiff('second', min(timestamp), max(timestamp)) as d from events where $session_id != '' group by $session_id)
-- rows
[[round(mean(d), 3), max(d), d.count(0)] for d in [[seconds(rows[0].at, rows[-1].at) for s, rows in by(lambda e: e.session).items() if s]]]

-- case: the table sessions says the same
select round(avg($session_duration), 3), max($session_duration), count(), sum($pageview_count), sum($screen_count), uniq(distinct_id) from sessions
-- rows
[[round(mean(seconds(r[0].at, r[-1].at) for r in s), 3), max(seconds(r[0].at, r[-1].at) for r in s), len(s), sum(e.event == '$pageview' for r in s for e in r), sum(e.event == '$screen' for r in s for e in r), len({r[0].distinct_id for r in s})] for s in [[rows for name, rows in by(lambda e: e.session).items() if name]]]

-- case: where sessions begin and end
select $entry_pathname as entry, $exit_pathname as exit, count() from sessions where $pageview_count > 0 group by entry, exit
-- rows
Counter((path_of(v[0]), path_of(v[-1])) for s, v in by(lambda e: e.session, named('$pageview')).items() if s).items() and [(*k, n) for k, n in Counter((path_of(v[0]), path_of(v[-1])) for s, v in by(lambda e: e.session, named('$pageview')).items() if s).items()]

-- case: events by the length of their session
select if(session.$session_duration > 600, 'long', 'short') as kind, count() from events where $session_id != '' group by kind
-- rows
Counter('long' if seconds(r[0].at, r[-1].at) > 600 else 'short' for s, r in by(lambda e: e.session).items() if s for e in r).items()

-- case: join of events and sessions
select s.$entry_pathname as entry, uniq(e.person_id) from events e join sessions s on s.session_id = e.$session_id where e.event = 'paid' and s.$pageview_count > 0 group by entry
-- rows
[(p, len({e.human.id for e in rows})) for views in [by(lambda e: e.session, named('$pageview'))] for p, rows in by(lambda e: path_of(views[e.session][0]), [e for e in named('paid') if e.session and e.session in views]).items()]

-- case: bounces
select countIf($is_bounce) as bounced, count() from sessions where $pageview_count + $screen_count > 0
-- rows
[[sum(sum(e.event in ('$pageview', '$screen') for e in r) == 1 and seconds(r[0].at, r[-1].at) < 10 for r in s), sum(any(e.event in ('$pageview', '$screen') for e in r) for r in s)] for s in [[rows for name, rows in by(lambda e: e.session).items() if name]]]

-- case: the channel that a person came by first, also as a property
select $virt_initial_channel_type, properties.$virt_initial_channel_type, count() from persons group by 1, 2
-- rows
[('Unknown', 'Unknown', len(people))]

-- case: people of each first channel from the events
select person.$virt_initial_channel_type as channel, uniq(person_id) from events group by channel
-- rows
[('Unknown', len(people))]
