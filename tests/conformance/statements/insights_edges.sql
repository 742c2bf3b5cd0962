-- case: nothing happened, a series of zeros
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "dateRange": {"date_from": "2020-01-01", "date_to": "2020-01-03"}}
-- shows [[r['data'], r['count']] for r in answer]
[[[0, 0, 0], 0]]

-- case: nothing happened, no value of a breakdown
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "breakdownFilter": {"breakdown": "$os"}, "dateRange": {"date_from": "2020-01-01", "date_to": "2020-01-03"}}
-- shows [r['data'] for r in answer]
[]

-- case: one number of nothing
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "avg", "math_property": "price"}], "dateRange": {"date_from": "2020-01-01", "date_to": "2020-01-03"}, "trendsFilter": {"display": "BoldNumber"}}
-- shows [r['aggregated_value'] for r in answer]
[0]

-- case: an explicit range of hours by day
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-20T10:00:00", "date_to": "2026-10-22T09:00:00", "explicitDate": true}}
-- shows answer[0]['data']
[sum(day(e) == d for e in named('$pageview') if datetime(2026, 10, 20, 10, tzinfo=UTC) <= e.at <= datetime(2026, 10, 22, 9, tzinfo=UTC)) for d in days('2026-10-20', '2026-10-22')]

-- case: hours of the day that misses one
-- zone: Europe/Berlin
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "interval": "hour", "dateRange": {"date_from": "2026-03-29", "date_to": "2026-03-29T05:00:00"}}
-- shows [sum(answer[0]['data']), len(answer[0]['data'])]
[sum(datetime(2026, 3, 28, 23, tzinfo=UTC) <= e.at <= datetime(2026, 3, 29, 3, 59, 59, tzinfo=UTC) and e.at <= datetime(2026, 3, 29, 3, 0, tzinfo=UTC) for e in named('$pageview')), 5]

-- case: days west of Greenwich
-- zone: America/Los_Angeles
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "dau"}], "dateRange": {"date_from": "2026-10-29", "date_to": "2026-11-02"}}
-- shows answer[0]['data']
[humans([e for e in named('$pageview') if str(local(e, 'America/Los_Angeles').date()) == d]) for d in days('2026-10-29', '2026-11-02')]

-- case: a formula with parentheses, a constant and division by zero
{"kind": "TrendsQuery", "series": [{"event": "paid"}, {"event": "added"}, {"event": "$screen"}], "trendsFilter": {"formula": "(A + B) / C * 100"}, "dateRange": {"date_from": "2026-10-10", "date_to": "2026-10-16"}}
-- shows answer[0]['data']
[100 * (a + b) / c if c else 0 for a, b, c in zip(*(daily(named(n), '2026-10-10', '2026-10-16') for n in ('paid', 'added', '$screen')))]

-- case: a formula of one number
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "sum", "math_property": "price"}, {"event": "paid", "math": "dau"}], "trendsFilter": {"formula": "A / B", "display": "BoldNumber"}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [r['aggregated_value'] for r in answer]
[total(map(get, r)) / humans(r) for r in [between('2026-10-13', '2026-11-02', named('paid'))]]

-- case: percentiles of a property by day
{"kind": "TrendsQuery", "series": [{"event": "added", "math": "p90", "math_property": "price"}, {"event": "added", "math": "median", "math_property": "price"}, {"event": "added", "math": "min", "math_property": "price"}, {"event": "added", "math": "max", "math_property": "price"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-23"}}
-- shows [r['data'] for r in answer]
[[f([get(e) for e in named('added') if day(e) == d and get(e) is not None]) for d in days('2026-10-20', '2026-10-23')] for f in (lambda v: percentile(v, .9) if v else 0, lambda v: percentile(v, .5) if v else 0, lambda v: min(v, default=0), lambda v: max(v, default=0))]

-- case: companies by day
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "unique_group", "math_group_type_index": 0}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-23"}}
-- shows answer[0]['data']
[len({e.company for e in named('$pageview') if day(e) == d and e.company}) for d in days('2026-10-20', '2026-10-23')]

-- case: weekly actives each day in a zone
-- zone: Asia/Tokyo
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "weekly_active"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-22"}}
-- shows answer[0]['data']
[humans([e for e in named('$pageview') if d - timedelta(6) <= local(e, 'Asia/Tokyo').date() <= d]) for d in [date(2026, 10, 20) + timedelta(i) for i in range(3)]]

-- case: events per user of each weekday range
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "avg_count_per_actor"}], "interval": "week", "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31"}}
-- shows answer[0]['data']
[len(r) / humans(r) for a, b in [('2026-10-18', '2026-10-24'), ('2026-10-25', '2026-10-31')] for r in [between(a, b, named('$pageview'))]]

