-- case: zones as PostgreSQL writes them
select toString(timezone('Europe/Berlin', timestamp)), timezone(), toString(timestamp, 'America/New_York') from events order by timestamp limit 1
-- rows [["2026-01-05 11:00:00.000000", "UTC", "2026-01-05 05:00:00.000000"]]
-- case: the project's zone
-- timezone Europe/Berlin
select timezone()
-- rows [["Europe/Berlin"]]
-- case: dates
select to_date('2026-01-05'), to_date('x'), to_date(timestamp), toDateTimeUS('01/05/2026 10:00:00') from events order by timestamp limit 1
-- rows [["2026-01-05", null, "2026-01-05", "2026-01-05 10:00:00"]]
-- case: intervals of parts: six as in PostHog, seven as in PostgreSQL, or by name
select toDateTime('2026-01-31 10:00:00') + make_interval(0, 1, 2, 3, 0, 1), toDateTime('2026-01-31 10:00:00') + make_interval(0, 0, 1, 0, 0, 0, 0), toDate('2026-01-31') - make_interval(weeks := 1, days => 2), toDate('2026-01-31') + make_interval(hours := 2), toDate('2026-01-31') + make_interval(months := 1)
-- rows [["2026-03-02 13:00:01", "2026-02-07 10:00:00", "2026-01-22", "2026-01-31 02:00:00", "2026-02-28"]]
-- case: nothing at all
select toDateTime('2026-01-31 10:00:00') + make_interval(0, 0, 0, 0, 0, 0)
-- rows [["2026-01-31 10:00:00"]]
-- case: too few parts
select now() + make_interval(1, 2)
-- refused number_of_arguments_doesnt_match at 1:16: "found 2"
-- case: an unknown part
select now() + make_interval(day := 2)
-- refused hogql_query_error at 1:16: "Did you mean 'days'?"
-- case: sums of intervals move dates at the project's midnight
-- timezone Europe/Berlin
select toString(toDate('2026-01-31') + (interval 1 day + interval 2 hour))
-- rows [["2026-02-01 02:00:00"]]
-- case: a moment in a zone
select toString(make_timestamptz(2026, 1, 5, 10, 0, 0, 'Europe/Berlin'), 'UTC'), toString(date_trunc('day', timestamp, 'America/New_York'), 'UTC') from events order by timestamp limit 1
-- rows [["2026-01-05 09:00:00", "2026-01-05 05:00:00"]]
-- case: series
select generateSeries(1, 3), generate_series(5, 1, -2), generateSeries(1, 7, 3), generateSeries(2, 1)
-- rows [[[1, 2, 3], [5, 3, 1], [1, 4, 7], []]]
-- case: series as a table
select generate_series * 2 as x from generateSeries(1, 2 + 5, 3)
-- rows [[2], [8], [14]]
-- case: with another name
select * from generate_series(1, 2) as g
-- rows [[1], [2]]
-- case: percentiles with an order
select percentile_cont(0.5) within group (order by number), percentile_disc(0.5) within group (order by number), percentile_disc(0.5) within group (order by number desc), percentile_cont(0.25) within group (order by number desc), percentile_disc(1) within group (order by toString(number)) from numbers(4)
-- rows [[1.5, 1, 2, 2.25, "3"]]
-- case: missing values are left out, and no value is NULL
select percentile_cont(0.5) within group (order by properties.price), percentile_disc(0.7) within group (order by properties.price), percentile_cont(0.5) within group (order by toFloat(properties.nope)), percentile_disc(0.5) within group (order by toFloat(properties.nope)) from events
-- rows [[8.5, 10.0, null, null]]
-- case: without an order
select percentile_cont(0.5)(number) from numbers(2)
-- refused number_of_arguments_doesnt_match at 1:8: "percentile_cont"
-- case: more than everything
select percentile_disc(1.5) within group (order by number) from numbers(2)
-- refused hogql_query_error at 1:8: "0 to 1"
-- case: names of languages
select languageCodeToName('de'), languageCodeToName('zh'), languageCodeToName('qq'), languageCodeToName(properties.nope) from events limit 1
-- rows [["German", "Chinese", "Unknown", "Unknown"]]
-- case: bytes as other types
select reinterpretAsUInt16('ab'), reinterpretAsUInt32('abcd'), reinterpretAsInt8(unhex('FF')), reinterpretAsFloat64(unhex('000000000000F03F')), toString(reinterpretAsUInt128('a'))
-- rows [[25185, 1684234849, -1, 1.0, "97"]]
-- case: sources of visitors
select lookupDomainType('www.google.co.uk'), lookupDomainType('t.co'), lookupDomainType('m.facebook.com'), lookupDomainType('youtube.com'), lookupDomainType('a.com'), lookupPaidMediumType('CPC'), lookupPaidSourceType('Facebook'), lookupOrganicSourceType('bing'), lookupOrganicMediumType('email'), lookupOrganicMediumType(null)
-- rows [["Search", "Social", "Social", "Video", null, "Paid Search", "Paid Social", "Organic Search", "Email", null]]
-- case: what PostHog draws in its tables
select sparkline([1, 2]), recordingButton('s1', 'active')
-- rows [[["__hx_tag", "Sparkline", "data", [1, 2]], ["__hx_tag", "RecordingButton", "sessionId", "s1", "recordingStatus", "active"]]]
-- case: answers to surveys
select getSurveyResponse(0), getSurveyResponse(1), getSurveyResponse(1, 'q'), getSurveyResponse(2, 'm', true) from (select '{"$survey_response": "a", "$survey_response_1": "b", "$survey_response_q": "c", "$survey_response_m": ["x", "y"]}' as properties)
-- rows [["a", "b", "c", ["\"x\"", "\"y\""]]]
-- case: submissions of surveys
select count() from events where uniqueSurveySubmissionsFilter('s1', toDateTime('2026-01-01'), now())
-- rows [[0]]
-- case: not by a column
select getSurveyResponse(event) from events
-- refused hogql_query_error at 1:8: "index of a question"
-- case: what asks a model is refused with the reason
select embedText(event) from events
-- refused unknown_function at 1:8: "embedText"
-- case: a hash as text
select md5('a'), lower(md5('a'))
-- rows [["0CC175B9C0F1B6A831C399E269772661", "0cc175b9c0f1b6a831c399e269772661"]]
-- case: columns replaced in a star
select columns(* exclude (properties, elements_chain) replace (upper(event) as event, 1 as created_at)) from (select event, properties, elements_chain, created_at, distinct_id from events order by timestamp limit 1)
-- rows [["$PAGEVIEW", 1, "anon"]]
-- columns ["event", "created_at", "distinct_id"]
-- case: a star in brackets with a column replaced
select (* replace (n * 2 as n)) from (select 1 as m, 2 as n)
-- rows [[1, 4]]
-- case: a replaced column that is not there
select (* replace (1 as nope)) from (select 1 as m)
-- refused hogql_query_error at 1:8: "REPLACE names no column: nope"
