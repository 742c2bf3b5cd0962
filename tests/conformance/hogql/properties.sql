-- case: a property is read from the JSON column, its value is bound
select count() from events where properties.$browser = 'Chrome'
-- becomes
SELECT count() AS `count()` FROM events AS events WHERE events.project_id = {project_id:Int64} AND (equals(multiIf(isNotNull(properties_json.`$browser`.:String), properties_json.`$browser`.:String, isNotNull(properties_json.`$browser`.:Int64), toString(properties_json.`$browser`.:Int64), isNotNull(properties_json.`$browser`.:Float64), toString(properties_json.`$browser`.:Float64), isNotNull(properties_json.`$browser`.:Bool), toString(properties_json.`$browser`.:Bool), isNotNull(properties_json.`$browser`.:UInt64), toString(properties_json.`$browser`.:UInt64), position(properties, '"$browser"') = 0, NULL, nullIf(nullIf(JSONExtractRaw(properties, '$browser'), ''), 'null')), {v0:String})) LIMIT 101
-- params {"v0": "Chrome"}
-- rows [[2]]
-- case: declared types
select properties.price, properties.paid, properties.when from events order by timestamp
-- rows [[10.0, true, null], [2.5, false, null], [7.0, null, null], [100.0, null, "2026-01-04 08:00:00"], [null, null, null], [null, null, null]]
-- case: undeclared properties are text, also numbers and booleans; missing ones are NULL
select properties.v, properties.plan, properties.nope from events order by timestamp
-- rows [[null, null, null], [null, null, null], [null, null, null], ["1.10.2", "pro", null], ["1.9.0", null, null], [null, null, null]]
-- case: nested, quoted and dotted keys, array places
select properties.a.b, properties['x y'], properties.`x y`, properties['dot.ted'], properties.tags.1, properties.tags[2] from events where properties.a.b is not null
-- rows [["1", "z", "z", "yes", "t1", "t2"]]
-- case: the whole bag is its JSON text
select properties from events where event = 'purchase' order by timestamp
-- rows [["{\"price\": 100, \"plan\": \"pro\", \"when\": \"2026-01-04T08:00:00Z\", \"v\": \"1.10.2\"}"], ["{}"]]
-- case: a list or an object comes as JSON
select properties.tags, properties.a, JSONExtractArrayRaw(properties.tags) from events order by timestamp limit 2
-- rows [["[\"t1\",\"t2\"]", "{\"b\":1}", ["\"t1\"", "\"t2\""]], [null, null, []]]
-- case: text properties compare with numbers as numbers
select properties.v, properties.$browser = 1 from events where properties.v != 1 order by timestamp
-- rows [[null, 0], [null, 0], [null, 0], ["1.10.2", 0], ["1.9.0", 0], [null, 0]]
-- case: booleans
select count() from events where properties.paid = true
-- rows [[1]]
-- case: keys that look like syntax are only keys
select properties['{v9:String}'], properties['^a'], properties['a`b'], properties['x\\'], properties[''] from events limit 1
-- rows [[null, null, null, null, null]]
-- case: properties of a subquery's JSON text
select p.email from (select properties as p from persons) order by 1
-- rows [["ann@b.com"], ["bob@a.com"]]

-- case: a property through queries of FROM and WITH is what its definition says
with e as (select * from events), f as (select e.properties as p, event from e) select sum(p.price), countIf(p.paid), max(p.when), any(p.nope) from f
-- types ["float", "integer", "datetime", "string"]
-- rows [[119.5, 1, "2026-01-04 08:00:00", null]]
-- case: also through unions, other names, joins
select sum(x.q.price), sum(g.properties.size), countIf(x.q.paid = true) from (select properties as q, event from events where event = 'purchase' union all select properties, event from events where event != 'purchase') as x cross join (select properties from groups where index = 0) as g
-- types ["float", "float", "integer"]
-- rows [[119.5, 60.0, 1]]
-- case: where bags of several kinds meet it is text
select p.price from (select properties as p from events where properties.price = 10 union all select properties from persons where 1 = 2)
-- types ["string"]
-- rows [["10"]]
-- case: a property without its bag is suggested
select price from events
-- refused hogql_query_error at 1:8: "Did you mean 'properties.price'?"
-- case: of a joined table too
select company.size from events
-- refused hogql_query_error: "Did you mean 'properties.size'?"
-- case: and with several tables
select price from events e join persons p on p.id = e.person_id
-- refused hogql_query_error: "Did you mean 'e.properties.price'?"
-- case: a number reads a list by position and an object by name
select o.1, o.2, o.x, o['1'], o[1], o.x.1, o.x.2, o[1 + 1] from (select arrayJoin(['{"x": ["p", "q"], "1": "one"}', '["a", "b"]', '{"x": {"2": [7], "a": 0}}', 'text']) as o)
-- rows [["one", null, "[\"p\",\"q\"]", "one", "one", "p", "q", null], ["a", "b", null, null, "a", null, null, "b"], [null, null, "{\"2\":[7],\"a\":0}", null, null, null, "[7]", null], [null, null, null, null, null, null, null, null]]
-- case: a property whose name is a number, and numbers in its object
select properties.1, properties[1], p.1, p['a'].1, p['a'].b, p['tags'].1 from (select properties, properties as p from events order by timestamp limit 1)
-- rows [[null, null, null, null, "1", "t1"]]
-- case: each position doubles the expression
select properties.a.1.1.1.1.1 from events
-- refused hogql_query_error: "A path into JSON has at most 4 positions in lists"