-- case: two breakdowns of what has a browser
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "properties": [{"key": "$browser", "value": "is_set", "operator": "is_set", "type": "event"}], "breakdownFilter": {"breakdowns": [{"property": "$browser", "type": "event"}, {"property": "plan", "type": "person"}], "breakdown_limit": 25}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows sorted(([str(v) for v in r['breakdown_value']], r['count']) for r in answer)
sorted((list(map(str, k)), n) for k, n in Counter((get(e, '$browser'), e.human.properties.get('plan')) for e in between('2026-10-13', '2026-11-02', named('$pageview')) if get(e, '$browser')).items())

-- case: a breakdown hides other and sums stay
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "breakdownFilter": {"breakdown": "country", "breakdown_limit": 2, "breakdown_hide_other_aggregation": true}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [len(answer), answer[0]['count']]
[2, Counter(get(e, 'country') for e in between('2026-10-13', '2026-11-02', named('$pageview'))).most_common(1)[0][1]]

-- case: a range of the past compared with the week before
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "compareFilter": {"compare": true, "compare_to": "-1w"}, "dateRange": {"date_from": "2026-10-25", "date_to": "2026-10-27"}}
-- shows [[r['compare_label'], r['data']] for r in answer]
[['current', daily(named('$pageview'), '2026-10-25', '2026-10-27')], ['previous', daily(named('$pageview'), '2026-10-18', '2026-10-20')]]

-- case: added up by week
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "interval": "week", "trendsFilter": {"display": "ActionsLineGraphCumulative"}, "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31"}}
-- shows answer[0]['data']
[len(between('2026-10-18', '2026-10-24', named('paid'))), len(between('2026-10-18', '2026-10-31', named('paid')))]

-- case: test accounts left out of companies
{"kind": "TrendsQuery", "filterTestAccounts": true, "series": [{"event": "$pageview", "math": "unique_group", "math_group_type_index": 0}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "trendsFilter": {"display": "BoldNumber"}}
-- shows answer[0]['aggregated_value']
len({e.company for e in between('2026-10-13', '2026-11-02', named('$pageview')) if e.company and not e.human.properties['email'].endswith('@test.com')})

-- case: all events, any name
{"kind": "TrendsQuery", "series": [{"event": null}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-22"}}
-- shows answer[0]['data']
daily(events, '2026-10-20', '2026-10-22')

-- case: a whole year by quarter, most of it empty
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "interval": "quarter", "dateRange": {"date_from": "2026-01-01", "date_to": "2026-12-31"}}
-- shows answer[0]['data']
[sum((e.at.month - 1) // 3 == q for e in named('$pageview')) for q in range(4)]

-- case: funnel, nobody
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "paid"}], "dateRange": {"date_from": "2020-01-01", "date_to": "2020-02-01"}}
-- shows [each['count'] for each in answer]
[0, 0]

-- case: funnel within two hours of persons, by days of a zone
-- zone: Asia/Tokyo
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "added"}], "funnelsFilter": {"funnelWindowInterval": 2, "funnelWindowIntervalUnit": "hour"}, "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-27"}}
-- shows [each['count'] for each in answer]
reached((steps_done(r, '$pageview', 'added', within=timedelta(hours=2)) for r in by(lambda e: e.human.id, [e for e in events if '2026-10-20' <= str(local(e, 'Asia/Tokyo').date()) <= '2026-10-27']).values()), 2)

