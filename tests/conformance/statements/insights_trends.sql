-- case: views of the last days
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "-6d"}}
-- shows [(each['data'], each['days'], each['count']) for each in answer]
[(daily(named('$pageview'), '2026-10-27', '2026-11-02'), days('2026-10-27', '2026-11-02'), len(between('2026-10-27', '2026-11-02', named('$pageview'))))]

-- case: people, compared with the days before
{"kind": "TrendsQuery", "interval": "day", "series": [{"kind": "EventsNode", "event": "$pageview", "math": "dau"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}, "compareFilter": {"compare": true}}
-- shows {each['compare_label']: each['data'] for each in answer}
{'current': daily(named('$pageview'), '2026-10-22', '2026-10-26', humans), 'previous': daily(named('$pageview'), '2026-10-17', '2026-10-21', humans)}

-- case: compared with the week before
{"kind": "TrendsQuery", "series": [{"kind": "EventsNode", "event": "paid"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-24"}, "compareFilter": {"compare": true, "compare_to": "-1w"}}
-- shows {each['compare_label']: each['data'] for each in answer}
{'current': daily(named('paid'), '2026-10-22', '2026-10-24'), 'previous': daily(named('paid'), '2026-10-15', '2026-10-17')}

-- case: the two most frequent browsers, the rest as Other
{"kind": "TrendsQuery", "series": [{"kind": "EventsNode", "event": "$pageview"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "$os", "breakdown_type": "event", "breakdown_limit": 2}, "trendsFilter": {"display": "ActionsTable"}}
-- shows sorted(each['aggregated_value'] for each in answer)
sorted(Counter(get(e, '$os') for e in between('2026-10-13', '2026-11-02', named('$pageview'))).values())

-- case: Other can be left out
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "$os", "breakdown_limit": 1, "breakdown_hide_other_aggregation": true}}
-- shows [(each['breakdown_value'], each['count']) for each in answer]
Counter(get(e, '$os') for e in between('2026-10-13', '2026-11-02', named('$pageview'))).most_common(1)

-- case: breakdown by a property of persons
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "dau"}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-25"}, "breakdownFilter": {"breakdown": "plan", "breakdown_type": "person"}}
-- shows {each['breakdown_value']: each['data'] for each in answer}
{plan: daily(rows, '2026-10-20', '2026-10-25', humans) for plan, rows in by(lambda e: e.human.properties.get('plan'), between('2026-10-20', '2026-10-25', named('paid'))).items()}

-- case: two breakdowns
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdowns": [{"property": "$os", "type": "event"}, {"property": "plan", "type": "person"}]}, "trendsFilter": {"display": "ActionsBarValue"}}
-- shows sorted((each['breakdown_value'], each['aggregated_value']) for each in answer) if all(None not in each['breakdown_value'] for each in answer) else sorted(([str(v) for v in each['breakdown_value']], each['aggregated_value']) for each in answer)
sorted(([os, str(plan)], n) for (os, plan), n in Counter((get(e, '$os'), e.human.properties.get('plan')) for e in between('2026-10-13', '2026-11-02', named('paid'))).items())

-- case: breakdown by cohorts
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": [1, 2, "all"], "breakdown_type": "cohort"}}
-- shows {each['label'].split(' - ')[-1]: each['count'] for each in answer}
{name: sum(e.human in members for e in between('2026-10-13', '2026-11-02', named('$pageview'))) for name, members in (('Odd', people[:30:2]), ('Even', people[1:30:2]), ('all users', people))}

-- case: breakdown by an expression
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "if(properties.price > 50, 'large', 'small')", "breakdown_type": "hogql"}}
-- shows {each['breakdown_value']: each['count'] for each in answer}
Counter('large' if (get(e) or 0) > 50 else 'small' for e in between('2026-10-13', '2026-11-02', named('paid')))

-- case: breakdown by a property of groups
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "size", "breakdown_type": "group", "breakdown_group_type_index": 0}}
-- shows {each['breakdown_value']: each['count'] for each in answer}
Counter({'acme': '10', 'globex': '200'}.get(e.company) for e in between('2026-10-13', '2026-11-02', named('paid')))

