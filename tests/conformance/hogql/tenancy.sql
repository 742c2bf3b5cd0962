-- case: every scan has the project, also those of lazy joins and of IN
select count() from events where person.properties.email in (select properties.email from persons)
-- becomes
SELECT count() AS `count()` FROM (SELECT events__person.properties__email AS person__properties__email FROM (SELECT distinct_id, person_id AS event_person_id FROM events WHERE project_id = {project_id:Int64}) AS events LEFT JOIN (SELECT distinct_id, person_id FROM person_distinct_id_overrides FINAL WHERE project_id = {project_id:Int64} AND (is_deleted = 0)) AS events__override ON equals(events.distinct_id, events__override.distinct_id) LEFT JOIN (SELECT id, multiIf(isNotNull(properties_json.`email`.:String), properties_json.`email`.:String, isNotNull(properties_json.`email`.:Int64), toString(properties_json.`email`.:Int64), isNotNull(properties_json.`email`.:Float64), toString(properties_json.`email`.:Float64), isNotNull(properties_json.`email`.:Bool), toString(properties_json.`email`.:Bool), isNotNull(properties_json.`email`.:UInt64), toString(properties_json.`email`.:UInt64), position(properties, '"email"') = 0, NULL, nullIf(nullIf(JSONExtractRaw(properties, 'email'), ''), 'null')) AS properties__email FROM persons FINAL WHERE project_id = {project_id:Int64} AND (is_deleted = 0)) AS events__person ON equals(if(notEmpty(events__override.distinct_id), events__override.person_id, events.event_person_id), events__person.id)) AS events WHERE in(tuple(isNull(events.person__properties__email), ifNull(events.person__properties__email, defaultValueOfArgumentType(assumeNotNull(events.person__properties__email)))), (SELECT isNull(listed.email) AS part_0, ifNull(listed.email, defaultValueOfArgumentType(assumeNotNull(listed.email))) AS part_1 FROM (SELECT persons.properties__email AS email FROM (SELECT multiIf(isNotNull(properties_json.`email`.:String), properties_json.`email`.:String, isNotNull(properties_json.`email`.:Int64), toString(properties_json.`email`.:Int64), isNotNull(properties_json.`email`.:Float64), toString(properties_json.`email`.:Float64), isNotNull(properties_json.`email`.:Bool), toString(properties_json.`email`.:Bool), isNotNull(properties_json.`email`.:UInt64), toString(properties_json.`email`.:UInt64), position(properties, '"email"') = 0, NULL, nullIf(nullIf(JSONExtractRaw(properties, 'email'), ''), 'null')) AS properties__email FROM persons FINAL WHERE project_id = {project_id:Int64} AND (is_deleted = 0)) AS persons) AS listed)) LIMIT 101
-- rows [[6]]
-- case: OR true does not widen it
select count() from events where event = 'nope' or true or 1 = 1
-- rows [[6]]
-- case: an alias called like the project's column is only an alias
select 2 as project_id, count() from events group by project_id
-- rows [[2, 6]]
-- case: other projects' groups, sessions and persons stay away
select (select count() from groups), (select count() from sessions), (select count() from persons), (select count() from cohort_people), (select sum(views) from daily_v1), (select count() from person_distinct_ids)
-- rows [[2, 2, 2, 1, 3, 3]]
-- case: a cross join sees one project
select count() from events, persons
-- rows [[12]]
-- case: comments in the text do not reach the engine
select count() /* FROM events */ from events -- where project_id = 2
-- rows [[6]]
-- case: text that looks like a table is text
select 'FROM events', concat('SELECT * FROM ', 'system.tables') as `FROM system.tables`
-- rows [["FROM events", "SELECT * FROM system.tables"]]
-- case: comments of every kind
select 1 as a # from system.tables
, 2 as b // from system.tables
, 'with totals' as c -- with totals
-- rows [[1, 2, "with totals"]]
-- case: WITH names that look like tables are those queries
with events as (select 1 as x), system as (select 2 as y) select x, y from events, system
-- rows [[1, 2]]
-- case: an alias that looks like another table
select count(), any(persons.event) != '' from events as persons
-- rows [[6, 1]]
-- case: an alias that looks like a predicate
select count() from events as `events WHERE 1 --`
-- rows [[6]]
-- case: lambda arguments and items of ARRAY JOIN called like the project's column
select arrayMap(project_id -> project_id + 1, [1]) as a, project_id, count() from events array join [7] as project_id group by a, project_id
-- rows [[[2], 7, 6]]
-- case: WITH expressions called like the project's column
with 2 as project_id select count() from events where project_id = 2
-- rows [[6]]
-- case: a property called like it is only a property
select properties.project_id, properties['project_id'], person.properties.project_id from events limit 1
-- rows [[null, null, null]]
-- case: names and texts that look like bound parameters
-- variables {"v": "{project_id:Int64}"}
select {variables.v} as `{v0:String}`, properties.`{project_id:Int64}`, '{v0:String}' from events limit 1
-- rows [["{project_id:Int64}", null, "{v0:String}"]]
-- case: values that look like SQL are values
-- variables {"v": "x' OR project_id = 880002 --"}
select count() from events where event = {variables.v} or properties.plan = {variables.v}
-- rows [[0]]
-- case: joins of every kind keep to the project
select count() from events e full outer join persons p on e.person_id = p.id right join person_distinct_ids d on d.distinct_id = e.distinct_id cross join groups g
-- rows [[12]]
-- case: set operations too
select count() from (select distinct_id from events union all select distinct_id from person_distinct_ids intersect select distinct_id from person_distinct_id_overrides)
-- rows [[7]]
