"""Every member of an insight query changes its answer or is refused: none is silently ignored.

The members are those of the schema (``hoglet.hogql.query_json.nodes``), so a new one without a case
here fails. ``WITHOUT_EFFECT`` says why a member may change nothing.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from hoglet.endpoints.query_schema import expand
from hoglet.hogql import compile_query
from hoglet.hogql.insights.plan import build_insight
from hoglet.hogql.query_json import nodes
from hoglet.kit.errors import HogletError
from support.hogql_generated import CONTEXT
from support.hogql_world import HogqlWorld
from support.seeds import thinned

PINNED = msgspec.structs.replace(CONTEXT, is_now_pinned=True)
RANGE = {"date_from": "2026-10-19", "date_to": "2026-11-01"}
PAID, ADDED, VIEW = (
    {"kind": "EventsNode", "event": name} for name in ("paid", "added", "$pageview")
)
BROWSER = [{"key": "$browser", "value": "Chrome"}]

type Body = dict[str, Any]

BODIES: dict[str, Body] = {
    "TrendsQuery": {"series": [PAID, ADDED]},
    "FunnelsQuery": {"series": [VIEW, PAID]},
    "RetentionQuery": {
        "retentionFilter": {
            "targetEntity": {"id": "$pageview", "type": "events"},
            "returningEntity": {"id": "paid", "type": "events"},
        }
    },
    "PathsQuery": {"pathsFilter": {"includeEventTypes": ["$pageview"]}},
    "LifecycleQuery": {"series": [VIEW]},
    "StickinessQuery": {"series": [VIEW]},
}
PARTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        key: (key, nodes.NODES[kind][key])
        for kind, keys in {
            "TrendsQuery": ("dateRange", "compareFilter", "breakdownFilter", "trendsFilter"),
            "FunnelsQuery": ("funnelsFilter",),
            "RetentionQuery": ("retentionFilter",),
            "PathsQuery": ("pathsFilter",),
            "LifecycleQuery": ("lifecycleFilter",),
            "StickinessQuery": ("stickinessFilter",),
        }.items()
        for key in keys
    },
    "series": ("series.0", nodes.SERIES["EventsNode"]),
}
VALUES: dict[str, Any] = {
    # of every insight
    "interval": "week",
    "properties": BROWSER,
    "fixedProperties": BROWSER,
    "filterTestAccounts": True,
    "samplingFactor": 0.4,
    "aggregation_group_type_index": 0,
    "date_from": "2026-10-25",
    "date_to": "2026-10-28",
    "explicitDate": True,
    "excludeIncompletePeriods": True,
    "daysOfWeek": [1, 2],
    "compare": True,
    "compare_to": "-1w",
    # series
    "event": "$screen",
    "math": "dau",
    "math_multiplier": 2,
    "math_property": "price",
    "math_property_type": "person_properties",
    "math_property_revenue_currency": {"property": "currency"},
    "math_hogql": "uniq(properties.country)",
    "math_group_type_index": 1,
    "optionalInFunnel": True,
    # of breakdowns
    "breakdown": "$os",
    "breakdown_type": "person",
    "breakdown_limit": 1,
    "breakdown_normalize_url": True,
    "breakdown_group_type_index": 1,
    "breakdown_histogram_bin_count": 2,
    "breakdown_hide_other_aggregation": True,
    "breakdowns": [{"type": "event", "property": "$os"}],
    # trends
    "conversionGoal": {"actionId": 1},
    "smoothingIntervals": 3,
    "formula": "A + B",
    "formulas": ["A + B"],
    "formulaNodes": [{"formula": "A + B"}],
    "display": "ActionsPie",
    "hideWeekends": True,
    "calendarHeatmapFilter": {"bucketBySessionStart": True},
    # funnels
    "exclusions": [
        {"kind": "EventsNode", "event": "added", "funnelFromStep": 0, "funnelToStep": 1}
    ],
    "binCount": 4,
    "breakdownAttributionType": "last_touch",
    "breakdownAttributionValue": 1,
    "funnelAggregateByHogQL": "properties.$os",
    "funnelToStep": 1,
    "funnelFromStep": 1,
    "funnelOrderType": "strict",
    "funnelVizType": "trends",
    "funnelWindowInterval": 1,
    "funnelWindowIntervalUnit": "second",
    # retention
    "retentionType": "retention_first_time",
    "totalIntervals": 4,
    "minimumOccurrences": 2,
    "returningEntity": {"id": "$screen", "type": "events"},
    "targetEntity": {"id": "$screen", "type": "events"},
    "cumulative": True,
    "period": "Week",
    "timeWindowMode": "24_hour_windows",
    "retentionCustomBrackets": [1, 2],
    "aggregationType": "sum",
    "aggregationProperty": "nothing",
    "aggregationPropertyType": "person",
    # paths
    "edgeLimit": 3,
    "pathsHogQLExpression": "event",
    "includeEventTypes": ["$screen"],
    "startPoint": "https://x.com/pricing",
    "endPoint": "https://x.com/pricing",
    "pathGroupings": ["https://x.com/docs/*"],
    "excludeEvents": ["https://x.com/pricing"],
    "stepLimit": 2,
    "localPathCleaningFilters": [{"alias": "x", "regex": "docs.*", "order": 0}],
    "minEdgeWeight": 4,
    "maxEdgeWeight": 4,
    "funnelPathsFilter": {
        "funnelPathType": "funnel_path_after_step",
        "funnelSource": {"kind": "FunnelsQuery", "series": [VIEW, PAID]},
        "funnelStep": 1,
    },
    # lifecycle and stickiness
    "toggledLifecycles": ["new"],
    "computedAs": "cumulative",
    "stickinessCriteria": {"operator": "gte", "value": 3},
    "intervalCount": 2,
}
_EVENT = {"breakdown": "$browser", "breakdown_type": "event"}
NEEDS: dict[str, Body] = {
    "TrendsQuery.aggregation_group_type_index": {"series.0.math": "dau"},
    "TrendsQuery.calendarHeatmapFilter": {
        "trendsFilter.display": "CalendarHeatmap",
        "series.0.math": "dau",
    },
    "series.0.math_property": {"series.0.math": "sum", "series.0.math_property": "none"},
    "series.0.math_property_type": {"series.0.math": "sum", "series.0.math_property": "price"},
    "series.0.math_property_revenue_currency": {
        "series.0.math": "sum",
        "series.0.math_property": "price",
    },
    "series.0.math_hogql": {"series.0.math": "hogql", "series.0.math_hogql": "uniq(event)"},
    "series.0.math_group_type_index": {
        "series.0.math": "unique_group",
        "series.0.math_group_type_index": 0,
    },
    "dateRange.explicitDate": {"dateRange.date_from": "2026-10-20T12:00:00"},
    "dateRange.excludeIncompletePeriods": {"dateRange.date_to": None},
    "compareFilter.compare_to": {"compareFilter.compare": True},
    "breakdownFilter.breakdown_type": _EVENT,
    "breakdownFilter.breakdown_limit": _EVENT,
    "TrendsQuery.breakdownFilter.breakdown_normalize_url": {
        "series": [VIEW],
        "breakdown": "$current_url",
        "breakdown_type": "event",
    },
    "breakdownFilter.breakdown_normalize_url": {
        "breakdown": "$current_url",
        "breakdown_type": "event",
    },
    "breakdownFilter.breakdown_group_type_index": {
        "breakdown": "size",
        "breakdown_type": "group",
        "breakdown_group_type_index": 0,
    },
    "breakdownFilter.breakdown_histogram_bin_count": {
        "breakdown": "price",
        "breakdown_type": "event",
    },
    "RetentionQuery.breakdownFilter.breakdown_histogram_bin_count": {
        "retentionFilter.targetEntity": {"id": "paid", "type": "events"},
        "breakdownFilter.breakdown": "price",
        "breakdownFilter.breakdown_type": "event",
    },
    "breakdownFilter.breakdown_hide_other_aggregation": _EVENT | {"breakdown_limit": 1},
    "funnelsFilter.binCount": {"funnelsFilter.funnelVizType": "time_to_convert"},
    "funnelsFilter.breakdownAttributionType": {
        f"breakdownFilter.{key}": value for key, value in {**_EVENT, "breakdown": "country"}.items()
    },
    "funnelsFilter.breakdownAttributionValue": {
        "funnelsFilter.breakdownAttributionType": "step",
        **{
            f"breakdownFilter.{key}": each
            for key, each in {**_EVENT, "breakdown": "country"}.items()
        },
    },
    "funnelsFilter.funnelToStep": {
        "funnelsFilter.funnelVizType": "time_to_convert",
        "series": [VIEW, ADDED, PAID],
    },
    "funnelsFilter.funnelFromStep": {
        "funnelsFilter.funnelVizType": "time_to_convert",
        "series": [VIEW, ADDED, PAID],
    },
    "FunnelsQuery.interval": {"funnelsFilter.funnelVizType": "trends"},
    "retentionFilter.aggregationType": {"retentionFilter.aggregationProperty": "price"},
    "retentionFilter.aggregationProperty": {
        "retentionFilter.aggregationType": "sum",
        "retentionFilter.aggregationProperty": "price",
    },
    "retentionFilter.aggregationPropertyType": {
        "retentionFilter.aggregationType": "sum",
        "retentionFilter.aggregationProperty": "price",
    },
    "pathsFilter.pathsHogQLExpression": {
        "pathsFilter.includeEventTypes": ["hogql"],
        "pathsFilter.pathsHogQLExpression": "properties.$os",
    },
}
_NAMES = "kind version response tags modifiers name custom_name dataColorTheme"
_FUNNEL_MATH = "a step counts actors; only first_time_for_user changes what it matches"
WITHOUT_EFFECT = {
    "limit": "of the deprecated list of events",
    "orderBy": "of the deprecated list of events",
    "breakdown_path_cleaning": "projects have no rules for cleaning paths",
    "pathReplacements": "projects have no rules for cleaning paths",
    "RetentionQuery.dateRange.date_from": "the range has totalIntervals before date_to",
    "retentionFilter.display": "drawing",
    "stickinessFilter.display": "drawing",
    **{
        f"FunnelsQuery.series.0.{key}": _FUNNEL_MATH
        for key in nodes.SERIES["EventsNode"]
        if "math" in key
    },
    **{
        f"{kind}.series.0.{key}": "these insights count actors"
        for kind in ("LifecycleQuery", "StickinessQuery")
        for key in nodes.SERIES["EventsNode"]
        if "math" in key
    },
    **{
        f"{kind}.series.0.optionalInFunnel": "of funnels"
        for kind in ("TrendsQuery", "LifecycleQuery", "StickinessQuery")
    },
    **{
        f"{kind}.breakdownFilter.breakdown_hide_other_aggregation": "no value is lumped together"
        for kind in ("FunnelsQuery", "RetentionQuery")
    },
}


def members() -> Iterator[str]:
    """``TrendsQuery.trendsFilter.formula`` and so on."""
    for kind in BODIES:
        for key, shape in nodes.NODES[kind].items():
            if key in PARTS:
                path, part = PARTS[key]
                yield from (
                    f"{kind}.{path}.{each}"
                    for each, inner in part.items()
                    if inner is not nodes.ANY
                )
            elif shape is not nodes.ANY or key in VALUES:
                yield f"{kind}.{key}"


def is_tested(member: str) -> bool:
    kind, _, path = member.partition(".")
    key = path.rpartition(".")[2]
    if key in _NAMES.split():
        return False
    return not {member, f"{kind}.{key}", path, key} & WITHOUT_EFFECT.keys()


def put(body: Body, path: str, value: Any) -> None:
    *outer, key = path.split(".")
    inner: Any = body
    for part in outer:
        inner = inner[int(part)] if part.isdigit() else inner.setdefault(part, {})
    inner[key] = value


def answer(world: HogqlWorld, body: Body) -> Any:
    plan = build_insight(expand(body), PINNED)
    answers = [world.raw(compile_query(each, context=PINNED)) for each in plan.queries]
    return json.loads(json.dumps(plan.shape(answers), default=str))


@pytest.mark.parametrize("member", thinned(filter(is_tested, members()), 3))
def test_a_member_is_not_ignored(member: str, generated_world: HogqlWorld) -> None:
    kind, _, path = member.partition(".")
    part, _, key = path.rpartition(".")
    body = copy.deepcopy({"kind": kind, "dateRange": dict(RANGE)} | BODIES[kind])
    for path_needed, value in (NEEDS.get(member) or NEEDS.get(path) or {}).items():
        put(
            body,
            path_needed
            if "." in path_needed or path_needed == "series"
            else f"{part}.{path_needed}",
            value,
        )
    before = answer(generated_world, copy.deepcopy(body))

    put(body, path, VALUES[key])

    try:
        after = answer(generated_world, body)
    except HogletError:
        return
    assert after != before
