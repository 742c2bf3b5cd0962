-- case: levels of a funnel within a day
select person_id, windowFunnel(86400)(toDateTime(timestamp), event = '$pageview', event = 'purchase') as level from events group by person_id order by person_id
-- rows [["00000000-0000-0000-0000-00000000000a", 1], ["00000000-0000-0000-0000-00000000000b", 2]]

-- case: people by level, with times of microseconds
select level, count() as people from (select person_id, windowFunnel(172800)(timestamp, event = '$pageview', event = 'purchase') as level from events group by person_id) group by level order by level
-- rows [[2, 2]]

-- case: steps and rate
select countIf(level >= 1) as step_1, countIf(level >= 2) as step_2, step_2 / step_1 as rate from (select person_id, windowFunnel(604800)(toDateTime(timestamp), event = '$pageview', event = '$autocapture') as level from events group by person_id)
-- rows [[2, 1, 0.5]]

-- case: a strict order, over seconds
select person_id, windowFunnel(3600, 'strict_order')(toUnixTimestamp(timestamp), event = '$pageview', event = 'purchase') from events group by person_id order by 1
-- rows [["00000000-0000-0000-0000-00000000000a", 1], ["00000000-0000-0000-0000-00000000000b", 2]]

-- case: a funnel by joins of CTEs
with first as (select person_id, min(timestamp) as t1 from events where event = '$pageview' group by person_id), second as (select person_id, min(timestamp) as t2 from events where event = 'purchase' group by person_id) select count() as started, countIf(t2 > t1) as converted from first left join second on first.person_id = second.person_id
-- rows [[2, 2]]

-- case: minutes until the purchase
with funnel as (select person_id, minIf(timestamp, event = '$pageview') as viewed, minIf(timestamp, event = 'purchase') as bought, countIf(event = 'purchase') as n from events group by person_id) select avg(dateDiff('minute', viewed, bought)) from funnel where n > 0
-- rows [[1130.0]]

-- case: a sequence
select sequenceMatch('(?1).*(?2)')(toDateTime(timestamp), event = '$pageview', event = 'purchase') as ok, person_id from events group by person_id order by person_id
-- rows [[1, "00000000-0000-0000-0000-00000000000a"], [1, "00000000-0000-0000-0000-00000000000b"]]

-- case: how often a sequence
select sequenceCount('(?1)(?2)')(timestamp, event = '$pageview', event = '$autocapture') from events
-- rows [[1]]

-- case: the last page before each purchase
select e.event, b.timestamp from events e asof join (select distinct_id, timestamp from events where event = '$pageview') b on e.distinct_id = b.distinct_id and e.timestamp >= b.timestamp where e.event = 'purchase' order by e.timestamp
-- rows [["purchase", "2026-01-05 10:05:00"], ["purchase", "2026-01-07 09:00:00"]]

-- case: events after a page of the same person
select e.event, e2.event from events e join events e2 on e.distinct_id = e2.distinct_id and e2.timestamp > e.timestamp where e.event = '$pageview' order by e.timestamp, e2.timestamp
-- rows [["$pageview", "$autocapture"], ["$pageview", "purchase"], ["$pageview", "purchase"]]

-- case: people in both, by INTERSECT
select count() from (select person_id from events where event = '$pageview' intersect select person_id from events where event = 'purchase')
-- rows [[2]]

-- case: paths as arrays
select arrayMap(x -> x.1, arraySort(x -> x.2, groupArray((event, timestamp)))) as path, distinct_id from events group by distinct_id order by distinct_id
-- rows [[["$pageview", "$autocapture", "purchase"], "ann"], [["$pageview"], "anon"], [["$pageview", "purchase"], "bob"]]

-- case: transitions
select prev, event, count() as transitions from (select event, lag(event) over (partition by distinct_id order by timestamp) as prev from events) where prev is not null group by prev, event order by transitions desc, prev, event
-- rows [["$autocapture", "purchase", 1], ["$pageview", "$autocapture", 1], ["$pageview", "purchase", 1]]

-- case: days since the first one
with cohort as (select person_id, toDate(min(timestamp)) as first_day from events group by person_id) select c.first_day as day, dateDiff('day', c.first_day, toDate(e.timestamp)) as n, count(distinct e.person_id) as people from events e join cohort c on e.person_id = c.person_id group by day, n order by day, n
-- rows [["2026-01-05", 0, 1], ["2026-01-05", 1, 1], ["2026-01-07", 0, 1]]

-- case: the retention function
select sumForEach(flags) from (select retention(toDate(timestamp) = '2026-01-05', toDate(timestamp) = '2026-01-06', toDate(timestamp) = '2026-01-07') as flags from events group by person_id)
-- rows [[[1, 1, 0]]]

-- case: retention by arrays of days
select person_id, arraySort(groupUniqArray(toDate(timestamp))) as days, arrayMap(d -> dateDiff('day', days[1], d), days) as offsets from events group by person_id order by person_id
-- rows [["00000000-0000-0000-0000-00000000000a", ["2026-01-05", "2026-01-06"], [0, 1]], ["00000000-0000-0000-0000-00000000000b", ["2026-01-07"], [0]]]

-- case: a retention curve
select n, countIf(has(days, n)) as retained from (select person_id, arrayMap(d -> dateDiff('day', min(toDate(timestamp)), d), groupUniqArray(toDate(timestamp))) as days from events group by person_id) cross join (select number as n from numbers(3)) as w group by n order by n
-- rows [[0, 2], [1, 1], [2, 0]]

-- case: stickiness: people by number of days
select days, count() as people from (select person_id, uniq(toDate(timestamp)) as days from events group by person_id) group by days order by days
-- rows [[1, 1], [2, 1]]

-- case: new and returning people by day
with first as (select person_id, min(toDate(timestamp)) as day from events group by person_id) select toDate(e.timestamp) as d, uniqIf(e.person_id, first.day = d) as new, uniqIf(e.person_id, first.day < d) as returning from events e join first on first.person_id = e.person_id group by d order by d
-- rows [["2026-01-05", 1, 0], ["2026-01-06", 0, 1], ["2026-01-07", 1, 0]]

-- case: a rolling count of people from states
select day, uniqMerge(state) over (order by day rows between 2 preceding and current row) as rolling from (select toDate(timestamp) as day, uniqState(person_id) as state from events group by day) order by day
-- rows [["2026-01-05", 1], ["2026-01-06", 1], ["2026-01-07", 2]]

-- case: the first event of everybody by LIMIT BY
select distinct_id, event, timestamp from events order by timestamp limit 1 by distinct_id
-- rows [["anon", "$pageview", "2026-01-05 10:00:00"], ["ann", "$pageview", "2026-01-05 10:05:00"], ["bob", "$pageview", "2026-01-07 09:00:00"]]

-- case: the last event of every kind by QUALIFY
select event, timestamp from events qualify row_number() over (partition by event order by timestamp desc) = 1 order by event
-- rows [["$autocapture", "2026-01-05 10:06:00"], ["$pageview", "2026-01-07 09:00:00"], ["purchase", "2026-01-07 09:10:00"]]
