-- case: days, hours, weekdays of the zone
-- zone: Europe/Berlin
select toDate(timestamp) as d, toHour(timestamp) as h, toDayOfWeek(timestamp) as w, count() from events group by d, h, w
-- rows
[(str(t.date()), t.hour, t.isoweekday(), n) for t, n in Counter(local(e).replace(minute=0, second=0, microsecond=0, fold=0) for e in events).items()]

-- case: texts are times of the zone
-- zone: Europe/Berlin
select countIf(timestamp >= '2026-10-25'), countIf(timestamp < '2026-10-25 03:00:00'), countIf(timestamp between '2026-10-20' and '2026-10-21 12:00:00'), countIf(timestamp > toDateTime('2026-10-24 10:00:00')), countIf(timestamp > '2026-10-24T10:00:00Z'), countIf(toDate(timestamp) = '2026-10-25'), countIf(timestamp > toDate('2026-10-24')) from events
-- rows
[(sum(local(e).replace(tzinfo=None) >= datetime(2026, 10, 25) for e in events), sum(e.at < datetime(2026, 10, 25, 2, tzinfo=UTC) for e in events), sum(datetime(2026, 10, 20) <= local(e).replace(tzinfo=None) <= datetime(2026, 10, 21, 12) for e in events), sum(e.at > datetime(2026, 10, 24, 8, tzinfo=UTC) for e in events), sum(e.at > datetime(2026, 10, 24, 10, tzinfo=UTC) for e in events), sum(str(local(e).date()) == '2026-10-25' for e in events), sum(local(e).replace(tzinfo=None) > datetime(2026, 10, 24) for e in events))]

