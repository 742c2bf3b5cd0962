"""The schema of query nodes: their keys and values. Unknown keys are errors.

A shape is one of: a tuple of types; ``Range``; ``ANY`` (stored as it is); a list of one shape,
followed by its maximum length; a dict of all keys; ``Choice``; ``PROPERTIES``; a function that
returns the shape of a value. Display options are ``ANY``.

Source: docs/spec/data-and-queries.md#74-closed-schema-of-nodes,
docs/spec/data-and-queries.md#75-series-and-display.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hoglet.hogql.errors import near, refused

type QueryNode = dict[str, Any]
"""A query as JSON, of any kind: ``{"kind": "HogQLQuery", "query": "SELECT 1"}``.

The values of its keys are those of the kind's shape once it is checked.
"""

type VariableValues = dict[str, Any]
"""Values of a query's variables by code name, of the variables' types: ``{"plan": "pro"}``."""

type Shape = Any

TEXT = (str,)
WHOLE = (int,)
NUMBER = (int, float)
WORD = (str, int, float)
FLAG = (bool,)
MOST = 10**9
"""Counts and indexes in queries; larger numbers are mistakes."""
ANY = "any"
PROPERTIES = "properties"
"""A list of property filters, or one group."""


class Choice(tuple[str, ...]):
    """An enumeration."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Range:
    """A whole number, bounds included."""

    low: int
    high: int = MOST


COUNT = Range(0)
FROM_ONE = Range(1)
GROUP_TYPE = Range(0, 4)
STEP = Range(0, 14)
"""A step of a funnel, from 0."""

INTERVALS = Choice(("second", "minute", "hour", "day", "week", "month", "quarter", "year"))
DISPLAYS = Choice((
    "Auto", "ActionsLineGraph", "ActionsLineGraphCumulative", "ActionsAreaGraph", "ActionsBar",
    "ActionsUnstackedBar", "ActionsStackedBar", "ActionsBarValue", "ActionsTable", "ActionsPie",
    "BoldNumber", "WorldMap", "CalendarHeatmap", "TwoDimensionalHeatmap", "BoxPlot", "FunnelViz",
    "PathsViz", "Metric", "SlopeGraph",
))  # fmt: skip


def _drawn(names: str) -> dict[str, Shape]:
    return dict.fromkeys(names.split(), ANY)


PROPERTY: dict[str, Shape] = {
    "key": WORD, "value": ANY, "operator": TEXT, "type": TEXT, "label": ANY, "negation": FLAG,
    "group_type_index": GROUP_TYPE, "group_key_names": ANY, "cohort_name": ANY,
}  # fmt: skip
PROPERTY_GROUP: dict[str, Shape] = {"type": TEXT, "id": ANY}


def property_shape(item: Mapping[str, Any]) -> Shape:
    """The keys of a property filter, or of a group."""
    return (
        PROPERTY if not isinstance(item.get("values"), list) or item.get("key") else PROPERTY_GROUP
    )


PROPERTY_GROUP["values"] = [property_shape]

DATE_RANGE: dict[str, Shape] = {
    "date_from": TEXT, "date_to": TEXT, "explicitDate": FLAG, "excludeIncompletePeriods": FLAG,
    "daysOfWeek": [Range(1, 7), 7],
}  # fmt: skip
COMPARE = {"compare": FLAG, "compare_to": TEXT}
MODIFIERS = _drawn(
    "bounceRateDurationSeconds bounceRatePageViewMode convertToProjectTimezone "
    "customChannelTypeRules dataWarehouseEventsModifiers debug "
    "forceClickhouseDataSkippingIndexes formatCsvAllowDoubleQuotes inCohortVia "
    "inlineCohortCalculation materializationMode materializedColumnsOptimizationMode "
    "optimizeJoinedFilters optimizeProjections parserMode personsArgMaxVersion personsJoinMode "
    "personsOnEventsMode propertyGroupsMode pushDownPredicates s3TableUseInvalidColumns "
    "sessionIdPushdown sessionPropertyPreAggregation sessionTableVersion sessionsV2JoinMode "
    "timings useMaterializedViews usePreaggregatedIntermediateResults "
    "usePreaggregatedTableTransforms usePresortedEventsTable useWebAnalyticsPreAggregatedTables"
)


