-- case: the hours of the day on which clocks are set forward
-- timezone America/New_York
select formatDateTime(toDateTime('2024-03-10 00:00:00') + toIntervalHour(number), '%H') as h, count() from numbers(23) group by h having h in ('01', '02', '03') order by h
-- rows [["01", 1], ["03", 1]]

-- case: the hour that comes twice is counted in one row of text and in two buckets
-- timezone America/New_York
select formatDateTime(at, '%H:%i') as text, count(), uniqExact(toStartOfHour(at)) from (select fromUnixTimestamp(1730606400 + number * 1800) as at from numbers(8)) group by text having count() > 1 order by text
-- rows [["01:00", 2, 2], ["01:30", 2, 2]]

-- case: days of 23, 24 and 25 hours
-- timezone America/New_York
select dateDiff('hour', toDateTime(d), toDateTime(d + 1)), dateDiff('day', toDateTime(d), toDateTime(d + 1)) from (select arrayJoin([toDate('2024-03-09'), toDate('2024-03-10'), toDate('2024-11-03')]) as d) order by d
-- rows [[24, 1], [23, 1], [25, 1]]

-- case: a day is a step of the calendar, 24 hours are a step of the clock
-- timezone America/New_York
select formatDateTime(toDateTime('2024-11-02 12:00:00') + interval 1 day, '%H'), formatDateTime(toDateTime('2024-11-02 12:00:00') + interval 24 hour, '%H'), formatDateTime(toDateTime('2024-03-10 01:30:00') + interval 1 hour, '%H:%i')
-- rows [["12", "11", "03:30"]]

-- case: leap days and ends of months
select toDate('2024-02-29') + interval 1 year, toDate('2024-02-29') + interval 4 year, toDate('2024-01-31') + interval 1 month, toDate('2023-03-31') - interval 1 month, toLastDayOfMonth(toDate('2024-02-01')), toDayOfYear(toDate('2024-12-31')), dateDiff('day', toDate('2024-02-28'), toDate('2024-03-01'))
-- rows [["2025-02-28", "2028-02-29", "2024-02-29", "2023-02-28", "2024-02-29", 366, 2]]

-- case: weeks of the first days of a year
select d, toISOWeek(d), toISOYear(d), toStartOfWeek(d), toStartOfWeek(d, 1), dateTrunc('week', d) from (select arrayJoin([toDate('2021-01-01'), toDate('2024-12-30'), toDate('2026-01-04')]) as d) order by d
-- rows [["2021-01-01", 53, 2020, "2020-12-27", "2020-12-28", "2020-12-28"], ["2024-12-30", 1, 2025, "2024-12-29", "2024-12-30", "2024-12-30"], ["2026-01-04", 1, 2026, "2026-01-04", "2025-12-29", "2025-12-29"]]

-- case: months between days count borders, age counts whole months
select dateDiff('month', toDate('2024-01-31'), toDate('2024-02-01')), age('month', toDate('2024-01-31'), toDate('2024-02-29')), age('month', toDate('2024-01-29'), toDate('2024-02-29')), age('year', toDate('2024-02-29'), toDate('2025-02-28'))
-- rows [[1, 0, 1, 0]]

-- case: integers beyond 2^53 keep their digits as text
select toString(v), v = 9007199254740993, v + 0 > 9007199254740992 from (select arrayJoin([9007199254740992, 9007199254740993]) as v) order by v
-- rows [["9007199254740992", 0, 0], ["9007199254740993", 1, 1]]

-- case: text of several bytes is measured in bytes and in characters
select length(t), lengthUTF8(t), upperUTF8(t), substringUTF8(t, 1, 3), positionUTF8(t, '☃'), reverseUTF8(t) from (select arrayJoin(['Füße', '☃a', '']) as t) order by t
-- rows [[0, 0, "", "", 0, ""], [6, 4, "FÜSSE", "Füß", 0, "eßüF"], [4, 2, "☃A", "☃a", 1, "a☃"]]

