-- case: CTEs of CTEs
with a as (select 1 as x), b as (select x + 1 as y from a), c as (select y + 1 as z from b) select z from c
-- rows [[3]]

-- case: a CTE of all columns
with recent as (select * from events where timestamp > '2026-01-06') select event, count() from recent group by event order by event
-- rows [["$pageview", 1], ["purchase", 2]]

-- case: a CTE of an aggregate
with t as (select count() as n from events) select n, n * 2 from t
-- rows [[6, 12]]

-- case: a CTE that is a value
with 5 as threshold select countIf(properties.price > threshold) from events
-- rows [[3]]

-- case: a CTE that is the value of a query
with (select max(properties.price) from events) as top select event from events where properties.price = top
-- rows [["purchase"]]

-- case: a query as a value
select event from events where properties.price = (select max(properties.price) from events)
-- rows [["purchase"]]

-- case: queries as columns
select (select count() from events) as total, (select count() from persons) as people
-- rows [[6, 2]]

-- case: EXISTS
select exists(select 1 from events where event = 'purchase'), exists(select 1 from events where event = 'no')
-- rows [[1, 0]]

-- case: UNION ALL
select event, sum(n) from (select event, 1 as n from events union all select event, 1 as n from events) group by event order by event
-- rows [["$autocapture", 2], ["$pageview", 6], ["purchase", 4]]

-- case: UNION ALL of totals and parts
select name, c from (select 'all' as name, count() as c from events union all select event, count() from events where event = 'purchase' group by event) order by c
-- rows [["purchase", 2], ["all", 6]]

-- case: UNION DISTINCT
select count() from (select event from events union distinct select 'purchase')
-- rows [[3]]

-- case: INTERSECT and EXCEPT
select arraySort(groupArray(event)) from (select distinct event from events except select 'purchase')
-- rows [[["$autocapture", "$pageview"]]]

-- case: queries in brackets
select event from ((select event from events order by timestamp limit 1) union all (select 'x')) order by event
-- rows [["$pageview"], ["x"]]

-- case: columns by the order of a union
select a, b from (select 1 as a, 2 as b union all select 3, 4) order by a
-- rows [[1, 2], [3, 4]]

-- case: joins by USING
select a.event, b.c from (select distinct event from events) a inner join (select event, count() as c from events group by event) b using (event) order by a.event
-- rows [["$autocapture", 1], ["$pageview", 3], ["purchase", 2]]

-- case: RIGHT and FULL joins
select (select count() from events e right join persons p on p.id = e.person_id), (select count() from events e full outer join persons p on p.id = e.person_id)
-- rows [[6, 6]]

-- case: ANY joins
select count() from events any left join persons on persons.id = events.person_id
-- rows [[6]]

-- case: aliases of aliases
select count() as c, c * 2 as d, d + 1 as e from events
-- rows [[6, 12, 13]]

-- case: an alias in WHERE
select event as e from events where e = 'purchase' limit 1
-- rows [["purchase"]]

-- case: an alias called like the aggregate
select event, count() as count from events group by event order by count desc, event
-- rows [["$pageview", 3], ["purchase", 2], ["$autocapture", 1]]

-- case: HAVING by alias and aggregate
select distinct_id, count() as c from events group by distinct_id having c > 1 and max(timestamp) > '2026-01-06' order by c desc, distinct_id
-- rows [["ann", 3], ["bob", 2]]

-- case: places in GROUP BY and ORDER BY
select event, count() from events group by 1 having count() > 1 order by 2 desc limit 10
-- rows [["$pageview", 3], ["purchase", 2]]

-- case: LIMIT with ties
select event, count() c from events group by event order by c desc limit 1 with ties
-- rows [["$pageview", 3]]

-- case: LIMIT and OFFSET
select event e, count(*) n from events group by e order by n desc, e asc limit 1 offset 1
-- rows [["purchase", 2]]

-- case: no rows
select event from events where 1 = 2
-- rows []

-- case: numbers without a table
select number, number % 2 = 0 ? 'even' : 'odd' as parity from numbers(2, 2)
-- rows [[2, "even"], [3, "odd"]]

-- case: columns by a pattern
select columns('^event$|^distinct') from events order by timestamp limit 1
-- rows [["$pageview", "anon"]]

-- case: all but some columns
select * except (elements_chain, properties, person_id) from events order by timestamp limit 1
-- rows [["10000000-0000-0000-0000-000000000001", "$pageview", "2026-01-05 10:00:00", "anon", "2026-01-05 10:00:00", "s1", "w1", "full", "acme", "", "", "", ""]]

-- case: states that are merged
select uniqMerge(u), sumMerge(s) from (select uniqState(person_id) as u, sumState(properties.price) as s from events group by event)
-- rows [[2, 119.5]]

-- case: aggregates of nothing
select count(), sum(properties.price), avg(properties.price), max(timestamp) = toDateTime(0), uniq(event), groupArray(event) from events where event = 'nothing'
-- rows [[0, null, null, 1, 0, []]]

-- case: aggregates of nothing or null
select avgOrNull(properties.price), sumOrNull(properties.price), any(event) from events where event = 'nothing'
-- rows [[null, null, ""]]

-- case: numbers by recursion
with recursive n as (select 1 as x union all select x + 1 from n where x < 4) select x, x * x from n order by x
-- rows [[1, 1], [2, 4], [3, 9], [4, 16]]
-- case: with names of columns, longer than a byte counts
with recursive t(a, b) as (select 1, 'x' union all select a + 1, b from t where a < 300) select count(), max(a), any(b) from t
-- rows [[300, 300, "x"]]
-- case: every day has a row, also without events
with recursive days as (select toDate('2026-01-05') as day union all select day + 1 from days where day < toDate('2026-01-08')) select d.day, countIf(e.event != '') from days d left join (select event, toDate(timestamp) as day from events) e on e.day = d.day group by d.day order by d.day
-- rows [["2026-01-05", 3], ["2026-01-06", 1], ["2026-01-07", 2], ["2026-01-08", 0]]
-- case: one recursion is read twice, another reads it
with recursive a as (select 1 as x union all select x + 1 from a where x < 3), b as (select max(x) as top from a) select a.x, b.top, c.x from a cross join b join a as c on c.x = a.x + 1 order by 1
-- rows [[1, 3, 2], [2, 3, 3]]
-- case: the word without a recursion
with recursive a as (select 1 as x union distinct select 1) select count() from a
-- rows [[1]]
-- case: a recursion over events reads those of the project only
with recursive chain as (select event, timestamp, 1 as n from events where event = 'purchase' union all select e.event, e.timestamp, c.n + 1 from chain c join events e on e.event = c.event where e.timestamp > c.timestamp and c.n < 5) select n, count() from chain group by n order by n
-- rows [[1, 2], [2, 1]]
-- case: a name like those of hoglet's own recursions
select * from recursion_0
-- refused unknown_table

-- case: IN the name of a query of WITH reads its rows
with buyers as (select distinct distinct_id from events where event = 'purchase') select countIf(distinct_id in buyers) - countIf(distinct_id in (select distinct_id from buyers)), countIf(distinct_id in buyers) > 0, countIf(distinct_id not in buyers) > 0 from events
-- rows [[0, 1, 1]]
