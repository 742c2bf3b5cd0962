-- case: ILIKE and its negation
select countIf(event ilike '%PAGE%'), countIf(event not ilike '%page%'), countIf(event not like 'pur%') from events
-- rows [[3, 3, 4]]

-- case: regular expressions
select countIf(match(event, '^\\$page')), countIf(event =~ '^pur'), countIf(event !~ '^pur'), countIf(event =~* '^PUR') from events
-- rows [[3, 2, 4, 2]]

-- case: hosts by a regular expression
select extract(properties.$current_url, 'https?://([^/]+)') as host, count() from events where properties.$current_url is not null group by host
-- rows [["a.com", 2]]

-- case: paths without the query
select replaceRegexpAll(properties.$current_url, '\\?.*$', '') as url, count() from events where event = '$pageview' and properties.$current_url is not null group by url order by url
-- rows [["https://a.com/x", 1], ["https://a.com/y", 1]]

-- case: all matches
select extractAll('a1b22', '[0-9]+'), regexpExtract('utm=abc', 'utm=(.*)', 1), countMatches('aXbX', 'X')
-- rows [[["1", "22"], "abc", 2]]

-- case: parts of URLs
select domain(properties.$current_url), path(properties.$current_url), extractURLParameter(properties.$current_url, 'utm'), cutQueryString(properties.$current_url) from events order by timestamp limit 1
-- rows [["a.com", "/x", "g", "https://a.com/x"]]

-- case: text in three ways
select concat(distinct_id, ':', event), event || ' by ' || distinct_id, format('{} - {}', event, distinct_id), f'{event} by {distinct_id}' from events order by timestamp limit 1
-- rows [["anon:$pageview", "$pageview by anon", "$pageview - anon", "$pageview by anon"]]

-- case: a missing part is empty text
select concat('a', properties.nope, 'b'), 'a' || properties.nope || 1 from events limit 1
-- rows [["ab", "a1"]]

-- case: texts
select upper('a'), trim('  a '), ltrim(' a'), leftPad('7', 3, '0'), substring('hello', 2, 3), reverse('abc'), repeat('ab', 2), left('hello', 2), right('hello', 2)
-- rows [["A", "a", "a", "007", "ell", "cba", "abab", "he", "lo"]]

-- case: splits
select splitByString('/', '/a/b'), splitByChar(',', 'a,b')[1], arrayElement([1, 2], -1), startsWith('abc', 'a'), endsWith('abc', 'c'), splitByRegexp('[,;]', 'a,b;c')
-- rows [[["", "a", "b"], "a", 2, 1, 1, ["a", "b", "c"]]]

-- case: letters beyond ASCII
select lowerUTF8('Ä'), upperUTF8('ä'), lengthUTF8('äö'), reverseUTF8('äb'), substringUTF8('äöü', 2, 1)
-- rows [["ä", "Ä", 2, "bä", "ö"]]

-- case: a numeric property as text, number and whole number
select toString(properties.price), toFloat(properties.price), toInt(properties.price) from events order by timestamp
-- rows [["10", 10.0, 10], ["2.5", 2.5, null], ["7", 7.0, 7], ["100", 100.0, 100], ["none", null, null], [null, null, null]]

-- case: or zero
select toFloatOrZero(properties.price), toIntOrZero(properties.price) from events order by timestamp
-- rows [[10.0, 10], [2.5, 0], [7.0, 7], [100.0, 100], [0.0, 0], [null, null]]

-- case: or zero and or null of every size read the text, whatever the property's type
select toFloat32OrZero(properties.price), toInt32OrZero(properties.price), toUInt8OrNull(properties.price), toDecimal64OrZero(properties.price, 1), toIntOrNull(properties.price), toFloatOrNull(properties.price), toIntOrDefault(properties.price, 5), toFloat32OrNull(properties.paid) from events order by timestamp limit 2
-- rows [[10.0, 10, 10, "10.0", 10, 10.0, 10, null], [2.5, 0, null, "2.5", null, 2.5, 5, null]]

-- case: arithmetic with a numeric property
select properties.price + 1, properties.price * 2, properties.price / 4, -properties.price from events order by timestamp limit 2
-- rows [[11.0, 20.0, 2.5, -10.0], [3.5, 5.0, 0.625, -2.5]]

-- case: a missing number is left out of averages
select count(properties.price), count(properties.nope), count(*), count(1), avg(properties.price) from events
-- rows [[4, 0, 6, 6, 29.875]]

-- case: booleans
select countIf(properties.paid), countIf(not properties.paid), countIf(properties.paid is null), countIf(properties.paid = true), bool_and(properties.paid), bool_or(properties.paid) from events
-- rows [[1, 1, 4, 1, false, true]]

