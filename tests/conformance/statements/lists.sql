-- case: items of orders
select JSONExtractString(item, 'sku') as sku, sum(JSONExtractInt(item, 'qty')) as n, count()
from (select arrayJoin(JSONExtractArrayRaw(properties, 'items')) as item from events where event = 'paid')
group by sku order by sku
-- ordered
[(sku, sum(i['qty'] for i in rows), len(rows)) for sku, rows in sorted(by(lambda i: i['sku'], [i for e in named('paid') for i in get(e, 'items')]).items())]

-- case: items by ARRAY JOIN
select JSONExtractString(item, 'sku') as sku, uniq(e.person_id) from events e array join JSONExtractArrayRaw(e.properties, 'items') as item where e.event = 'paid' group by sku
-- rows
[(sku, len({h for _, h in rows})) for sku, rows in by(lambda r: r[0], [(i['sku'], e.human.id) for e in named('paid') for i in get(e, 'items')]).items()]

-- case: how much is in a cart, by lambdas
select arraySum(arrayMap(i -> JSONExtractInt(i, 'qty'), JSONExtractArrayRaw(properties.items))) as n, count() from events where event = 'paid' group by n order by n
-- ordered
sorted(Counter(sum(i['qty'] for i in get(e, 'items')) for e in named('paid')).items())

-- case: filters on lists
select countIf(arrayExists(i -> JSONExtractString(i, 'sku') = 'k1', JSONExtractArrayRaw(properties.items))), countIf(length(arrayFilter(i -> JSONExtractInt(i, 'qty') > 1, JSONExtractArrayRaw(properties.items))) > 0), countIf(JSONLength(properties.items) = 0) from events where event = 'paid'
-- rows
[[sum(any(i['sku'] == 'k1' for i in get(e, 'items')) for e in named('paid')), sum(any(i['qty'] > 1 for i in get(e, 'items')) for e in named('paid')), sum(not get(e, 'items') for e in named('paid'))]]

-- case: paths into objects and lists
select properties.meta.app.version as v, properties.meta.tags.1, properties.meta.tags[2] as t, count() from events where event = 'signed_up' group by 1, 2, 3
-- rows
[(*k, n) for k, n in Counter((get(e, 'meta')['app']['version'], 'new', get(e, 'meta')['tags'][1]) for e in named('signed_up')).items()]

-- case: JSON functions with paths
select JSONExtractString(properties, 'meta', 'app', 'version') as v, JSONExtractString(properties, 'meta', 'tags', 2) as t, JSONHas(properties, 'meta', 'nope') as no, count() from events where event = 'signed_up' group by v, t, no
-- rows
[(*k, 0, n) for k, n in Counter((get(e, 'meta')['app']['version'], get(e, 'meta')['tags'][1]) for e in named('signed_up')).items()]

-- case: which keys are there
select arrayJoin(JSONExtractKeys(properties)) as key, count() as n from events group by key order by n desc, key
-- ordered
sorted(Counter(k for e in events for k in e.properties).items(), key=lambda r: (-r[1], r[0]))

-- case: keys with raw values
select kv.1 as k, kv.2 as v, count() from (select arrayJoin(JSONExtractKeysAndValuesRaw(properties)) as kv from events) where k in ('price', '$os') group by k, v
-- rows
[(*k, n) for k, n in Counter([('$os', f'"{get(e, "$os")}"') for e in events] + [('price', str(get(e))) for e in events if get(e) is not None]).items()]

-- case: parts of addresses
select path(properties.$current_url) as p, domain(properties.$current_url) as d, splitByChar('/', properties.$current_url)[4] as section, count() from events where event = '$pageview' group by p, d, section
-- rows
[(p, 'x.com', p.split('/')[1], n) for p, n in Counter(path_of(e) for e in named('$pageview')).items()]

-- case: numbers in paths made one
select replaceRegexpAll(path(properties.$current_url), '/user/\\d+', '/user/:id') as page, count() from events where event = '$pageview' group by page
-- rows
Counter('/user/:id' if path_of(e).startswith('/user/') else path_of(e) for e in named('$pageview')).items()

