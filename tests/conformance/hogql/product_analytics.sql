-- case: events and people by day
select toStartOfDay(timestamp) as day, count() as events, uniq(person_id) as people from events where event = '$pageview' group by day order by day
-- rows [["2026-01-05 00:00:00", 2, 1], ["2026-01-07 00:00:00", 1, 1]]

-- case: weekly active people, weeks from Sunday
select toStartOfWeek(timestamp) as week, count(distinct person_id) as wau from events group by week order by week
-- rows [["2026-01-04", 2]]

-- case: weeks from Monday
select toStartOfWeek(timestamp, 1) as week, uniqExact(distinct_id) from events group by 1 order by 1
-- rows [["2026-01-05", 3]]

-- case: slots of six hours
select toStartOfInterval(timestamp, interval 6 hour) as slot, count() from events group by slot order by slot
-- rows [["2026-01-05 06:00:00", 3], ["2026-01-06 18:00:00", 1], ["2026-01-07 06:00:00", 2]]

-- case: slots of five minutes by event
select toStartOfInterval(timestamp, toIntervalMinute(5)) as slot, event, count() as n from events where toDate(timestamp) = '2026-01-05' group by slot, event order by slot, event
-- rows [["2026-01-05 10:00:00", "$pageview", 1], ["2026-01-05 10:05:00", "$autocapture", 1], ["2026-01-05 10:05:00", "$pageview", 1]]

-- case: months
select dateTrunc('month', timestamp) as month, count() from events group by month
-- rows [["2026-01-01", 6]]

-- case: the newest two hours with events
select date_trunc('hour', timestamp) as h, count() from events group by h order by h desc limit 2
-- rows [["2026-01-07 09:00:00", 2], ["2026-01-06 23:00:00", 1]]

-- case: hours as text
select formatDateTime(timestamp, '%Y-%m-%d %H:00') as hour, count() c from events group by hour order by hour
-- rows [["2026-01-05 10:00", 3], ["2026-01-06 23:00", 1], ["2026-01-07 09:00", 2]]

-- case: a heat map of weekdays and hours
select toDayOfWeek(timestamp) as dow, toHour(timestamp) as hr, count() from events group by dow, hr order by dow, hr
-- rows [[1, 10, 3], [2, 23, 1], [3, 9, 2]]

-- case: days of the month by EXTRACT
select extract(day from timestamp) as d, count() from events group by d order by d
-- rows [[5, 3], [6, 1], [7, 2]]

-- case: other parts by EXTRACT, Sunday is 0
select extract(year from timestamp), extract(dow from timestamp), extract(epoch from timestamp) from events order by timestamp limit 1
-- rows [[2026, 1, 1767607200]]

-- case: GROUP BY ALL with ORDER BY ALL
select event, count() from events group by all order by all
-- rows [["$autocapture", 1], ["$pageview", 3], ["purchase", 2]]

-- case: GROUP BY ALL of several columns
select event, distinct_id, count() from events group by all order by 3 desc, 1, 2 limit 3
-- rows [["$autocapture", "ann", 1], ["$pageview", "ann", 1], ["$pageview", "anon", 1]]

-- case: ROLLUP adds the total, with the column's default
select event, count() as c from events group by event with rollup order by c desc, event
-- rows [["", 6], ["$pageview", 3], ["purchase", 2], ["$autocapture", 1]]

-- case: ROLLUP as a function has subtotals
select event, distinct_id, count() as c from events where distinct_id != 'ann' group by rollup(event, distinct_id) order by event, distinct_id
-- rows [["", "", 3], ["$pageview", "", 2], ["$pageview", "anon", 1], ["$pageview", "bob", 1], ["purchase", "", 1], ["purchase", "bob", 1]]

-- case: CUBE has totals of each column
select event, distinct_id, count() as c from events where distinct_id = 'bob' group by event, distinct_id with cube order by 3 desc, 1, 2
-- rows [["", "", 2], ["", "bob", 2], ["$pageview", "", 1], ["$pageview", "bob", 1], ["purchase", "", 1], ["purchase", "bob", 1]]

-- case: GROUPING SETS
select event, distinct_id, count() from events group by grouping sets ((event), (distinct_id), ()) order by 1, 2
-- rows [["", "", 6], ["", "ann", 3], ["", "anon", 1], ["", "bob", 2], ["$autocapture", "", 1], ["$pageview", "", 3], ["purchase", "", 2]]

-- case: one row for all, with a ratio of aliases
select count() as total, countIf(event = '$pageview') as views, countIf(event = 'purchase') as buys, round(buys / views * 100, 1) as conversion from events
-- rows [[6, 3, 2, 66.7]]

-- case: FILTER
select count() filter (where event = 'purchase') as buys, sum(properties.price) filter (where event = 'purchase') as revenue from events
-- rows [[2, 100.0]]

-- case: a pivot by countIf with quoted names
select toDate(timestamp) as day, countIf(event = '$pageview') as "$pageview", countIf(event = 'purchase') as purchase from events group by day order by day
-- rows [["2026-01-05", 2, 0], ["2026-01-06", 0, 1], ["2026-01-07", 1, 1]]

-- case: gaps are filled
select toDate(timestamp) as d, sum(properties.price) as r from events group by d order by d with fill from toDate('2026-01-04') to toDate('2026-01-08')
-- rows [["2026-01-04", null], ["2026-01-05", 19.5], ["2026-01-06", 100.0], ["2026-01-07", null]]

-- case: a calendar joined from the left counts an empty day's default
with days as (select toDate('2026-01-04') + number as day from numbers(5)) select days.day as day, countIf(e.event != '') as c from days left join events e on toDate(e.timestamp) = days.day group by day order by day
-- rows [["2026-01-04", 0], ["2026-01-05", 3], ["2026-01-06", 1], ["2026-01-07", 2], ["2026-01-08", 0]]

