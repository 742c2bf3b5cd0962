"""Generated HogQL and insight queries of every shape that reads tables."""

from typing import Any

from hypothesis import strategies as st

_COLUMNS = st.sampled_from(
    ["event", "person.properties.email", "person_id", "session.$pageview_count", "1", "count()",
     "company.properties.name", "properties.`a``b`", "properties['x\\'y']", "pdi.person_id",
     "(select count() from persons)", "toString(timestamp)", "goe_0.key", "poe.properties.email",
     "session.$channel_type", "(select groupArray(key) from groups)", "elements_chain_texts",
     "(select any(message) from log_entries)", "arrayMap(project_id -> project_id, [1])",
     "uniq(distinct_id) over ()", "(with x as (select id from persons) select count() from x)",
     "(select count() from query_log)", "(select sum(count) from app_metrics)",
     "(select views from daily_v1 limit 1)", "(select count() from heatmaps)",
     "extract(day from timestamp)", "substring(event from 2)", "[(select any(id) from persons)]",
     "f'{event} {(select count() from groups)}'", "{'k': (select count() from cohort_people)}",
     "arrayMap(x -> (select count() from static_cohort_people), [1])",
     "if(event in (select key from groups), 1, (select count() from sessions))",
     "case when exists(select 1 from person_distinct_ids) then event end",
     "row_number() over (partition by person.id order by (select 1 from groups) nulls first)",
     "countIf(person_id in (select person_id from person_distinct_id_overrides))",
     "(select count() from (select * from events union distinct select * from events))",
     "string_agg(distinct event, ',')", "pdi.person.properties.email", "(event, person.id).2",
     "cast((select any(key) from groups) as int)", "(select 1 intersect select 1 from events)"]
)  # fmt: skip
_NAMES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="`\\\x00"), min_size=1, max_size=12),
    st.sampled_from(["project_id", "events", "FROM events", "v0", "person_id", "WHERE 1 --"]),
    st.sampled_from(
        ["persons", "system", "numbers", "WITH FILL FROM events", "{project_id:Int64}"]
    ),
)
_CONDITIONS = st.sampled_from(
    ["1", "true or false", "event = 'x'", "person_id in (select id from persons)", "{filters}",
     "person_id in cohort 5", "event in (select event from events where properties.p = 1)",
     "exists(select 1 from groups)", "event = {variables.v}", "not (1 = 2) or project_id_ = 1",
     "distinct_id in (select distinct_id from person_distinct_ids union all select 'x')",
     "matchesAction('Buy')", "person.properties.email ilike '%a%' or 1 = 1",
     "person_id not in cohort 5", "timestamp > (select min($start_timestamp) from sessions)",
     "(event, distinct_id) in (select event, distinct_id from events)",
     "event is distinct from 'x'",
     "event between (select min(event) from events) and (select max(key) from groups)",
     "person_id in (select person_id from static_cohort_people except select id from persons)",
     "arrayExists(x -> x in (select message from log_entries), [event])",
     "1 = (select count() from query_log) or (select count() from app_metrics) >= 0",
     "session.$is_bounce or company.properties.size > 1", "pdi.person.id = person.id"]
)  # fmt: skip
_SOURCES = st.sampled_from(
    ["events", "events e", "events as persons", "(select * from events) as events",
     "(select * from events union all select * from events) as e", "events sample 0.5",
     "events e join persons p on e.person_id = p.id", "events e, daily_v1 d",
     "events left join sessions on events.$session_id = sessions.session_id",
     "events e full outer join person_distinct_ids d on d.distinct_id = e.distinct_id",
     "events e cross join groups g", "(select * from events except select * from events) as e",
     "events array join [1, 2] as project_id", "events e left join cohort_people c using person_id",
     "events any left join person_distinct_id_overrides o on events.distinct_id = o.distinct_id",
     "events any left join (select distinct_id as d from person_distinct_ids) on distinct_id = d",
     "events e semi join persons p on e.person_id = p.id and p.properties.email != ''",
     "events e anti join static_cohort_people c on e.person_id = c.person_id",
     "events asof join (select event d, timestamp as t from events) on event = d and timestamp > t",
     "events e right join (select distinct_id as d from person_distinct_ids) on e.distinct_id = d",
     "events e inner join query_log q on e.event = q.endpoint", "events e cross join app_metrics m",
     "events e left join log_entries l on l.message = e.event", "numbers(2) n cross join events e",
     "events left array join [(select count() from persons)] as a", "events e, heatmaps h",
     "events prewhere person.properties.email != ''", "events e cross join events f",
     "(with p as (select * from persons) select e.* from events e join p on e.person_id = p.id)",
     "(select * from (select * from (select * from events))) as events"]
)  # fmt: skip
_TAILS = st.sampled_from(
    ["", " limit 3", " order by 1", " group by all", " limit 1 by 1", " offset 1",
     " group by rollup(event)", " having 1", " qualify row_number() over (order by 1) < 5",
     " group by event with cube",
     " group by grouping sets ((event), ((select count() from groups)))",
     " order by (select count() from persons) desc nulls first", " order by all",
     " order by timestamp with fill from (select min(timestamp) from events)",
     " order by event limit 2 with ties",
     " having count() > (select count() from sessions)", " limit 2 offset 1 by person.id",
     " qualify count() over w > (select count() from groups) window w as (partition by person.id)"]
)  # fmt: skip
_SET_OPERATORS = st.sampled_from(
    ["union all", "union distinct", "intersect", "intersect distinct", "except"]
)
_SHAPES = st.sampled_from(
    ["{q}", "{q}", "{q}", "({q}) limit 2", "{q} {operator} {q}",
     "with c as ({q}) select * from c, (select 1 as one from c) as d",
     "with a as ({q}), b as (select * from a), c as (select 1 from a, b) select * from c",
     "select count(), (select count() from events) from ({q}) as project_id",
     "with events as (select * from persons) {q}", "select ({q}), [({q})] from numbers(2)",
     "select count() from events where event in ({q}) or not exists({q})",
     "with (select count() from groups) as project_id {q}"]
)  # fmt: skip