-- case: extract by pattern
select extract(properties.$current_url, 'docs/(\\w)') as doc, countIf(match(properties.$current_url, '/docs/?$')) from events where properties.$current_url ilike '%/DOCS%' group by doc
-- rows
[(d, sum(path_of(e).rstrip('/') == '/docs' for e in rows)) for d, rows in by(lambda e: path_of(e)[6:7], [e for e in named('$pageview') if '/docs' in path_of(e)]).items()]

-- case: days on which each was there, and the gaps
select person_id, arraySort(groupUniqArray(toDate(timestamp))) as days, arrayMap((a, b) -> dateDiff('day', a, b), arrayPopBack(days), arrayPopFront(days)) as gaps from events group by person_id order by length(days) desc, toString(person_id) limit 3
-- ordered
sorted(((h, [str(d) for d in days], [(b - a).days for a, b in pairwise(days)]) for h, rows in by(lambda e: e.human.id).items() for days in [sorted({e.at.date() for e in rows})]), key=lambda r: (-len(r[1]), r[0]))[:3]

-- case: what people do in a session, as one text
select arrayStringConcat(arrayMap(x -> x.2, arraySort(x -> x.1, groupArray((timestamp, event)))), ' > ') as path, count() from (select timestamp, event, $session_id from events where $session_id != '') group by $session_id order by path limit 20
-- ordered
[(p, p.count('>') + 1) for p in sorted(' > '.join(e.event for e in r) for s, r in by(lambda e: e.session).items() if s)[:20]]

-- case: the most frequent first three steps
select steps, count() as n from (select arraySlice(groupArray(event), 1, 3) as steps from (select event, $session_id from events where $session_id != '' order by timestamp) group by $session_id) group by steps order by n desc, steps limit 5
-- ordered
sorted(((list(k), n) for k, n in Counter(tuple(e.event for e in r[:3]) for s, r in by(lambda e: e.session).items() if s).items()), key=lambda r: (-r[1], r[0]))[:5]

-- case: sets of what each did
select arraySort(groupUniqArray(event)) as what, count() from (select event, person_id from events where event in ('paid', 'added', 'signed_up')) group by person_id order by what
-- rows
[(sorted({e.event for e in r}), len(r)) for r in by(lambda e: e.human.id, named('paid', 'added', 'signed_up')).values()]

-- case: maps of counts
select arraySort(mapKeys(m)), m['paid'] from (select mapFromArrays(groupArray(event), groupArray(n)) as m from (select event, count() as n from events group by event))
-- rows
[[sorted({e.event for e in events}), len(named('paid'))]]

-- case: the first and the last by argMin and argMax
select argMin(event, timestamp) as first, argMax(event, timestamp) as last, count() from (select event, timestamp, person_id from events) group by person_id
-- rows
[(r[0].event, r[-1].event, len(r)) for r in by(lambda e: e.human.id).values()]

-- case: texts of lists
select arrayStringConcat(arraySort(groupUniqArray(properties.$os)), ', ') as all, length(groupArray(event)), arrayReverseSort(groupUniqArray(event))[1] from events
-- rows
[['Mac, Windows, iOS', len(events), max(e.event for e in events)]]

-- case: tuples in conditions
select count() from events where (event, properties.$os) in (('paid', 'Mac'), ('added', 'iOS')) or tuple(event, properties.country) = tuple('$screen', 'C05')
-- rows
[[sum((e.event, get(e, '$os')) in (('paid', 'Mac'), ('added', 'iOS')) or (e.event, get(e, 'country')) == ('$screen', 'C05') for e in events)]]

-- case: casts to lists, maps and tuples
select cast('[1,2]' as Array(UInt8)), mapKeys(cast(map('a', 1), 'Map(String, UInt64)')), tupleElement(cast((1, 'x'), 'Tuple(String, String)'), 1) from events limit 1
-- rows
[([1, 2], ['a'], '1')]
