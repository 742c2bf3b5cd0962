-- case: it does not parse
selet 100
-- refused hogql_syntax_error at 1:1
-- case: an unfinished bracket
select f(1
-- refused hogql_syntax_error
-- case: several statements
select 1; select 2
-- refused hogql_syntax_error
-- case: an unknown column is named, with a near one
select nonexistent_column_xyz from events
-- refused hogql_query_error at 1:8: "nonexistent_column_xyz"
-- case: a typing mistake gets a suggestion
select evnt from events
-- refused hogql_query_error at 1:8: "Did you mean 'event'?"
-- case: an unknown table is named, with a near one
select 1 from event
-- refused unknown_table at 1:15: "Did you mean 'events'?"
-- case: an unknown function is named, with a near one
select toStartOfDai(timestamp) from events
-- refused unknown_function at 1:8: "Did you mean 'toStartOfDay'?"
-- case: the number of arguments
select substring('a')
-- refused number_of_arguments_doesnt_match: "expects 2 to 3 arguments, found 1"
-- case: parameters of a function without
select abs(1)(2)
-- refused number_of_arguments_doesnt_match
-- case: the project column cannot be named
select project_id from events
-- refused hogql_query_error
-- case: nor filtered on
select count() from events where project_id = 2
-- refused hogql_query_error
-- case: system tables
select * from system.tables
-- refused unknown_table: "system.tables"
-- case: other databases
select * from default.events
-- refused unknown_table
-- case: physical tables that are no logical ones
select * from hogql_world_daily
-- refused unknown_table
-- case: files
select * from file('/etc/passwd')
-- refused unknown_table
-- case: network
select * from url('http://example.com/x', CSV)
-- refused unknown_table
-- case: other servers
select * from remote('127.0.0.1', system.one)
-- refused unknown_table
-- case: any table function but numbers
select * from generateRandom('a Int64')
-- refused unknown_table
-- case: a view of merged tables
select * from merge('default', '.*')
-- refused unknown_table
-- case: dictionaries
select dictGet('d', 'a', 1)
-- refused unknown_function
-- case: reading files by function
select file('/etc/passwd')
-- refused unknown_function
-- case: sleeping
select sleep(3)
-- refused unknown_function
-- case: settings by function
select getSetting('max_threads')
-- refused unknown_function
-- case: who and where
select currentUser(), hostName()
-- refused unknown_function
-- case: symbols of the server
select addressToLine(1)
-- refused unknown_function
-- case: input
select * from input('a String')
-- refused unknown_table
-- case: the escape hatch of the other JSON reader
select evalMLMethod(1)
-- refused unknown_function
-- case: settings
select 1 settings max_threads = 1
-- refused hogql_syntax_error
-- case: a format
select 1 format CSV
-- refused hogql_syntax_error
-- case: into a file
select 1 into outfile 'x'
-- refused hogql_syntax_error
-- case: writing
insert into events values (1)
-- refused hogql_syntax_error
-- case: dropping
drop table events
-- refused hogql_syntax_error
-- case: explain
explain select 1
-- refused hogql_syntax_error
-- case: a comment does not hide a second statement
select 1 /* ; */ ; drop table events
-- refused hogql_syntax_error
-- case: WITH TOTALS would be dropped
select event, count() from events group by event with totals
-- refused hogql_syntax_error at 1:50: "WITH TOTALS"
-- case: and IGNORE NULLS
select any(event) ignore nulls from events
-- refused hogql_syntax_error: "IGNORE NULLS"
-- case: FINAL
select 1 from (select 1 from events) as e final
-- refused hogql_query_error: "FINAL"
-- case: recursion of other than UNION ALL
with recursive a as (select 1 as x union distinct select x + 1 from a where x < 3) select x from a
-- refused hogql_query_error at 1:51: "UNION ALL"
-- case: recursion that begins with itself
with recursive a as (select x from a union all select 1) select x from a
-- refused unknown_table
-- case: a CTE that reads itself
with a as (select * from a) select * from a
-- refused unknown_table
-- case: a join without a condition
select 1 from events e join persons p
-- refused hogql_query_error: "ON or USING"
-- case: the same alias twice
select 1 from events e join persons e on 1 = 1
-- refused hogql_query_error: "'e'"
-- case: an ambiguous column
select properties from events e join persons p on e.person_id = p.id
-- refused hogql_query_error: "Ambiguous"
-- case: a table where a value is needed
select person from events
-- refused hogql_query_error: "person.id"
-- case: fields of a plain column
select timestamp.day from events
-- refused hogql_query_error
-- case: a variable without a value
select {variables.nope}
-- refused hogql_query_error at 1:8: "nope"
-- case: a placeholder that is left over
select {what} from events
-- refused hogql_query_error: "{what}"
-- case: a placeholder for a table
select 1 from {variables.t}
-- variables {"t": "system.tables"}
-- refused hogql_query_error
-- case: LIMIT that is no number
select 1 limit 'x'
-- refused hogql_query_error: "LIMIT"
-- case: a negative LIMIT
select 1 limit -1
-- refused hogql_query_error: "LIMIT"
-- case: a union of different widths
select 1 union all select 1, 2
-- refused hogql_query_error: "same number of columns"
-- case: a window function without a window
select row_number() from events
-- refused hogql_query_error: "OVER"
-- case: an unknown window
select sum(number) over w from numbers(2)
-- refused hogql_query_error: "'w'"
-- case: a plain function with a window
select lower('a') over () from events
-- refused not_an_aggregate
-- case: distinct in a plain function
select lower(distinct event) from events
-- refused not_an_aggregate
-- case: an unknown type in a cast
select 'x'::geography
-- refused hogql_query_error: "geography"
-- case: a bad date in filters
-- filters {"dateRange": {"date_from": "yesterdayish"}}
select 1 from events where {filters}
-- refused hogql_query_error: "yesterdayish"
-- case: star without a table
select *
-- refused hogql_query_error
-- case: star of nothing
select x.* from events
-- refused hogql_query_error: "x.*"
-- case: values and other tables of the parser
select * from (values (1, 2)) as t(a, b)
-- refused hogql_syntax_error
-- case: CTEs that double each other
with a as (select 1 as x from events), b as (select p.x from a p join a q on p.x = q.x), c as (select p.x from b p join b q on p.x = q.x), d as (select p.x from c p join c q on p.x = q.x), e as (select p.x from d p join d q on p.x = q.x), f as (select p.x from e p join e q on p.x = q.x), g as (select p.x from f p join f q on p.x = q.x), h as (select p.x from g p join g q on p.x = q.x) select x from h
-- refused hogql_query_error: "too many tables"
-- case: deep nesting
select ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
-- refused hogql_syntax_error
-- case: an unknown action
select 1 from events where matchesAction('Sel')
-- refused hogql_query_error: "Action Sel does not exist"
-- case: ORDER BY after a union in brackets would be dropped
(select 1 as a union all select 2) order by a
-- refused hogql_syntax_error at 1:35: "ORDER BY after a query in brackets"
-- case: also after one select
(select 2 as a) order by a
-- refused hogql_syntax_error: "ORDER BY after a query in brackets"
-- case: and inside
select * from ((select 1 as a union all select 2) order by a)
-- refused hogql_syntax_error: "ORDER BY after a query in brackets"
-- case: WITH TIES after a union
(select 1 as a union all select 2) limit 1 with ties
-- refused hogql_syntax_error: "WITH TIES after a query in brackets"
-- case: EXCLUDE after the star of one table would be taken for all tables
select e.* exclude (uuid) from events e join persons p on p.id = e.person_id
-- refused hogql_syntax_error: "EXCLUDE"
-- case: a comment hides nothing of that
select event, count() # a comment
from events group by event with totals
-- refused hogql_syntax_error at 2:28: "WITH TOTALS"
-- case: a window over another one
select any(event) /* x */ respect nulls from events
-- refused hogql_syntax_error
-- case: nor a comment between the words
select event, count() from events group by event with /* */ totals
-- refused hogql_syntax_error at 1:50: "WITH TOTALS"
-- case: order by behind a comment
(select 1 as a) -- x
order by a
-- refused hogql_syntax_error: "ORDER BY after a query in brackets"
-- case: IN cannot read the row outside
select event from events e where person_id in (select p.id from persons p where p.created_at < e.timestamp)
-- refused hogql_query_error at 1:48: "after IN"
-- case: nor a column that only the outer query has
select event from events where person_id in (select person_id from persons)
-- refused hogql_query_error at 1:46: "after IN"
-- case: a union cannot either
select event from events e where exists(select 1 from persons p where p.id = e.person_id union all select 1)
-- refused hogql_query_error at 1:78: "of the outer query"
-- case: nor FROM
select event from events e where exists(select 1 from (select id from persons where id = e.person_id) p)
-- refused hogql_query_error at 1:90: "of the outer query"
-- case: nor ON
select event from events e where exists(select 1 from persons p join groups g on p.id = e.person_id)
-- refused hogql_query_error: "of the outer query"
-- case: nor a subquery of ON
select p.id from persons p join events e on e.person_id = p.id and e.timestamp = (select max(timestamp) from events i where i.person_id = p.id)
-- refused hogql_query_error at 1:83: "A subquery in ON"
-- case: tables of values
select * from (values (1, 'a'), (2, 'b'))
-- refused hogql_syntax_error at 1:16: "VALUES is not supported"
-- case: values become columns by hand
select * from events pivot (count() for event in ('a', 'b'))
-- refused hogql_syntax_error at 1:15: "PIVOT is not supported"
-- case: a count in the subquery is not calculated with
select (select count() + 1 from persons p where p.id = e.person_id) from events e
-- refused hogql_query_error at 1:9: "can only select a bare count or sum"
-- case: more rows than one of a row
select (select p.id from persons p where p.id = e.person_id limit 2) from events e
-- refused hogql_query_error at 1:9: "ORDER BY x LIMIT 1"
-- case: two tables of one name
select event from events where exists(select 1 from (select id from persons) events where id = events.person_id)
-- refused hogql_query_error
-- case: both without an alias
select uuid from events where exists(select 1 from persons join events on events.person_id = persons.id where $group_0 = events.nothing)
-- refused hogql_query_error
-- case: a cohort that nobody made
select count() from events where person_id in cohort 'power users'
-- refused hogql_query_error at 1:54: "Cohort 'power users' does not exist"
-- case: also from a variable
-- variables {"c": "1 or 1"}
select count() from events where person_id in cohort {variables.c}
-- refused hogql_query_error: "does not exist"
-- case: fields of joined tables get suggestions
select person.propertis.email from events
-- refused hogql_query_error at 1:8: "Did you mean 'properties'?"
-- case: aliases of tables too
select evt.event from events evnt
-- refused hogql_query_error at 1:8: "Did you mean 'evnt'?"
-- case: swapped letters
select cuont() from evnets
-- refused unknown_table at 1:21: "Did you mean 'events'?"
-- case: the project under an alias of the table
select e.project_id from events e
-- refused hogql_query_error at 1:8: "project_id"
-- case: inside a lambda
select arrayExists(x -> x = project_id, [1]) from events
-- refused hogql_query_error at 1:29: "project_id"
-- case: through a joined table
select person.project_id from events
-- refused hogql_query_error: "project_id"
-- case: from a subquery
select project_id from (select event from events)
-- refused hogql_query_error: "project_id"
-- case: team_id is no other way in
select team_id from events
-- refused hogql_query_error: "team_id"
-- case: objects in a bucket
select * from s3('https://b.s3.amazonaws.com/x', 'CSV')
-- refused unknown_table
-- case: a cluster
select * from cluster('c', system.one)
-- refused unknown_table
-- case: another database server
select * from mysql('h', 'd', 't', 'u', 'p')
-- refused unknown_table
-- case: programs
select * from executable('cat', 'TSV', 'a String')
-- refused unknown_table
-- case: dictionaries as tables
select * from dictionary('d')
-- refused unknown_table
-- case: dictionaries with a default
select dictGetOrDefault('d', 'a', 1, 2)
-- refused unknown_function
-- case: literal tables
select * from values('a Int8', 1)
-- refused unknown_table
-- case: nothing
select * from null('a Int8')
-- refused hogql_syntax_error
-- case: more numbers at once
select * from numbers_mt(10)
-- refused unknown_table
-- case: endless numbers
select number from system.numbers
-- refused unknown_table
-- case: zeros
select * from zeros(10)
-- refused unknown_table
-- case: information about tables
select * from information_schema.tables
-- refused unknown_table
-- case: quoted names of system tables
select * from `system`.`tables`
-- refused unknown_table
-- case: one quoted name with a dot in it
select * from `system.tables`
-- refused unknown_table
-- case: columns of tables by function
select hasColumnInTable('system', 'one', 'dummy')
-- refused unknown_function
-- case: the join engine
select joinGet('t', 'c', 1)
-- refused unknown_function
-- case: macros, versions, uptime
select getMacro('x')
-- refused unknown_function
-- case: throwing on purpose
select throwIf(1)
-- refused unknown_function
-- case: functions of functions
select initializeAggregation('sumState', 1)
-- refused unknown_function
-- case: combinators do not open the list
select fileIf('/etc/passwd', 1)
-- refused unknown_function
-- case: granting
grant select on events to me
-- refused hogql_syntax_error
-- case: altering
alter table events delete where 1
-- refused hogql_syntax_error
-- case: creating
create table x (a Int8)
-- refused hogql_syntax_error
-- case: creating from a query
create view v as select 1
-- refused hogql_syntax_error
-- case: truncating
truncate table events
-- refused hogql_syntax_error
-- case: setting
set max_threads = 1
-- refused hogql_syntax_error
-- case: using
use system
-- refused hogql_syntax_error
-- case: showing
show tables
-- refused hogql_syntax_error
-- case: describing
describe table events
-- refused hogql_syntax_error
-- case: killing
kill query where 1
-- refused hogql_syntax_error
-- case: the server's own commands
system flush logs
-- refused hogql_syntax_error
-- case: several statements by a comment
select 1 -- x
; select 2
-- refused hogql_syntax_error
-- case: a statement of nothing behind it
select 1; drop table events
-- refused hogql_syntax_error
-- case: TOP
select top 2 event from events
-- refused hogql_syntax_error
-- case: a placeholder for a field's name
-- variables {"f": "project_id"}
select events.{variables.f} from events
-- refused hogql_syntax_error
-- case: a placeholder for the order
-- variables {"n": "1; drop table events"}
select event from events limit {variables.n}
-- refused hogql_query_error: "LIMIT"
-- case: a placeholder that is an expression
select {1 + 1} from events
-- refused hogql_query_error
-- case: a placeholder for filters that are none
select {filters.project_id}
-- refused hogql_query_error: "filters.project_id"
-- case: a share larger than all
select count() from events sample 1000
-- refused hogql_query_error: "SAMPLE"
-- case: names of types as text are of a list: states of aggregates are no bytes of the caller
select accurateCast('x', 'AggregateFunction(sum, UInt64)')
-- refused type_mismatch at 1:8: "AggregateFunction"
-- case: inside other types too
select accurateCastOrNull('x', 'Array(Nullable(simpleaggregatefunction(sum, UInt64)))')
-- refused type_mismatch
-- case: from JSON too
select JSONExtract('{}', 'a', 'Tuple(a Int8, b AggregateFunction(sum, UInt64))')
-- refused type_mismatch
-- case: from a variable too
-- variables {"t": "AggregateFunction(sum, UInt64)"}
select JSONExtract(properties, 'a', {variables.t}) from events
-- refused type_mismatch
-- case: and not put together
select accurateCast('1', concat('Aggregate', 'Function(sum, UInt64)'))
-- refused hogql_query_error: "string constant"
-- case: types that hold anything
select JSONExtract('{}', 'Dynamic')
-- refused type_mismatch
-- case: aggregates of arrayReduce are those of the list
select arrayReduce('aggThrow(0.5)', [1])
-- refused unknown_function
-- case: in ranges too
select arrayReduceInRanges(event, [(1, 2)], [1, 2]) from events
-- refused hogql_query_error: "string constant"
-- case: an event filter on persons names itself
-- filters {"properties": [{"key": "$browser", "value": "Chrome"}]}
select count() from persons where {filters}
-- refused hogql_query_error: "'$browser' is of type 'event'"
-- case: a test-account filter that is not about sessions
-- filters {"filterTestAccounts": true}
select count() from sessions where {filters}
-- refused hogql_query_error: "'email' is of type 'person'"
-- case: an event filter on sessions
-- filters {"properties": [{"key": "$browser", "value": "Chrome", "type": "event"}]}
select count() from sessions where {filters}
-- refused hogql_query_error: "only session properties"
-- case: a person filter on groups
-- filters {"properties": [{"key": "email", "value": "x", "type": "person"}]}
select count() from groups where {filters}
-- refused hogql_query_error: "only group properties"
-- case: filters that are set on numbers
-- filters {"dateRange": {"date_from": "-7d"}}
select count() from numbers(3) where {filters}
-- refused hogql_query_error: "{filters(created AS timestamp, plan AS 'plan')}"
-- case: filters that are set on a subquery
-- filters {"properties": [{"key": "a", "value": "b"}]}
select count() from (select * from events) where {filters}
-- refused hogql_query_error: "events, or of only sessions, groups or persons"
-- case: filters that are set on persons joined with a subquery
-- filters {"dateRange": {"date_from": "-7d"}}
select count() from persons p join (select 1 as a) s on s.a = 1 where {filters}
-- refused hogql_query_error: "of only"
-- case: filters that are set without FROM
-- filters {"dateRange": {"date_from": "-7d"}}
select 1 where {filters}
-- refused hogql_query_error: "of only"
-- case: a bound filter without a binding
-- filters {"properties": [{"key": "plann", "value": "pro"}]}
select count() from (select 1 as p) where {filters(p AS 'plan')}
-- refused hogql_query_error: "Did you mean 'plan'"
-- case: bound dates without a binding
-- filters {"dateRange": {"date_from": "-7d"}}
select count() from (select 1 as p) where {filters(p AS 'plan')}
-- refused hogql_query_error: "The filter on 'timestamp' has no binding"
-- case: a filter that cannot be bound
-- filters {"properties": [{"key": "1 = 1", "type": "hogql"}]}
select count() from (select 1 as p) where {filters(p AS '1 = 1')}
-- refused hogql_query_error: "type 'hogql' cannot be bound"
-- case: a form of filters that there is not
select {filters.dateRange.start} from events
-- refused hogql_query_error at 1:8: "{filters.dateRange.from}"
-- case: filters called with something that is no alias
select count() from events where {filters(timestamp)}
-- refused hogql_query_error: "{filters(created AS timestamp)}"
-- case: an absent edge of the range outside of comparisons
select {filters.dateRange.from} from events
-- refused hogql_query_error at 1:8: "only be used in comparisons"
-- case: a breakdown by cohorts cannot be bound
-- filters {"breakdownFilter": {"breakdown": [5], "breakdown_type": "cohort"}}
select {filters.breakdown(event AS '5')} from events
-- refused hogql_query_error: "does not support breakdowns by cohorts"
-- case: several breakdowns cannot be bound
-- filters {"breakdownFilter": {"breakdowns": [{"property": "a"}, {"property": "b"}]}}
select {filters.breakdown(event AS 'a', event as 'b')} from events
-- refused hogql_query_error: "a single breakdown"
-- case: a breakdown by bins cannot be bound
-- filters {"breakdownFilter": {"breakdowns": [{"property": "a", "histogram_bin_count": 5}]}}
select {filters.breakdown(event AS 'a')} from events
-- refused hogql_query_error: "by bins"
-- case: an interval that is none
-- filters {"interval": "dey"}
select {filters.interval}
-- refused invalid_choice: "Did you mean 'day'"
-- case: an element filter with an operator it does not have
-- filters {"properties": [{"key": "tag_name", "value": "a", "type": "element", "operator": "gt"}]}
select count() from events where {filters}
-- refused hogql_query_error: "exact and is_not"
-- case: ORDER BY twice, of which the parser keeps the first
select event from events order by event order by uuid
-- refused hogql_syntax_error at 1:41: "a second ORDER BY"
-- case: LIMIT twice
select event from events limit 5 limit 6
-- refused hogql_syntax_error at 1:34: "a second LIMIT"
-- case: OFFSET twice
select event from events offset 5 offset 6
-- refused hogql_syntax_error at 1:35: "a second OFFSET"
-- case: ORDER BY after LIMIT would not sort
select event from events limit 5 order by event
-- refused hogql_syntax_error at 1:34: "ORDER BY after LIMIT"
-- case: nor in a subquery
select * from (select event from events limit 5 order by event)
-- refused hogql_syntax_error at 1:49: "ORDER BY after LIMIT"
-- case: a unit of time as a name needs AS
select toDate(timestamp) day from events
-- refused hogql_syntax_error at 1:26: "'day' is not expected here"
-- case: JSON operators of PostgreSQL
select properties->>'$browser' from events
-- refused hogql_syntax_error at 1:20

-- case: a pair in a query of one column
select count() from events where (event, distinct_id) not in (select event from events)
-- refused hogql_query_error at 1:34: "as many values on both sides: 2 on the left, 1 on the right"

-- case: a string in a list of pairs
select count() from events where event in (('a', 'b'), ('c', 'd'))
-- refused hogql_query_error at 1:34: "1 on the left, 2 on the right"
