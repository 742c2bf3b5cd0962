-- case: equality with a missing property is false, inequality true
select count(), countIf(properties.$browser = 'Chrome'), countIf(properties.$browser != 'Chrome'), countIf(not (properties.$browser = 'Chrome')) from events
-- rows [[6, 2, 4, 4]]
-- case: membership
select countIf(properties.$browser in ('Chrome', 'Safari')), countIf(properties.$browser not in ('Chrome', 'Safari')) from events
-- rows [[3, 3]]
-- case: order and patterns with NULL are false, their negations true
select countIf(properties.price < 5), countIf(properties.price >= 5), countIf(properties.$browser like 'C%'), countIf(properties.$browser not like 'C%'), countIf(properties.$browser =~ '^C'), countIf(properties.$browser !~ '^C') from events
-- rows [[1, 3, 2, 4, 2, 4]]
-- case: a condition that is NULL keeps no row, and its negation keeps it
select (select count() from events where properties.$browser = 'Chrome' or properties.price > 6), (select count() from events where not (properties.$browser = 'Chrome')), (select count() from events where not (properties.$browser = 'Chrome' and properties.price > 6)), (select count() from events where (properties.$browser = 'Chrome') = false), (select count() from events where properties.$browser in ('Chrome') or not (properties.price in (5, 10)))
-- rows [[3, 4, 4, 4, 6]]
-- case: equals NULL asks for NULL
select countIf(properties.$browser = null), countIf(properties.$browser is null), countIf(properties.$browser is not null) from events
-- rows [[2, 2, 4]]
-- case: two missing sides are equal
select count() from events where properties.nope = properties.neither
-- rows [[6]]
-- case: is distinct from
select countIf(properties.$browser is distinct from 'Chrome'), countIf(properties.$browser is not distinct from 'Chrome') from events
-- rows [[4, 2]]
-- case: an empty list holds nothing
select countIf(event in []), countIf(event not in []) from events
-- rows [[0, 6]]
-- case: conversions give NULL instead of failing
select toInt('x'), toInt('12'), toFloat('y'), toDate('z'), toDateTime('z'), toUUID('u'), toInt(1.5), toDecimal('1.5', 2)
-- rows [[null, 12, null, null, null, null, null, "1.50"]]
-- case: the raw conversions are there under another name
select _toInt64('12'), _toDate('2026-01-05')
-- rows [[12, "2026-01-05"]]
-- case: coalesce and the like
select coalesce(null, 2), ifNull(toInt('x'), 3), nullIf(1, 1), properties.nope ?? 'none' from events limit 1
-- rows [[2, 3, null, "none"]]

-- case: there is no row before the first and after the last, so lag and lead are NULL
select number, lag(number) over (order by number), lead(number) over (order by number), lag(toString(number), 1, 'none') over (order by number), lag([number]) over (order by number) from numbers(2) order by number
-- rows [[0, null, 1, "none", []], [1, 0, null, "0", [0]]]
-- columns ["number", "lag(number) OVER (ORDER BY number ASC)", "lead(number) OVER (ORDER BY number ASC)", "lag(toString(number), 1, 'none') OVER (ORDER BY number ASC)", "lag([number]) OVER (ORDER BY number ASC)"]

-- case: a number's text is compared as it was sent, and is not equal to a missing number
select countIf(properties.price = 'none'), countIf(properties.price != 'none'), countIf(properties.price is distinct from 'none'), countIf(properties.price in ('none', '10')), countIf(properties.price not in ('none')), countIf(properties.price in ('none')), countIf(properties.price = '7.0') from events
-- rows [[1, 5, 5, 2, 5, 1, 0]]
-- case: nor a text property that is none, but two missing ones are equal
select countIf(properties.plan = properties.price), countIf(properties.v = properties.price), countIf(properties.price != properties.v) from events
-- rows [[2, 1, 5]]
-- case: text that is no time is not a missing time
select countIf(properties.when = properties.$browser), countIf(properties.when = properties.nope), countIf(properties.when != properties.$browser) from events
-- rows [[1, 5, 5]]
-- case: booleans and lists of texts
select countIf(properties.paid in ('true', 'x')), countIf(properties.paid in (true)), countIf(properties.paid = 'x'), countIf(properties.paid = 1) from events
-- rows [[1, 1, 0, 1]]
-- case: whole numbers beyond 2^53 compare as the floats that properties are
select x = 9007199254740993, x in (9007199254740992), 9007199254740993 = 9007199254740992 from (select toFloat('9007199254740993') as x)
-- rows [[1, 1, 0]]
-- case: a cohort that is not named holds nobody
-- variables {"c": null}
select countIf(person_id in cohort {variables.c}), countIf(person_id not in cohort {variables.c}) from events
-- rows [[0, 6]]

-- case: fractions of 32 bits are the nearest ones
select toFloat32('1.5'), toFloat32(1.1) > 1.09, toFloat32(16777217), toFloat32(nullIf(1.1, 1.1)), toFloat32('x')
-- rows [[1.5, 1, 16777216.0, null, null]]
-- case: tuples are compared part by part
select (1, null) in ((1, null)), (1, null) not in ((1, null)), (null, 1) = (null, 1), (null, 1) != (null, 2), (1, 2) = (1, null), (1, (2, null)) = (1, (2, null)), (1, 2) in ((1, 2)), (1, 2) not in ((1, 2), (3, 4))
-- rows [[1, 0, 1, 1, 0, 1, 1, 0]]
-- case: tuples with missing properties
select countIf((event, properties.nope) in (('purchase', null))), countIf((event, properties.nope) not in (('purchase', null))), countIf((event, properties.nope) = ('purchase', null)), countIf((event, properties.plan) != ('purchase', 'pro')) from events
-- rows [[2, 4, 2, 5]]
-- case: a choice hands on a property that is absent
select if(event = 'none', 'a', properties.$browser) as b, count() from events group by b order by b
-- rows [["Chrome", 2], ["Firefox", 1], ["Safari", 1], [null, 2]]
-- case: every form of CASE does
select multiIf(event = 'none', 'a', properties.$browser) as b, case when event = 'none' then 'a' else properties.$browser end as c, case event when 'none' then 'a' else properties.$browser end as d, count() from events where properties.$browser is null group by b, c, d
-- rows [[null, null, null, 2]]
-- case: transform leaves an absent value absent, or gives its default
select transform(properties.$browser, ['Chrome', ''], ['C', 'none']) as b, transform(properties.$browser, ['Chrome', ''], ['C', 'none'], 'z') as c, count() from events group by b, c order by b, c
-- rows [["C", "C", 2], ["Firefox", "z", 1], ["Safari", "z", 1], [null, "z", 2]]
-- case: transform of numbers that may be absent
select transform(toInt(properties.price), [10, 20], [1, 2]) as price, count() from events group by price order by price
-- rows [[1, 1], [7, 1], [100, 1], [null, 3]]
