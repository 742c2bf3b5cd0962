-- case: aggregates with parameters and combinators
select quantile(0.5)(properties.price), sumIf(properties.price, event = 'purchase'), uniqExact(distinct_id), topK(1)(event), countIf(event = 'purchase'), maxOrNull(properties.price) from events
-- rows [[8.5, 100.0, 3, ["$pageview"], 2, 100.0]]
-- case: count forms
select count(), count(*), count(1), count(properties.price), count(distinct event) from events
-- rows [[6, 6, 6, 4, 3]]
-- case: FILTER is the If form
select count() filter (where event = 'purchase') from events
-- rows [[2]]
-- case: common SQL names in any case
select UPPER('a'), Coalesce(null, 1), COUNT(*) from events
-- rows [["A", 1, 6]]
-- case: string_agg and array_agg
select string_agg(e, ','), array_agg(e) from (select event as e from events order by timestamp limit 2)
-- rows [["$pageview,$pageview", ["$pageview", "$pageview"]]]
-- case: left and right count characters
select left('äöü', 2), right('äöü', 1), length('ä'), lengthUTF8('ä')
-- rows [["äö", "ü", 2, 1]]
-- case: case with and without a subject
select case event when 'purchase' then 'p' else 'x' end as a, case when event = 'purchase' then 1 end as b, count() from events group by a, b order by a
-- rows [["p", 1, 2], ["x", null, 4]]
-- case: casts
select '5'::int, cast('1.5' as float), cast('x', 'Nullable(Int64)'), try_cast('7' as int), 1::text
-- rows [[5, 1.5, null, 7, "1"]]
-- case: the negation of a column
select -number, - (number + 1) from numbers(2)
-- rows [[0, -1], [-1, -2]]
-- case: scalar subqueries and exists
select (select count() from events), exists(select 1 from persons where properties.email = 'nobody')
-- rows [[6, 0]]
-- case: state and merge
select countMerge(s), uniqMerge(u) from (select countState() as s, uniqState(event) as u from events group by distinct_id)
-- rows [[6, 3]]
-- case: an action by name or id
select event from events where matchesAction('Buy') and matchesAction(1) order by timestamp
-- rows [["$pageview"], ["purchase"], ["purchase"]]
-- case: versions in order
select properties.v from events where properties.v is not null order by sortableSemver(properties.v)
-- rows [["1.9.0"], ["1.10.2"]]

-- case: another aggregate at the largest or least of something
select sumArgMax(properties.price, toDate(timestamp)), countArgMin(toDate(timestamp)), groupArrayArgMax(event, toDate(timestamp)), avgArgMinIf(properties.price, toDate(timestamp), event = '$pageview') from events
-- rows [[100.0, 3, ["$pageview", "purchase"], 6.25]]
-- case: with the rules of the aggregate
select maxArgMinOrNull(number, number % 2), uniqArgMax(number, number) from numbers(5)
-- rows [[4, 1]]
