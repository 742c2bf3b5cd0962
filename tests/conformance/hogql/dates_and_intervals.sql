-- case: days since a date
select dateDiff('day', toDate('2026-01-01'), toDate(timestamp)) as d, count() from events group by d order by d
-- rows [[4, 3], [5, 1], [6, 2]]

-- case: added and taken away
select dateAdd(day, 7, toDate('2026-01-01')), date_sub(month, 1, toDate('2026-03-31')), toDate('2026-01-01') + interval 1 week
-- rows [["2026-01-08", "2026-02-28", "2026-01-08"]]

-- case: differences count the borders that are crossed
select dateDiff('month', toDate('2025-11-30'), toDate('2026-01-01')), dateDiff('year', toDate('2025-12-31'), toDate('2026-01-01')), date_diff('week', toDateTime('2026-01-01 00:00:00'), toDateTime('2026-01-29 00:00:00'))
-- rows [[2, 1, 4]]

-- case: age counts whole units
select age('hour', toDateTime('2026-01-05 10:00:00'), toDateTime('2026-01-06 09:00:00')), age('day', toDate('2026-01-05'), toDate('2026-01-06'))
-- rows [[23, 1]]

-- case: intervals of times
select timestamp - interval 1 day as y, timestamp + toIntervalHour(2) from events order by timestamp limit 1
-- rows [["2026-01-04 10:00:00", "2026-01-05 12:00:00"]]

-- case: intervals from both sides and as text
select interval 1 day + toDateTime('2026-01-01 00:00:00'), toDateTime('2026-01-01 00:00:00') - interval '2 hours'
-- rows [["2026-01-02 00:00:00", "2025-12-31 22:00:00"]]

-- case: between days
select countIf(toDate(timestamp) between '2026-01-05' and '2026-01-06'), countIf(toHour(timestamp) between 9 and 10), countIf(toDate(timestamp) not between '2026-01-05' and '2026-01-06') from events
-- rows [[4, 5, 2]]

-- case: between moments
select count() from events where timestamp between toDateTime('2026-01-05 00:00:00') and toDateTime('2026-01-06 23:59:59')
-- rows [[4]]

-- case: one day by half-open bounds
select event, count() from events where timestamp >= toDateTime('2026-01-05') and timestamp < toDateTime('2026-01-06') group by event order by event
-- rows [["$autocapture", 1], ["$pageview", 2]]

-- case: bounds as text with a zone
select countIf(timestamp >= toDateTime('2026-01-05T10:05:00Z')), countIf(timestamp >= '2026-01-05T10:05:00.000Z'), countIf(timestamp >= '2026-01-05 10:05:00') from events
-- rows [[5, 5, 5]]

-- case: the day of a cast
select count() from events where timestamp::date = '2026-01-05'::date
-- rows [[3]]

-- case: starts of weeks, quarters, years
select toMonday(timestamp) as m, toStartOfQuarter(timestamp) as q, toStartOfYear(timestamp) as y from events limit 1
-- rows [["2026-01-05", "2026-01-01", "2026-01-01"]]

-- case: starts of intervals
select toStartOfInterval(timestamp, interval 1 week) as w, toStartOfInterval(timestamp, interval 1 month) as m, toStartOfInterval(timestamp, interval 2 day) as d2 from events order by timestamp limit 1
-- rows [["2026-01-05", "2026-01-01", "2026-01-05 00:00:00"]]

-- case: starts of minutes
select toStartOfFifteenMinutes(timestamp), toStartOfFiveMinutes(timestamp), toStartOfMinute(timestamp) from events order by timestamp desc limit 1
-- rows [["2026-01-07 09:00:00", "2026-01-07 09:10:00", "2026-01-07 09:10:00"]]

-- case: parts
select toYYYYMM(timestamp), toYear(timestamp), toMonth(timestamp), toDayOfMonth(timestamp), toISOWeek(timestamp), monthName(timestamp), dateName('weekday', timestamp) from events order by timestamp limit 1
-- rows [[202601, 2026, 1, 5, 2, "January", "Monday"]]

-- case: ends of months
select toLastDayOfMonth(toDate('2026-02-10')), addMonths(toDate('2026-01-31'), 1), subtractDays(toDate('2026-01-05'), 5)
-- rows [["2026-02-28", "2026-02-28", "2025-12-31"]]

-- case: another zone
select toTimeZone(timestamp, 'America/New_York') as t, toDate(toTimeZone(timestamp, 'Asia/Tokyo')) from events where event = 'purchase' order by timestamp limit 1
-- rows [["2026-01-06 18:30:00-05:00", "2026-01-07"]]

-- case: seconds
select toUnixTimestamp(timestamp), fromUnixTimestamp(1767607200), to_timestamp(1767607200) from events order by timestamp limit 1
-- rows [[1767607200, "2026-01-05 10:00:00", "2026-01-05 10:00:00"]]

-- case: text that is a time
select parseDateTimeBestEffort('2026-01-05T10:00:00Z'), toDateTime('2026-01-05 10:00:00'), toDate('2026-01-05'), make_date(2026, 1, 5)
-- rows [["2026-01-05 10:00:00", "2026-01-05 10:00:00", "2026-01-05", "2026-01-05"]]

-- case: standard names
select date_part('hour', timestamp), date_part('isodow', timestamp), to_char(timestamp, 'YYYY-MM-DD'), date('2026-01-05') from events order by timestamp limit 1
-- rows [[10, 1, "2026-01-05", "2026-01-05"]]

-- case: today and now
select today() > yesterday(), now() > toDateTime('2020-01-01'), current_date() = today(), now() - interval 1 month < now()
-- rows [[1, 1, 1, 1]]

-- case: a date property
select toDate(properties.when), dateDiff('hour', properties.when, timestamp) from events where properties.when is not null
-- rows [["2026-01-04", 63]]

-- case: a date property in order
select countIf(properties.when < timestamp), countIf(properties.when >= '2026-01-04'), countIf(properties.when < toDateTime('2026-01-04 08:00:01')) from events
-- rows [[1, 1, 1]]

-- case: first and last
select min(timestamp), max(timestamp), dateDiff('hour', min(timestamp), max(timestamp)) from events
-- rows [["2026-01-05 10:00:00", "2026-01-07 09:10:00", 47]]

-- case: an alias of the time in WHERE
select timestamp as ts from events where ts > '2026-01-07' order by ts
-- rows [["2026-01-07 09:00:00"], ["2026-01-07 09:10:00"]]
