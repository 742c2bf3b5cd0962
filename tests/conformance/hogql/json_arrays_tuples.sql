-- case: tags by ARRAY JOIN
select tag, count() from events array join JSONExtract(properties, 'tags', 'Array(String)') as tag group by tag order by tag
-- rows [["t1", 1], ["t2", 1]]

-- case: tags by arrayJoin, as JSON
select arrayJoin(JSONExtractArrayRaw(properties, 'tags')) as tag from events where JSONHas(properties, 'tags')
-- rows [["\"t1\""], ["\"t2\""]]

-- case: LEFT ARRAY JOIN keeps events without
select t from events left array join JSONExtract(properties, 'tags', 'Array(String)') as t where event = '$pageview' order by timestamp, t
-- rows [["t1"], ["t2"], [""], [""]]

-- case: two arrays side by side
select event, i, t from events array join JSONExtract(properties, 'tags', 'Array(String)') as t, arrayEnumerate(JSONExtract(properties, 'tags', 'Array(String)')) as i order by i
-- rows [["$pageview", 1, "t1"], ["$pageview", 2, "t2"]]

-- case: a property that is missing has no items
select length(JSONExtractArrayRaw(ifNull(properties.tags, '[]'))) from events order by timestamp limit 2
-- rows [[2], [0]]

-- case: events with a tag
select has(JSONExtract(properties, 'tags', 'Array(String)'), 't1') as tagged, count() from events group by tagged order by tagged
-- rows [[0, 5], [1, 1]]

-- case: typed values of JSON
select JSONExtractInt(properties, 'price'), JSONExtractBool(properties, 'paid'), JSONExtractRaw(properties, 'a'), JSONType(properties, 'a') from events order by timestamp limit 1
-- rows [[10, 1, "{\"b\":1}", "Object"]]

-- case: a missing or wrong value is the type's default
select JSONExtractFloat(properties, 'price') as p from events order by timestamp
-- rows [[10.0], [2.5], [7.0], [100.0], [0.0], [0.0]]

-- case: deeper values
select JSONExtract(properties, 'a', 'b', 'Int64'), JSONExtract(properties, 'tags', 'Array(String)')[2], JSONExtract(properties, 'a', 'Tuple(b Int64)').1, JSON_VALUE(properties, '$.a.b') from events order by timestamp limit 1
-- rows [[1, "t2", 1, "1"]]

-- case: keys
select arraySort(JSONExtractKeys(properties)), JSONLength(properties) from events order by timestamp limit 1
-- rows [[["$browser", "$current_url", "a", "dot.ted", "paid", "price", "tags", "x y"], 8]]

-- case: how often each property is sent
select arrayJoin(arrayMap(x -> tupleElement(x, 1), JSONExtractKeysAndValuesRaw(properties))) as k, count() from events group by k order by 2 desc, 1 limit 3
-- rows [["price", 5], ["$browser", 4], ["$current_url", 2]]

-- case: keys and values as rows
select key, value from (select arrayJoin(JSONExtractKeysAndValues(properties, 'String')) as kv, kv.1 as key, kv.2 as value from events) where key = '$browser' order by value
-- rows [["$browser", "Chrome"], ["$browser", "Chrome"], ["$browser", "Firefox"], ["$browser", "Safari"]]

-- case: paths of properties
select properties.a.b, properties['x y'], properties.`dot.ted`, properties.tags.1, properties.tags from events order by timestamp limit 1
-- rows [["1", "z", "yes", "t1", "[\"t1\",\"t2\"]"]]

-- case: JSON is written
select toJSONString(map('a', 1)), toJSONString([1, 2]), JSONExtractUInt('{"a":5}', 'a')
-- rows [["{\"a\":1}", "[1,2]", 5]]

-- case: arrays in arrays
select arraySum(r -> r, [1, 2, 3]), arrayMap(x -> x * 2, [1, 2]), arrayFilter((x, i) -> i > 1, ['a', 'b', 'c'], [1, 2, 3])
-- rows [[6, [2, 4], ["b", "c"]]]

-- case: aggregates of arrays
select arrayReduce('sum', [1, 2, 3]), arrayReduce('max', [1, 5]), arrayReduce('uniq', ['a', 'b', 'a']), arrayReduce('avg', groupArray(properties.price)) from events where event = '$pageview'
-- rows [[6, 5, 2, 6.25]]

-- case: sets of arrays
select arrayDistinct([1, 1, 2]), arrayIntersect([1, 2], [2, 3]), arrayConcat([1], [2]), arraySlice([1, 2, 3], 2, 1), arrayReverse([1, 2]), indexOf(['a', 'b'], 'b')
-- rows [[[1, 2], [2], [1, 2], [2], [2, 1], 2]]

-- case: pairs and sums of arrays
select arrayZip(['a', 'b'], [1, 2]), arrayEnumerate(['x', 'y']), range(3), arrayCumSum([1, 2, 3]), arrayDifference([1, 4, 9])
-- rows [[[["a", 1], ["b", 2]], [1, 2], [0, 1, 2], [1, 3, 6], [0, 3, 5]]]

-- case: conditions of arrays
select arrayCount(x -> x > 1, [1, 2, 3]), arrayExists(x -> x = 'a', ['a']), arrayAll(x -> x > 0, [1, 2]), arrayFirst(x -> x > 1, [1, 2, 3])
-- rows [[2, 1, 1, 2]]

