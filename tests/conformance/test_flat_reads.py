"""Flat reads give the same rows as subqueries where names invite confusion: aliases named as
columns and tables, lambda arguments, queries inside queries of the same table."""

import msgspec
import pytest

from hoglet.hogql import compile as stages
from support.hogql_generated import CONTEXT
from support.hogql_world import HogqlWorld

PINNED = msgspec.structs.replace(CONTEXT, is_now_pinned=True)
SHARDED = msgspec.structs.replace(PINNED, is_sharded=True)
QUERIES = """
select upper(event) as event, count() from events where event = 'PAID' group by event
select upper(event) as event, count() from events where events.event = 'paid' group by event
select toStartOfDay(timestamp) as timestamp, count() from events group by timestamp
select distinct_id as event, event as distinct_id, count() from events group by event, distinct_id
select count() as project_id from events
select 1 as person_id, max(timestamp) as timestamp, min(events.timestamp) from events
select event, (select count() from events where event = 'paid') as events from events group by event
select events.event as events, count() from events group by events
select arrayMap(event -> event || 'x', [event]) as a, count() from events group by a
select arrayMap(e -> e.1, [(event, 1)]) as a, count() from events e group by a
select properties.$browser as properties, count() from events group by properties
select properties.price as price, count() from events where price > 10 group by price
select event, timestamp as t from events order by t desc limit 1 by event
select count() from events e where e.event in (select event from events e where e.event = 'paid')
select count() from events where exists (select 1 from events f where f.uuid > events.uuid)
select uniq(distinct_id) as distinct_id, count() from events having distinct_id > 1
select event from events where uuid = (select max(uuid) from events)
select event from events where 0 union all select distinct_id as event from events
with x as (select event as properties from events) select properties, count() from x group by 1
select coalesce(properties.plan, event) as `$session_id`, count() from events group by `$session_id`
""".strip().splitlines()


@pytest.mark.parametrize("query", QUERIES)
def test_rows_are_the_same(
    query: str, generated_world: HogqlWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    flat, shortest = (generated_world.rows(query, context=each) for each in (SHARDED, PINNED))
    monkeypatch.setattr(stages, "flatten", lambda relation: relation)
    nested = generated_world.rows(query, context=PINNED)

    assert sorted(flat, key=repr) == sorted(shortest, key=repr) == sorted(nested, key=repr)
    assert nested != []
