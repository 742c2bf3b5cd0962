-- case: revenue of each month with the one before and growth
select month, revenue, lagInFrame(revenue, 1, 0) over (order by month rows between unbounded preceding and current row) as before, if(before = 0, null, round((revenue - before) / before * 100, 2)) as growth from (select toStartOfMonth(timestamp) as month, sum(properties.price) as revenue from events where event = 'paid' group by month) order by month
-- ordered
[(m, v, b, round((v - b) / b * 100, 2) if b else None) for x in [sorted((m, total(map(get, r))) for m, r in by(lambda e: day(e)[:7] + '-01', named('paid')).items())] for i, (m, v) in enumerate(x) for b in [x[i - 1][1] if i else 0]]

-- case: customers by the month of their first payment, revenue by age in weeks
with firsts as (select person_id, min(timestamp) as first_paid from events where event = 'paid' group by person_id) select toStartOfMonth(f.first_paid) as cohort, dateDiff('week', f.first_paid, e.timestamp) as age, uniq(e.person_id) as payers, sum(e.properties.price) as revenue from events e inner join firsts f on f.person_id = e.person_id where e.event = 'paid' group by cohort, age order by cohort, age
-- ordered
sorted((*k, humans(r), total(map(get, r))) for first in [{h: r[0].at for h, r in by(lambda e: e.human.id, named('paid')).items()}] for k, r in by(lambda e: (str(first[e.human.id].date().replace(day=1)), ((e.at.date() - timedelta(e.at.weekday())) - (first[e.human.id].date() - timedelta(first[e.human.id].weekday()))).days // 7), named('paid')).items())

-- case: cumulative share of revenue, the customers that make eighty percent
select count() from (select person_id, sum(properties.price) as ltv, sum(ltv) over (order by ltv desc, toString(person_id) rows unbounded preceding) as running, sum(ltv) over () as total from events where event = 'paid' and properties.price is not null group by person_id) where running - ltv < 0.8 * total
-- rows
[[sum(sum(v[:i]) < 0.8 * sum(v) for i in range(len(v)))] for v in [sorted((sum(map(get, r)) for r in by(lambda e: e.human.id, [e for e in named('paid') if get(e) is not None]).values()), reverse=True)]]

-- case: orders, mean, median and the ninetieth
select count() as orders, round(avg(properties.price), 4), quantileExact(0.5)(properties.price), quantileExactInclusive(0.9)(properties.price), min(properties.price), max(properties.price), round(stddevPop(properties.price), 4), round(varSamp(properties.price), 4) from events where event = 'paid' and properties.price > 0
-- rows
[(len(v), round(mean(v), 4), sorted(v)[len(v) // 2], percentile(sorted(v), 0.9), min(v), max(v), round((sum((x - mean(v)) ** 2 for x in v) / len(v)) ** .5, 4), round(sum((x - mean(v)) ** 2 for x in v) / (len(v) - 1), 4)) for v in [[get(e) for e in named('paid') if get(e)]]]

-- case: tiers of orders with their share of revenue
select multiIf(properties.price < 5, '1 small', properties.price < 50, '2 medium', properties.price is null, '4 unknown', '3 large') as tier, count() as n, coalesce(sum(properties.price), 0) as revenue, round(100 * revenue / (select sum(properties.price) from events where event = 'paid'), 2) as share from events where event = 'paid' group by tier order by tier
-- ordered
[(t, len(r), s, round(100 * s / total(map(get, named('paid'))), 2)) for t, r in sorted(by(lambda e: '4 unknown' if get(e) is None else '1 small' if get(e) < 5 else '2 medium' if get(e) < 50 else '3 large', named('paid')).items()) for s in [total(map(get, r)) or 0]]

-- case: days between orders of the same customer
select round(avg(gap), 3), max(gap), count() from (select arrayJoin(arrayMap((a, b) -> dateDiff('day', a, b), arrayPopBack(times), arrayPopFront(times))) as gap from (select person_id, arraySort(groupArray(timestamp)) as times from events where event = 'paid' group by person_id having length(times) > 1))
-- rows
[(round(mean(g), 3), max(g), len(g)) for g in [[(b.at.date() - a.at.date()).days for r in by(lambda e: e.human.id, named('paid')).values() for a, b in pairwise(r)]]]

-- case: customers who paid again within a week
select countIf(again) as repeated, count() as customers, round(repeated / customers, 4) from (select person_id, min(timestamp) as first, arrayExists(t -> t > first and t <= first + toIntervalDay(7), groupArray(timestamp)) as again from events where event = 'paid' group by person_id)
-- rows
[(n, len(c), round(n / len(c), 4)) for c in [list(by(lambda e: e.human.id, named('paid')).values())] for n in [sum(any(r[0].at < e.at <= r[0].at + timedelta(7) for e in r) for r in c)]]

-- case: items sold, by sku and quantity, with their part of all
select sku, sum(qty) as sold, round(sold / sum(sold) over () * 100, 2) as part from (select JSONExtractString(item, 'sku') as sku, JSONExtractInt(item, 'qty') as qty from (select arrayJoin(JSONExtractArrayRaw(properties, 'items')) as item from events where event = 'paid')) group by sku order by sold desc, sku
-- ordered
sorted(((k, n, round(n / sum(c.values()) * 100, 2)) for c in [{k: sum(i['qty'] for i in r) for k, r in by(lambda i: i['sku'], [i for e in named('paid') for i in get(e, 'items')]).items()}] for k, n in c.items()), key=lambda r: (-r[1], r[0]))

-- case: average revenue of each plan, all persons of the plan counted
select coalesce(p.properties.plan, 'none') as plan, count(distinct p.id) as people, sum(e.properties.price) as revenue, round(revenue / people, 3) as arpu from persons p left join (select person_id, properties from events where event = 'paid') e on e.person_id = p.id group by plan order by plan
-- ordered
[(plan, len(hs), s, round(s / len(hs), 3)) for plan, hs in sorted(by(lambda h: h.properties.get('plan', 'none'), people).items()) for s in [total(get(e) for e in named('paid') if e.human in hs)]]

-- case: mrr of companies with the size of the company
select $group_0 as company, any(company.properties.size) as size, sum(properties.price) as mrr, round(mrr / nullIf(toFloat(size), 0), 4) as per_seat from events where event = 'paid' and $group_0 != '' group by company order by mrr desc
-- ordered
sorted(((c, size, s, round(s / float(size), 4) if size else None) for c, r in by(lambda e: e.company, [e for e in named('paid') if e.company]).items() for s in [total(map(get, r))] for size in [{'acme': '10', 'globex': '200'}.get(c)]), key=lambda r: -r[2])

-- case: revenue of a day beside the mean of its week
select d, v, round(avg(v) over (partition by toStartOfWeek(d, 1)), 3) as week_mean, v > week_mean as above from (select toDate(timestamp) as d, sum(properties.price) as v from events where event = 'paid' group by d) order by d
-- ordered
[(d, v, m, v > m) for x in [{d: total(map(get, r)) for d, r in sorted(by(day, named('paid')).items())}] for d, v in x.items() for m in [round(mean(w for o, w in x.items() if w is not None and date.fromisoformat(o).isocalendar()[:2] == date.fromisoformat(d).isocalendar()[:2]), 3)]]

-- case: who stopped paying, active in one week but not in the next
select w1.week as week, count() as active, countIf(w2.person_id is null or w2.person_id = toUUID('00000000-0000-0000-0000-000000000000')) as churned from (select distinct toStartOfWeek(timestamp, 1) as week, person_id from events where event = 'paid' and timestamp > '2026-10-12') w1 left join (select distinct toStartOfWeek(timestamp, 1) as week, person_id from events where event = 'paid') w2 on w2.person_id = w1.person_id and w2.week = w1.week + interval 7 day group by week order by week
-- ordered
[(str(w), len(p), len(p - weeks.get(w + timedelta(7), set()))) for weeks in [{w: {e.human.id for e in r} for w, r in by(lambda e: e.at.date() - timedelta(e.at.weekday()), named('paid')).items()}] for w, p in sorted(weeks.items()) if w >= date(2026, 10, 12)]

-- case: new, retained and resurrected payers by month with array functions
select month, countIf(status = 'new') as new, countIf(status = 'retained') as retained from (select person_id, arrayJoin(arrayEnumerate(months)) as i, months[i] as month, multiIf(i = 1, 'new', dateDiff('month', months[i - 1], month) = 1, 'retained', 'resurrected') as status from (select person_id, arraySort(groupUniqArray(toStartOfMonth(timestamp))) as months from events group by person_id)) group by month order by month
-- ordered
[(m, sum(c[0] == m for c in p), sum(m in c and c.index(m) > 0 and int(m[5:7]) - int(c[c.index(m) - 1][5:7]) == 1 for c in p)) for p in [[sorted({day(e)[:7] + '-01' for e in r}) for r in by(lambda e: e.human.id).values()]] for m in sorted({day(e)[:7] + '-01' for e in events})]

-- case: refunds as negative numbers, by UNION ALL
select kind, round(sum(amount), 2) as amount, count() from (select 'gross' as kind, properties.price as amount from events where event = 'paid' union all select 'refund' as kind, -1 * properties.price as amount from events where event = 'paid' and properties.price > 100) group by kind order by kind
-- ordered
[('gross', total(map(get, named('paid'))), len(named('paid'))), ('refund', -total(get(e) for e in named('paid') if (get(e) or 0) > 100), sum((get(e) or 0) > 100 for e in named('paid')))]

-- case: conditional sums as columns
select toStartOfWeek(timestamp, 1) as week, sumIf(properties.price, properties.$os = 'Mac') as mac, sumIf(properties.price, properties.$os = 'iOS') as ios, sum(if(properties.$os = 'Windows', properties.price, 0)) as windows, sum(case when properties.$os = 'Windows' then properties.price end) as windows_or_null from events where event = 'paid' group by week order by week
-- ordered
[(str(w), *(sum(get(e) or 0 for e in r if get(e, '$os') == os) if any(get(e) is not None and get(e, '$os') == os for e in r) else None for os in ('Mac', 'iOS')), sum(get(e) or 0 for e in r if get(e, '$os') == 'Windows'), total(get(e) for e in r if get(e, '$os') == 'Windows')) for w, r in sorted(by(lambda e: e.at.date() - timedelta(e.at.weekday()), named('paid')).items())]

-- case: formatted money
select concat('$', toString(round(sum(properties.price), 2))) as text, formatReadableQuantity(sum(properties.price)), toDecimal64(sum(properties.price), 2) > 100, format('{} orders', toString(count())) from events where event = 'paid'
-- rows
[(f'${s:g}', f'{s / 1000:.2f} thousand', True, f'{len(named("paid"))} orders') for s in [total(map(get, named('paid')))]]

-- case: the first payment and how long after signing up
select round(avg(dateDiff('hour', s.at, p.at)), 3), quantileExact(0.5)(dateDiff('hour', s.at, p.at)), count() from (select person_id, min(timestamp) as at from events where event = 'signed_up' group by person_id) s inner join (select person_id, min(timestamp) as at from events where event = 'paid' group by person_id) p on p.person_id = s.person_id where p.at >= s.at
-- rows
[(round(mean(v), 3), sorted(v)[len(v) // 2], len(v)) for s, p in [[{h: r[0].at for h, r in by(lambda e: e.human.id, named(n)).items()} for n in ('signed_up', 'paid')]] for v in [[int(p[h].timestamp()) // 3600 - int(s[h].timestamp()) // 3600 for h in s if h in p and p[h] >= s[h]]]]