class EachValue(tuple[Shape, ...]):
    """A map with arbitrary keys whose values have one shape."""

    __slots__ = ()


_MAP = EachValue((ANY,))
_NODE: dict[str, Shape] = {
    "kind": TEXT, "version": NUMBER, "response": ANY, "tags": _MAP, "modifiers": MODIFIERS,
}  # fmt: skip

# --- series

_MOST_MEMBERS = 50
_SERIES: dict[str, Shape] = {
    "kind": TEXT, "version": NUMBER, "response": ANY, "name": TEXT, "custom_name": TEXT,
    "math": TEXT, "math_multiplier": NUMBER, "math_property": TEXT, "math_property_type": TEXT,
    "math_property_revenue_currency": ANY, "math_hogql": TEXT, "math_group_type_index": GROUP_TYPE,
    "properties": PROPERTIES, "fixedProperties": PROPERTIES, "optionalInFunnel": FLAG,
}  # fmt: skip
SERIES: dict[str, dict[str, Shape]] = {
    "EventsNode": {**_SERIES, "event": TEXT, "limit": COUNT, "orderBy": [TEXT]},
    "ActionsNode": {**_SERIES, "id": WORD},
}
_ENTITY: dict[str, Shape] = {
    **_SERIES, "event": TEXT, "id": WORD, "type": TEXT, "order": WHOLE, "uuid": ANY,
}  # fmt: skip
"""Series of retention and exclusions; also ``{"id": "$pageview", "type": "events"}``."""


def series_kind(item: Mapping[str, Any]) -> str:
    """The kind of a series item; by default, a numeric ``id`` means an action.

    Raises:
        SourceError: an unknown kind.
    """
    kind = item.get("kind")
    if kind is None:
        is_action = isinstance(item.get("id"), int) and not isinstance(item.get("id"), bool)
        return "ActionsNode" if is_action else "EventsNode"
    if not isinstance(kind, str) or kind not in SERIES:
        hint = near(str(kind), SERIES) or f" Use one of {', '.join(SERIES)}."
        raise refused(f"Unknown kind of series '{kind}'.{hint}", code="invalid_choice", attr="kind")
    return kind


def _series_shape(item: Mapping[str, Any]) -> Shape:
    return SERIES[series_kind(item)]


def _member_shape(item: Mapping[str, Any]) -> Shape:
    kind = series_kind(item)
    if kind == "GroupNode":
        raise refused("A GroupNode can contain only events and actions.", attr="kind")
    return SERIES[kind]


SERIES["GroupNode"] = {
    **_SERIES, "operator": Choice(("OR",)), "nodes": [_member_shape, _MOST_MEMBERS],
    "limit": COUNT, "orderBy": [TEXT],
}  # fmt: skip
"""Events that match any of several series; its own ``math`` counts, not theirs."""
_SERIES_LIST = [_series_shape]

# --- parts of insights

