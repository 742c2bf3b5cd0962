-- case: a funnel of three steps
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "added"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [each['count'] for each in answer]
reached((steps_done(r, '$pageview', 'added', 'paid') for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values()), 3)

-- case: a funnel within an hour
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "added"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "funnelsFilter": {"funnelWindowInterval": 1, "funnelWindowIntervalUnit": "hour"}}
-- shows [each['count'] for each in answer]
reached((steps_done(r, '$pageview', 'added', 'paid', within=timedelta(hours=1)) for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values()), 3)

-- case: steps without order
{"kind": "FunnelsQuery", "series": [{"event": "signed_up"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "funnelsFilter": {"funnelOrderType": "unordered"}}
-- shows [each['count'] for each in answer]
reached((max(steps_done(r, 'signed_up', 'paid'), steps_done(r, 'paid', 'signed_up')) for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values()), 2)

-- case: steps directly after each other
{"kind": "FunnelsQuery", "series": [{"event": "added"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "funnelsFilter": {"funnelOrderType": "strict"}}
-- shows [each['count'] for each in answer]
reached((2 if any(a.event == 'added' and b.event == 'paid' and b.at - a.at <= timedelta(14) for a, b in pairwise(r)) else 1 if any(e.event == 'added' for e in r) else 0 for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values()), 2)

-- case: a funnel of companies
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "paid"}], "aggregation_group_type_index": 0, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [each['count'] for each in answer]
reached((steps_done(r, '$pageview', 'paid') for c, r in by(lambda e: e.company, between('2026-10-13', '2026-11-02')).items() if c), 2)

-- case: a funnel of sessions
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "added"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "funnelsFilter": {"funnelAggregateByHogQL": "nullIf($session_id, '')"}}
-- shows [each['count'] for each in answer]
reached((steps_done(r, '$pageview', 'added') for s, r in by(lambda e: e.session, between('2026-10-13', '2026-11-02')).items() if s), 2)

-- case: conversion of each day
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "added"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-24"}, "funnelsFilter": {"funnelVizType": "trends", "funnelWindowInterval": 1, "funnelWindowIntervalUnit": "hour"}}
-- shows answer[0]['data']
[round(100 * done[1] / done[0], 2) for d in days('2026-10-22', '2026-10-24') for done in [reached((max(1 + any(a.event == 'added' and e.at < a.at <= e.at + timedelta(hours=1) for a in r) for e in r if e.event == '$pageview' and day(e) == d) for r in by(lambda e: e.human.id, between('2026-10-22', '2026-10-24')).values() if any(e.event == '$pageview' and day(e) == d for e in r)), 2)]]

-- case: how long the conversion takes
{"kind": "FunnelsQuery", "series": [{"event": "signed_up"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "funnelsFilter": {"funnelVizType": "time_to_convert"}}
-- shows sum(n for _, n in answer['bins'])
reached((steps_done(r, 'signed_up', 'paid') for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values()), 2)[1]

-- case: a funnel broken down by plan
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "plan", "breakdown_type": "person"}}
-- shows sorted([each['count'] for each in part] for part in answer)
sorted(reached((steps_done(r, '$pageview', 'paid') for r in by(lambda e: e.human.id, rows).values()), 2) for plan, rows in by(lambda e: e.human.properties.get('plan'), between('2026-10-13', '2026-11-02')).items())

-- case: exclusions take those out who did it between
{"kind": "FunnelsQuery", "series": [{"event": "signed_up"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "funnelsFilter": {"exclusions": [{"kind": "EventsNode", "event": "nobody did this", "funnelFromStep": 0, "funnelToStep": 1}]}}
-- shows [each['count'] for each in answer]
reached((steps_done(r, 'signed_up', 'paid') for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values()), 2)

-- case: people that come back the next days
{"kind": "RetentionQuery", "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}, "retentionFilter": {"period": "Day", "totalIntervals": 5, "retentionType": "retention_recurring", "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "$pageview", "type": "events"}}}
-- shows [[v['count'] for v in each['values']] for each in answer]
[[len(start & {e.human.id for e in between(b, b, named('$pageview'))}) for b in d[i:]] for d in [days('2026-10-20', '2026-10-24')] for i, a in enumerate(d) for start in [{e.human.id for e in between(a, a, named('$pageview'))}]]

-- case: people that come for the first time
{"kind": "RetentionQuery", "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}, "retentionFilter": {"period": "Day", "totalIntervals": 5, "retentionType": "retention_first_time", "targetEntity": {"id": "signed_up", "type": "events"}, "returningEntity": {"id": "$pageview", "type": "events"}}}
-- shows [[v['count'] for v in each['values']] for each in answer]
[[len(start & {e.human.id for e in between(b, b, named('$pageview'))}) if j else len(start) for j, b in enumerate(d[i:])] for first in [{h: day(r[0]) for h, r in by(lambda e: e.human.id, named('signed_up')).items()}] for d in [days('2026-10-20', '2026-10-24')] for i, a in enumerate(d) for start in [{h for h, at in first.items() if at == a}]]

-- case: come back on that day or later
{"kind": "RetentionQuery", "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-23"}, "retentionFilter": {"period": "Day", "totalIntervals": 4, "cumulative": true, "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "$pageview", "type": "events"}}}
-- shows [[v['count'] for v in each['values']] for each in answer]
[[len(start & {e.human.id for e in between(b, d[-1], named('$pageview'))}) for b in d[i:]] for d in [days('2026-10-20', '2026-10-23')] for i, a in enumerate(d) for start in [{e.human.id for e in between(a, a, named('$pageview'))}]]

-- case: on how many days people do it
{"kind": "StickinessQuery", "series": [{"event": "$pageview", "math": "dau"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-26"}}
-- shows answer[0]['data']
[Counter(len({day(e) for e in r}) for r in by(lambda e: e.human.id, between('2026-10-20', '2026-10-26', named('$pageview'))).values())[n] for n in range(1, 8)]

-- case: days with at least two
{"kind": "StickinessQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-26"}, "stickinessFilter": {"stickinessCriteria": {"operator": "gte", "value": 2}}}
-- shows answer[0]['data']
[Counter(sum(n >= 2 for n in Counter(day(e) for e in r).values()) for r in by(lambda e: e.human.id, between('2026-10-20', '2026-10-26', named('$pageview'))).values())[n] for n in range(1, 8)]

-- case: stickiness of companies
{"kind": "StickinessQuery", "series": [{"event": "$pageview", "math": "unique_group", "math_group_type_index": 0}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-26"}}
-- shows answer[0]['data']
[Counter(len({day(e) for e in r}) for c, r in by(lambda e: e.company, between('2026-10-20', '2026-10-26', named('$pageview'))).items() if c)[n] for n in range(1, 8)]

-- case: returning, resurrecting and dormant by week
{"kind": "LifecycleQuery", "interval": "week", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31"}}
-- shows {each['status']: each['data'] for each in answer if each['status'] in ('returning', 'dormant')}
{'returning': [len(w[i] & w[i - 1]) for i in (1, 2)], 'dormant': [-len(w[i - 1] - w[i]) for i in (1, 2)]} if (w := [{e.human.id for e in between(a, b, named('$pageview'))} for a, b in (('2026-10-11', '2026-10-17'), ('2026-10-18', '2026-10-24'), ('2026-10-25', '2026-10-31'))]) else None

-- case: new people of each week
{"kind": "LifecycleQuery", "interval": "week", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31"}, "lifecycleFilter": {"toggledLifecycles": ["new"]}}
-- shows [each['data'] for each in answer if each['status'] == 'new']
[[len({e.human.id for e in between(a, b, named('$pageview')) if a <= min(str(e.human.created_at.date()), born[e.human.id]) <= b}) for born in [{h: day(r[0]) for h, r in by(lambda e: e.human.id).items()}] for a, b in (('2026-10-18', '2026-10-24'), ('2026-10-25', '2026-10-31'))]]

-- case: screens one after another
{"kind": "PathsQuery", "pathsFilter": {"includeEventTypes": ["$screen"], "edgeLimit": 50, "stepLimit": 3}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows sorted((each['source'], each['target'], each['value']) for each in answer)
sorted((*edge, n) for edge, n in Counter(edge for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02', named('$screen'))).values() for visit in [[[]]] for _ in [[visit.append([e]) if i and (e.at - r[i - 1].at) > timedelta(minutes=30) else visit[-1].append(e) for i, e in enumerate(r)]] for run in visit for steps in [[e for i, e in enumerate(run) if not i or get(e, '$screen_name') != get(run[i - 1], '$screen_name')][:3]] for edge in [(f"{i + 1}_{get(a, '$screen_name')}", f"{i + 2}_{get(b, '$screen_name')}") for i, (a, b) in enumerate(pairwise(steps))]).items())

-- case: paths from a start
{"kind": "PathsQuery", "pathsFilter": {"includeEventTypes": ["$pageview"], "startPoint": "https://x.com/pricing", "stepLimit": 2, "edgeLimit": 50}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows {each['source'] for each in answer}
{'1_https://x.com/pricing'}

-- case: a funnel of workdays
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "added"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02", "daysOfWeek": [1, 2, 3, 4, 5]}, "compareFilter": {"compare": false}, "funnelsFilter": {"binCount": "auto", "breakdownSorting": "-total"}}
-- shows [each['count'] for each in answer]
reached((steps_done(r, '$pageview', 'added', 'paid') for r in by(lambda e: e.human.id, [e for e in between('2026-10-13', '2026-11-02') if e.at.isoweekday() < 6]).values()), 3)

-- case: days of conversion without weekends
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "added"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-27", "daysOfWeek": [1, 2, 3, 4, 5]}, "funnelsFilter": {"funnelVizType": "trends"}}
-- shows (answer[0]['days'], len(answer[0]['data']), len(answer[0]['labels']))
(['2026-10-22', '2026-10-23', '2026-10-26', '2026-10-27'], 4, 4)

-- case: stickiness of browsers
{"kind": "StickinessQuery", "series": [{"event": "$pageview", "math": "hogql", "math_hogql": "properties.$browser"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-26"}}
-- shows answer[0]['data']
[Counter(len({day(e) for e in r}) for b, r in by(lambda e: get(e, '$browser'), between('2026-10-20', '2026-10-26', named('$pageview'))).items() if b)[n] for n in range(1, 8)]

-- case: stickiness on weekends only
{"kind": "StickinessQuery", "series": [{"event": "$pageview", "math": "weekly_active"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02", "daysOfWeek": [6, 7]}}
-- shows answer[0]['data'][:7]
[Counter(len({day(e) for e in r if e.at.isoweekday() > 5}) for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02', named('$pageview'))).values())[n] for n in range(1, 8)]

-- case: a funnel compared with the days before
{"kind": "FunnelsQuery", "series": [{"event": "added"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}, "compareFilter": {"compare": true}}
-- shows [(each['compare_label'], each['order'], each['count']) for each in answer]
[(label, order, n) for label, first, last in (('current', '2026-10-22', '2026-10-26'), ('previous', '2026-10-17', '2026-10-21')) for order, n in enumerate(reached((steps_done(rows, 'added', 'paid') for rows in by(lambda e: e.human.id, between(first, last)).values()), 2))]

-- case: a funnel of each system, compared with the week before
{"kind": "FunnelsQuery", "series": [{"event": "added"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-24"}, "compareFilter": {"compare": true, "compare_to": "-1w"}, "breakdownFilter": {"breakdown": "$os"}, "funnelsFilter": {"breakdownAttributionType": "all_events"}}
-- shows {(steps[0]['compare_label'], steps[0]['breakdown_value'][0]): [step['count'] for step in steps] for steps in answer}
{(label, os): reached((steps_done(rows, 'added', 'paid') for rows in by(lambda e: e.human.id, [e for e in between(first, last) if get(e, '$os') == os]).values()), 2) for label, first, last in (('current', '2026-10-22', '2026-10-24'), ('previous', '2026-10-15', '2026-10-17')) for os in ('Mac', 'Windows', 'iOS')}

-- case: conversion over time, compared
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "$nothing"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-23"}, "compareFilter": {"compare": true, "compare_to": "-2d"}, "funnelsFilter": {"funnelVizType": "trends"}}
-- shows [(each['compare_label'], each['days'], each['data']) for each in answer]
[('current', days('2026-10-22', '2026-10-23'), [0, 0]), ('previous', days('2026-10-20', '2026-10-21'), [0, 0])]

-- case: times to convert of both periods have the same bins, in which everybody is
{"kind": "FunnelsQuery", "series": [{"event": "added"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}, "compareFilter": {"compare": true}, "funnelsFilter": {"funnelVizType": "time_to_convert", "binCount": 3}}
-- shows ([sum(n for _, n in each['bins']) for each in answer], len({str([start for start, _ in each['bins']]) for each in answer}))
([sum(steps_done(rows, 'added', 'paid') == 2 for rows in by(lambda e: e.human.id, between(first, last)).values()) for first, last in (('2026-10-22', '2026-10-26'), ('2026-10-17', '2026-10-21'))], 1)
