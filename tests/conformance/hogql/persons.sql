-- case: the person of an event follows merges
select distinct_id, person_id from events order by timestamp limit 2
-- rows [["anon", "00000000-0000-0000-0000-00000000000a"], ["ann", "00000000-0000-0000-0000-00000000000a"]]
-- case: properties of the person as it is now, and as it was at the event
select person.properties.email, poe.properties.email from events order by timestamp desc limit 1
-- rows [["bob@a.com", "then@a.com"]]
-- case: persons show the newest version and no deleted ones
select id, properties.email, is_identified from persons order by id
-- rows [["00000000-0000-0000-0000-00000000000a", "ann@b.com", true], ["00000000-0000-0000-0000-00000000000b", "bob@a.com", false]]
-- case: several lazy joins in one query
select event, company.properties.name, group_0.properties.size, session.$pageview_count, pdi.person_id from events where company.properties.name = 'Acme' order by timestamp
-- rows [["$pageview", "Acme", 10.0, 2, "00000000-0000-0000-0000-00000000000a"], ["$pageview", "Acme", 10.0, 2, "00000000-0000-0000-0000-00000000000a"], ["purchase", "Acme", 10.0, null, "00000000-0000-0000-0000-00000000000a"]]
-- case: a join condition may use a lazily joined column
select p.properties.email, count() from events e join persons p on e.person_id = p.id group by 1 order by 1
-- rows [["ann@b.com", 4], ["bob@a.com", 2]]
-- case: the right side may be lazy too
select p.properties.email, count() from persons p left join events e on e.person_id = p.id group by 1 order by 1
-- rows [["ann@b.com", 4], ["bob@a.com", 2]]
-- case: cohorts
select count() from events where person_id in cohort 5
-- rows [[4]]
-- case: not in a cohort
select count() from events where person_id not in cohort 5
-- rows [[2]]
-- case: sessions are computed from events
select session_id, $pageview_count, $autocapture_count, $session_duration, $is_bounce, $channel_type, $entry_current_url from sessions order by session_id
-- rows [["s1", 2, 1, 360, false, "Unknown", "https://a.com/x?utm=g"], ["s2", 1, 0, 600, false, "Unknown", null]]
-- case: fields of the session are null for an event without one
select session.$session_duration, session.$start_timestamp, session.$channel_type, session.$pageview_count, session.$urls from events where $session_id = '' limit 1
-- rows [[null, null, null, null, []]]
-- case: an event without a session has no short one
select count() from events where session.$session_duration < 1 and $session_id = ''
-- rows [[0]]
-- case: using
select session_id, count() from (select $session_id as session_id from events) e join sessions using (session_id) group by session_id order by 1
-- rows [["s1", 3], ["s2", 2]]
-- case: elements
select elements_chain_href, elements_chain_texts, elements_chain_ids, elements_chain_elements from events where event = '$autocapture'
-- rows [["https://a.com/z", ["Go"], ["go"], ["a"]]]
-- case: groups
select index, key, properties.name from groups order by index
-- rows [[0, "acme", "Acme"], [1, "acme", "Not me"]]
-- case: distinct ids of a person
select pdi.distinct_id from persons where properties.email = 'bob@a.com'
-- rows [["bob"]]