@st.composite
def queries(draw: st.DrawFn) -> str:
    """HogQL text of every shape that reads tables; some of it does not compile."""
    columns = draw(st.lists(_COLUMNS, min_size=1, max_size=4))
    aliased = [f"{column} as `{draw(_NAMES)}`" for column in columns]
    where = draw(_CONDITIONS)
    query = f"select {', '.join(aliased)} from {draw(_SOURCES)} where {where}{draw(_TAILS)}"
    shape = draw(_SHAPES).replace("{operator}", draw(_SET_OPERATORS))
    return shape.replace("{q}", query)


_SERIES = st.fixed_dictionaries(
    {"kind": st.just("EventsNode"), "event": st.sampled_from(["$pageview", "purchase", None])},
    optional={
        "math": st.sampled_from(
            ["total", "dau", "weekly_active", "unique_session", "unique_group",
             "first_time_for_user", "avg_count_per_actor"]
        ),
        "properties": st.just([{"key": "email", "value": "x", "type": "person"}]),
    },
)  # fmt: skip
_COMMON: dict[str, st.SearchStrategy[Any]] = {
    "dateRange": st.just({"date_from": "2026-01-04", "date_to": "2026-01-08"}),
    "interval": st.sampled_from(["day", "week", "hour"]),
    "properties": st.sampled_from(
        [[], [{"key": "1 or 1", "type": "hogql"}], [{"type": "cohort", "value": 5}],
         [{"key": "size", "type": "group", "value": 1, "operator": "gt"}],
         [{"key": "$pageview_count", "type": "session", "value": 0, "operator": "gt"}]]
    ),
    "filterTestAccounts": st.booleans(),
    "samplingFactor": st.sampled_from([None, 0.5]),
    "aggregation_group_type_index": st.sampled_from([None, 0]),
}  # fmt: skip
_BREAKDOWN = st.sampled_from(
    [None, {"breakdown": "$browser"}, {"breakdown": [5], "breakdown_type": "cohort"},
     {"breakdown": "email", "breakdown_type": "person", "breakdown_limit": 1},
     {"breakdowns": [{"property": "price", "histogram_bin_count": 2}, {"property": "plan"}]}]
)  # fmt: skip
_ENTITY = st.just({"id": "$pageview", "type": "events"})
_OPTIONAL = {"kind": "EventsNode", "event": "purchase", "optionalInFunnel": True}
_FUNNEL = {"kind": "FunnelsQuery", "series": [{"kind": "EventsNode", "event": None}, _OPTIONAL]}


def _insight(kind: str, **own: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"kind": st.just(kind), **_COMMON, **own})


insights = st.one_of(
    _insight(
        "TrendsQuery",
        series=st.lists(_SERIES, min_size=1, max_size=2),
        breakdownFilter=_BREAKDOWN,
        compareFilter=st.sampled_from([None, {"compare": True}]),
        trendsFilter=st.sampled_from([None, {"display": "BoldNumber"}, {"formula": "A * 2"}]),
    ),
    _insight(
        "FunnelsQuery",
        series=st.lists(
            st.just({"kind": "EventsNode", "event": "$pageview"}), min_size=2, max_size=3
        ).flatmap(lambda steps: st.sampled_from([steps, [*steps, _OPTIONAL]])),
        breakdownFilter=_BREAKDOWN,
        funnelsFilter=st.fixed_dictionaries(
            {
                "funnelVizType": st.sampled_from(["steps", "trends", "time_to_convert"]),
                "funnelOrderType": st.sampled_from(["ordered", "strict", "unordered"]),
                "breakdownAttributionType": st.sampled_from(
                    ["first_touch", "last_touch", "all_events"]
                ),
                "exclusions": st.sampled_from([None, [{"event": "purchase"}]]),
            }
        ),
    ),
    _insight(
        "RetentionQuery",
        breakdownFilter=_BREAKDOWN,
        retentionFilter=st.fixed_dictionaries(
            {
                "retentionType": st.sampled_from(["retention_recurring", "retention_first_time"]),
                "cumulative": st.booleans(),
                "retentionCustomBrackets": st.sampled_from([None, [1, 2]]),
                "targetEntity": _ENTITY,
                "returningEntity": _ENTITY,
            }
        ),
    ),
    _insight("LifecycleQuery", series=st.lists(_SERIES, min_size=1, max_size=1)),
    _insight(
        "StickinessQuery",
        series=st.lists(_SERIES, min_size=1, max_size=1),
        intervalCount=st.sampled_from([None, 2]),
    ),
    _insight(
        "PathsQuery",
        pathsFilter=st.sampled_from(
            [{}, {"includeEventTypes": ["$pageview"], "endPoint": "https://a.com/y"},
             {"includeEventTypes": ["hogql"], "pathsHogQLExpression": "event"}]
        ),
        funnelPathsFilter=st.sampled_from([None, {"funnelStep": 1, "funnelSource": _FUNNEL}]),
    ),
)  # fmt: skip
