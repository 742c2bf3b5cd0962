-- case: a funnel of an action, with conditions on its steps
{"kind": "FunnelsQuery", "series": [{"event": "$pageview", "properties": [{"key": "$pathname", "operator": "icontains", "value": "DOCS"}]}, {"kind": "ActionsNode", "id": 1}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [(each['name'], each['count']) for each in answer]
list(zip(('$pageview', 'Bought'), reached((2 if any(b.at > a.at and b.at <= a.at + timedelta(14) and (b.event == 'paid' or b.event == 'added' and (get(b) or 0) > 50) for a in r if 'docs' in get(a, '$pathname', ) for b in all_) else 1 if r else 0 for all_ in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values() for r in [[e for e in all_ if e.event == '$pageview' and 'docs' in get(e, '$pathname')]]), 2)))

-- case: times between the steps of a funnel
{"kind": "FunnelsQuery", "series": [{"event": "added"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "funnelsFilter": {"funnelWindowInterval": 30, "funnelWindowIntervalUnit": "minute"}}
-- shows (answer[1]['count'], round(answer[1]['average_conversion_time'], 3), round(answer[1]['median_conversion_time'], 3))
[(len(t), round(mean(t), 3), round(median(t), 3)) for t in [[x[0] for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values() for x in [[next((b.at - a.at).total_seconds() for b in r if b.event == 'paid' and a.at < b.at <= a.at + timedelta(minutes=30)) for a in r if a.event == 'added' and any(b.event == 'paid' and a.at < b.at <= a.at + timedelta(minutes=30) for b in r)]] if x]]][0]

-- case: a funnel broken down by the first browser
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "if(person.properties.plan is null, 'free', 'plan')", "breakdown_type": "hogql"}}
-- shows {part[0]['breakdown_value'][0]: [each['count'] for each in part] for part in answer}
{k: reached((steps_done(r, '$pageview', 'paid') for r in by(lambda e: e.human.id, rows).values()), 2) for k, rows in by(lambda e: 'plan' if 'plan' in e.human.properties else 'free', between('2026-10-13', '2026-11-02')).items()}

-- case: a funnel of cohorts
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "added"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": [1, 2], "breakdown_type": "cohort"}}
-- shows {part[0]['breakdown'][0] if isinstance(part[0]['breakdown'], list) else part[0]['breakdown']: [each['count'] for each in part] for part in answer}
{name: reached((steps_done(r, '$pageview', 'added') for r in by(lambda e: e.human.id, [e for e in between('2026-10-13', '2026-11-02') if e.human in members]).values()), 2) for name, members in (('Odd', people[:30:2]), ('Even', people[1:30:2]))}

-- case: a funnel without test accounts, of persons with a plan
{"kind": "FunnelsQuery", "filterTestAccounts": true, "properties": [{"key": "plan", "type": "person", "operator": "is_set", "value": "is_set"}], "series": [{"event": "$pageview"}, {"event": "added"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "funnelsFilter": {"funnelWindowInterval": 1, "funnelWindowIntervalUnit": "week"}}
-- shows [each['count'] for each in answer]
reached((steps_done(r, '$pageview', 'added', 'paid', within=timedelta(7)) for r in by(lambda e: e.human.id, [e for e in between('2026-10-13', '2026-11-02') if 'plan' in e.human.properties and '@test.com' not in e.human.properties['email']]).values()), 3)

-- case: the same step three times
{"kind": "FunnelsQuery", "series": [{"event": "paid"}, {"event": "paid"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "funnelsFilter": {"funnelWindowInterval": 2, "funnelWindowIntervalUnit": "day"}}
-- shows [each['count'] for each in answer]
reached((max(sum(a.at <= b.at <= a.at + timedelta(2) for b in r) for a in r) for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02', named('paid'))).values()), 3)

-- case: who sees an error in between is out
{"kind": "FunnelsQuery", "series": [{"event": "added"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "funnelsFilter": {"funnelWindowInterval": 1, "funnelWindowIntervalUnit": "hour", "exclusions": [{"kind": "EventsNode", "event": "$screen", "funnelFromStep": 0, "funnelToStep": 1}]}}
-- shows answer[1]['count']
sum(any(a.event == 'added' and (lambda later: later and not any(e.event == '$screen' and a.at < e.at < later[0].at for e in r))([b for b in r if b.event == 'paid' and a.at < b.at <= a.at + timedelta(hours=1)]) for a in r) for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values())

-- case: conversion of each week
{"kind": "FunnelsQuery", "interval": "week", "series": [{"event": "$pageview"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31"}, "funnelsFilter": {"funnelVizType": "trends", "funnelWindowInterval": 1}}
-- shows (answer[0]['days'], answer[0]['data'])
(['2026-10-18', '2026-10-25'], [round(100 * sum(any(b.event == 'paid' and a.at < b.at <= a.at + timedelta(1) for a in s for b in x) for x, s in p) / len(p), 2) for lo, hi in (('2026-10-18', '2026-10-24'), ('2026-10-25', '2026-10-31')) for p in [[(x, s) for x in by(lambda e: e.human.id, between('2026-10-18', '2026-10-31')).values() for s in [[e for e in x if e.event == '$pageview' and lo <= day(e) <= hi]] if s]]])

-- case: retention by weeks that begin on Sunday
{"kind": "RetentionQuery", "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "retentionFilter": {"period": "Week", "totalIntervals": 4, "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "paid", "type": "events"}}}
-- shows [(each['label'], [v['count'] for v in each['values']]) for each in answer]
[(f'Week {i}', [len(start), *(len(start & {e.human.id for e in between(b, str(date.fromisoformat(b) + timedelta(6)), named('paid'))}) for b in w[i + 1:])]) for w in [['2026-10-11', '2026-10-18', '2026-10-25', '2026-11-01']] for i, a in enumerate(w) for start in [{e.human.id for e in between(a, str(date.fromisoformat(a) + timedelta(6)), named('$pageview'))}]]

-- case: retention of months
{"kind": "RetentionQuery", "dateRange": {"date_from": "2026-03-01", "date_to": "2026-11-02"}, "retentionFilter": {"period": "Month", "totalIntervals": 9, "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "$pageview", "type": "events"}}}
-- shows [v['count'] for v in answer[0]['values']]
[len(m[0] & s) for m in [[{e.human.id for e in named('$pageview') if e.at.month == k} for k in range(3, 12)]] for s in m]

-- case: retention of companies
{"kind": "RetentionQuery", "aggregation_group_type_index": 0, "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-23"}, "retentionFilter": {"period": "Day", "totalIntervals": 4, "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "$pageview", "type": "events"}}}
-- shows [[v['count'] for v in each['values']] for each in answer]
[[len(start & {e.company for e in between(b, b, named('$pageview'))}) for b in d[i:]] for d in [days('2026-10-20', '2026-10-23')] for i, a in enumerate(d) for start in [{e.company for e in between(a, a, named('$pageview'))} - {''}]]

-- case: at least two events to have come back
{"kind": "RetentionQuery", "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-23"}, "retentionFilter": {"period": "Day", "totalIntervals": 4, "minimumOccurrences": 2, "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "$pageview", "type": "events"}}}
-- shows [[v['count'] for v in each['values']][1:] for each in answer]
[[len(start & {h for h, n in Counter(e.human.id for e in between(b, b, named('$pageview'))).items() if n > 1}) for b in d[i + 1:]] for d in [days('2026-10-20', '2026-10-23')] for i, a in enumerate(d) for start in [{e.human.id for e in between(a, a, named('$pageview'))}]]

-- case: retention with conditions on both events
{"kind": "RetentionQuery", "properties": [{"key": "$device_type", "type": "event", "operator": "exact", "value": "Desktop"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-23"}, "retentionFilter": {"period": "Day", "totalIntervals": 4, "targetEntity": {"id": "$pageview", "type": "events", "properties": [{"key": "$pathname", "type": "event", "operator": "exact", "value": ["/", "/pricing"]}]}, "returningEntity": {"id": null, "type": "events"}}}
-- shows [[v['count'] for v in each['values']] for each in answer]
[[len(start & {e.human.id for e in between(b, b) if get(e, '$device_type') == 'Desktop'}) for b in d[i:]] for d in [days('2026-10-20', '2026-10-23')] for i, a in enumerate(d) for start in [{e.human.id for e in between(a, a, named('$pageview')) if get(e, '$device_type') == 'Desktop' and get(e, '$pathname') in ('/', '/pricing')}]]

-- case: money of those who come back, and its mean
{"kind": "RetentionQuery", "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-22"}, "retentionFilter": {"period": "Day", "totalIntervals": 3, "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "paid", "type": "events"}, "aggregationType": "sum", "aggregationProperty": "price"}}
-- shows [[v['aggregation_value'] or 0 for v in each['values'][1:]] for each in answer]
[[sum(get(e) or 0 for e in between(b, b, named('paid')) if e.human.id in start) for b in d[i + 1:]] for d in [days('2026-10-20', '2026-10-22')] for i, a in enumerate(d) for start in [{e.human.id for e in between(a, a, named('$pageview'))}]]

-- case: lifecycle of days
{"kind": "LifecycleQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}}
-- shows {each['status']: each['data'] for each in answer}
{s: [f(d, str(date.fromisoformat(d) - timedelta(1))) for d in days('2026-10-20', '2026-10-24')] for on, first in [[lambda d: {e.human.id for e in named('$pageview') if day(e) == d}, {h: min(day(r[0]), str(r[0].human.created_at.date())) for h, r in by(lambda e: e.human.id).items()}]] for s, f in {'new': lambda d, p: len({h for h in on(d) if first[h] == d}), 'returning': lambda d, p: len({h for h in on(d) & on(p) if first[h] != d}), 'resurrecting': lambda d, p: len({h for h in on(d) - on(p) if first[h] != d}), 'dormant': lambda d, p: -len(on(p) - on(d))}.items()}

-- case: lifecycle of weeks without test accounts
{"kind": "LifecycleQuery", "filterTestAccounts": true, "interval": "week", "series": [{"event": null}], "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31"}}
-- shows {each['status']: each['data'] for each in answer if each['status'] in ('returning', 'dormant')}
[{'returning': [len(w[1] & w[0]), len(w[2] & w[1])], 'dormant': [-len(w[0] - w[1]), -len(w[1] - w[2])]} for w in [[{e.human.id for e in between(a, b) if '@test.com' not in e.human.properties['email']} for a, b in (('2026-10-11', '2026-10-17'), ('2026-10-18', '2026-10-24'), ('2026-10-25', '2026-10-31'))]]][0]

-- case: on how many days or more
{"kind": "StickinessQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-26"}, "stickinessFilter": {"computedAs": "cumulative"}}
-- shows answer[0]['data']
[sum(k >= n for k in [len({day(e) for e in r}) for r in by(lambda e: e.human.id, between('2026-10-20', '2026-10-26', named('$pageview'))).values()]) for n in range(1, 8)]

-- case: stickiness of weeks, compared
{"kind": "StickinessQuery", "interval": "week", "series": [{"kind": "ActionsNode", "id": 1}], "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31"}, "compareFilter": {"compare": true}}
-- shows {each['compare_label']: each['data'] for each in answer}
{label: [sum(len(r) == n for r in by(lambda t: t[0], {(e.human.id, day(e) > mid) for e in between(a, b) if e.event == 'paid' or e.event == 'added' and (get(e) or 0) > 50}).values()) for n in (1, 2)] for label, a, mid, b in (('current', '2026-10-18', '2026-10-24', '2026-10-31'), ('previous', '2026-10-04', '2026-10-10', '2026-10-17'))}

-- case: stickiness of hours
{"kind": "StickinessQuery", "interval": "hour", "series": [{"event": null}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-20"}}
-- shows answer[0]['data'][:5]
[Counter(len({e.at.hour for e in r}) for r in by(lambda e: e.human.id, between('2026-10-20', '2026-10-20')).values())[n] for n in range(1, 6)]

-- case: paths of custom events only
{"kind": "PathsQuery", "pathsFilter": {"includeEventTypes": ["custom_event"], "edgeLimit": 1000, "stepLimit": 2}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows sorted((each['source'], each['target'], each['value']) for each in answer)
sorted((*k, n) for k, n in Counter((f'1_{s[0]}', f'2_{s[1]}') for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02', [e for e in events if e.event in ('signed_up', 'added', 'paid')])).values() for cuts in [[i for i, e in enumerate(r) if not i or e.at - r[i - 1].at > timedelta(minutes=30)] + [len(r)]] for a, b in pairwise(cuts) for s in [[e.event for i, e in enumerate(r[a:b]) if not i or e.event != r[a + i - 1].event]] if len(s) > 1).items())

-- case: paths with ids made one and blog left out
{"kind": "PathsQuery", "pathsFilter": {"includeEventTypes": ["$pageview"], "pathGroupings": ["https://x.com/user/*"], "excludeEvents": ["https://x.com/blog"], "edgeLimit": 1000, "stepLimit": 2}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows sorted((each['source'], each['target'], each['value']) for each in answer)
sorted((*k, n) for k, n in Counter((f'1_{s[0]}', f'2_{s[1]}') for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02', [e for e in named('$pageview') if path_of(e) != '/blog'])).values() for cuts in [[i for i, e in enumerate(r) if not i or e.at - r[i - 1].at > timedelta(minutes=30)] + [len(r)]] for a, b in pairwise(cuts) for n in [['https://x.com/user/*' if '/user/' in path_of(e) else 'https://x.com' + (path_of(e).rstrip('/') or '') for e in r[a:b]]] for s in [[x for i, x in enumerate(n) if not i or x != n[i - 1]]] if len(s) > 1).items())
