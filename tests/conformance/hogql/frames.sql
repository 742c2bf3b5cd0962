-- case: a day back
select count() over (order by timestamp range between interval 1 day preceding and current row) from events order by timestamp
-- rows [[1], [2], [3], [1], [2], [3]]
-- case: short form, minutes, several
select count() over (order by timestamp range interval 5 minute preceding), sum(properties.price) over (order by timestamp range between interval '10' minutes preceding and interval 1 minute following) from events order by timestamp
-- rows [[1, 10.0], [2, 19.5], [2, 19.5], [1, 100.0], [1, null], [1, null]]
-- case: a week of days, of dates
select day, sum(n) over (order by day range between interval 1 week preceding and current row) from (select toDate(timestamp) as day, count() as n from events group by day) order by day
-- rows [["2026-01-05", 3], ["2026-01-06", 4], ["2026-01-07", 6]]
-- case: a day of dates does not reach two days
select day, sum(n) over (order by day range between interval 1 day preceding and current row) from (select toDate(timestamp) as day, count() as n from events group by day) order by day
-- rows [["2026-01-05", 3], ["2026-01-06", 4], ["2026-01-07", 3]]
-- case: hours of dates begin at midnight
select day, count() over (order by day range between interval 23 hour preceding and current row) from (select distinct toDate(timestamp) as day from events) order by day
-- rows [["2026-01-05", 1], ["2026-01-06", 1], ["2026-01-07", 1]]
-- case: both ways, in a named window, by people
select distinct_id, count() over w from events window w as (partition by distinct_id order by timestamp range between interval 1 hour preceding and interval 1 hour following) order by timestamp
-- rows [["anon", 1], ["ann", 2], ["ann", 2], ["ann", 1], ["bob", 2], ["bob", 2]]
-- case: seconds as a number
select count() over (order by timestamp range between 300 preceding and current row) from events order by timestamp
-- rows [[1], [2], [2], [1], [1], [1]]
-- case: from a variable
-- variables {"n": 5}
select count() over (order by timestamp range between interval {variables.n} minute preceding and current row) from events order by timestamp
-- rows [[1], [2], [2], [1], [1], [1]]
-- case: downwards, what precedes is later
select count() over (order by timestamp desc range between interval 5 minute preceding and current row) from events order by timestamp
-- rows [[2], [2], [1], [1], [1], [1]]
-- case: by a number
select number, sum(number) over (order by number range between 1 preceding and 1 following) from numbers(4) order by number
-- rows [[0, 1], [1, 3], [2, 6], [3, 5]]
-- case: by an alias
select toStartOfHour(timestamp) as hour, count() over (order by hour range between interval 1 day preceding and current row) from events order by timestamp
-- rows [["2026-01-05 10:00:00", 3], ["2026-01-05 10:00:00", 3], ["2026-01-05 10:00:00", 3], ["2026-01-06 23:00:00", 1], ["2026-01-07 09:00:00", 3], ["2026-01-07 09:00:00", 3]]
-- case: months have no length
select count() over (order by timestamp range between interval 1 month preceding and current row) from events
-- refused hogql_query_error at 1:55: "months have no fixed length"
-- case: rows are no time
select count() over (order by timestamp rows between interval 1 day preceding and current row) from events
-- refused type_mismatch at 1:54: "ROWS counts rows"
-- case: text is no time
select count() over (order by event range between interval 1 day preceding and current row) from events
-- refused type_mismatch at 1:22: "a time or a date in ORDER BY"
-- case: two orders have no distance
select count() over (order by event, timestamp range between interval 1 day preceding and current row) from events
-- refused hogql_query_error: "one expression in ORDER BY"
-- case: not for ever
select count() over (order by timestamp range between interval 10000000 week preceding and current row) from events
-- refused hogql_query_error: "too large"
-- case: fractions
select count() over (order by timestamp range between interval 1.5 day preceding and current row) from events
-- refused hogql_query_error: "non-negative integer"