-- case: funnel with a condition on a step
{"kind": "FunnelsQuery", "series": [{"event": "$pageview", "properties": [{"key": "$pathname", "value": ["/pricing"], "operator": "exact", "type": "event"}]}, {"event": "paid", "properties": [{"key": "price", "value": 5, "operator": "gt", "type": "event"}]}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [each['count'] for each in answer]
[len({h for h, r in g.items() if any(a.event == '$pageview' and path_of(a) == '/pricing' for a in r)}) if s == 0 else len({h for h, r in g.items() if any(a.event == '$pageview' and path_of(a) == '/pricing' and b.event == 'paid' and (get(b) or 0) > 5 and a.at < b.at <= a.at + timedelta(14) for a in r for b in r)}) for g in [by(lambda e: e.human.id, between('2026-10-13', '2026-11-02'))] for s in (0, 1)]

-- case: funnel, any order of three
{"kind": "FunnelsQuery", "series": [{"event": "signed_up"}, {"event": "added"}, {"event": "paid"}], "funnelsFilter": {"funnelOrderType": "unordered", "funnelWindowInterval": 3, "funnelWindowIntervalUnit": "day"}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [each['count'] for each in answer]
[sum(m >= s for m in best) for best in [[max((len({b.event for b in r if a.at <= b.at <= a.at + timedelta(3) and b.event in names}) for a in r if a.event in names), default=0) for names in [('signed_up', 'added', 'paid')] for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values()]] for s in (1, 2, 3)]

-- case: funnel excluding a screen between
{"kind": "FunnelsQuery", "series": [{"event": "added"}, {"event": "paid"}], "funnelsFilter": {"exclusions": [{"kind": "EventsNode", "event": "$screen", "funnelFromStep": 0, "funnelToStep": 1}], "funnelWindowInterval": 1, "funnelWindowIntervalUnit": "hour"}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows answer[1]['count']
sum(any(a.event == 'added' and b.event == 'paid' and a.at < b.at <= a.at + timedelta(hours=1) and not any(x.event == '$screen' and a.at < x.at < b.at for x in r) for a in r for b in r) for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values())

-- case: funnel of each system, all of its events
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "paid"}], "breakdownFilter": {"breakdown": "$os", "breakdown_type": "event"}, "funnelsFilter": {"breakdownAttributionType": "all_events"}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows sorted((s[0]['breakdown_value'][0], [x['count'] for x in s]) for s in answer)
sorted((o, reached((steps_done(r, '$pageview', 'paid') for r in by(lambda e: e.human.id, [e for e in between('2026-10-13', '2026-11-02') if get(e, '$os') == o]).values()), 2)) for o in ('Mac', 'Windows', 'iOS'))

-- case: retention of nothing
{"kind": "RetentionQuery", "retentionFilter": {"period": "Day", "totalIntervals": 3, "targetEntity": {"id": "paid", "type": "events"}, "returningEntity": {"id": "paid", "type": "events"}}, "dateRange": {"date_from": "2020-01-01", "date_to": "2020-01-03"}}
-- shows [[v['count'] for v in r['values']] for r in answer]
[[0] * n for n in (3, 2, 1)]

-- case: recurring retention of days
{"kind": "RetentionQuery", "retentionFilter": {"period": "Day", "totalIntervals": 4, "retentionType": "retention_recurring", "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "paid", "type": "events"}}, "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-23"}}
-- shows [[v['count'] for v in r['values']] for r in answer]
[[len(start) if n == 0 else len(start & {e.human.id for e in named('paid') if e.at.date() == d + timedelta(n)}) for n in range(4 - i)] for i in range(4) for d in [date(2026, 10, 20) + timedelta(i)] for start in [{e.human.id for e in named('$pageview') if e.at.date() == d}]]

-- case: first time retention of weeks
{"kind": "RetentionQuery", "retentionFilter": {"period": "Week", "totalIntervals": 3, "retentionType": "retention_first_time", "targetEntity": {"id": "added", "type": "events"}, "returningEntity": {"id": "$pageview", "type": "events"}}, "dateRange": {"date_from": "2026-10-11", "date_to": "2026-10-31"}}
-- shows [[v['count'] for v in r['values']] for r in answer]
[[len(start) if n == 0 else len(start & {e.human.id for e in named('$pageview') if w + timedelta(7 * n) <= e.at.date() < w + timedelta(7 * n + 7)}) for n in range(3 - i)] for firsts in [{h: r[0].at.date() for h, r in by(lambda e: e.human.id, named('added')).items()}] for i in range(3) for w in [date(2026, 10, 11) + timedelta(7 * i)] for start in [{h for h, d in firsts.items() if w <= d < w + timedelta(7)}]]

-- case: retention in brackets
{"kind": "RetentionQuery", "retentionFilter": {"period": "Day", "totalIntervals": 8, "retentionCustomBrackets": [1, 3, 3], "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "$pageview", "type": "events"}}, "dateRange": {"date_from": "2026-10-14", "date_to": "2026-10-21"}}
-- shows [[v['count'] for v in r['values']] for r in answer][0]
[[len(start), *[len(start & {e.human.id for e in named('$pageview') if date(2026, 10, 14) + timedelta(a) <= e.at.date() <= date(2026, 10, 14) + timedelta(b)}) for a, b in ((1, 1), (2, 4), (5, 7))]] for start in [{e.human.id for e in named('$pageview') if e.at.date() == date(2026, 10, 14)}]][0]

-- case: stickiness of people on at least three pages
{"kind": "StickinessQuery", "series": [{"event": "$pageview"}], "stickinessFilter": {"stickinessCriteria": {"operator": "gte", "value": 3}}, "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}}
-- shows answer[0]['data']
[sum(n == k for n in c) for c in [[sum(v >= 3 for v in Counter(day(e) for e in r).values()) for r in by(lambda e: e.human.id, between('2026-10-20', '2026-10-24', named('$pageview'))).values()]] for k in range(1, 6)]

-- case: stickiness, everyone on that many days or more
{"kind": "StickinessQuery", "series": [{"event": "$pageview"}], "stickinessFilter": {"computedAs": "cumulative"}, "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-24"}}
-- shows answer[0]['data']
[sum(n >= k for n in c) for c in [[len({day(e) for e in r}) for r in by(lambda e: e.human.id, between('2026-10-20', '2026-10-24', named('$pageview'))).values()]] for k in range(1, 6)]

-- case: paths of nothing
{"kind": "PathsQuery", "pathsFilter": {"includeEventTypes": ["$pageview"]}, "dateRange": {"date_from": "2020-01-01", "date_to": "2020-01-03"}}
-- shows answer
[]

-- case: a sampling factor of one is everybody
{"kind": "TrendsQuery", "samplingFactor": 1, "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-22"}}
-- shows answer[0]['data']
daily(named('$pageview'), '2026-10-20', '2026-10-22')

-- case: stickiness, exactly two
{"kind": "StickinessQuery", "series": [{"event": "paid"}], "stickinessFilter": {"stickinessCriteria": {"operator": "exact", "value": 2}}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-10-17"}}
-- shows answer[0]['data']
[sum(n == k for n in c) for c in [[sum(v == 2 for v in Counter(day(e) for e in r).values()) for r in by(lambda e: e.human.id, between('2026-10-13', '2026-10-17', named('paid'))).values()]] for k in range(1, 6)]

-- case: retention with at least three
{"kind": "RetentionQuery", "retentionFilter": {"period": "Week", "totalIntervals": 3, "minimumOccurrences": 3, "targetEntity": {"id": "$pageview", "type": "events"}, "returningEntity": {"id": "$pageview", "type": "events"}}, "dateRange": {"date_from": "2026-10-11", "date_to": "2026-10-31"}}
-- shows [[v['count'] for v in r['values']][1:] for r in answer]
[[len(start & {h for h, c in Counter(e.human.id for e in named('$pageview') if w + timedelta(7 * n) <= e.at.date() < w + timedelta(7 * n + 7)).items() if c >= 3}) for n in range(1, 3 - i)] for i in range(3) for w in [date(2026, 10, 11) + timedelta(7 * i)] for start in [{e.human.id for e in named('$pageview') if w <= e.at.date() < w + timedelta(7)}]]

-- case: trends of an action
{"kind": "TrendsQuery", "series": [{"kind": "ActionsNode", "id": 1, "math": "dau"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-22"}}
-- shows answer[0]['data']
daily([e for e in events if e.event == 'paid' or (e.event == 'added' and (get(e) or 0) > 50)], '2026-10-20', '2026-10-22', humans)

-- case: trends in hogql math with filter
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "hogql", "math_hogql": "sum(properties.price) / count(distinct person_id)"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-22"}}
-- shows answer[0]['data']
[(total(map(get, r)) or 0) / humans(r) if r else 0 for d in days('2026-10-20', '2026-10-22') for r in [[e for e in named('paid') if day(e) == d]]]

-- case: hidden series are still counted
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}, {"event": "paid"}], "trendsFilter": {"hiddenLegendIndexes": [0], "display": "ActionsTable"}, "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-22"}}
-- shows [r['aggregated_value'] for r in answer]
[len(between('2026-10-20', '2026-10-22', named(n))) for n in ('$pageview', 'paid')]

-- case: sessions of each day
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "unique_session"}], "interval": "day", "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-22"}}
-- shows answer[0]['data']
[len({e.session for e in named('$pageview') if day(e) == d and e.session}) for d in days('2026-10-20', '2026-10-22')]

-- case: funnel strict with three
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "$pageview"}, {"event": "added"}], "funnelsFilter": {"funnelOrderType": "strict"}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows [each['count'] for each in answer]
[sum(m >= s for m in best) for best in [[max((3 if i + 2 < len(r) and r[i + 1].event == '$pageview' and r[i + 2].event == 'added' and r[i + 2].at <= r[i].at + timedelta(14) else 2 if i + 1 < len(r) and r[i + 1].event == '$pageview' and r[i + 1].at <= r[i].at + timedelta(14) else 1) for i in range(len(r)) if r[i].event == '$pageview') if any(e.event == '$pageview' for e in r) else 0 for r in by(lambda e: e.human.id, between('2026-10-13', '2026-11-02')).values()]] for s in (1, 2, 3)]

-- case: funnel of each plan
{"kind": "FunnelsQuery", "series": [{"event": "$pageview"}, {"event": "paid"}], "breakdownFilter": {"breakdown": "plan", "breakdown_type": "person"}, "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows sorted((str(s[0]['breakdown_value'][0]), [x['count'] for x in s]) for s in answer if s[0]['breakdown_value'][0] in ('free', 'pro', 'team'))
sorted((p, reached((steps_done(r, '$pageview', 'paid') for r in by(lambda e: e.human.id, [e for e in between('2026-10-13', '2026-11-02') if e.human.properties.get('plan') == p]).values()), 2)) for p in ('free', 'pro', 'team'))
