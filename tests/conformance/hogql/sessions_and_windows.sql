-- case: sessions by hand from events
select $session_id, min(timestamp) as started, max(timestamp) as ended, dateDiff('second', started, ended) as seconds, count() as events from events where $session_id != '' group by $session_id order by $session_id
-- rows [["s1", "2026-01-05 10:00:00", "2026-01-05 10:06:00", 360, 3], ["s2", "2026-01-07 09:00:00", "2026-01-07 09:10:00", 600, 2]]

-- case: channels
select session.$channel_type as channel, count(distinct $session_id) as sessions from events where notEmpty($session_id) group by channel
-- rows [["Unknown", 2]]

-- case: averages of sessions
select avg($session_duration), countIf($is_bounce) / count() as bounce_rate, sum($pageview_count) from sessions
-- rows [[480.0, 0.0, 3]]

-- case: minutes of sessions
select session_id, dateDiff('minute', $start_timestamp, $end_timestamp) as minutes from sessions order by session_id
-- rows [["s1", 6], ["s2", 10]]

-- case: a quantile of durations
select quantile(0.95)(dateDiff('second', $start_timestamp, $end_timestamp)) from sessions
-- rows [[588.0]]

-- case: engaged sessions
select countIf($session_duration > 400) as engaged, count() as total, round(engaged / total, 2) from sessions where $start_timestamp >= '2026-01-01'
-- rows [[1, 2, 0.5]]

-- case: sessions joined with events
select s.session_id, count() from sessions s join events e on e.$session_id = s.session_id group by s.session_id order by 1
-- rows [["s1", 3], ["s2", 2]]

-- case: events of long sessions
select e.session.$session_duration, e.event from events e where e.session.$session_duration > 400 order by e.timestamp
-- rows [[600, "$pageview"], [600, "purchase"]]

-- case: entry pages
select $entry_current_url, $end_current_url from sessions order by session_id
-- rows [["https://a.com/x?utm=g", "https://a.com/y"], [null, null]]

-- case: sessions by half an hour of silence
select distinct_id, sum(new) as sessions from (select distinct_id, timestamp, if(dateDiff('minute', lag(timestamp) over (partition by distinct_id order by timestamp), timestamp) > 30 or lag(timestamp) over (partition by distinct_id order by timestamp) is null, 1, 0) as new from events) group by distinct_id order by distinct_id
-- rows [["ann", 2], ["anon", 1], ["bob", 1]]

-- case: numbers of rows
select distinct_id, event, row_number() over (partition by distinct_id order by timestamp) as n from events order by distinct_id, n
-- rows [["ann", "$pageview", 1], ["ann", "$autocapture", 2], ["ann", "purchase", 3], ["anon", "$pageview", 1], ["bob", "$pageview", 1], ["bob", "purchase", 2]]

-- case: the event before, in a frame
select distinct_id, event, lagInFrame(event) over (partition by distinct_id order by timestamp rows between unbounded preceding and unbounded following) as before from events order by distinct_id, timestamp
-- rows [["ann", "$pageview", ""], ["ann", "$autocapture", "$pageview"], ["ann", "purchase", "$autocapture"], ["anon", "$pageview", ""], ["bob", "$pageview", ""], ["bob", "purchase", "$pageview"]]

-- case: the event after
select event, lead(event) over (partition by distinct_id order by timestamp) as next from events order by distinct_id, timestamp
-- rows [["$pageview", "$autocapture"], ["$autocapture", "purchase"], ["purchase", null], ["$pageview", null], ["$pageview", "purchase"], ["purchase", null]]

-- case: the event before, with a default
select lag(event, 1, 'start') over (partition by distinct_id order by timestamp) as prev, event from events order by distinct_id, timestamp
-- rows [["start", "$pageview"], ["$pageview", "$autocapture"], ["$autocapture", "purchase"], ["start", "$pageview"], ["start", "$pageview"], ["$pageview", "purchase"]]

-- case: minutes since the event before
select distinct_id, dateDiff('minute', lagInFrame(timestamp, 1, timestamp) over (partition by distinct_id order by timestamp), timestamp) as gap from events order by distinct_id, timestamp
-- rows [["ann", 0], ["ann", 1], ["ann", 2244], ["anon", 0], ["bob", 0], ["bob", 10]]

-- case: a running total
select day, c, sum(c) over (order by day) as running from (select toDate(timestamp) as day, count() as c from events group by day) order by day
-- rows [["2026-01-05", 3, 3], ["2026-01-06", 1, 4], ["2026-01-07", 2, 6]]

-- case: a moving average
select day, c, avg(c) over (order by day rows between 1 preceding and current row) as moving from (select toDate(timestamp) as day, count() as c from events group by day) order by day
-- rows [["2026-01-05", 3, 3.0], ["2026-01-06", 1, 2.0], ["2026-01-07", 2, 1.5]]

-- case: a window of a day in time
select distinct_id, event, count() over (partition by distinct_id order by timestamp range between interval 1 day preceding and current row) as recent from events order by distinct_id, timestamp
-- rows [["ann", "$pageview", 1], ["ann", "$autocapture", 2], ["ann", "purchase", 1], ["anon", "$pageview", 1], ["bob", "$pageview", 1], ["bob", "purchase", 2]]

-- case: what was spent so far
select distinct_id, event, sum(properties.price) over (partition by distinct_id order by timestamp) as spent from events order by distinct_id, timestamp
-- rows [["ann", "$pageview", 2.5], ["ann", "$autocapture", 9.5], ["ann", "purchase", 109.5], ["anon", "$pageview", 10.0], ["bob", "$pageview", null], ["bob", "purchase", null]]

-- case: ranks
select event, c, rank() over (order by c desc) as r, dense_rank() over (order by c desc) as dr from (select event, count() as c from events group by event) order by r, event
-- rows [["$pageview", 3, 1, 1], ["purchase", 2, 2, 2], ["$autocapture", 1, 3, 3]]

-- case: halves
select event, ntile(2) over (order by timestamp) as half from events order by timestamp
-- rows [["$pageview", 1], ["$pageview", 1], ["$autocapture", 1], ["purchase", 2], ["$pageview", 2], ["purchase", 2]]

-- case: places as shares
select round(percent_rank() over (order by timestamp), 2), round(cume_dist() over (order by timestamp), 4) from events order by timestamp limit 2
-- rows [[0.0, 0.1667], [0.2, 0.3333]]

-- case: the third event
select nth_value(event, 3) over (order by timestamp rows between unbounded preceding and unbounded following) as third from events order by timestamp limit 1
-- rows [["$autocapture"]]

-- case: a named window
select event, first_value(event) over w as f, last_value(event) over w as l from events window w as (partition by distinct_id order by timestamp) order by timestamp
-- rows [["$pageview", "$pageview", "$pageview"], ["$pageview", "$pageview", "$pageview"], ["$autocapture", "$pageview", "$autocapture"], ["purchase", "$pageview", "purchase"], ["$pageview", "$pageview", "$pageview"], ["purchase", "$pageview", "purchase"]]