-- case: patterns match characters, and fold the case of ASCII and other letters
select 'Füße' like 'F__e', 'ÜBER' ilike 'über', 'a%b' like 'a\\%b', 'axb' like 'a\\%b', 'a_b' not like 'a\\_b', 'line1\nline2' like 'line1%2'
-- rows [[1, 1, 1, 0, 0, 1]]

-- case: a list with NULL
select has([1, null], 1), has([1, null], null), indexOf([null, 1], 1), arrayFilter(x -> x is not null, [1, null, 3]), arrayMap(x -> ifNull(x, 0), [1, null]), arrayCount(x -> x > 1, [1, null, 3]), length([null])
-- rows [[1, 1, 2, [1, 3], [1, 0], 1, 1]]

-- case: sums and averages of nothing
select count(x), sum(x), avg(x), min(x), max(x), any(x), uniqExact(x), groupArray(x), quantile(0.5)(x) from (select nullIf(1, 1) as x from numbers(3))
-- rows [[0, null, null, null, null, null, 0, [], null]]

-- case: the same of no rows
select count(), sum(number), avg(number), min(number), max(number), groupArray(number) from numbers(3) where number > 5
-- rows [[0, 0, null, 0, 0, []]]

-- case: groups of NULL, empty text and missing keys
select properties.nope as n, properties.plan as plan, count() from events group by n, plan order by plan nulls first
-- rows [[null, null, 5], [null, "pro", 1]]

-- case: HAVING on an alias, a nested condition and NULL
select properties.$browser as browser, sum(properties.price) as total from events group by browser having not (total > 50) or browser is null order by browser nulls last
-- rows [["Chrome", 17.0], ["Firefox", null], ["Safari", 2.5], [null, 100.0]]

-- case: the share of each event and the running total
select event, count() as c, round(c / sum(c) over (), 2) as share, sum(c) over (order by c desc, event rows unbounded preceding) as running from events group by event order by c desc, event
-- rows [["$pageview", 3, 0.5, 3], ["purchase", 2, 0.33, 5], ["$autocapture", 1, 0.17, 6]]

-- case: the longest row of days in a row
select max(days) from (select person_id, island, count() as days from (select person_id, d, d - row_number() over (partition by person_id order by d) as island from (select distinct person_id, toDate(timestamp) as d from events)) group by person_id, island)
-- rows [[2]]

-- case: sessions by hand, cut at gaps of half an hour
select countIf(gap is null or gap > 1800) from (select dateDiff('second', lag(timestamp) over (partition by person_id order by timestamp, uuid), timestamp) as gap from events)
-- rows [[3]]

-- case: retention by day from each person's first day
with firsts as (select person_id as who, min(toDate(timestamp)) as first from events group by who) select first, dateDiff('day', first, toDate(timestamp)) as day, uniqExact(person_id) from events join firsts on events.person_id = firsts.who group by first, day order by first, day
-- rows [["2026-01-05", 0, 1], ["2026-01-05", 1, 1], ["2026-01-07", 0, 1]]

-- case: the first row of each person, with and without ties
select distinct_id, event from (select *, row_number() over (partition by person_id order by timestamp) as n from events) where n = 1 order by timestamp
-- rows [["anon", "$pageview"], ["bob", "$pageview"]]

-- case: the newest two of each event
select event, uuid from events order by event, timestamp desc limit 2 by event
-- rows [["$autocapture", "10000000-0000-0000-0000-000000000003"], ["$pageview", "10000000-0000-0000-0000-000000000005"], ["$pageview", "10000000-0000-0000-0000-000000000002"], ["purchase", "10000000-0000-0000-0000-000000000006"], ["purchase", "10000000-0000-0000-0000-000000000004"]]