-- case: membership of arrays
select has(['a', 'b'], event), hasAny(['purchase'], [event]), hasAll([event], ['purchase']) from events where event = 'purchase' limit 1
-- rows [[0, 1, 1]]

-- case: orders of arrays
select arrayStringConcat(arrayMap(x -> toString(x), [1, 2]), '-'), arrayPopBack([1, 2]), arrayPushBack([1], 2), arrayFlatten([[1], [2]]), arrayCompact([1, 1, 2]), arraySort((x, y) -> y, ['a', 'b'], [2, 1]), arrayReverseSort([1, 3, 2])
-- rows [["1-2", [1], [1, 2], [1, 2], [1, 2], ["b", "a"], [3, 2, 1]]]

-- case: folds
select arrayFold((acc, x) -> acc + x, [1, 2, 3], toInt64(0)), arraySplit((x) -> x = 2, [1, 2, 3]), arrayMin([3, 1]), arrayMax([3, 1]), arrayAvg([1, 3])
-- rows [[6, [[1], [2, 3]], 1, 3, 2.0]]

-- case: numbers as rows
select arrayJoin(range(3)) as n, addDays(toDate('2026-01-01'), n)
-- rows [[0, "2026-01-01"], [1, "2026-01-02"], [2, "2026-01-03"]]

-- case: tuples as keys
select (event, distinct_id) as pair, count() from events group by pair order by pair limit 2
-- rows [[["$autocapture", "ann"], 1], [["$pageview", "ann"], 1]]

-- case: parts of tuples
select tuple('a', 1).1 as e, tupleElement(('a', 5), 2) as f, t.1 from (select arrayJoin([(1, 'a'), (2, 'b')]) as t) order by t.1
-- rows [["a", 5, 1], ["a", 5, 2]]

-- case: arrays of tuples
select arrayFilter(x -> x.1 = 'purchase', groupArray((event, properties.price))) from (select * from events order by timestamp)
-- rows [[[["purchase", 100.0], ["purchase", null]]]]

-- case: maps
select map('a', 1, 'b', 2)['b'], mapKeys(map('k', 'v')), mapValues(map('k', 'v')), sumMap(map(event, 1)) from events
-- rows [[2, ["k"], ["v"], {"$autocapture": 1, "$pageview": 3, "purchase": 2}]]

-- case: names in one text
select arrayStringConcat(arraySort(groupUniqArray(event)), ', ') as path from events
-- rows [["$autocapture, $pageview, purchase"]]

-- case: lists of texts by other names
select string_agg(event, ','), array_agg(event) from (select event from events order by timestamp)
-- rows [["$pageview,$pageview,$autocapture,purchase,$pageview,purchase", ["$pageview", "$pageview", "$autocapture", "purchase", "$pageview", "purchase"]]]

-- case: parts of a tuple by the names they were given
select tuple(1 as a, 'x' as b).b, (1 as c, 2 as d).d, tuple(3, 4)[2]
-- rows [["x", 2, 4]]
-- case: members of objects in a list
select arrayMap(o -> o.sku, JSONExtractArrayRaw('[{"sku": "a"}, {"sku": "b"}, {}]'))
-- rows [[["a", "b", null]]]

-- case: parts by name in a lambda, of lists of named tuples
select arrayMap(x -> x.sku, JSONExtract('[{"sku": "a", "qty": 2}, {"sku": "b"}]', 'Array(Tuple(sku String, qty Nullable(Int64)))')) as skus, arraySum(x -> x.n, arrayFilter(x -> x.name != '$pageview', groupArray(tuple(event as name, 1 as n)))) as others from events
-- rows [[["a", "b"], 3]]

-- case: parts by name after a query, WITH, arrayJoin and ARRAY JOIN
with t as (select groupArray((event as name, 1 as n)) as seen from events) select seen[1].n, arrayFold((sum, x) -> sum + x.n, seen, toInt64(0)), (select x.n from (select arrayJoin(seen) as x from t) limit 1) from t
-- rows [[1, 6, 1]]

-- case: named parts by ARRAY JOIN
select i.sku, i.qty from numbers(1) array join JSONExtract('[{"sku": "a", "qty": 2}, {"sku": "b"}]', 'Array(Tuple(sku String, qty Int64))') as i order by i.sku
-- rows [["a", 2], ["b", 0]]

-- case: a part that a named tuple does not have
select arrayMap(x -> x.nam, [tuple(1 as name)])
-- refused hogql_query_error at 1:22: "The tuple has no part named 'nam'"

-- case: tags are tuples that PostHog's table draws
select <a href={f'/e/{event}'} target='_blank'>to {event} <b>{count()}</b></a> as link, <i /> from events where event = 'purchase' group by event
-- columns ["link", "<i></i>"]
-- rows [[["__hx_tag", "a", "href", "/e/purchase", "target", "_blank", "children", ["to ", "purchase", " ", ["__hx_tag", "b", "children", [2]]]], ["__hx_tag", "i"]]]

-- case: a tag in normalised text
select <b href='x'>hi {event}</b> from events where event = 'purchase' limit 1
-- columns ["<b href={'x'}>{'hi '}{event}</b>"]
-- rows [[["__hx_tag", "b", "href", "x", "children", ["hi ", "purchase"]]]]
