-- case: EXTRACT of every part, of times and dates
select extract(millennium from t), extract(century from t), extract(decade from t), extract(year from t), extract(isoyear from t), extract(quarter from t), extract(month from t), extract(week from t), extract(day from t), extract(dow from t), extract(isodow from t), extract(doy from t), extract(hour from t), extract(minute from t), extract(second from t), extract(epoch from t) from (select toDateTime('2026-11-01 10:20:30') as t)
-- rows [[3, 21, 202, 2026, 2026, 4, 11, 44, 1, 0, 7, 305, 10, 20, 30, 1793528430]]
-- case: as it is written: any case, line ends, comments, quotes, nested
select EXTRACT(
  DAY FROM timestamp) as a, extract('day' from timestamp), extract(/* part */ year from (select max(timestamp) from events)) from events order by timestamp limit 1
-- columns ["a", "extract(day FROM timestamp)", "extract(year FROM (SELECT max(timestamp) FROM events))"]
-- rows [[5, 5, 2026]]
-- case: the hour is the project's, also of a date
-- timezone America/New_York
select extract(hour from toDateTime('2026-11-01T05:30:00Z')), extract(hour from toDate('2026-11-01')), extract(epoch from toDate('2026-11-01')), extract(day from timestamp) from events order by timestamp limit 1
-- rows [[1, 0, 1793505600, 5]]
-- case: the regular expression of the same name is another function
select extract('from day', 'f.om'), extract(event, '^p.*') from events where event = 'purchase' limit 1
-- rows [["from", "purchase"]]
-- case: an unknown part
select extract(fortnight from timestamp) from events
-- refused hogql_query_error: "Unknown part of a time: 'fortnight'"
-- case: places in errors are those of the text
select extract(day from timestamp), nope from events
-- refused hogql_query_error at 1:37: "nope"
-- case: date_part knows the same parts, in the plural too
select date_part('years', toDate('2026-11-01')), date_part('dow', toDate('2026-11-02')), date_part('isodow', toDate('2026-11-01'))
-- rows [[2026, 1, 7]]
-- case: an unknown part is not some other part
select date_part('nonsense', timestamp) from events
-- refused hogql_query_error: "Unknown part of a time: 'nonsense'"
-- case: nor an unknown unit a day
select dateAdd('fortnight', 1, timestamp) from events
-- refused hogql_query_error: "Unknown unit of time: 'fortnight'"
-- case: SUBSTRING with words, position with IN, TRIM with words
select substring('hello' from 2 for 3), SUBSTRING(concat('a', substring('bcd' from 2)) from 2), position('lo' in 'hello'), trim(leading 'x' from 'xxa'), substr('abc', 2)
-- rows [["ell", "cd", 4, "a", "bc"]]
-- case: NULLS FIRST and NULLS LAST
select properties.v, number from events cross join numbers(1) order by properties.v nulls first, timestamp limit 5
-- rows [[null, 0], [null, 0], [null, 0], [null, 0], ["1.10.2", 0]]
-- case: NULL comes last by itself, in both directions
select (select groupArray(ifNull(v, '-')) from (select properties.v as v from events where event = 'purchase' or event = '$autocapture' order by v desc nulls last)), (select groupArray(ifNull(v, '-')) from (select properties.v as v from events where event = 'purchase' order by v desc nulls first))
-- rows [[["1.10.2", "-", "-"], ["-", "1.10.2"]]]
-- case: NULLS FIRST belongs to the order it stands in
select number, row_number() over (order by nullIf(number, 1) nulls first) as place from numbers(3) order by nullIf(number, 2) desc nulls first, place
-- rows [[2, 3], [1, 1], [0, 2]]
-- case: WITH ROLLUP and WITH CUBE of the select they stand in
select event, count() as c from events where event in (select event from events group by event with rollup) group by event with rollup order by c, event
-- rows [["$autocapture", 1], ["purchase", 2], ["$pageview", 3], ["", 6]]
-- case: CUBE
select number % 2 as a, number % 3 as b, count() as c from numbers(6) group by a, b with cube order by c desc, a, b limit 3
-- rows [[0, 0, 6], [0, 0, 3], [1, 0, 3]]
-- case: GROUPING SETS
select event, distinct_id, count() as c from events group by grouping sets ((event), (distinct_id), ()) order by c desc, event, distinct_id limit 4
-- rows [["", "", 6], ["", "ann", 3], ["$pageview", "", 3], ["", "bob", 2]]
-- case: * EXCEPT (columns)
select * except (properties, created_at) from persons order by id limit 1
-- columns ["id", "is_identified"]
-- rows [["00000000-0000-0000-0000-00000000000a", true]]
-- case: EXCEPT between queries is the set operation
select * from (select number from numbers(3)) except (select 1)
-- rows [[0], [2]]
-- case: ORDER BY ALL
select event, count() from events group by all order by all desc
-- rows [["purchase", 2], ["$pageview", 3], ["$autocapture", 1]]
-- case: ORDER BY places, aliases and expressions
select event, count() as c from events group by 1 order by 2 desc, event
-- rows [["$pageview", 3], ["purchase", 2], ["$autocapture", 1]]
-- case: WITH FILL has its FROM and TO
select number from numbers(3) order by number with fill from 0 to 5 step 2
-- rows [[0], [1], [2], [4]]
-- case: also of dates
select toDate(timestamp) as day, count() as c from events group by day order by day with fill from toDate('2026-01-04') to toDate('2026-01-08')
-- rows [["2026-01-04", 0], ["2026-01-05", 3], ["2026-01-06", 1], ["2026-01-07", 2]]
-- case: and times
-- timezone America/New_York
select toStartOfDay(timestamp) as day, count() as c from events group by day order by day with fill from toDateTime('2026-01-04 00:00:00') to toStartOfDay(toDateTime('2026-01-08 10:00:00')) step interval 1 day
-- rows [["2026-01-04 00:00:00-05:00", 0], ["2026-01-05 00:00:00-05:00", 3], ["2026-01-06 00:00:00-05:00", 1], ["2026-01-07 00:00:00-05:00", 2]]
-- case: a table after those words is a name
select 1 from events order by 1 with fill from events
-- refused hogql_query_error: "events"
-- case: DISTINCT ON keeps the first row of each key
select distinct on (distinct_id) distinct_id, event, timestamp from events order by distinct_id, timestamp
-- rows [["ann", "$pageview", "2026-01-05 10:05:00"], ["anon", "$pageview", "2026-01-05 10:00:00"], ["bob", "$pageview", "2026-01-07 09:00:00"]]
-- case: DISTINCT ON of expressions, before LIMIT, in a query inside
select count() from (select distinct on (event, lower(distinct_id)) * from events order by timestamp limit 3)
-- rows [[3]]
-- case: DISTINCT ON and LIMIT BY exclude each other
select distinct on (event) event from events order by event limit 1 by distinct_id
-- refused hogql_syntax_error: "DISTINCT ON"
-- case: an unknown name in DISTINCT ON has its place
select distinct on (evnt) event from events
-- refused hogql_query_error at 1:21: "evnt"
-- case: FILTER before OVER
select number, count() filter (where (number) > 1) over () as a, sum(number) filter (where number % 2 = 0) over (order by number) as b, count(*) filter (where number < 2) over w as c from numbers(4) window w as (order by number)
-- rows [[0, 2, 0, 1], [1, 2, 0, 2], [2, 2, 2, 2], [3, 2, 2, 2]]
-- case: an unknown name in such a FILTER has its place
select count() filter (where nope) over () from numbers(2)
-- refused hogql_query_error at 1:30: "nope"
-- case: EXCEPT ALL and INTERSECT ALL count rows
select found from (select 1 as n, groupArray(x) as found from (select arrayJoin([1, 1, 1, 2]) as x except all select arrayJoin([1, 3]) order by 1) union all select 2, groupArray(x) from (select arrayJoin([1, 1, 2]) as x intersect all select arrayJoin([1, 1, 1]))) order by n
-- rows [[[1, 1, 2]], [[1, 1]]]
-- case: LIMIT beyond every number is the most rows there can be
select 1 limit 99999999999999999999
-- rows [[1]]
-- case: LIMIT BY a variable without a value bounds nothing
-- variables {"n": null}
select number % 2 from numbers(4) limit {variables.n} by number % 2
-- rows [[0], [1], [0], [1]]
-- case: string_agg and json_agg with DISTINCT and FILTER
select string_agg(distinct toString(number % 2), ','), string_agg(toString(number), '-') filter (where number > 2), json_agg(distinct number % 2), json_agg(number) filter (where number < 2) from numbers(5)
-- rows [["0,1", "3-4", "[0,1]", "[0,1]"]]
-- case: not before OVER
select string_agg(event, ',') over () from events
-- refused hogql_query_error: "not supported with OVER"
-- case: digits of a decimal
select cast(9.999 as decimal(10, 2)), cast('1.5' as numeric(10)), cast('x' as nullable(decimal(10, 1))), 1.25::decimal
-- rows [["9.99", "1", null, "1.2500000000"]]
-- case: digits from a variable that has no value yet
-- variables {"n": null}
select toDecimal('1.5', {variables.n})
-- rows [["1.5000000000"]]
-- case: digits from a variable
-- variables {"n": 2}
select toDecimal('1.5', {variables.n})
-- rows [["1.50"]]
-- case: an aggregate in an aggregate
select sum(count()) from events
-- refused illegal_aggregation at 1:8
-- case: also by an alias
select count() as c, max(c + 1) from events
-- refused illegal_aggregation at 1:22
-- case: windows over aggregates are none
select event, sum(count()) over (order by event) as running, max((select count() from events)) as m from events group by event order by event
-- rows [["$autocapture", 1, 6], ["$pageview", 4, 6], ["purchase", 6, 6]]
-- case: an aggregate in WHERE
select event from events where count() > 1 group by event
-- refused illegal_aggregation: "HAVING"
-- case: a format is not another name of the table
select 1 from events format JSON
-- refused hogql_syntax_error at 1:22: "FORMAT JSON"
-- case: format may be a name
select format.event as format from events format order by format desc limit 1
-- rows [["purchase"]]
-- case: variables in texts have two brackets
select f'{variables.x}'
-- refused hogql_query_error: "{{variables.x}}"
-- case: times apart are seconds, dates apart are days
-- timezone America/New_York
select toDateTime('2026-11-01 12:00:00') - toDateTime('2026-10-31 12:00:00'), toDateTime('2026-11-01 00:00:00.5') - toStartOfDay(toDateTime('2026-11-01 10:00:00')), toDate('2026-11-03') - toDate('2026-11-01'), toDateTime('2026-11-01 01:00:00') - toDate('2026-11-01'), '2026-11-01 00:01:00' - toDateTime('2026-11-01 00:00:00'), (toDateTime('2026-11-01 12:00:00') - toDateTime('2026-10-31 12:00:00')) / 3600 > 24
-- types ["float", "float", "integer", "float", "float", "boolean"]
-- rows [[90000.0, 0.5, 2, 3600.0, 60.0, 1]]
-- case: a time minus a number is a time
select toTypeName(now() - 3600) like 'DateTime%', toDateTime('2026-01-05 10:00:00') - 3600
-- types ["boolean", "datetime"]
-- rows [[1, "2026-01-05 09:00:00"]]
-- case: functions without brackets, lengths of types
select current_date = today(), CURRENT_TIMESTAMP > toDateTime('2026-01-01'), 'abc'::varchar(10), '1.25'::numeric(10, 1), '7'::decimal(5)
-- rows [[1, 1, "abc", "1.2", "7"]]
-- case: a column may be called like one
select current_date from (select 1 as current_date)
-- rows [[1]]
-- case: only functions are called
select (x -> x)(1)
-- refused hogql_query_error: "Only functions can be called"
-- case: the zone as last argument
-- timezone America/New_York
select toHour(toDateTime('2026-11-01T05:30:00Z'), 'UTC'), toStartOfDay(toDateTime('2026-11-01T02:30:00Z'), 'UTC'), toDate(toDateTime('2026-11-01T02:30:00Z'), 'UTC'), toDate(toDateTime('2026-11-01T02:30:00Z')), toYYYYMM(toDateTime('2026-11-01T02:30:00Z'), 'Asia/Kolkata'), now('UTC') > toDateTime('2026-01-01')
-- rows [[5, "2026-11-01 00:00:00", "2026-11-01", "2026-10-31", 202611, 1]]
-- case: patterns of PostgreSQL in to_char
select to_char(toDateTime('2026-11-01 13:05:09'), 'YYYY-MM-DD HH24:MI:SS'), to_char(toDateTime('2026-11-01 13:05:09'), 'Dy DD Mon YY, HH12:MI AM'), to_char(toDate('2026-11-01'), '%d.%m.%Y'), to_char('2026-11-01', 'Q')
-- rows [["2026-11-01 13:05:09", "Sun 01 Nov 26, 01:05 PM", "01.11.2026", "4"]]
-- case: BETWEEN reads the stored time, as comparisons do
-- timezone Europe/Berlin
select count() from events where timestamp between '2026-01-07' and '2026-01-08'
-- becomes
SELECT count() AS `count()` FROM events AS events WHERE events.project_id = {project_id:Int64} AND (and(greaterOrEquals(events.`timestamp`, parseDateTime64BestEffort({v0:String}, 6, 'Europe/Berlin')), lessOrEquals(events.`timestamp`, parseDateTime64BestEffort({v1:String}, 6, 'Europe/Berlin')))) LIMIT 101
-- rows [[3]]
-- case: intervals in the plural
-- variables {"n": 2}
select toDate('2026-01-05') + interval 2 days, toDateTime('2026-01-05') - INTERVAL 3 Hours, toDate('2026-01-05') + interval {variables.n} weeks, toDate('2026-01-05') + interval x.n months from (select 1 as n) as x
-- rows [["2026-01-07", "2026-01-04 21:00:00", "2026-01-19", "2026-02-05"]]
-- case: combinators in small letters
select sumif(number, number > 1), countif(number > 1), SUMIF(number, 1) from numbers(4)
-- rows [[5, 2, 6]]
-- case: ORDER BY in aggregates that make lists
select array_agg(event order by timestamp desc)[1:2], string_agg(event, ',' order by event, timestamp) filter (where event != '$pageview'), groupArray(properties.price order by properties.price desc), json_agg(distinct distinct_id order by distinct_id), array_agg(distinct event order by event) from events
-- types ["array", "string", "array", "string", "array"]
-- rows [[["purchase", "$pageview"], "$autocapture,purchase,purchase", [100.0, 10.0, 7.0, 2.5], "[\"ann\",\"anon\",\"bob\"]", ["$autocapture", "$pageview", "purchase"]]]
-- case: in one direction
select array_agg(event order by event, timestamp desc) from events
-- refused hogql_query_error: "a single direction"
-- case: aggregates that make no list have no order
select sum(number order by number) from numbers(3)
-- refused hogql_query_error: "ORDER BY inside 'sum(...)'"

-- case: IS TRUE and IS FALSE, which NULL is not
select (1 = 1) is true, (1 = 2) is false, (1 = 1) is not true, 1 = 2 is not false, properties.missing = 5 is true, properties.missing < 5 is not true, 'x is true' from events limit 1
-- rows [[1, 1, 0, 0, 0, 1, "x is true"]]

-- case: the same words in a filter of HogQL
-- filters {"properties": [{"type": "hogql", "key": "timestamp > toDateTime('2020-01-01') + interval 7 days and extract(year from timestamp) = 2026 and (event = 'purchase') is not true and substring(event from 1 for 1) = '$'"}]}
select count() = countIf(event like '$%') from events where {filters}
-- rows [[1]]

-- case: a hint in a filter of HogQL
-- filters {"properties": [{"type": "hogql", "key": "timestamp at time zone 'UTC' > now()"}]}
select count() from events where {filters}
-- refused hogql_syntax_error