-- case: a person's change from one purchase to the next
select number, v - lag(v) over (order by number) as delta, v - first_value(v) over (order by number) as since from (select number, [3, 5, 4][number + 1] as v from numbers(3)) order by number
-- rows [[0, null, 0], [1, 2, 2], [2, -1, 1]]

-- case: pairs of columns in a list of pairs
select count() from events where (event, properties.$browser) in (('$pageview', 'Chrome'), ('$autocapture', 'Chrome'), ('purchase', null))
-- rows [[4]]

-- case: people who did one thing and never another
select count(distinct person_id) from events where event = '$pageview' and person_id not in (select person_id from events where event = '$autocapture')
-- rows [[1]]

-- case: exists and its negation on the same people
select countIf(a), countIf(not a) from (select exists (select 1 from events as o where o.person_id = e.person_id and o.event = 'purchase') as a from events as e)
-- rows [[6, 0]]

-- case: a condition that chooses between two properties
select count() from events where if(event = 'purchase', properties.price > 50, properties.$browser = 'Chrome')
-- rows [[3]]

-- case: aliases are used in WHERE, in other columns and in ORDER BY
select lower(event) as name, length(name) as size, size * 2 as doubled from events where name like '%page%' and size > 3 group by name order by doubled desc
-- rows [["$pageview", 9, 18]]

-- case: quoted names, comments and strings with quotes
select "event" as "the event", `distinct_id` /* who */, 'it''s' -- a comment with ' in it
 from events where "the event" = 'purchase' order by timestamp limit 1
-- rows [["purchase", "ann", "it's"]]

-- case: casts by every spelling
select '5'::Int + 1, cast('5' as Float) / 2, toInt('5.7'), toInt(5.7), '2024-02-29'::Date, 1::String || 'x', toFloat('1e3'), toString(1.0), toString(true), toInt('')
-- rows [[6, 2.5, null, null, "2024-02-29", "1x", 1000.0, "1", "true", null]]

-- case: unions keep order only outside of them
select * from (select 'b' as k, 2 as v union all select 'a', 1 union all select 'a', 1) order by k, v desc
-- rows [["a", 1], ["a", 1], ["b", 2]]

-- case: the difference of two queries counts rows, unless the first is DISTINCT
select (select count() from (select arrayJoin([1, 1, 2]) as x except select 1)), (select count() from (select distinct arrayJoin([1, 1, 2]) as x except select 1)), (select count() from (select arrayJoin([1, 1, 2]) as x intersect select arrayJoin([1, 1, 1])))
-- rows [[2, 1, 2]]

-- case: a funnel within an hour
select level, count() from (select person_id, windowFunnel(3600)(timestamp, event = '$pageview', event = '$autocapture', event = 'purchase') as level from events group by person_id) group by level order by level
-- rows [[1, 1], [2, 1]]

-- case: the value at the newest time skips rows without one
select argMax(properties.$browser, timestamp), argMin(properties.price, timestamp), argMax(event, timestamp) from events
-- rows [["Firefox", 10.0, "purchase"]]

-- case: a list of tags, joined, counted and searched
select tag, count(), countIf(event = '$pageview') from (select event, arrayJoin(JSONExtract(ifNull(properties.tags, '[]'), 'Array(String)')) as tag from events) group by tag order by tag
-- rows [["t1", 1, 1], ["t2", 1, 1]]

-- case: buckets by CASE with a missing value
select case when properties.price >= 100 then 'high' when properties.price between 5 and 99 then 'mid' when properties.price is null then 'none' else 'low' end as bucket, count() from events group by bucket order by bucket
-- rows [["high", 1], ["low", 1], ["mid", 2], ["none", 2]]

-- case: moving averages at both ends of the data
select number, avg(number) over (order by number rows between 1 preceding and 1 following) as a from numbers(4) order by number
-- rows [[0, 0.5], [1, 1.0], [2, 2.0], [3, 2.5]]

