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
