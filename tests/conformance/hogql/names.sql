-- case: columns are qualified, unaliased ones are named by the printed expression
select event, count() from events group by event order by event
-- rows [["$autocapture", 1], ["$pageview", 3], ["purchase", 2]]
-- case: aliases of SELECT are visible in WHERE, GROUP BY, HAVING and ORDER BY
select event as e, count() as c from events where e != 'purchase' group by e having c > 1 order by c
-- rows [["$pageview", 3]]
-- case: a later column may use an earlier alias
select 1 as a, a + 1 as b, b * 2
-- rows [[1, 2, 4]]
-- case: inside its own expression an alias means the column
select max(timestamp) as timestamp from events where event = '$pageview'
-- rows [["2026-01-07 09:00:00"]]
-- case: an alias of an aggregate does not hide the column in WHERE
select count() as event from events where event = 'purchase'
-- rows [[2]]
-- case: a table alias that is also a column alias does not confuse the engine
select e.event as e from events e where e.event = 'purchase' limit 1
-- rows [["purchase"]]
-- case: FIRST and KEY name a column without AS
select count() first, event key from events group by key order by first desc, key limit 1
-- rows [[3, "$pageview"]]
-- case: also in a subquery, beside a text with such a word
select key, first from (select 'first key' key, 2 first, 3 first_key)
-- rows [["first key", 2]]
-- case: FIRST after NULLS stays a keyword
select number first from numbers(2) order by first desc nulls first
-- rows [[1], [0]]
-- case: star leaves out lazy joins
select * from persons order by id
-- rows [["00000000-0000-0000-0000-00000000000a", "2026-01-01 00:00:00", "{\"email\":\"ann@b.com\",\"plan\":\"pro\"}", true], ["00000000-0000-0000-0000-00000000000b", "2026-01-02 00:00:00", "{\"email\":\"bob@a.com\"}", false]]
-- case: star of a subquery
select * from (select event as e, count() as c from events group by e) order by c
-- rows [["$autocapture", 1], ["purchase", 2], ["$pageview", 3]]
-- case: star except
select * exclude (properties, created_at) from persons order by id
-- rows [["00000000-0000-0000-0000-00000000000a", true], ["00000000-0000-0000-0000-00000000000b", false]]
-- case: columns by regular expression
select columns('^is_') from persons order by id
-- rows [[true], [false]]
-- case: names in quotes
select `x y`, "a`b" from (select 1 as `x y`, 2 as "a`b")
-- rows [[1, 2]]
-- case: lambda arguments hide columns
select arrayMap(event -> concat(event, '!'), ['a']) from events limit 1
-- rows [[["a!"]]]
-- case: array join
select tag from events array join JSONExtractArrayRaw(properties.tags) as tag order by tag
-- rows [["\"t1\""], ["\"t2\""]]
-- case: a CTE is a table
with daily as (select toDate(timestamp) as day, count() as c from events group by day) select day, c from daily order by day
-- rows [["2026-01-05", 3], ["2026-01-06", 1], ["2026-01-07", 2]]
-- case: a CTE may use an earlier one and be read twice
with a as (select event as e from events), b as (select e, count() as c from a group by e) select x.e, y.c from b x join b y on x.e = y.e order by 1
-- rows [["$autocapture", 1], ["$pageview", 3], ["purchase", 2]]
-- case: a WITH expression is a name for an expression
with 5 as n, (select max(number) from numbers(4)) as m select n, m
-- rows [[5, 3]]
-- case: columns of a CTE renamed
with a(x, y) as (select 1, 2) select y, x from a
-- rows [[2, 1]]
-- case: window functions
select event, row_number() over (partition by event order by timestamp) as place from events order by event, place
-- rows [["$autocapture", 1], ["$pageview", 1], ["$pageview", 2], ["$pageview", 3], ["purchase", 1], ["purchase", 2]]
-- case: named windows
select number, sum(number) over w from numbers(3) window w as (order by number rows between 1 preceding and current row) order by number
-- rows [[0, 0], [1, 1], [2, 3]]
-- case: qualify
select event from events qualify row_number() over (partition by event order by timestamp) = 2 order by event
-- rows [["$pageview"], ["purchase"]]
-- case: limit by
select event, distinct_id from events order by timestamp limit 1 by event
-- rows [["$pageview", "anon"], ["$autocapture", "ann"], ["purchase", "ann"]]
-- case: distinct
select distinct event from events order by event
-- rows [["$autocapture"], ["$pageview"], ["purchase"]]
-- case: rollup
select event, count() from events group by rollup(event) order by 2, 1
-- rows [["$autocapture", 1], ["purchase", 2], ["$pageview", 3], ["", 6]]
-- case: group by all
select event, count() from events group by all order by 1
-- rows [["$autocapture", 1], ["$pageview", 3], ["purchase", 2]]
-- case: union all
select event from (select event from events where event = 'purchase' union all select 'x') order by event
-- rows [["purchase"], ["purchase"], ["x"]]
-- case: intersect and except
select number from numbers(5) intersect select number from numbers(3) except select 1
-- rows [[0], [2]]
-- case: types of columns are known before the query runs
select count(), event, timestamp, toDate(timestamp), properties.price, properties.paid, properties, [1], event = 'x', avg(properties.price) from events group by 2, 3, 4, 5, 6, 7 limit 0
-- types ["integer", "string", "datetime", "date", "float", "boolean", "json", "array", "boolean", "float"]
-- rows []
-- case: tables of hoglet
select message from log_entries
-- rows [["hello"]]
-- case: a materialised endpoint is a table
select day, views from daily_v1
-- rows [["2026-01-05", 3]]
-- case: tables that exist empty
select count() from session_replay_events
-- rows [[0]]
-- case: numbers
select number from numbers(2, 3)
-- rows [[2], [3], [4]]
-- case: lists, tuples and maps
select [1, 2][2], (1, 'a').2, {'k': 5}['k'], [1, 2, 3][2:3]
-- rows [[2, "a", 5, [2, 3]]]
-- case: sampling keeps whole actors
select count() > 0, count() < 6 from events sample 1/2
-- rows [[1, 1]]
-- case: with ties
select event, timestamp from (select event, timestamp from events order by toDate(timestamp) desc limit 1 with ties) order by timestamp desc
-- rows [["purchase", "2026-01-07 09:10:00"], ["$pageview", "2026-01-07 09:00:00"]]
-- case: ORDER BY after brackets of other kinds is ordinary
select number from (select number from numbers(3)) where number in (select 1 union all select 2) order by number desc
-- rows [[2], [1]]
-- case: functions and windows before ORDER BY
select number, count() over (order by number) from numbers(2) group by (number) order by (number)
-- rows [[0, 1], [1, 2]]
-- case: a sort by an expression over lazy joins (the optimiser of chDB 26.9 looped on this)
select concat(event, '-', distinct_id) as c0, length(event), properties.$browser as c2 from events where person_id in cohort 5 and toDate(timestamp) = '2026-01-05' order by 1
-- rows [["$autocapture-ann", 12, "Chrome"], ["$pageview-ann", 9, "Safari"], ["$pageview-anon", 9, "Chrome"]]

-- case: parameters of an aggregate before OVER
select quantileExact(0.5)(number) over () as half, number from numbers(3) order by number
-- rows [[1, 0], [1, 1], [1, 2]]
-- case: the printed name of such a call
select quantileExact(0.5)(number) over () from numbers(1)
-- columns ["quantileExact(0.5)(number) OVER ()"]
-- case: a star keeps the names of expressions
select * from (select event, count() from events where event = 'purchase' group by event)
-- columns ["event", "count()"]

-- case: an aggregate or window function that is named like a column does not hide it from WHERE
select toUnixTimestamp(min(timestamp)) as timestamp, max(timestamp) as last from events where timestamp >= '2026-01-06' and timestamp < '2026-01-08'
-- rows [[1767742200, "2026-01-07 09:10:00"]]

-- case: nor from other aggregates
select min(event) as event, max(event) as last, count(distinct event) as events, countIf(event = 'purchase') as purchases from events
-- rows [["$autocapture", "purchase", 3, 2]]

-- case: a window function that is named like a column
select row_number() over (order by timestamp) as event, uuid is not null from events where event = '$pageview' order by event
-- rows [[1, 1], [2, 1], [3, 1]]