-- case: a formula of two series
{"kind": "TrendsQuery", "series": [{"event": "paid"}, {"event": "added"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}, "trendsFilter": {"formula": "A / B * 100"}}
-- shows [each['data'] for each in answer]
[[a / b * 100 if b else 0 for a, b in zip(daily(named('paid'), '2026-10-22', '2026-10-26'), daily(named('added'), '2026-10-22', '2026-10-26'))]]

-- case: several formulas with names
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "sum", "math_property": "price"}, {"event": "paid"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-24"}, "trendsFilter": {"formulaNodes": [{"formula": "A + B", "custom_name": "Both"}, {"formula": "A - B"}]}}
-- shows [each['data'] for each in answer]
[[a + sign * b for a, b in zip(daily(named('paid'), '2026-10-22', '2026-10-24', lambda r: total(map(get, r)) or 0), daily(named('paid'), '2026-10-22', '2026-10-24'))] for sign in (1, -1)]

-- case: one number
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "sum", "math_property": "price"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-01"}, "trendsFilter": {"display": "BoldNumber"}}
-- shows answer[0]['aggregated_value']
total(map(get, between('2026-10-13', '2026-11-01', named('paid'))))

-- case: sums by week, weeks from Sunday
{"kind": "TrendsQuery", "interval": "week", "series": [{"event": "paid", "math": "sum", "math_property": "price"}], "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31"}}
-- shows answer[0]['data']
[total(map(get, between(a, b, named('paid')))) for a, b in (('2026-10-18', '2026-10-24'), ('2026-10-25', '2026-10-31'))]

-- case: by hour
{"kind": "TrendsQuery", "interval": "hour", "series": [{"event": null}], "dateRange": {"date_from": "2026-10-20", "date_to": "2026-10-20"}}
-- shows answer[0]['data']
[sum(e.at.hour == hour for e in between('2026-10-20', '2026-10-20')) for hour in range(24)]

-- case: by month
{"kind": "TrendsQuery", "interval": "month", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-01", "date_to": "2026-11-02"}}
-- shows (answer[0]['days'], answer[0]['data'])
(['2026-10-01', '2026-11-01'], [len(between('2026-10-01', '2026-10-31', named('$pageview'))), len(between('2026-11-01', '2026-11-02', named('$pageview')))])

-- case: sessions and averages of a number
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "unique_session"}, {"event": "paid", "math": "avg", "math_property": "price"}, {"event": "paid", "math": "max", "math_property": "price"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}}
-- shows [each['data'] for each in answer]
[daily(named('$pageview'), '2026-10-22', '2026-10-26', lambda r: len({e.session for e in r if e.session})), *[daily([e for e in named('paid') if get(e) is not None], '2026-10-22', '2026-10-26', lambda r, f=f: f(list(map(get, r)))) for f in (mean, max)]]

-- case: people active in seven days
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "weekly_active"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}}
-- shows answer[0]['data']
[humans(between(str(date.fromisoformat(d) - timedelta(6)), d, named('paid'))) for d in days('2026-10-22', '2026-10-26')]

-- case: a measure in HogQL
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "hogql", "math_hogql": "count() / uniq(person_id)"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}}
-- shows answer[0]['data']
daily(named('$pageview'), '2026-10-22', '2026-10-26', lambda r: len(r) / humans(r))

-- case: filters of the series, of the insight and of test accounts
{"kind": "TrendsQuery", "filterTestAccounts": true, "properties": {"type": "AND", "values": [{"type": "OR", "values": [{"key": "$os", "value": ["Mac", "iOS"], "operator": "exact", "type": "event"}, {"key": "$browser", "value": "is_set", "operator": "is_not_set", "type": "event"}]}]}, "series": [{"event": "paid", "properties": [{"key": "price", "value": 5, "operator": "gt", "type": "event"}]}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows answer[0]['count']
sum(not e.human.properties['email'].endswith('@test.com') and (get(e, '$os') in ('Mac', 'iOS') or get(e, '$browser') is None) and (get(e) or 0) > 5 for e in between('2026-10-13', '2026-11-02', named('paid')))

-- case: filters about persons, cohorts, groups, expressions
{"kind": "TrendsQuery", "properties": [{"key": "plan", "value": ["pro"], "operator": "exact", "type": "person"}, {"key": "id", "value": 1, "type": "cohort"}, {"key": "properties.country != 'C01'", "type": "hogql"}], "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows answer[0]['count']
sum(e.human.properties.get('plan') == 'pro' and e.human in people[:30:2] and get(e, 'country') != 'C01' for e in between('2026-10-13', '2026-11-02', named('$pageview')))

-- case: added up
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}, "trendsFilter": {"display": "ActionsLineGraphCumulative"}}
-- shows answer[0]['data']
[len(between('2026-10-22', d, named('paid'))) for d in days('2026-10-22', '2026-10-26')]

-- case: the first time ever
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "first_time_for_user"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-31"}}
-- shows answer[0]['data']
daily([r[0] for r in by(lambda e: e.human.id, named('paid')).values()], '2026-10-22', '2026-10-31')

-- case: companies, not persons
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "unique_group", "math_group_type_index": 0}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}}
-- shows answer[0]['data']
daily(named('$pageview'), '2026-10-22', '2026-10-26', lambda r: len({e.company for e in r if e.company}))