-- case: a condition as a key
select properties.price > 5 and properties.$browser = 'Chrome' as ok, count() from events group by ok order by ok
-- rows [[0, 4], [1, 2]]

-- case: mixed types compare as they were sent
select countIf(properties.price in (10, 100)), countIf(properties.price = 'none'), countIf(properties.price in ('none', '7')), countIf(properties.price > 5) from events
-- rows [[2, 1, 2, 3]]

-- case: null in lists and comparisons
select countIf(properties.$browser in ('Chrome', null)), countIf(properties.$browser != 'Chrome'), countIf(properties.$browser not in ('Chrome')), countIf(properties.$browser is distinct from 'Chrome') from events
-- rows [[4, 4, 4, 4]]

-- case: equal to a missing property
select properties.$browser is not distinct from properties.nope as d, count() from events group by d order by d
-- rows [[0, 4], [1, 2]]

-- case: defaults
select coalesce(properties.$browser, 'unknown') as b, count() from events group by b order by b
-- rows [["Chrome", 2], ["Firefox", 1], ["Safari", 1], ["unknown", 2]]

-- case: defaults of defaults
select properties.nope ?? properties.plan ?? 'none' as p, count() from events group by p order by p
-- rows [["none", 5], ["pro", 1]]

-- case: null for one value
select nullIf(event, 'purchase') as e, count() from events group by e order by e nulls first
-- rows [[null, 2], ["$autocapture", 1], ["$pageview", 3]]

-- case: order of nulls
select properties.price from events order by properties.price desc nulls last
-- rows [[100.0], [10.0], [7.0], [2.5], [null], [null]]

-- case: casts
select cast('5' as Int), '5'::int, cast(properties.price as Float), timestamp::date, '2026-01-05'::date, 5::text from events order by timestamp limit 1
-- rows [[5, 5, 10.0, "2026-01-05", "2026-01-05", "5"]]

-- case: casts of numbers to integers drop the fraction, toInt does not
select 20.5::int, cast(20.7 as Int64), (-20.7)::bigint, '20.5'::int, (0 / 0)::int, sum(properties.price::int), toInt(20.5), toInt(20.0) from events
-- rows [[20, 20, -20, null, null, 119, null, 20]]

-- case: casts that fail give null
select try_cast('x' as int), try_cast('5' as int), toInt('x'), toDate('x')
-- rows [[null, 5, null, null]]

-- case: rounding
select 7 % 3, 7 / 2, intDiv(7, 2), pow(2, 3), sqrt(9), round(2.567, 2), floor(2.9), ceil(2.1), abs(-3), greatest(1, 5), least(1, 5)
-- rows [[1, 3.5, 3, 8.0, 3.0, 2.57, 2.0, 3.0, 3, 5, 1]]

-- case: infinite numbers
select isFinite(1 / 0), ifNotFinite(1 / 0, 0), 0 / 0
-- rows [[0, 0.0, null]]

-- case: readable numbers
select formatReadableQuantity(1234567), formatReadableTimeDelta(3700), formatReadableSize(2048), bar(3, 0, 4, 4)
-- rows [["1.23 million", "1 hour, 1 minute and 40 seconds", "2.00 KiB", "███"]]

-- case: versions compare by their numbers
select properties.v from events where sortableSemver(properties.v) > sortableSemver('1.9.5')
-- rows [["1.10.2"]]

-- case: major versions
select extract(properties.v, '^(\\d+)') as major, count() from events where properties.v is not null group by major
-- rows [["1", 2]]

-- case: hashes
select hex(255), unhex('41'), base64Encode('a'), base64Decode('YQ=='), lower(hex(MD5('a')))
-- rows [["FF", "A", "YQ==", "a", "0cc175b9c0f1b6a831c399e269772661"]]

-- case: an escape that is none keeps its backslash
select 't\.co', length('\d+'), '\w', 'a\\.b', 'it\'s', 'a\tb'
-- rows [["t\\.co", 3, "\\w", "a\\.b", "it's", "a\tb"]]
-- case: so patterns need no second backslash
select count() from events where properties.$current_url =~ '^https://a\.com/\w$' or properties.$current_url =~ 'axcom'
-- rows [[1]]
-- case: an escape in a comment and in a quoted name is left alone
select replaceRegexpAll('a1b22', '\d+', '#') as `n'1` -- '\d
-- rows [["a#b#"]]
-- case: an error after such an escape has its place
select '\d', nope from events
-- refused hogql_query_error at 1:14: "nope"
-- case: and one inside a template
select f'\d{event}' from events where event = 'purchase' limit 1
-- rows [["\\dpurchase"]]
-- case: transform to nothing leaves the others as they are
select transform(event, ['$pageview', '$autocapture'], ['view', null]) as e, count() from events group by e order by count() desc, e
-- rows [["view", 3], ["purchase", 2], [null, 1]]
