-- case: hours of the day on which clocks go back
-- zone: Europe/Berlin
{"kind": "TrendsQuery", "interval": "hour", "series": [{"event": null}], "dateRange": {"date_from": "2026-10-25", "date_to": "2026-10-25"}}
-- shows (len(answer[0]['data']), answer[0]['data'])
(25, [sum(datetime(2026, 10, 24, 22, tzinfo=UTC) + timedelta(hours=h) <= e.at < datetime(2026, 10, 24, 23, tzinfo=UTC) + timedelta(hours=h) for e in events) for h in range(25)])

-- case: days on the clock of the project
-- zone: Europe/Berlin
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "dau"}], "dateRange": {"date_from": "2026-10-23", "date_to": "2026-10-27"}}
-- shows answer[0]['data']
[humans(e for e in named('$pageview') if str(local(e).date()) == d) for d in days('2026-10-23', '2026-10-27')]

-- case: days in a zone west, filtered by hour
-- zone: America/Los_Angeles
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "properties": [{"type": "hogql", "key": "toHour(timestamp) < 12"}], "dateRange": {"date_from": "2026-10-23", "date_to": "2026-10-27"}}
-- shows answer[0]['data']
[sum(str(t.date()) == d and t.hour < 12 for e in named('$pageview') for t in [local(e, 'America/Los_Angeles')]) for d in days('2026-10-23', '2026-10-27')]

-- case: a breakdown by the start of the session
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "$entry_pathname", "breakdown_type": "session"}}
-- shows {str(each['breakdown_value']): each['count'] for each in answer}
{str(k): n for k, n in Counter(entry.get(e.session) for entry in [{s: path_of(next(e for e in r if e.event == '$pageview')) for s, r in by(lambda e: e.session).items() if s and any(e.event == '$pageview' for e in r)}] for e in between('2026-10-13', '2026-11-02', named('paid'))).items()}

-- case: a breakdown by distinct id, the largest three
{"kind": "TrendsQuery", "series": [{"event": null}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "distinct_id", "breakdown_type": "event_metadata", "breakdown_limit": 3}}
-- shows sorted((each['count'] for each in answer), reverse=True)
[(lambda c: sorted([*[n for _, n in c.most_common(3)], sum(n for _, n in c.most_common()[3:])], reverse=True))(Counter(e.distinct_id for e in between('2026-10-13', '2026-11-02')))][0]

-- case: addresses without their trailing slash
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "$current_url", "breakdown_type": "event", "breakdown_normalize_url": true}}
-- shows {each['breakdown_value']: each['count'] for each in answer}
dict(Counter(get(e, '$current_url').rstrip('/') for e in between('2026-10-13', '2026-11-02', named('$pageview'))))

