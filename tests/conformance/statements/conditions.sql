-- case: a property of text as a condition: there, not empty, not false
select countIf(properties.utm_source), countIf(not properties.utm_source), countIf(properties.utm_source is null) from events
-- rows
[[sum(bool(get(e, 'utm_source')) for e in events), 0, sum(not get(e, 'utm_source') for e in events)]]

-- case: flags that are sent as text
select countIf(toString(properties.returning)), countIf(not toString(properties.returning)), countIf(properties.returning) from events
-- rows
[[sum(get(e, 'returning') is True for e in events), sum(get(e, 'returning') is False for e in events), sum(get(e, 'returning') is True for e in events)]]

-- case: in if, multiIf and CASE
select if(properties.utm_source, 'campaign', 'none') as a, multiIf(event = 'paid', 'money', properties.utm_source, 'campaign', 'none') as b, case when properties.$browser then 1 else 0 end as c, count() from events group by a, b, c
-- rows
[(*k, n) for k, n in Counter(('campaign' if get(e, 'utm_source') else 'none', 'money' if e.event == 'paid' else 'campaign' if get(e, 'utm_source') else 'none', int(bool(get(e, '$browser')))) for e in events).items()]

-- case: in WHERE, with AND and OR
select count() from events where properties.utm_source and (event = 'paid' or properties.price)
-- rows
[[sum(bool(get(e, 'utm_source')) and (e.event == 'paid' or bool(get(e))) for e in events)]]

-- case: numbers are true unless 0
select countIf(properties.price), sumIf(properties.price, properties.price), countIf(properties.price - 1), count() filter (where properties.price) from events
-- rows
[[len(p), sum(p), sum(x != 1 for x in p), len(p)] for p in [[get(e) for e in events if get(e) is not None]]]

-- case: through a subquery, an aggregate and HAVING
select event, countIf(source) from (select event, properties.utm_source as source from events where properties.$os) group by event having max(source)
-- rows
[(name, sum(bool(get(e, 'utm_source')) for e in rows)) for name, rows in by(lambda e: e.event).items() if any(get(e, 'utm_source') for e in rows)]

-- case: in lambdas
select arraySum(x -> x, arrayMap(x -> 1, arrayFilter(x -> x.sku, JSONExtractArrayRaw(ifNull(properties.items, '[]'))))) as n, count() from events where event = 'paid' group by n
-- rows
Counter(len(get(e, 'items')) for e in named('paid')).items()

-- case: with a default
select countIf(ifNull(properties.utm_source, false)), countIf(coalesce(properties.utm_source, true)), countIf(ifNull(properties.returning, true)), count() filter (where not coalesce(properties.utm_source, false)) from events
-- rows
[[s, len(events), sum(get(e, 'returning') is not False for e in events), len(events) - s] for s in [sum(bool(get(e, 'utm_source')) for e in events)]]

-- case: in the steps of a funnel and of retention
select countIf(level >= 1), countIf(kept[2] = 1) from (select windowFunnel(86400)(timestamp, properties.utm_source, event = 'nothing') as level, retention(event = 'paid', properties.utm_source) as kept from events group by person_id)
-- rows
[[len(sources), len(sources & {e.human.id for e in named('paid')})] for sources in [{e.human.id for e in events if get(e, 'utm_source')}]]
