-- case: lists in lists, two positions in a row
select t.properties.l.1.2, t.properties.l.2, t.properties.l.1 from (select '{"l": [[7, 8], "x"]}' as properties) as t
-- rows [["8", "x", "[7,8]"]]
-- case: objects in lists
select p.list.1.2.name, p.list.1.2, p.list.2, p.gone.1, p.list.5.1 from (select '{"list": [[1, {"name": "Ann"}], null]}' as p)
-- rows [["Ann", "{\"name\":\"Ann\"}", null, null, null]]
-- case: of stored properties
select properties.tags.1, properties.tags.2, properties.tags.3, properties['tags'][2], properties.a.b, properties['x y'], properties['x y'][1] from events order by timestamp limit 1
-- rows [["t1", "t2", null, "t2", "1", "z", null]]
-- case: of a query's column
select q.tags.2 from (select properties as q, timestamp from events) order by timestamp limit 1
-- rows [["t2"]]
-- case: positions of tuples
select (1, (2, 3)).2.1, tuple('a', 'b').2
-- rows [[2, "b"]]
-- case: positions start at 1
select properties.l.0 from events
-- refused hogql_query_error at 1:8: "start at 1"
-- case: in brackets too
select properties['l'][0] from events
-- refused hogql_query_error at 1:8: "start at 1"
-- case: behind another one
select properties.l.1.0 from events
-- refused hogql_query_error at 1:8: "start at 1"
-- case: before a name
select properties.l.0.name from events
-- refused hogql_query_error: "start at 1"
-- case: nor do they count from the end
select properties.l[-1] from events
-- refused hogql_query_error at 1:8: "start at 1"
-- case: also of text
select x[0] from (select '[1]' as x)
-- refused hogql_query_error at 1:8: "start at 1"
-- case: fractions
select properties.l[1.5] from events
-- refused hogql_query_error: "start at 1"
-- case: person and group properties
select person.properties.email.0 from events
-- refused hogql_query_error: "start at 1"
