-- case: text beside a time is a time of the project's zone
-- timezone Europe/Berlin
select event from events where timestamp >= '2026-01-07 00:00:00' and timestamp < '2026-01-07 10:05:00' order by timestamp
-- rows [["purchase"], ["$pageview"]]
-- case: days begin at local midnight
-- timezone Europe/Berlin
select toStartOfDay(timestamp) as day, count() from events group by day order by day
-- rows [["2026-01-05 00:00:00+01:00", 3], ["2026-01-07 00:00:00+01:00", 3]]
-- case: in UTC the same events fall on other days
select toStartOfDay(timestamp) as day, count() from events group by day order by day
-- rows [["2026-01-05 00:00:00", 3], ["2026-01-06 00:00:00", 1], ["2026-01-07 00:00:00", 2]]
-- case: a date compares with text as a date
select count() from events where toDate(timestamp) = '2026-01-05'
-- rows [[3]]
-- case: between
select count() from events where timestamp between '2026-01-05' and '2026-01-06'
-- rows [[3]]
-- case: intervals
select timestamp + interval 1 day, timestamp - toIntervalHour(2), dateDiff('day', toDate('2026-01-01'), toDate('2026-01-05')) from events order by timestamp limit 1
-- rows [["2026-01-06 10:00:00", "2026-01-05 08:00:00", 4]]
-- case: Postgres spellings
select date_trunc('month', timestamp), date_part('year', timestamp), to_char(timestamp, '%Y') from events limit 1
-- rows [["2026-01-01", 2026, "2026"]]
-- case: now and today are times
select now() > '2026-01-01', today() > toDate('2026-01-01'), now() - interval 1 day < now()
-- rows [[1, 1, 1]]
-- case: membership of times
select count() from events where toDate(timestamp) in ('2026-01-05', '2026-01-06')
-- rows [[4]]
-- case: comparisons read the stored time, everything else the local one
-- timezone Europe/Berlin
select timestamp from events where timestamp > '2026-01-07 10:05:00'
-- becomes
SELECT toTimeZone(events.`timestamp`, 'Europe/Berlin') AS `timestamp` FROM events AS events WHERE events.project_id = {project_id:Int64} AND (greater(events.`timestamp`, parseDateTime64BestEffort({v0:String}, 6, 'Europe/Berlin'))) LIMIT 101
-- rows [["2026-01-07 10:10:00+01:00"]]
-- case: also through lazy joins
-- timezone Europe/Berlin
select person.properties.email from events where timestamp > '2026-01-07 10:05:00' and timestamp < now()
-- rows [["bob@a.com"]]
-- case: units may stand without quotes
select dateDiff(day, toDate('2026-01-01'), toDate('2026-01-05')), date_trunc(month, toDate('2026-01-05'))
-- rows [[4, "2026-01-01"]]

-- case: a date that is moved by hours, or compared with an instant, begins at midnight of the project
-- timezone America/New_York
select toStartOfDay(toDate('2026-07-01')), dateTrunc('day', toDate('2026-07-01')), toStartOfInterval(toDate('2026-07-01'), interval 6 hour), toDate('2026-07-01') + interval 1 hour, interval 1 minute + toDate('2026-07-01'), addHours(toDate('2026-07-01'), 2), dateAdd('hour', 3, toDate('2026-07-01')), makeDateTime(2026, 7, 1, 12, 0, 0), toUnixTimestamp(toDate('2026-07-01')), toUnixTimestamp('2026-07-01 00:00:00'), dateDiff('hour', toDate('2026-07-01'), toDateTime('2026-07-01 05:00:00')), toDate('2026-07-01') - interval 1 day
-- types ["datetime", "datetime", "datetime", "datetime", "datetime", "datetime", "datetime", "datetime", "integer", "integer", "integer", "date"]
-- rows [["2026-07-01 00:00:00-04:00", "2026-07-01 00:00:00-04:00", "2026-07-01 00:00:00-04:00", "2026-07-01 01:00:00-04:00", "2026-07-01 00:01:00-04:00", "2026-07-01 02:00:00-04:00", "2026-07-01 03:00:00-04:00", "2026-07-01 12:00:00-04:00", 1782878400, 1782878400, 5, "2026-06-30"]]

