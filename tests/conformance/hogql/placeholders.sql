-- case: variables are bound
-- variables {"event_name": "$pageview", "n": 2}
select count() from events where event = {variables.event_name} having count() > {variables.n}
-- params {"v0": "$pageview"}
-- rows [[3]]
-- case: a variable that looks like SQL is only text
-- variables {"x": "' OR 1=1 --"}
select count() from events where event = {variables.x}
-- rows [[0]]
-- case: a list variable
-- variables {"list": ["Chrome", "Safari"]}
select count() from events where properties.$browser in {variables.list}
-- rows [[3]]
-- case: a long list is one parameter
-- variables {"list": ["a", "b", "c", "d", "e", "f", "g", "h", "Chrome"]}
select count() from events where properties.$browser in {variables.list}
-- params {"v0": ["a", "b", "c", "d", "e", "f", "g", "h", "Chrome"]}
-- rows [[2]]
-- case: NULL
-- variables {"x": null}
select count() from events where properties.$browser = {variables.x}
-- rows [[2]]
-- case: a date variable
-- variables {"day": "2026-01-06"}
select count() from events where timestamp >= {variables.day}
-- rows [[3]]
-- case: a variable as LIMIT
-- variables {"n": 1}
select event from events order by timestamp limit {variables.n}
-- rows [["$pageview"]]
-- case: {filters} without filters is true
select count() from events where {filters}
-- rows [[6]]
-- case: {filters} with dates and properties
-- filters {"dateRange": {"date_from": "2026-01-05", "date_to": "2026-01-06"}, "properties": [{"key": "$browser", "value": ["Chrome", "Safari"], "operator": "exact"}]}
select event from events where {filters} order by timestamp
-- rows [["$pageview"], ["$pageview"], ["$autocapture"]]
-- case: {filters} with a relative date
-- filters {"dateRange": {"date_from": "-4d"}}
select count() from events where {filters}
-- rows [[3]]
-- case: {filters} with test accounts
-- filters {"filterTestAccounts": true}
select count() from events where {filters}
-- rows [[2]]
-- case: {filters} on the table of the select it stands in
-- filters {"dateRange": {"date_from": "2026-01-02"}}
select properties.email from persons where {filters}
-- rows [["bob@a.com"]]
-- case: {filters} in a join bounds the first table with a time
-- filters {"dateRange": {"date_from": "2026-01-07"}}
select e.event from events e join persons p on p.id = e.person_id where {filters} order by e.timestamp
-- rows [["$pageview"], ["purchase"]]
-- case: edges of the date range
-- filters {"dateRange": {"date_from": "2026-01-06", "date_to": "2026-01-06"}}
select count() from events where timestamp >= {filters.dateRange.from} and timestamp <= {filters.dateRange.to}
-- rows [[1]]
-- case: other values
-- values {"who": "bob"}
select count() from events where distinct_id = {who}
-- rows [[2]]
-- case: {filters} with nothing set is neutral on every source
-- filters {"dateRange": {"date_from": "all"}, "properties": [], "filterTestAccounts": false, "interval": "week"}
select count() from numbers(3) where {filters}
-- rows [[3]]
-- case: {filters} without filters on a subquery
select count() from (select 1 as a) where {filters}
-- rows [[1]]
-- case: {filters} on persons takes person filters and their creation
-- filters {"dateRange": {"date_from": "2026-01-02"}, "properties": [{"key": "email", "value": "@a.com", "operator": "icontains", "type": "person"}]}
select properties.email from persons where {filters}
-- rows [["bob@a.com"]]
-- case: {filters} on persons knows cohorts
-- filters {"properties": [{"key": "id", "value": 5, "type": "cohort"}]}
select count() from persons where {filters}
-- rows [[1]]
-- case: {filters} on persons with test accounts about persons
-- filters {"filterTestAccounts": true}
select count() from persons where {filters} and properties.email like '%@b.com'
-- rows [[0]]
-- case: {filters} on sessions takes session filters and their start
-- filters {"dateRange": {"date_from": "2026-01-07", "date_to": "2026-01-07"}, "properties": [{"key": "$pageview_count", "value": 1, "type": "session"}]}
select session_id from sessions where {filters}
-- rows [["s2"]]
-- case: {filters} on groups takes group filters of the type
-- filters {"properties": [{"key": "name", "value": "Not me", "operator": "is_not", "type": "group", "group_type_index": 0}]}
select key, properties.name from groups where {filters}
-- rows [["acme", "Acme"]]
-- case: {filters} where events are joined with sessions
-- filters {"properties": [{"key": "$pageview_count", "value": 2, "type": "session"}], "dateRange": {"date_from": "2026-01-05"}}
select count() from events e join sessions s on s.session_id = e.$session_id where {filters}
-- rows [[3]]
-- case: a bare date_to includes its day, a time of day does not include itself
-- filters {"dateRange": {"date_from": "2026-01-05T10:00:00", "date_to": "2026-01-05T10:06:00"}}
select countIf({filters}), countIf(timestamp >= {filters.dateRange.from}), countIf(timestamp <= {filters.dateRange.to}) from events
-- rows [[2, 6, 3]]
-- case: explicit dates are not rounded
-- filters {"dateRange": {"date_from": "2026-01-05", "date_to": "2026-01-06", "explicitDate": true}}
select count() from events where {filters}
-- rows [[3]]
-- case: a comparison with an absent edge of the range is true
select countIf(timestamp >= {filters.dateRange.from}), countIf(toDate(timestamp) < toDate({filters.dateRange.to})), countIf(timestamp between {filters.dateRange.from} and {filters.dateRange.to}) from events
-- rows [[6, 6, 6]]
-- case: BETWEEN keeps the end that is there
-- filters {"dateRange": {"date_to": "2026-01-05"}}
select countIf(timestamp between {filters.dateRange.from} and {filters.dateRange.to}), countIf(timestamp not between {filters.dateRange.from} and {filters.dateRange.to}) from events
-- rows [[3, 3]]
-- case: the interval, and its default
select {filters.interval}, {filters.interval('week')}
-- rows [["day", "week"]]
-- case: the interval that is set
-- filters {"interval": "month"}
select {filters.interval}, {filters.interval('week')}, count(distinct dateTrunc({filters.interval}, timestamp)) from events
-- rows [["month", "month", 1]]
-- case: bound filters over a subquery
-- filters {"dateRange": {"date_from": "2026-01-06"}, "properties": [{"key": "plan", "value": "pro", "operator": "exact"}]}
select count() from (select timestamp as created, properties.plan as p from events) where {filters(created AS timestamp, p AS 'plan')}
-- rows [[1]]
-- case: bound filters leave out what is bound to null
-- filters {"dateRange": {"date_from": "2026-01-06"}, "properties": [{"key": "plan", "value": "pro", "operator": "exact"}]}
select count() from (select timestamp as created, properties.plan as p from events) where {filters(null AS timestamp, p AS 'plan')}
-- rows [[1]]
-- case: bound filters of a group leave out one of its filters
-- filters {"properties": {"type": "OR", "values": [{"key": "plan", "value": "pro"}, {"key": "other", "value": "x"}]}}
select count() from (select properties.plan as p from events) where {filters(p AS 'plan', null AS other)}
-- rows [[1]]
-- case: bound filters with nothing set
select count() from numbers(4) where {filters(number AS timestamp)}
-- rows [[4]]
-- case: the chosen breakdown
-- filters {"breakdownFilter": {"breakdown": "plan"}}
select distinct {filters.breakdown(properties.plan AS 'plan', event AS 'event')} as b from events order by b nulls first
-- rows [[null], ["pro"]]
-- case: no breakdown is NULL
select {filters.breakdown(event AS 'event')} from events limit 1
-- rows [[null]]

-- case: groups by their key
-- filters {"properties": [{"type": "group", "key": "$group_key", "value": "acme", "group_type_index": 0}]}
select key, index from groups where {filters}
-- rows [["acme", 0]]