-- case: a formula over a breakdown
{"kind": "TrendsQuery", "series": [{"event": "paid"}, {"event": "added"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}, "breakdownFilter": {"breakdown": "$os"}, "trendsFilter": {"formula": "A - 2 * B"}}
-- shows {each['breakdown_value']: each['data'] for each in answer}
{os: [a - 2 * b for a, b in zip(*[daily([e for e in named(n) if get(e, '$os') == os], '2026-10-20', '2026-10-24') for n in ('paid', 'added')])] for os in ('Mac', 'Windows', 'iOS')}

-- case: a formula compared with the period before
{"kind": "TrendsQuery", "series": [{"event": "paid"}, {"event": "added", "math": "dau"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-24"}, "compareFilter": {"compare": true}, "trendsFilter": {"formula": "A + B"}}
-- shows {each['compare_label']: each['data'] for each in answer}
{label: [a + b for a, b in zip(daily(named('paid'), *r), daily(named('added'), *r, humans))] for label, r in (('current', ('2026-10-22', '2026-10-24')), ('previous', ('2026-10-19', '2026-10-21')))}

-- case: smoothed over three days
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-25"}, "trendsFilter": {"smoothingIntervals": 3}}
-- shows [round(v, 3) for v in answer[0]['data']]
[round(mean(d[max(0, i - 2):i + 1]), 3) for d in [daily(named('$pageview'), '2026-10-20', '2026-10-25')] for i in range(6)]

-- case: minimum, percentiles and average of the length of sessions
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "min", "math_property": "price"}, {"event": "paid", "math": "p75", "math_property": "price"}, {"event": "$pageview", "math": "avg", "math_property": "$session_duration", "math_property_type": "session_properties"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "trendsFilter": {"display": "BoldNumber"}}
-- shows [round(each['aggregated_value'], 4) for each in answer]
[(lambda p: round(min(p), 4))([get(e) for e in between('2026-10-13', '2026-11-02', named('paid')) if get(e) is not None]), round(percentile([get(e) for e in between('2026-10-13', '2026-11-02', named('paid')) if get(e) is not None], .75), 4), round(mean(seconds(r[0].at, r[-1].at) for s, r in by(lambda e: e.session).items() if s in {e.session for e in between('2026-10-13', '2026-11-02', named('$pageview'))} - {''}), 4)]

-- case: people of the whole range, of a week and of a month as one number
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "dau"}, {"event": "paid", "math": "weekly_active"}, {"event": "paid", "math": "monthly_active"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-10-31"}, "trendsFilter": {"display": "BoldNumber"}}
-- shows [each['aggregated_value'] for each in answer]
[humans(between('2026-10-13', '2026-10-31', named('paid'))), humans(between('2026-10-25', '2026-10-31', named('paid'))), humans(between('2026-10-02', '2026-10-31', named('paid')))]

-- case: active in thirty days, day by day
{"kind": "TrendsQuery", "series": [{"event": "added", "math": "monthly_active"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}}
-- shows answer[0]['data']
[humans(between(str(date.fromisoformat(d) - timedelta(29)), d, named('added'))) for d in days('2026-10-20', '2026-10-24')]

-- case: an action of two steps
{"kind": "TrendsQuery", "series": [{"kind": "ActionsNode", "id": 1}, {"id": 1, "math": "dau"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}}
-- shows [(each['data'], each['label']) for each in answer]
[(daily([e for e in events if e.event == 'paid' or e.event == 'added' and (get(e) or 0) > 50], '2026-10-20', '2026-10-24', f), 'Bought') for f in (len, humans)]

-- case: any of several events as one series, with a condition on one
{"kind": "TrendsQuery", "series": [{"kind": "GroupNode", "operator": "OR", "name": "Both", "math": "dau", "nodes": [{"kind": "EventsNode", "event": "paid", "properties": [{"key": "price", "operator": "gte", "value": 10, "type": "event"}]}, {"kind": "EventsNode", "event": "$screen"}]}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}}
-- shows answer[0]['data']
daily([e for e in events if e.event == '$screen' or e.event == 'paid' and (get(e) or 0) >= 10], '2026-10-20', '2026-10-24', humans)

-- case: groups of conditions within groups
{"kind": "TrendsQuery", "properties": {"type": "OR", "values": [{"type": "AND", "values": [{"key": "$os", "type": "event", "operator": "exact", "value": "Mac"}, {"key": "plan", "type": "person", "operator": "is_set", "value": "is_set"}]}, {"type": "AND", "values": [{"key": "id", "type": "cohort", "value": 2, "operator": "in"}, {"key": "country", "type": "event", "operator": "regex", "value": "^C0[0-4]$"}]}]}, "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows answer[0]['count']
sum(get(e, '$os') == 'Mac' and 'plan' in e.human.properties or e.human in people[1:30:2] and get(e, 'country') <= 'C04' for e in between('2026-10-13', '2026-11-02', named('$pageview')))

-- case: operators that say no also match what is missing
{"kind": "TrendsQuery", "series": [{"event": null, "properties": [{"key": "$browser", "type": "event", "operator": "is_not", "value": ["Chrome", "Edge"]}]}, {"event": null, "properties": [{"key": "$browser", "type": "event", "operator": "not_icontains", "value": "FIRE"}]}, {"event": null, "properties": [{"key": "$browser", "type": "event", "operator": "not_regex", "value": "^S"}]}, {"event": null, "properties": [{"key": "plan", "type": "person", "operator": "is_not", "value": "pro"}]}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [each['count'] for each in answer]
[sum(f(e) for e in between('2026-10-13', '2026-11-02')) for f in (lambda e: get(e, '$browser') not in ('Chrome', 'Edge'), lambda e: get(e, '$browser') != 'Firefox', lambda e: get(e, '$browser') != 'Safari', lambda e: e.human.properties.get('plan') != 'pro')]

-- case: numbers compared as numbers, also given as text
{"kind": "TrendsQuery", "series": [{"event": "paid", "properties": [{"key": "price", "type": "event", "operator": "lt", "value": "10"}]}, {"event": "paid", "properties": [{"key": "price", "type": "event", "operator": "between", "value": [2, 100]}]}, {"event": "paid", "properties": [{"key": "price", "type": "event", "operator": "exact", "value": ["2.5", 10]}]}, {"event": "paid", "properties": [{"key": "price", "type": "event", "operator": "not_between", "value": [2, 100]}]}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [each['count'] for each in answer]
[sum(f(get(e)) for e in between('2026-10-13', '2026-11-02', named('paid'))) for f in (lambda p: p is not None and p < 10, lambda p: p is not None and 2 <= p <= 100, lambda p: p in (2.5, 10), lambda p: p is not None and not 2 <= p <= 100)]

-- case: not in a cohort, and broken down by being in one
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "properties": [{"key": "id", "type": "cohort", "operator": "not_in", "value": 1}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": [2], "breakdown_type": "cohort"}}
-- shows [each['count'] for each in answer]
[sum(e.human in people[1:30:2] for e in between('2026-10-13', '2026-11-02', named('paid')))]

-- case: filters about sessions and groups
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "properties": [{"key": "$session_duration", "type": "session", "operator": "gt", "value": 600}, {"key": "size", "type": "group", "group_type_index": 0, "operator": "gte", "value": 10}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows answer[0]['count']
sum(e.company in ('acme', 'globex') and length.get(e.session, 0) > 600 for length in [{s: seconds(r[0].at, r[-1].at) for s, r in by(lambda e: e.session).items() if s}] for e in between('2026-10-13', '2026-11-02', named('$pageview')))

-- case: dates of persons before and after a day
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "properties": [{"key": "created_at", "type": "person_metadata", "operator": "is_date_before", "value": "2026-10-20"}]}, {"event": "$pageview", "properties": [{"key": "created_at", "type": "person_metadata", "operator": "is_date_after", "value": "2026-10-20"}]}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [each['count'] for each in answer]
[sum(f(str(e.human.created_at.date())) for e in between('2026-10-13', '2026-11-02', named('$pageview'))) for f in (lambda d: d < '2026-10-20', lambda d: d >= '2026-10-20')]

-- case: breakdown of two series, the same values in both
{"kind": "TrendsQuery", "series": [{"event": "paid"}, {"event": "added"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "$device_type", "breakdown_type": "event"}, "trendsFilter": {"display": "ActionsTable"}}
-- shows sorted((each['action']['order'], each['breakdown_value'], each['aggregated_value']) for each in answer)
sorted((i, d, sum(get(e, '$device_type') == d for e in between('2026-10-13', '2026-11-02', named(n)))) for i, n in enumerate(('paid', 'added')) for d in ('Desktop', 'Mobile'))

-- case: a breakdown added up
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "sum", "math_property": "price"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-23"}, "breakdownFilter": {"breakdown": "$os"}, "trendsFilter": {"display": "ActionsLineGraphCumulative"}}
-- shows {each['breakdown_value']: each['data'] for each in answer}
{os: [sum(get(e) or 0 for e in between('2026-10-20', d, r)) for d in days('2026-10-20', '2026-10-23')] for os, r in by(lambda e: get(e, '$os'), between('2026-10-20', '2026-10-23', named('paid'))).items()}

-- case: people added up are counted once
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "dau"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-26"}, "trendsFilter": {"display": "ActionsLineGraphCumulative"}}
-- shows answer[0]['data']
[sum(daily(named('paid'), '2026-10-20', d, humans)) for d in days('2026-10-20', '2026-10-26')]

-- case: breakdowns of event, person and group at once
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown_limit": 100, "breakdowns": [{"property": "$device_type", "type": "event"}, {"property": "plan", "type": "person"}, {"property": "size", "type": "group", "group_type_index": 0}]}, "trendsFilter": {"display": "ActionsBarValue"}}
-- shows sorted(([str(v) for v in each['breakdown_value']], each['aggregated_value']) for each in answer)
sorted(([str(v) for v in k], n) for k, n in Counter((get(e, '$device_type'), e.human.properties.get('plan'), {'acme': '10', 'globex': '200'}.get(e.company)) for e in between('2026-10-13', '2026-11-02', named('paid'))).items())

-- case: a boolean breakdown
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "returning", "breakdown_type": "event"}}
-- shows {str(each['breakdown_value']): each['count'] for each in answer}
{str(k): n for k, n in Counter({True: 'true', False: 'false', None: None}[get(e, 'returning')] for e in between('2026-10-13', '2026-11-02', named('$pageview'))).items()}

-- case: events per person: mean, largest, median
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "avg_count_per_actor"}, {"event": "$pageview", "math": "max_count_per_actor"}, {"event": "$pageview", "math": "median_count_per_actor"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}}
-- shows [each['data'] for each in answer]
[daily(named('$pageview'), '2026-10-20', '2026-10-24', lambda r, f=f: f([len(x) for x in by(lambda e: e.human.id, r).values()])) for f in (mean, max, median)]

-- case: the last seven days without today, and the current month
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "-7d", "date_to": "-1d"}}
-- shows (answer[0]['days'], answer[0]['data'])
(days('2026-10-26', '2026-11-01'), daily(named('$pageview'), '2026-10-26', '2026-11-01'))

-- case: this month until now
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "mStart"}, "trendsFilter": {"display": "BoldNumber"}}
-- shows answer[0]['aggregated_value']
len(between('2026-11-01', '2026-11-02', named('$pageview')))

-- case: the month before, compared with the one before that
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "-1mStart", "date_to": "-1mEnd"}, "interval": "month"}
-- shows (answer[0]['days'], answer[0]['data'])
(['2026-10-01'], [len(between('2026-10-01', '2026-10-31', named('$pageview')))])

-- case: periods that are over
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "interval": "week", "dateRange": {"date_from": "2026-10-18", "excludeIncompletePeriods": true}}
-- shows (answer[0]['days'], answer[0]['data'])
(['2026-10-18', '2026-10-25'], [len(between(a, b, named('$pageview'))) for a, b in (('2026-10-18', '2026-10-24'), ('2026-10-25', '2026-10-31'))])

-- case: hours that are given exactly
{"kind": "TrendsQuery", "series": [{"event": null}], "interval": "hour", "dateRange": {"date_from": "2026-10-20T10:30:00", "date_to": "2026-10-20T13:15:00", "explicitDate": true}}
-- shows answer[0]['data']
[sum(datetime(2026, 10, 20, 10, 30, tzinfo=UTC) <= e.at <= datetime(2026, 10, 20, 13, 15, tzinfo=UTC) and e.at.hour == h for e in events) for h in (10, 11, 12, 13)]

-- case: the last two days by hour
{"kind": "TrendsQuery", "series": [{"event": null}], "interval": "hour", "dateRange": {"date_from": "-48h"}}
-- shows (len(answer[0]['data']), answer[0]['count'])
(49, sum(datetime(2026, 10, 31, 15, tzinfo=UTC) <= e.at < datetime(2026, 11, 2, 16, tzinfo=UTC) for e in events))

-- case: multiplied, and an expression that is a ratio
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "hogql", "math_hogql": "sum(properties.price) / count(distinct person_id)"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}, "breakdownFilter": {"breakdown": "$os"}}
-- shows {each['breakdown_value']: [round(v, 4) for v in each['data']] for each in answer}
{os: [round(v, 4) for v in daily(r, '2026-10-20', '2026-10-24', lambda x: (total(map(get, x)) or 0) / humans(x))] for os, r in by(lambda e: get(e, '$os'), between('2026-10-20', '2026-10-24', named('paid'))).items()}

-- case: by minute
{"kind": "TrendsQuery", "interval": "minute", "series": [{"event": null}], "dateRange": {"date_from": "2026-10-20T10:00:00", "date_to": "2026-10-20T11:00:00"}}
-- shows (len(answer[0]['data']) in (60, 61), sum(answer[0]['data'][:60]))
(True, sum(e.at.hour == 10 for e in between('2026-10-20', '2026-10-20')))

-- case: a histogram of a number
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdowns": [{"property": "price", "type": "event", "histogram_bin_count": 2}]}, "trendsFilter": {"display": "ActionsTable"}}
-- shows sum(each['aggregated_value'] for each in answer)
len(between('2026-10-13', '2026-11-02', named('paid')))