-- case: functions of sequences take times with fractions
select windowFunnel(86400)(timestamp, event = '$pageview', event = 'purchase') > 0, sequenceMatch('(?1)')(toDateTime(timestamp), event = '$pageview', event = 'purchase'), sequenceCountIf('(?1)')(timestamp, event = 'purchase', event = 'x', true) > 0 from events
-- rows [[1, 1, 1]]

-- case: dates before 1970 and after 2149 are themselves
select toDate('1950-01-01'), toDate('2200-01-01'), toDate('1970-01-02')
-- rows [["1950-01-01", "2200-01-01", "1970-01-02"]]

-- case: text where a function takes a time is a time of the project's zone
-- timezone America/New_York
-- variables {"day": "2026-11-01"}
select toStartOfMonth({variables.day}), dateDiff('day', {variables.day}, toDateTime('2026-11-03 01:00:00')), date_trunc('hour', {variables.day}), {variables.day} + interval 1 day, {variables.day} - toIntervalHour(1), addDays({variables.day}, 1), formatDateTime({variables.day}, '%Y'), extract(dow from {variables.day}), dateAdd(day, 1, {variables.day}), toHour('2026-11-01T05:30:00Z')
-- rows [["2026-11-01", 2, "2026-11-01 00:00:00-04:00", "2026-11-02 00:00:00-05:00", "2026-10-31 23:00:00-04:00", "2026-11-02 00:00:00-05:00", "2026", 0, "2026-11-02 00:00:00-05:00", 1]]
-- case: columns of text too, NULL where they are no time
select number, toStartOfMonth(x), dateDiff('day', x, toDate('2026-11-05')), x + interval 1 day from (select number, if(number = 0, '2026-11-03', 'none') as x from numbers(2)) order by number
-- rows [[0, "2026-11-01", 2, "2026-11-04 00:00:00"], [1, null, null, null]]
-- types ["integer", "date", "integer", "datetime"]

-- case: windows and slots of time that begin before 1970
select tumbleStart(toDateTime('1950-03-15 10:20:00'), toIntervalDay(1)), tumbleStart(toDateTime('2026-03-15 10:20:00'), toIntervalDay(1)), timeSlots(toDateTime('1950-03-15 10:20:00'), 900)
-- rows [[null, "2026-03-15 00:00:00", ["1950-03-15 10:00:00", "1950-03-15 10:30:00"]]]

-- case: sequences in times before 1970
select windowFunnel(60)(t, number = 0, number = 1), windowFunnel(59)(t, number = 0, number = 1), sequenceMatch('(?1)(?t<=60)(?2)')(t, number = 0, number = 1) from (select number, toDateTime('1950-03-15 10:20:00') + toIntervalMinute(number) as t from numbers(2))
-- rows [[2, 1, 1]]

-- case: named types hold dates before 1970
select JSONExtract('{"a": "1950-02-03"}', 'a', 'Date'), JSONExtract('{"a": "1950-02-03 10:00:00"}', 'a', 'DateTime'), accurateCastOrNull('1950-02-03', 'Nullable(Date)'), cast(['1950-02-03'] as Array(Date))
-- rows [["1950-02-03", "1950-02-03 10:00:00", "1950-02-03", ["1950-02-03"]]]

-- case: filling starts before 1970
select toDate(t) as day, count() from (select toDateTime('1969-12-30 10:00:00') as t) group by day order by day with fill to toDate('1970-01-02')
-- rows [["1969-12-30", 1], ["1969-12-31", 0], ["1970-01-01", 0]]
