-- case: an array named by an alias of SELECT
select [1, 2] as a, b from numbers(1) array join a as b
-- rows [[[1, 2], 1], [[1, 2], 2]]
-- case: and SELECT names the items
select b, b * 10 as c, [number, b] as d from numbers(1) array join [1, 2] as b
-- rows [[1, 10, [0, 1]], [2, 20, [0, 2]]]
-- case: through a function, and an alias made of another alias
select [1, 2] as a, arrayMap(x -> x + 1, a) as more, b from numbers(1) array join arrayReverse(more) as b
-- rows [[[1, 2], [2, 3], 3], [[1, 2], [2, 3], 2]]
-- case: a column comes before an alias of the same name
select concat(tags, '!') as tags, t from (select ['x', 'y'] as tags) array join tags as t
-- rows [["['x','y']!", "x"], ["['x','y']!", "y"]]
-- case: several arrays at once
select x, y from (select ['a', 'b'] as l) array join l as x, arrayEnumerate(l) as y
-- rows [["a", 1], ["b", 2]]
-- case: LEFT keeps rows without items
select number, x from numbers(2) left array join if(number = 0, [7], []) as x
-- rows [[0, 7], [1, 0]]
-- case: a circle of two
select b as a from (select [[1]] as l) array join a as b
-- refused hogql_query_error at 1:8: "'b' is an item of this ARRAY JOIN"
-- case: a circle of three
select arrayMap(x -> x, c) as a, arrayMap(x -> x, b) as c, b from numbers(1) array join a as b
-- refused hogql_query_error: "'b' is an item of this ARRAY JOIN"
-- case: an item of itself
select b from (select [1] as l) array join b as b
-- refused hogql_query_error at 1:44: "'b' is an item of this ARRAY JOIN"
-- case: two aliases of SELECT that need each other
select arrayMap(x -> x, c) as a, arrayMap(x -> x, a) as c, b from numbers(1) array join a as b
-- refused hogql_query_error: "refers to itself"
-- case: neither a column nor an alias
select 1 from events array join nope as b
-- refused hogql_query_error at 1:33: "nope"