-- case: times that clocks skip are those that they show instead
-- timezone America/Santiago
-- variables {"day": "2026-09-06"}
-- values {"at": "2026-09-06 00:30:00"}
select toUnixTimestamp(toDateTime('2026-09-06')), toUnixTimestamp(toDateTime({at})), toDate({variables.day}), fromUnixTimestamp(1788667199) < '2026-09-06', fromUnixTimestamp(1788667200) >= {variables.day}, toUnixTimestamp('2026-09-06 00:00:00'), toUnixTimestamp(toDateTime('2026-09-06T04:00:00Z')), toUnixTimestamp(toDateTime('2026-09-07'))
-- rows [[1788667200, 1788669000, "2026-09-06", 1, 1, 1788667200, 1788667200, 1788750000]]

-- case: the hour that comes twice is one row of its text
-- timezone America/New_York
select toString(toStartOfHour(at)) as text, count() from (select fromUnixTimestamp(1730606400 + number * 1800) as at from numbers(8)) group by text order by text
-- rows [["2024-11-03 00:00:00", 2], ["2024-11-03 01:00:00", 4], ["2024-11-03 02:00:00", 2]]

-- case: the hour that comes twice is one text among distinct ones
-- timezone America/New_York
select uniq(toString(toStartOfHour(at))), uniqExact(toString(toStartOfHour(at))), count(distinct toString(toStartOfHour(at))) from (select fromUnixTimestamp(1730606400 + number * 1800) as at from numbers(8))
-- rows [[3, 3, 3]]

-- case: texts of rows in a zone that skips midnights, also with offsets and before 1970
-- timezone America/Santiago
-- values {"texts": ["2026-09-06", "1990-09-16", "2026-09-06 00:30:00", "2026-09-06T03:30:00Z", "2026-09-06T04:30:00+00:00", "2026-04-04T23:30:00", "1968-11-03", "1955-02-01T10:00:00.25", "x"]}
select toDate(t), toString(toDateTime(t)), toDate(t) = '2026-09-06', t >= toDateTime('2026-09-06') from (select arrayJoin({texts}) as t)
-- rows [["2026-09-06", "2026-09-06 01:00:00.000000", 1, 1], ["1990-09-16", "1990-09-16 01:00:00.000000", 0, 0], ["2026-09-06", "2026-09-06 01:30:00.000000", 1, 1], ["2026-09-05", "2026-09-05 23:30:00.000000", 0, 0], ["2026-09-06", "2026-09-06 01:30:00.000000", 1, 1], ["2026-04-04", "2026-04-04 23:30:00.000000", 0, 0], ["1968-11-03", "1968-11-03 01:00:00.000000", 0, 0], ["1955-02-01", "1955-02-01 10:00:00.250000", 0, 0], [null, null, 0, 0]]
-- case: texts of rows in the hour that Berlin skips are in the hour after it
-- timezone Europe/Berlin
-- values {"texts": ["2026-03-29 01:59:59", "2026-03-29 02:00:00", "2026-03-29 02:30:00.5", "2026-03-29 03:00:00", "2026-03-29T02:30:00Z", "2026-03-29T02:30:00+01:00", "2026-10-25 02:30:00", "2026-10-25T02:30:00+01:00", "x"]}
select toString(toDateTime(t)), toUnixTimestamp(toDateTime(t)), t > toDateTime('2026-03-29 02:15:00') from (select arrayJoin({texts}) as t)
-- rows [["2026-03-29 01:59:59.000000", 1774745999, 0], ["2026-03-29 03:00:00.000000", 1774746000, 0], ["2026-03-29 03:30:00.500000", 1774747800, 1], ["2026-03-29 03:00:00.000000", 1774746000, 0], ["2026-03-29 04:30:00.000000", 1774751400, 1], ["2026-03-29 03:30:00.000000", 1774747800, 1], ["2026-10-25 02:30:00.000000", 1792888200, 1], ["2026-10-25 02:30:00.000000", 1792891800, 1], [null, null, 0]]
