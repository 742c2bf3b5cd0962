-- case: the heat of a week
select toDayOfWeek(timestamp) as d, toHour(timestamp) as h, count() from events group by d, h order by d, h
-- ordered
[(*k, n) for k, n in sorted(Counter((e.at.isoweekday(), e.at.hour) for e in events).items())]

-- case: months as text
select formatDateTime(timestamp, '%Y-%m') as month, count() from events group by month order by month
-- ordered
sorted(Counter(f"{e.at:%Y-%m}" for e in events).items())

-- case: weeks from Monday, active people
select toStartOfWeek(timestamp, 1) as week, uniq(person_id) from events group by week order by week
-- ordered
[(str(week), len({e.human.id for e in rows})) for week, rows in sorted(by(lambda e: e.at.date() - timedelta(e.at.weekday())).items())]

-- case: slots of fifteen minutes on one day
select toStartOfInterval(timestamp, interval 15 minute) as slot, count() from events where toDate(timestamp) = '2026-10-20' group by slot order by slot
-- ordered
[(f"{slot:%Y-%m-%d %H:%M:%S}", n) for slot, n in sorted(Counter(e.at.replace(minute=e.at.minute // 15 * 15, second=0, microsecond=0) for e in events if day(e) == '2026-10-20').items())]

-- case: another zone
select toDate(toTimeZone(timestamp, 'Asia/Tokyo')) as d, count() from events where timestamp > '2026-10-01' group by d order by d
-- ordered
sorted(Counter(str((e.at + timedelta(hours=9)).date()) for e in events if e.at > datetime(2026, 10, 1, tzinfo=UTC)).items())

-- case: bounds as texts of three kinds
select countIf(timestamp >= '2026-10-20' and timestamp < '2026-10-21'), countIf(timestamp >= '2026-10-20T06:00:00Z'), countIf(timestamp between toDateTime('2026-10-20 12:00:00') and toDateTime('2026-10-22')) from events
-- rows
[[sum(day(e) == '2026-10-20' for e in events), sum(e.at >= datetime(2026, 10, 20, 6, tzinfo=UTC) for e in events), sum(datetime(2026, 10, 20, 12, tzinfo=UTC) <= e.at <= datetime(2026, 10, 22, tzinfo=UTC) for e in events)]]

-- case: whole days back from now
select count() from events where timestamp >= toStartOfDay(now()) - interval 7 day and timestamp < toStartOfDay(now())
-- rows
[[sum(0 < (NOW.date() - e.at.date()).days <= 7 for e in events)]]

-- case: words for units
select count() from events where timestamp >= dateSub(day, 10, now()) and timestamp > subtractWeeks(now(), 2) and timestamp < addHours(now(), -1) and timestamp >= now() - toIntervalDay(10) and dateDiff('day', timestamp, now()) <= 10
-- rows
[[sum(NOW - timedelta(10) <= e.at < NOW - timedelta(hours=1) for e in events)]]

-- case: this month by truncation
select dateTrunc('month', timestamp) as m, count() from events where timestamp < toStartOfMonth(now()) group by m order by m
-- ordered
sorted(Counter(f"{e.at:%Y-%m}-01" for e in events if e.at < datetime(2026, 11, 1, tzinfo=UTC)).items())

-- case: every day of a range, also those without events
with days as (select toDate('2026-10-13') + number as day from numbers(21))
select d.day, countIf(e.event = 'paid') from days d left join events e on toDate(e.timestamp) = d.day group by d.day order by d.day
-- ordered
[(str(at), sum(e.at.date() == at for e in named('paid'))) for at in (date(2026, 10, 13) + timedelta(n) for n in range(21))]

-- case: a gap filled with WITH FILL
select toDate(timestamp) as d, count() as n from events where d between '2026-10-13' and '2026-10-19' and event = 'signed_up' group by d order by d with fill from toDate('2026-10-13') to toDate('2026-10-20') step 1
-- ordered
[(str(at), sum(e.at.date() == at for e in named('signed_up'))) for at in (date(2026, 10, 13) + timedelta(n) for n in range(7))]

-- case: year, quarter, week in one
select concat(toString(toYear(timestamp)), '-Q', toString(toQuarter(timestamp)), '-W', toString(toISOWeek(timestamp))) as w, count() from events group by w
-- rows
Counter(f"{e.at.year}-Q{(e.at.month + 2) // 3}-W{e.at.isocalendar().week}" for e in events).items()

-- case: hours since the person came
select dateDiff('hour', person.created_at, timestamp) as age, count() from events where event = 'paid' group by age order by age
-- ordered
sorted(Counter(int(e.at.timestamp()) // 3600 - int(e.human.created_at.timestamp()) // 3600 for e in named('paid')).items())

-- case: casts in the way of other databases
select timestamp::date as d, count(*) from events where timestamp > '2026-10-25'::timestamp and timestamp::date <= '2026-10-31'::date group by d order by d
-- ordered
sorted(Counter(day(e) for e in events if datetime(2026, 10, 25, tzinfo=UTC) < e.at < datetime(2026, 11, 1, tzinfo=UTC)).items())

-- case: from the first to the last
select min(timestamp), max(timestamp), dateDiff('day', min(timestamp), max(timestamp)), toUnixTimestamp(max(timestamp)) from events
-- rows
[[events[0].at, events[-1].at, (events[-1].at.date() - events[0].at.date()).days, int(events[-1].at.timestamp())]]

-- case: weeks that start on Monday in a time zone
select toStartOfWeek(timestamp, 1, 'America/Los_Angeles') as week, count() from events where timestamp > '2026-10-01' group by week
-- rows
Counter(str((lambda d: d - timedelta(days=d.weekday()))((e.at - timedelta(hours=7 if e.at < datetime(2026, 11, 1, 9, tzinfo=UTC) else 8)).date())) for e in events if e.at >= datetime(2026, 10, 1, tzinfo=UTC)).items()
