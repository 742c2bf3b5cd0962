-- case: a sum
select number from numbers(1 + 2)
-- rows [[0], [1], [2]]
-- case: with an offset, both computed
select number from numbers(2 * 5, length('ab'))
-- rows [[10], [11]]
-- case: days between two dates
select toDate('2026-02-27') + number as day from numbers(dateDiff('day', toDate('2026-02-27'), toDate('2026-03-02')) + 1)
-- rows [["2026-02-27"], ["2026-02-28"], ["2026-03-01"], ["2026-03-02"]]
-- case: a variable
-- variables {"n": 2}
select number from numbers({variables.n})
-- rows [[0], [1]]
-- case: an expression of a variable, also as text
-- variables {"n": "2"}
select number from numbers(toInt({variables.n}) + 1)
-- rows [[0], [1], [2]]
-- case: dates of variables
-- variables {"from": "2026-01-05", "to": "2026-01-07"}
select count() from numbers(dateDiff('day', toDate({variables.from}), toDate({variables.to})))
-- rows [[2]]
-- case: what was counted
select number from numbers((select count() from persons))
-- rows [[0], [1]]
-- case: an expression of WITH
with 2 as n select number from numbers(n)
-- rows [[0], [1]]
-- case: NULL and less than nothing are no rows
select (select count() from numbers(1 - 5)), (select count() from numbers(toInt('x')))
-- rows [[0, 0]]
-- case: half a number is cut
select count() from numbers(5 / 2)
-- rows [[2]]
-- case: none
select number from numbers()
-- refused number_of_arguments_doesnt_match at 1:20: "found 0"
-- case: three
select number from numbers(1, 2, 3)
-- refused number_of_arguments_doesnt_match at 1:20: "found 3"
-- case: less than nothing as a constant
select number from numbers(-1)
-- refused hogql_query_error at 1:28: "negative"
-- case: a fraction
select number from numbers(2.5)
-- refused hogql_query_error at 1:28: "whole number"
-- case: no column is constant
select number from numbers(number)
-- refused hogql_query_error at 1:28: "number"
-- case: nor a column of another table
select number from events e cross join numbers(e.timestamp)
-- refused hogql_query_error at 1:48
-- case: nor an aggregate
select number from numbers(count())
-- refused hogql_query_error at 1:28: "aggregate"
-- case: truth is no number
select number from numbers(true)
-- refused hogql_query_error at 1:28: "whole number"