-- case: starts of hours on the long day
-- zone: Europe/Berlin
select toUnixTimestamp(toStartOfHour(timestamp)) as h, count() from events where toDate(timestamp) = '2026-10-25' group by h
-- rows
Counter(int(e.at.timestamp()) // 3600 * 3600 for e in events if str(local(e).date()) == '2026-10-25').items()

-- case: starts of intervals and truncation
-- zone: Europe/Berlin
select toUnixTimestamp(toStartOfDay(timestamp)) as a, toUnixTimestamp(toStartOfInterval(timestamp, interval 1 day)) as b, toString(toStartOfMonth(timestamp)) as c, toUnixTimestamp(dateTrunc('day', timestamp)) as d, count() from events group by 1, 2, 3, 4
-- rows
[(s, s, m, s, n) for (s, m), n in Counter((int(t.replace(hour=0, minute=0, second=0, microsecond=0, fold=0).timestamp()), str(t.date().replace(day=1))) for e in events for t in [local(e)]).items()]

-- case: weeks begin on Sunday
-- zone: America/Los_Angeles
select toStartOfWeek(timestamp) as w, uniq(person_id), count() from events group by w order by w
-- ordered
[(str(w), humans(r), len(r)) for w, r in sorted(by(lambda e: (lambda d: d - timedelta(d.isoweekday() % 7))(local(e, 'America/Los_Angeles').date())).items())]

-- case: a zone of odd minutes
-- zone: Asia/Kathmandu
select toDate(timestamp) as d, formatDateTime(min(timestamp), '%Y-%m-%d %H:%i') as first, toString(toMinute(toStartOfHour(max(timestamp)))), count() from events group by d order by d
-- ordered
[(str(d), local(r[0], 'Asia/Kathmandu').strftime('%Y-%m-%d %H:%M'), '0', len(r)) for d, r in sorted(by(lambda e: local(e, 'Asia/Kathmandu').date()).items())]

-- case: differences of days are of the calendar of the zone
-- zone: Europe/Berlin
select dateDiff('day', person.created_at, timestamp) as age, count() from events where event = 'signed_up' group by age
-- rows
Counter((local(e).date() - e.human.created_at.astimezone(local(e).tzinfo).date()).days for e in named('signed_up')).items()

-- case: adding days across the change of clocks
-- zone: Europe/Berlin
select countIf(timestamp + interval 1 day > '2026-10-25 12:00:00' and timestamp < '2026-10-25 12:00:00'), countIf(addHours(timestamp, 24) > '2026-10-25 12:00:00' and timestamp < '2026-10-25 12:00:00') from events
-- rows
[(sum(datetime(2026, 10, 24, 12) < local(e).replace(tzinfo=None) < datetime(2026, 10, 25, 12) for e in events), sum(e.at + timedelta(hours=24) > datetime(2026, 10, 25, 11, tzinfo=UTC) and e.at < datetime(2026, 10, 25, 11, tzinfo=UTC) for e in events))]

-- case: today and the days before
-- zone: Pacific/Auckland
select toString(today()), toString(yesterday()), countIf(timestamp >= today() - 3), countIf(timestamp >= toStartOfDay(now()) - interval 3 day), countIf(toDate(timestamp) = today()) from events
-- rows
[(str(t), str(t - timedelta(1)), sum(d >= t - timedelta(3) for d in ds), sum(d >= t - timedelta(3) for d in ds), sum(d == t for d in ds)) for t in [NOW.astimezone(local(events[0], 'Pacific/Auckland').tzinfo).date()] for ds in [[local(e, 'Pacific/Auckland').date() for e in events]]]

-- case: sessions by the day on which they began
-- zone: Europe/Berlin
select toDate($start_timestamp) as d, count(), sum($pageview_count) from sessions where $start_timestamp >= '2026-10-24' and $start_timestamp < '2026-10-28' group by d
-- rows
[(str(d), len(x), sum(e.event == '$pageview' for r in x for e in r)) for d, x in by(lambda r: local(r[0]).date(), [r for s, r in by(lambda e: e.session).items() if s]).items() if date(2026, 10, 24) <= d < date(2026, 10, 28)]

-- case: persons by the day on which they came, and a condition on it
-- zone: America/Los_Angeles
select toDate(created_at) as d, count() from persons where created_at >= '2026-10-15' group by d
-- rows
[(str(d), n) for d, n in Counter(h.created_at.astimezone(local(events[0], 'America/Los_Angeles').tzinfo).date() for h in people).items() if d >= date(2026, 10, 15)]

-- case: parts of a moment
-- zone: Asia/Kathmandu
select toYear(timestamp) * 10000 + toMonth(timestamp) * 100 + toDayOfMonth(timestamp) as a, toYYYYMMDD(timestamp) as b, extract(hour from timestamp) as c, toQuarter(timestamp) as q, toISOWeek(timestamp) as w, count() from events group by 1, 2, 3, 4, 5
-- rows
[(n, n, h, q, w, c) for (n, h, q, w), c in Counter((t.year * 10000 + t.month * 100 + t.day, t.hour, (t.month + 2) // 3, t.isocalendar()[1]) for e in events for t in [local(e, 'Asia/Kathmandu')]).items()]

-- case: another zone in the call
-- zone: Europe/Berlin
select toDate(timestamp, 'Asia/Tokyo') as a, toHour(toTimeZone(timestamp, 'UTC')) as b, formatDateTime(timestamp, '%H', 'America/New_York') as c, count() from events where event = 'paid' group by 1, 2, 3
-- rows
[(*k, n) for k, n in Counter((str(local(e, 'Asia/Tokyo').date()), e.at.hour, f"{local(e, 'America/New_York').hour:02}") for e in named('paid')).items()]

-- case: trends by week and hour in a zone
-- zone: Europe/Berlin
{"kind": "TrendsQuery", "interval": "week", "series": [{"event": "paid"}, {"event": "$pageview", "math": "dau"}], "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31"}}
-- shows [each['data'] for each in answer]
[[f([e for e in named(n) if a <= str(local(e).date()) <= b]) for a, b in (('2026-10-18', '2026-10-24'), ('2026-10-25', '2026-10-31'))] for n, f in (('paid', len), ('$pageview', humans))]

-- case: the last days up to now in a zone
-- zone: Pacific/Auckland
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "-3d"}}
-- shows (answer[0]['days'], answer[0]['data'])
[(ds, [sum(str(local(e, 'Pacific/Auckland').date()) == d for e in named('$pageview')) for d in ds]) for ds in [days('2026-10-31', '2026-11-03')]][0]

-- case: compared across the change of clocks
-- zone: Europe/Berlin
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-25", "date_to": "2026-10-27"}, "compareFilter": {"compare": true}}
-- shows {each['compare_label']: (each['days'], each['data']) for each in answer}
{label: (ds, [sum(str(local(e).date()) == d for e in named('$pageview')) for d in ds]) for label, ds in (('current', days('2026-10-25', '2026-10-27')), ('previous', days('2026-10-22', '2026-10-24')))}

-- case: retention of days in a zone
-- zone: America/Los_Angeles
{"kind": "RetentionQuery", "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-23"}, "retentionFilter": {"period": "Day", "totalIntervals": 4, "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "$pageview", "type": "events"}}}
-- shows [[v['count'] for v in each['values']] for each in answer]
[[len(on[a] & on[b]) for b in ds[i:]] for ds in [days('2026-10-20', '2026-10-23')] for on in [{d: {e.human.id for e in named('$pageview') if str(local(e, 'America/Los_Angeles').date()) == d} for d in ds}] for i, a in enumerate(ds)]

-- case: stickiness of days in a zone
-- zone: Asia/Kathmandu
{"kind": "StickinessQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-26"}}
-- shows answer[0]['data']
[Counter(len({d for d in ds if '2026-10-20' <= d <= '2026-10-26'}) for r in by(lambda e: e.human.id, named('$pageview')).values() for ds in [[str(local(e, 'Asia/Kathmandu').date()) for e in r]])[n] for n in range(1, 8)]

-- case: conversion of each day in a zone
-- zone: America/Los_Angeles
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "added"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-24"}, "funnelsFilter": {"funnelVizType": "trends", "funnelWindowInterval": 1, "funnelWindowIntervalUnit": "hour"}}
-- shows answer[0]['data']
[round(100 * sum(any(b.event == 'added' and a.at < b.at <= a.at + timedelta(hours=1) for a in s for b in x) for x, s in p) / len(p), 2) for ds in [days('2026-10-22', '2026-10-24')] for d in ds for p in [[(x, s) for x in by(lambda e: e.human.id, [e for e in events if str(local(e, 'America/Los_Angeles').date()) in ds]).values() for s in [[e for e in x if e.event == '$pageview' and str(local(e, 'America/Los_Angeles').date()) == d]] if s]]]