-- case: month over month
select toStartOfMonth(timestamp) as m, count() as c, lagInFrame(c) over (order by m) as prev, if(prev > 0, c / prev - 1, null) as growth from events group by m order by m
-- rows [["2026-01-01", 6, 0, null]]

-- case: share of all by a window over the groups
select event, count() as c, c / sum(count()) over () as share from events group by event order by event
-- rows [["$autocapture", 1, 0.16666666666666666], ["$pageview", 3, 0.5], ["purchase", 2, 0.3333333333333333]]

-- case: rounded shares of a subquery
select event, c, round(c / sum(c) over () * 100, 2) as share from (select event, count() as c from events group by event) order by c desc, event
-- rows [["$pageview", 3, 50.0], ["purchase", 2, 33.33], ["$autocapture", 1, 16.67]]

-- case: revenue per buyer
select sumIf(properties.price, event = 'purchase') as revenue, revenue / nullIf(uniqIf(person_id, event = 'purchase'), 0) as arpu from events
-- rows [[100.0, 50.0]]

-- case: share of buyers by count distinct of CASE
select round(100.0 * count(distinct case when event = 'purchase' then person_id end) / count(distinct person_id), 2) from events
-- rows [[100.0]]

-- case: sums of conditions
select sum(case when event = 'purchase' then 1 else 0 end), sum(event = 'purchase'), sum(if(event = 'purchase', properties.price, 0)) from events
-- rows [[2, 2, 100.0]]

-- case: quantiles
select quantile(0.5)(properties.price), quantile(0.9)(properties.price), median(properties.price) from events where event != '$autocapture'
-- rows [[10.0, 82.0, 10.0]]

-- case: several quantiles at once
select quantiles(0.25, 0.5, 0.75)(properties.price), quantileIf(0.5)(properties.price, event = '$pageview') from events
-- rows [[[5.875, 8.5, 32.5], 6.25]]

-- case: WITHIN GROUP
select percentile_cont(0.5) within group (order by properties.price) from events
-- rows [[8.5]]

-- case: spread
select avg(properties.price), min(properties.price), max(properties.price), round(stddevPop(properties.price), 4), varSamp(properties.price) from events
-- rows [[29.875, 2.5, 100.0, 40.5746, 2195.0625]]

-- case: conditional aggregates
select avgIf(properties.price, properties.price > 5), minIf(timestamp, event = 'purchase'), maxIf(properties.price, event = '$pageview') from events
-- rows [[39.0, "2026-01-06 23:30:00", 10.0]]

-- case: buckets of ten
select floor(properties.price / 10) * 10 as bucket, count() from events where properties.price is not null group by bucket order by bucket
-- rows [[0.0, 2], [10.0, 1], [100.0, 1]]

-- case: bands by multiIf
select multiIf(properties.price >= 100, 'high', properties.price >= 5, 'mid', properties.price is null, 'none', 'low') as band, count() from events group by band order by band
-- rows [["high", 1], ["low", 1], ["mid", 2], ["none", 2]]

-- case: labels by CASE
select case when event = 'purchase' then 'buy' when event like '$%' then 'auto' else 'other' end as kind, count() from events group by kind order by kind
-- rows [["auto", 4], ["buy", 2]]

-- case: labels by CASE of a value
select case event when 'purchase' then 1 when '$pageview' then 2 else 0 end as k, count() from events group by k order by k
-- rows [[0, 1], [1, 2], [2, 3]]

-- case: labels by transform
select transform(event, ['purchase', '$pageview'], ['Buy', 'View'], 'Other') as label, count() from events group by label order by label
-- rows [["Buy", 2], ["Other", 1], ["View", 3]]

-- case: top events
select topK(1)(event), argMax(event, timestamp), argMin(event, timestamp) from events
-- rows [[["$pageview"], "purchase", "$pageview"]]

-- case: people without a purchase
select distinct_id from events group by distinct_id having countIf(event = 'purchase') = 0
-- rows [["anon"]]

-- case: people with one who came before a day
select distinct_id from events group by distinct_id having max(event = 'purchase') = 1 and min(timestamp) < '2026-01-06'
-- rows [["ann"]]

-- case: events by number of people
select event, uniq(distinct_id) as u from events group by event order by u desc, event limit 2 offset 1
-- rows [["purchase", 2], ["$autocapture", 1]]

-- case: the busiest event of each day
select toStartOfDay(timestamp) d, event, count() c from events group by d, event having c > 0 order by d, c desc, event limit 1 by d
-- rows [["2026-01-05 00:00:00", "$pageview", 2], ["2026-01-06 00:00:00", "purchase", 1], ["2026-01-07 00:00:00", "$pageview", 1]]

-- case: most events of a person
select max(c), avg(c) from (select distinct_id, count() as c from events group by distinct_id)
-- rows [[3, 2.0]]

-- case: distinct pairs
select count(distinct event, distinct_id) from events
-- rows [[6]]

-- case: active days by person
select distinct_id, count(distinct toDate(timestamp)) as active_days from events group by distinct_id order by active_days desc, distinct_id
-- rows [["ann", 2], ["anon", 1], ["bob", 1]]

-- case: with the names of columns in upper case and quotes
SELECT COUNT(*) AS `How many?`, event AS "Event name" FROM events GROUP BY "Event name" ORDER BY `How many?` DESC, 2
-- rows [[3, "$pageview"], [2, "purchase"], [1, "$autocapture"]]

-- case: comments anywhere
select -- the count
 count() /* of all */ from events
-- rows [[6]]