-- case: percentiles
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "p90", "math_property": "price"}, {"event": "paid", "math": "median", "math_property": "price"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "trendsFilter": {"display": "ActionsPie"}}
-- shows [each['aggregated_value'] for each in answer]
[percentile([get(e) for e in between('2026-10-13', '2026-11-02', named('paid')) if get(e) is not None], level) for level in (0.9, 0.5)]

-- case: by quarter
{"kind": "TrendsQuery", "interval": "quarter", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-01-01", "date_to": "2026-11-02"}}
-- shows (answer[0]['days'], answer[0]['data'])
(['2026-01-01', '2026-04-01', '2026-07-01', '2026-10-01'], [len(between(a, b, named('$pageview'))) for a, b in (('2026-01-01', '2026-03-31'), ('2026-04-01', '2026-06-30'), ('2026-07-01', '2026-09-30'), ('2026-10-01', '2026-12-31'))])

-- case: people of each year
{"kind": "TrendsQuery", "interval": "year", "series": [{"event": "paid", "math": "weekly_active"}], "dateRange": {"date_from": "2025-06-01", "date_to": "2026-11-02"}}
-- shows (answer[0]['days'], answer[0]['data'])
(['2025-01-01', '2026-01-01'], [0, humans(named('paid'))])

-- case: by second
{"kind": "TrendsQuery", "interval": "second", "series": [{"event": null}], "dateRange": {"date_from": "2026-10-20T10:00:00Z", "date_to": "2026-10-20T10:59:59Z", "explicitDate": true}}
-- shows (answer[0]['days'][1], len(answer[0]['data']), [place for place, n in enumerate(answer[0]['data']) for _ in range(n)])
('2026-10-20 10:00:01', 3600, [e.at.minute * 60 + e.at.second for e in between('2026-10-20', '2026-10-20') if e.at.hour == 10])

-- case: weekends are hidden, and still counted in running sums
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "dateRange": {"date_from": "2026-10-21", "date_to": "2026-10-27"}, "trendsFilter": {"hideWeekends": true, "display": "ActionsLineGraphCumulative"}}
-- shows (answer[0]['days'], answer[0]['data'], len(answer[0]['labels']), answer[0]['count'])
(week := [d for d in days('2026-10-21', '2026-10-27') if d not in ('2026-10-24', '2026-10-25')]) and (week, [len(between('2026-10-21', d, named('paid'))) for d in week], 5, sum(day(e) in week for e in named('paid')))

-- case: weeks have no weekends to hide
{"kind": "TrendsQuery", "interval": "week", "series": [{"event": "paid"}], "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31"}, "trendsFilter": {"hideWeekends": true}}
-- shows answer[0]['data']
[len(between(a, b, named('paid'))) for a, b in (('2026-10-18', '2026-10-24'), ('2026-10-25', '2026-10-31'))]

-- case: only Mondays and Sundays
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "dau"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02", "daysOfWeek": [1, 7]}}
-- shows (answer[0]['days'], answer[0]['data'])
(some := [d for d in days('2026-10-13', '2026-11-02') if date.fromisoformat(d).isoweekday() in (1, 7)]) and (some, [humans(between(d, d, named('paid'))) for d in some])