_BINS = Range(1, 100)
_BREAKDOWN_TYPES = Choice(
    ("event", "person", "event_metadata", "session", "hogql", "cohort", "group")
)
BREAKDOWN: dict[str, Shape] = {
    "breakdown": ANY, "breakdown_type": _BREAKDOWN_TYPES, "breakdown_limit": Range(1, 10_000),
    "breakdown_normalize_url": FLAG, "breakdown_group_type_index": GROUP_TYPE,
    "breakdown_histogram_bin_count": _BINS, "breakdown_hide_other_aggregation": FLAG,
    "breakdown_path_cleaning": FLAG,
    "breakdowns": [
        {"type": _BREAKDOWN_TYPES, "property": WORD, "normalize_url": FLAG,
         "group_type_index": GROUP_TYPE, "histogram_bin_count": _BINS},
        3,
    ],
}  # fmt: skip
TRENDS_FILTER: dict[str, Shape] = {
    "smoothingIntervals": Range(1, 1000), "formula": TEXT, "formulas": [TEXT],
    "formulaNodes": [{"formula": TEXT, "custom_name": TEXT}], "display": DISPLAYS,
    "hideWeekends": FLAG,
    **_drawn(
        "showLegend showAlertThresholdLines breakdown_histogram_bin_count aggregationAxisFormat "
        "aggregationAxisPrefix aggregationAxisPostfix decimalPlaces minDecimalPlaces "
        "showValuesOnSeries showLabelsOnSeries showPercentStackView yAxisScaleType "
        "showMultipleYAxes hiddenLegendIndexes resultCustomizationBy resultCustomizations "
        "goalLines showConfidenceIntervals confidenceLevel showTrendLines showMovingAverage "
        "movingAverageIntervals detailedResultsAggregationType excludeBoxPlotOutliers "
        "legendPosition metricChangeDecreaseColor metricChangeIncreaseColor "
        "metricColorByDirection metricLineDecreaseColor metricLineIncreaseColor metricShowChange "
        "metricSummary showAnnotations stackBreakdownValues xAxisLabel yAxisLabel"
    ),
}  # fmt: skip
FUNNELS_FILTER: dict[str, Shape] = {
    "exclusions": [{**_ENTITY, "funnelFromStep": STEP, "funnelToStep": STEP}],
    "binCount": Range(1, 90),
    "breakdownAttributionType": Choice(("first_touch", "last_touch", "all_events", "step")),
    "breakdownAttributionValue": STEP,
    "funnelAggregateByHogQL": TEXT, "funnelToStep": STEP, "funnelFromStep": STEP,
    "funnelOrderType": Choice(("ordered", "unordered", "strict")),
    "funnelVizType": Choice(("steps", "trends", "time_to_convert")),
    "funnelWindowInterval": FROM_ONE,
    "funnelWindowIntervalUnit": Choice(("second", "minute", "hour", "day", "week", "month")),
    **_drawn(
        "layout hiddenLegendBreakdowns funnelStepReference useUdf resultCustomizations goalLines "
        "showValuesOnSeries breakdownSorting legendPosition showAnnotations showLegend "
        "showTrendLines"
    ),
}  # fmt: skip
RETENTION_FILTER: dict[str, Shape] = {
    "retentionType": Choice(
        ("retention_recurring", "retention_first_time", "retention_first_ever_occurrence")
    ),
    "totalIntervals": Range(1, 100), "minimumOccurrences": FROM_ONE,
    "returningEntity": _ENTITY, "targetEntity": _ENTITY, "cumulative": FLAG,
    "period": Choice(("Hour", "Day", "Week", "Month")),
    "timeWindowMode": Choice(("strict_calendar_dates", "24_hour_windows")),
    "retentionCustomBrackets": [WHOLE], "aggregationType": Choice(("count", "sum", "avg")),
    "aggregationProperty": TEXT, "aggregationPropertyType": Choice(("event", "person")),
    "display": DISPLAYS,
    **_drawn(
        "retentionReference meanRetentionCalculation "
        "selectedInterval showMean dashboardDisplay showTrendLines goalLines cohortLabelStartIndex"
    ),
}  # fmt: skip
PATHS_FILTER: dict[str, Shape] = {
    "edgeLimit": Range(1, 1000), "pathsHogQLExpression": TEXT,
    "includeEventTypes": [Choice(("$pageview", "$screen", "custom_event", "hogql"))],
    "startPoint": TEXT, "endPoint": TEXT, "pathGroupings": [TEXT], "excludeEvents": [TEXT],
    "stepLimit": Range(2, 20), "pathReplacements": FLAG,
    "localPathCleaningFilters": [{"alias": TEXT, "regex": TEXT, "order": ANY}],
    "minEdgeWeight": COUNT, "maxEdgeWeight": FROM_ONE,
    **_drawn("pathStartKey pathEndKey pathDropoffKey showFullUrls"),
}  # fmt: skip
LIFECYCLE_FILTER: dict[str, Shape] = {
    "toggledLifecycles": [Choice(("new", "returning", "resurrecting", "dormant"))],
    **_drawn("showValuesOnSeries showLegend stacked legendPosition showPercentagesOnSeries"),
}  # fmt: skip
STICKINESS_FILTER: dict[str, Shape] = {
    "computedAs": Choice(("non_cumulative", "cumulative")),
    "stickinessCriteria": {
        "operator": Choice(("gte", "lte", "exact", "gt", "lt")), "value": COUNT,
    },
    "display": DISPLAYS,
    **_drawn(
        "showLegend showValuesOnSeries showMultipleYAxes hiddenLegendIndexes "
        "resultCustomizationBy resultCustomizations legendPosition"
    ),
}  # fmt: skip

