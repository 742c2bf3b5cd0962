-- case: windows of stored times, in UTC
select tumble(timestamp, interval 1 hour), tumbleStart(timestamp, interval 30 minute), tumbleEnd(timestamp, interval 1 day) from events order by timestamp limit 1
-- rows [[["2026-01-05 10:00:00", "2026-01-05 11:00:00"], "2026-01-05 10:00:00", "2026-01-06 00:00:00"]]
-- case: counted by window
select tumbleStart(timestamp, interval 1 hour) as hour, count() from events group by hour order by hour
-- rows [["2026-01-05 10:00:00", 3], ["2026-01-06 23:00:00", 1], ["2026-01-07 09:00:00", 2]]
-- case: of text, of dates, of what toDateTime gives
select tumble('2026-01-01 00:30:00', interval 1 hour), tumble(toDate('2026-01-01'), interval 1 day), tumble(toDateTime('2026-01-01 00:30:00'), interval 1 hour)
-- rows [[["2026-01-01 00:00:00", "2026-01-01 01:00:00"], ["2026-01-01 00:00:00", "2026-01-02 00:00:00"], ["2026-01-01 00:00:00", "2026-01-01 01:00:00"]]]
-- case: of now
select tumbleStart(now(), interval 1 hour) = toStartOfHour(now())
-- rows [[1]]
-- case: of the project's clock, windows still begin by UTC
-- timezone Asia/Kolkata
select toString(tumbleStart(timestamp, interval 1 day), 'UTC') from events order by timestamp limit 1
-- rows [["2026-01-05 00:00:00"]]
-- case: in another zone
select toString(tumbleStart(timestamp, interval 1 day, 'Europe/Berlin'), 'UTC') from events order by timestamp limit 1
-- rows [["2026-01-04 23:00:00"]]
-- case: hops
select hop(timestamp, interval 1 hour, interval 2 hour), hopStart(timestamp, interval 1 hour, interval 3 hour), hopEnd(timestamp, interval 1 hour, interval 3 hour) from events order by timestamp limit 1
-- rows [[["2026-01-05 09:00:00", "2026-01-05 11:00:00"], "2026-01-05 08:00:00", "2026-01-05 11:00:00"]]
-- case: of what may be missing
select tumble(properties.when, interval 1 hour), tumbleStart(properties.when, interval 1 hour), hop(properties.when, interval 1 hour, interval 2 hour), hopEnd(properties.when, interval 1 hour, interval 2 hour), timeSlots(properties.when, 1800) from events where event = 'purchase' order by timestamp
-- rows [[["2026-01-04 08:00:00", "2026-01-04 09:00:00"], "2026-01-04 08:00:00", ["2026-01-04 07:00:00", "2026-01-04 09:00:00"], "2026-01-04 09:00:00", ["2026-01-04 08:00:00", "2026-01-04 08:30:00"]], [null, null, null, null, []]]
-- case: the edges of a window that was computed before
select tumbleStart(tumble(timestamp, interval 1 hour)), hopEnd(hop(timestamp, interval 1 hour, interval 2 hour)) from events order by timestamp limit 1
-- rows [["2026-01-05 10:00:00", "2026-01-05 11:00:00"]]
-- case: slots of half an hour, and of a size
select timeSlots(timestamp, 3600), timeSlots(timestamp, 3600, 1800), timeSlots(now(), 0) = [timeSlot(now())] from events order by timestamp limit 1
-- rows [[["2026-01-05 10:00:00", "2026-01-05 10:30:00", "2026-01-05 11:00:00"], ["2026-01-05 10:00:00", "2026-01-05 10:30:00", "2026-01-05 11:00:00"], 1]]
-- case: a size of ten minutes; nothing lies within less than no time
select timeSlots(timestamp, 1200, 600), timeSlots(timestamp, -5) from events order by timestamp limit 1
-- rows [[["2026-01-05 10:00:00", "2026-01-05 10:10:00", "2026-01-05 10:20:00"], ["2026-01-05 10:00:00"]]]