-- case: weeks of workdays
{"kind": "TrendsQuery", "interval": "week", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-18", "date_to": "2026-10-31", "daysOfWeek": [1, 2, 3, 4, 5]}, "compareFilter": {"compare": true, "compare_to": "-1w"}}
-- shows {each['compare_label']: each['data'] for each in answer}
{name: [sum(e.at.isoweekday() < 6 for e in between(a, b, named('$pageview'))) for a, b in weeks] for name, weeks in (('current', (('2026-10-18', '2026-10-24'), ('2026-10-25', '2026-10-31'))), ('previous', (('2026-10-11', '2026-10-17'), ('2026-10-18', '2026-10-24'))))}

-- case: a map shows every country
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "dau"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "breakdownFilter": {"breakdown": "country"}, "trendsFilter": {"display": "WorldMap"}}
-- shows {each['breakdown_value']: each['aggregated_value'] for each in answer}
{country: humans(rows) for country, rows in by(lambda e: get(e, 'country'), between('2026-10-13', '2026-11-02', named('$pageview'))).items()}

-- case: a calendar of visitors
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "math": "dau"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "trendsFilter": {"display": "CalendarHeatmap"}}
-- shows [(sorted((each['row'], each['column'], each['value']) for each in map['data']), {each['row']: each['value'] for each in map['rowAggregations']}, {each['column']: each['value'] for each in map['columnAggregations']}, map['allAggregations'], answer[0]['aggregated_value']) for map in [answer[0]['calendar_heatmap_data']]]
[(sorted((*cell, humans(rows)) for cell, rows in by(lambda e: (e.at.isoweekday(), e.at.hour), seen).items()), {d: humans(rows) for d, rows in by(lambda e: e.at.isoweekday(), seen).items()}, {h: humans(rows) for h, rows in by(lambda e: e.at.hour, seen).items()}, humans(seen), humans(seen)) for seen in [between('2026-10-13', '2026-11-02', named('$pageview'))]]

-- case: groups by their key, also those without properties
{"kind": "TrendsQuery", "series": [{"event": "$pageview"}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "properties": [{"key": "$group_key", "value": ["acme", "initech"], "operator": "exact", "type": "group", "group_type_index": 0}], "breakdownFilter": {"breakdown": "$group_key", "breakdown_type": "group", "breakdown_group_type_index": 0}}
-- shows {each['breakdown_value']: each['count'] for each in answer}
Counter(e.company for e in between('2026-10-13', '2026-11-02', named('$pageview')) if e.company in ('acme', 'initech'))

-- case: events of no group
{"kind": "TrendsQuery", "series": [{"event": "$pageview", "properties": [{"key": "$group_key", "operator": "is_not_set", "type": "group", "group_type_index": 0}]}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}}
-- shows answer[0]['count']
sum(not e.company for e in between('2026-10-13', '2026-11-02', named('$pageview')))

-- case: powers in formulas, in both spellings, and signs
{"kind": "TrendsQuery", "series": [{"event": "paid"}, {"event": "added"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}, "trendsFilter": {"formulas": ["(A ** 2 + B ^ 2) ^ 0.5", "-A ** 2 + +B", "2 ** 3 ** 2 - A"]}}
-- shows [each['data'] for each in answer]
[[f(a, b) for a, b in zip(daily(named('paid'), '2026-10-22', '2026-10-26'), daily(named('added'), '2026-10-22', '2026-10-26'))] for f in (lambda a, b: (a * a + b * b) ** 0.5, lambda a, b: b - a * a, lambda a, b: 512 - a)]

-- case: a root of a negative number and a power that is too large are 0
{"kind": "TrendsQuery", "series": [{"event": "paid"}], "dateRange": {"date_from": "2026-10-22", "date_to": "2026-10-26"}, "trendsFilter": {"formulas": ["(0 - A - 1) ** 0.5", "10 ** 400 * A", "(A - A) ** -1"], "display": "BoldNumber"}}
-- shows [each['aggregated_value'] for each in answer]
[0, 0, 0]

-- case: a property of groups, by each word for its type
{"kind": "TrendsQuery", "series": [{"event": "paid", "math": "sum", "math_property": "size", "math_property_type": "groups_0"}, {"event": "paid", "math": "max", "math_property": "size", "math_property_type": "group", "math_group_type_index": 0}, {"event": "paid", "math": "sum", "math_property": "size", "math_property_type": "group_properties", "math_group_type_index": 0}], "dateRange": {"date_from": "2026-10-13", "date_to": "2026-11-02"}, "trendsFilter": {"display": "BoldNumber"}}
-- shows [each['aggregated_value'] for each in answer]
[f([{'acme': 10, 'globex': 200}.get(e.company, 0) for e in between('2026-10-13', '2026-11-02', named('paid'))]) for f in (sum, max, sum)]
