-- case: fields of events
select uuid, event, timestamp, distinct_id, created_at, $session_id, $window_id, person_mode, $group_0, $group_4, person_id, person.id, person.is_identified, group_0.key, group_0.index, goe_0.properties.size, company.properties.name, session.$pageview_count, poe.id, poe.properties.email, pdi.person_id from events order by timestamp limit 1
-- rows [["10000000-0000-0000-0000-000000000001", "$pageview", "2026-01-05 10:00:00", "anon", "2026-01-05 10:00:00", "s1", "w1", "full", "acme", "", "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000a", true, "acme", 0, 10.0, "Acme", 2, "00000000-0000-0000-0000-00000000000d", "then@a.com", "00000000-0000-0000-0000-00000000000a"]]
-- case: what an element chain holds
select elements_chain_href, elements_chain_texts, elements_chain_ids, elements_chain_elements from events where elements_chain != ''
-- rows [["https://a.com/z", ["Go"], ["go"], ["a"]]]
-- case: fields of persons
select id, created_at, properties, is_identified, pdi.distinct_id from persons order by id, pdi.distinct_id limit 1
-- rows [["00000000-0000-0000-0000-00000000000a", "2026-01-01 00:00:00", "{\"email\":\"ann@b.com\",\"plan\":\"pro\"}", true, "ann"]]
-- case: distinct ids with their persons
select distinct_id, person_id, person.properties.email from person_distinct_ids order by distinct_id
-- rows [["ann", "00000000-0000-0000-0000-00000000000a", "ann@b.com"], ["anon", "00000000-0000-0000-0000-00000000000a", "ann@b.com"], ["bob", "00000000-0000-0000-0000-00000000000b", "bob@a.com"]]
-- case: overrides
select distinct_id, person_id, person.properties.email from person_distinct_id_overrides
-- rows [["anon", "00000000-0000-0000-0000-00000000000a", "ann@b.com"]]
-- case: fields of groups
select index, key, created_at, updated_at, properties.size, properties.name from groups order by index
-- rows [[0, "acme", "2026-01-01 00:00:00", "2026-01-01 00:00:00", 10.0, "Acme"], [1, "acme", "2026-01-01 00:00:00", "2026-01-01 00:00:00", null, "Not me"]]
-- case: members of cohorts
select cohort_id, person_id, person.properties.email from cohort_people union all select cohort_id, person_id, person.properties.email from static_cohort_people
-- rows [[5, "00000000-0000-0000-0000-00000000000a", "ann@b.com"]]
-- case: membership by the number of a cohort
-- variables {"c": 5}
select countIf(person_id in cohort 5), countIf(person_id not in cohort 5), countIf(person_id in cohort {variables.c}) from events
-- rows [[4, 2, 4]]
-- case: fields of sessions
select session_id, id, distinct_id, $start_timestamp, $end_timestamp, $urls, $num_uniq_urls, $entry_current_url, $end_current_url, $exit_current_url, $pageview_count, $autocapture_count, $screen_count, $session_duration, duration, $is_bounce, $channel_type from sessions order by session_id limit 1
-- rows [["s1", "s1", "anon", "2026-01-05 10:00:00", "2026-01-05 10:06:00", ["https://a.com/x?utm=g", "https://a.com/y"], 2, "https://a.com/x?utm=g", "https://a.com/y", "https://a.com/y", 2, 1, 0, 360, 360, false, "Unknown"]]
-- case: more fields of sessions
select $entry_pathname, $entry_hostname, $end_pathname, $end_hostname, $exit_pathname, $entry_referring_domain, $entry_referrer, $entry_utm_source, $entry_utm_campaign, $entry_utm_medium, $entry_utm_term, $entry_utm_content, $entry_gclid, $entry_fbclid, $entry_msclkid, $last_external_click_url from sessions order by session_id limit 1
-- rows [["/x", "a.com", "/y", "a.com", "/y", null, null, null, null, null, null, null, null, null, null, null]]
-- case: hoglet's own tables
select (select count(1) from query_log), (select count() from app_metrics), (select count() from log_entries)
-- rows [[0, 0, 1]]
-- case: tables that are there without rows
select (select count() from session_replay_events), (select count() from heatmaps), (select count() from batch_export_log_entries), (select count() from console_logs_log_entries)
-- rows [[0, 0, 0, 0]]
-- case: numbers and materialized endpoints
select number, day, views from numbers(2) cross join daily_v1 order by number
-- rows [[0, "2026-01-05", 3], [1, "2026-01-05", 3]]
-- case: SELECT * brings what is stored
select * from persons order by id limit 1
-- columns ["id", "created_at", "properties", "is_identified"]
-- case: and of events the person's id, no joined tables
select * from events limit 0
-- columns ["uuid", "event", "properties", "timestamp", "distinct_id", "elements_chain", "created_at", "$session_id", "$window_id", "person_mode", "$group_0", "$group_1", "$group_2", "$group_3", "$group_4", "person_id"]
-- case: columns(...) by names, by pattern, without some
select columns('^(event|uuid)$') from events limit 0
-- columns ["uuid", "event"]
-- case: EXCLUDE leaves some out
select * exclude (properties, created_at) from persons limit 0
-- columns ["id", "is_identified"]

-- case: FINAL is what every table shows anyway
select count(), count(distinct e.person_id) from events as e final join persons as p final on p.id = e.person_id
-- rows [[6, 2]]
-- case: parts of a sample add up to all
select (select count() from events sample 1/2) + (select count() from events sample 1/2 offset 1/2), (select count() from events sample 0.5 offset 0.9)  <= 6
-- rows [[6, true]]
-- case: the issue of an exception
select issue_id, event_issue_id, count() from events group by 1, 2
-- rows [[null, null, 6]]
-- case: raw sessions
select session_id_v7, distinct_id, min_timestamp, max_timestamp, entry_url, pageview_count, vitals_lcp from raw_sessions order by min_timestamp
-- rows [[null, "anon", "2026-01-05 10:00:00", "2026-01-05 10:06:00", "https://a.com/x?utm=g", 2, null], [null, "bob", "2026-01-07 09:00:00", "2026-01-07 09:10:00", null, 1, null]]
-- case: more of sessions
select session_id_v7, $vitals_lcp from sessions limit 1
-- rows [[null, null]]
-- case: recordings begin and end
select start_time, end_time, snapshot_source from session_replay_events
-- rows []
-- case: who sent an event, computed from its user agent
select $virt_is_bot, properties.$virt_traffic_type, $virt_traffic_category, $virt_bot_name, $virt_bot_operator, count() from events where not properties.$virt_is_bot and properties.$virt_is_bot = 'false' group by 1, 2, 3, 4, 5
-- rows [[false, "Regular", "regular", "", "", 6]]
-- case: where persons came from first
select properties.$virt_initial_referring_domain_type, count() from persons where properties.$virt_initial_channel_type = 'Unknown' group by 1
-- rows [[null, 2]]
-- case: recordings, of which there are none, know their person and session
select person.properties.email, min_first_timestamp as start, recordingButton(session_id), session.$session_duration, pdi.person.id from raw_session_replay_events where min_first_timestamp >= now() - interval 1 day and person.properties.plan = 'pro' order by start desc limit 10
-- rows []
-- case: counted by person
select r.person.properties.email as email, count() from session_replay_events r group by email
-- rows []
-- case: fields of recordings that do not exist
select person.nmae from session_replay_events
-- refused hogql_query_error at 1:8: "person.nmae"
-- case: a person of a recording as a whole
select person from session_replay_events
-- refused hogql_query_error at 1:8: "use one of its fields"
