"""Generated HogQL queries and insight queries, of every shape that reads tables."""

from typing import Any

from hypothesis import strategies as st

_COLUMNS = st.sampled_from(
    ["event", "person.properties.email", "person_id", "session.$pageview_count", "1", "count()",
     "company.properties.name", "properties.`a``b`", "properties['x\\'y']", "pdi.person_id",
     "(select count() from persons)", "toString(timestamp)", "goe_0.key", "poe.properties.email",
     "session.$channel_type", "(select groupArray(key) from groups)", "elements_chain_texts",
     "(select any(message) from log_entries)", "arrayMap(project_id -> project_id, [1])",
     "uniq(distinct_id) over ()", "(with x as (select id from persons) select count() from x)"]
)  # fmt: skip
_NAMES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="`\\\x00"), min_size=1, max_size=12),
    st.sampled_from(["project_id", "events", "FROM events", "v0", "person_id", "WHERE 1 --"]),
)
_CONDITIONS = st.sampled_from(
    ["1", "true or false", "event = 'x'", "person_id in (select id from persons)", "{filters}",
     "person_id in cohort 5", "event in (select event from events where properties.p = 1)",
     "exists(select 1 from groups)", "event = {variables.v}", "not (1 = 2) or project_id_ = 1",
     "distinct_id in (select distinct_id from person_distinct_ids union all select 'x')",
     "matchesAction('Buy')", "person.properties.email ilike '%a%' or 1 = 1",
     "person_id not in cohort 5", "timestamp > (select min($start_timestamp) from sessions)"]
)  # fmt: skip
_SOURCES = st.sampled_from(
    ["events", "events e", "events as persons", "(select * from events) as events",
     "(select * from events union all select * from events) as e", "events sample 0.5",
     "events e join persons p on e.person_id = p.id", "events e, daily_v1 d",
     "events left join sessions on events.$session_id = sessions.session_id",
     "events e full outer join person_distinct_ids d on d.distinct_id = e.distinct_id",
     "events e cross join groups g", "(select * from events except select * from events) as e",
     "events array join [1, 2] as project_id", "events e left join cohort_people c using person_id"]
)  # fmt: skip
_TAILS = st.sampled_from(
    ["", " limit 3", " order by 1", " group by all", " limit 1 by 1", " offset 1",
     " group by rollup(event)", " having 1", " qualify row_number() over (order by 1) < 5"]
)  # fmt: skip


@st.composite
def queries(draw: st.DrawFn) -> str:
    """HogQL text; some of it does not compile."""
    columns = draw(st.lists(_COLUMNS, min_size=1, max_size=4))
    aliased = [f"{column} as `{draw(_NAMES)}`" for column in columns]
    where = draw(_CONDITIONS)
    query = f"select {', '.join(aliased)} from {draw(_SOURCES)} where {where}{draw(_TAILS)}"
    shape = draw(st.sampled_from(["plain", "with", "union", "inside", "shadow"]))
    if shape == "with":
        return f"with c as ({query}) select * from c, (select 1 as one from c) as d"
    if shape == "union":
        return f"{query} union all {query}"
    if shape == "inside":
        return f"select count(), (select count() from events) from ({query}) as project_id"
    if shape == "shadow":
        return f"with events as (select * from persons) {query}"
    return query


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