# --- nodes

_COMMON: dict[str, Shape] = {
    **_NODE, "dateRange": DATE_RANGE, "properties": PROPERTIES, "filterTestAccounts": FLAG,
    "samplingFactor": NUMBER, "dataColorTheme": NUMBER,
}  # fmt: skip
_BY_ACTOR: dict[str, Shape] = {**_COMMON, "aggregation_group_type_index": GROUP_TYPE}
_INTERVAL: dict[str, Shape] = {"interval": INTERVALS, "series": _SERIES_LIST}

FUNNELS_QUERY: dict[str, Shape] = {
    **_BY_ACTOR, **_INTERVAL, "funnelsFilter": FUNNELS_FILTER, "breakdownFilter": BREAKDOWN,
}  # fmt: skip
NODES: dict[str, dict[str, Shape]] = {
    "TrendsQuery": {
        **_BY_ACTOR, **_INTERVAL, "trendsFilter": TRENDS_FILTER, "breakdownFilter": BREAKDOWN,
        "compareFilter": COMPARE, "conversionGoal": ANY,
        "calendarHeatmapFilter": {"bucketBySessionStart": FLAG},
    },
    "FunnelsQuery": {**FUNNELS_QUERY, "compareFilter": COMPARE},
    "RetentionQuery": {
        **_BY_ACTOR, "retentionFilter": RETENTION_FILTER, "breakdownFilter": BREAKDOWN,
    },
    "PathsQuery": {
        **_BY_ACTOR, "pathsFilter": PATHS_FILTER,
        "funnelPathsFilter": {
            "funnelPathType": Choice(
                ("funnel_path_before_step", "funnel_path_between_steps", "funnel_path_after_step")
            ),
            "funnelSource": FUNNELS_QUERY, "funnelStep": WHOLE,
        },
    },
    "LifecycleQuery": {**_BY_ACTOR, **_INTERVAL, "lifecycleFilter": LIFECYCLE_FILTER},
    "StickinessQuery": {
        **_COMMON, **_INTERVAL, "intervalCount": FROM_ONE, "stickinessFilter": STICKINESS_FILTER,
        "compareFilter": COMPARE,
    },
}  # fmt: skip
"""The insights by kind."""

FILTERS: dict[str, Shape] = {
    "dateRange": DATE_RANGE, "properties": PROPERTIES, "filterTestAccounts": FLAG,
    "interval": INTERVALS, "breakdownFilter": BREAKDOWN,
}  # fmt: skip
"""``filters`` of a HogQLQuery."""


_VARIABLE = {"variableId": TEXT, "code_name": TEXT, "value": ANY, "isNull": FLAG}
NODES["HogQLQuery"] = {
    **_NODE, "query": TEXT, "filters": FILTERS, "variables": EachValue((_VARIABLE,)),
    "values": _MAP, "explain": FLAG, "name": TEXT,
}  # fmt: skip

type ShapeOf = Callable[[Mapping[str, Any]], Shape]
