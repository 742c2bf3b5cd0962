-- case: events by a person's e-mail
select person.properties.email as email, count() from events group by email order by email
-- rows [["ann@b.com", 4], ["bob@a.com", 2]]

-- case: an alias that is the name of a joined table
select company.properties.name as company, count() from events where company.properties.name is not null group by company
-- rows [["Acme", 3]]

-- case: an alias that is the name of the person
select person.properties.email as person, person.properties.plan as plan from events where person.properties.plan = 'pro' order by timestamp limit 1
-- rows [["ann@b.com", "pro"]]

-- case: an alias that is the name of the properties
select properties.$browser as properties, count() from events where properties.price > 0 group by properties order by 2 desc, 1
-- rows [["Chrome", 2], ["Safari", 1], [null, 1]]

-- case: an alias that is the name of the session
select session.$pageview_count as session, session.$session_duration from events where session.$session_duration > 400 order by timestamp
-- rows [[1, 600], [1, 600]]

-- case: such an alias of an aggregate
select any(person.properties.email) as person, count() from events where person.properties.plan = 'pro'
-- rows [["ann@b.com", 4]]

-- case: such an alias is still the value
select person.properties.email as person from events where person = 'bob@a.com' limit 1
-- rows [["bob@a.com"]]

-- case: such an alias over a CTE
with e as (select properties, timestamp from events) select properties.$browser as properties from e where properties.price > 5 order by timestamp
-- rows [["Chrome"], ["Chrome"], [null]]

-- case: an alias of a bag of properties has them
select person.properties as properties, properties.email from events order by timestamp limit 1
-- rows [["{\"email\":\"ann@b.com\",\"plan\":\"pro\"}", "ann@b.com"]]

-- case: an alias of JSON has its keys
select properties.a as a, a.b from events order by timestamp limit 1
-- rows [["{\"b\":1}", "1"]]

-- case: domains of e-mails
select splitByChar('@', person.properties.email)[2] as domain, count() from events group by domain order by domain
-- rows [["a.com", 2], ["b.com", 4]]

-- case: domains by position
select substring(person.properties.email, position(person.properties.email, '@') + 1) as domain, uniq(person_id) from events group by domain order by domain
-- rows [["a.com", 1], ["b.com", 1]]

-- case: people of a cohort
select count() from events where person_id in cohort 5 and event = '$pageview'
-- rows [[2]]

-- case: people outside of a cohort, by its name
select count() from events where person_id not in cohort 'Five'
-- rows [[2]]

-- case: cohorts in conditions
select countIf(person_id in cohort 5), countIf(person_id not in cohort 5), event from events group by event order by event
-- rows [[1, 0, "$autocapture"], [2, 1, "$pageview"], [1, 1, "purchase"]]

-- case: people of a subquery
select count() from events where person_id in (select id from persons where properties.plan = 'pro')
-- rows [[4]]

-- case: people without a purchase
select count() from persons where id not in (select person_id from events where event = 'purchase')
-- rows [[0]]

-- case: persons joined
select p.properties.email, count() as c from events e left join persons p on e.person_id = p.id group by 1 order by 1
-- rows [["ann@b.com", 4], ["bob@a.com", 2]]

-- case: persons by their e-mail
select id, properties.email, created_at from persons where properties.email ilike '%@b.com'
-- rows [["00000000-0000-0000-0000-00000000000a", "ann@b.com", "2026-01-01 00:00:00"]]

-- case: persons without a click
select p.id from persons p left anti join events e on e.person_id = p.id and e.event = '$autocapture'
-- rows [["00000000-0000-0000-0000-00000000000b"]]

-- case: events of identified persons
select e.event from events e left semi join persons p on p.id = e.person_id and p.is_identified = 1 order by e.timestamp limit 1
-- rows [["$pageview"]]

-- case: a join by a comma
select e.event, p.properties.email from events e, persons p where e.person_id = p.id order by e.timestamp limit 1
-- rows [["$pageview", "ann@b.com"]]

-- case: distinct ids of persons
select pdi.distinct_id, pdi.person_id from persons order by pdi.distinct_id
-- rows [["ann", "00000000-0000-0000-0000-00000000000a"], ["anon", "00000000-0000-0000-0000-00000000000a"], ["bob", "00000000-0000-0000-0000-00000000000b"]]

-- case: the person now and then
select poe.properties.email, person.properties.email, person.created_at from events order by timestamp limit 1
-- rows [["then@a.com", "ann@b.com", "2026-01-01 00:00:00"]]

-- case: JSON functions on properties of persons and groups
select JSONExtractString(person.properties, 'email'), JSONHas(person.properties, 'plan'), JSONExtractInt(group_0.properties, 'size') from events order by timestamp limit 1
-- rows [["ann@b.com", 1, 10]]

-- case: groups by number and by name
select group_0.properties.size, company.properties.size * 2, company.key from events order by timestamp limit 1
-- rows [[10.0, 20.0, "acme"]]

-- case: revenue by company
select company.properties.name as name, uniq(person_id), sum(properties.price) from events where $group_0 != '' group by name
-- rows [["Acme", 1, 112.5]]

-- case: the table of groups
select key, properties.name, properties.size as size from groups where size > 5
-- rows [["acme", "Acme", 10.0]]

-- case: the table of groups by its index
select groups.key, groups.properties.name from groups where index = 0
-- rows [["acme", "Acme"]]

-- case: events by the key of a group
select $group_0 as g, count() from events group by g having g != ''
-- rows [["acme", 3]]

-- case: elements that were clicked
select elements_chain_texts, elements_chain_href from events where event = '$autocapture' and elements_chain ilike '%text="Go"%'
-- rows [[["Go"], "https://a.com/z"]]

-- case: logs of functions
select level, message from log_entries where timestamp > now() - interval 1 day
-- rows [["INFO", "hello"]]
