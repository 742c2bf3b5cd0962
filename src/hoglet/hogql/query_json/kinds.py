"""Queries as JSON: one type per kind, with its options. Shared parts are in ``parts``.

``nodes`` derives the accepted keys from these types.

Source: docs/spec/data-and-queries.md#74-closed-schema-of-nodes,
docs/spec/data-and-queries.md#75-series-and-display.
"""

from typing import Annotated, Any, Literal, TypedDict

from hoglet.hogql.query_json.parts import (
    BreakdownFilter,
    CompareFilter,
    Count,
    DateRange,
    Display,
    Entity,
    FromOne,
    FunnelStep,
    GroupType,
    Interval,
    Number,
    PropertyFilters,
    QueryBase,
    Range,
    Series,
    display_options,
)


class FormulaNode(TypedDict, total=False):
    """A formula over series: ``{"formula": "A / B", "custom_name": "Rate"}``."""

    formula: str
    custom_name: str


@display_options(
    "showLegend showAlertThresholdLines breakdown_histogram_bin_count aggregationAxisFormat "
    "aggregationAxisPrefix aggregationAxisPostfix decimalPlaces minDecimalPlaces "
    "showValuesOnSeries showLabelsOnSeries showPercentStackView yAxisScaleType "
    "showMultipleYAxes hiddenLegendIndexes resultCustomizationBy resultCustomizations "
    "goalLines showConfidenceIntervals confidenceLevel showTrendLines showMovingAverage "
    "movingAverageIntervals detailedResultsAggregationType excludeBoxPlotOutliers "
    "legendPosition metricChangeDecreaseColor metricChangeIncreaseColor "
    "metricColorByDirection metricLineDecreaseColor metricLineIncreaseColor metricShowChange "
    "metricSummary showAnnotations stackBreakdownValues xAxisLabel yAxisLabel"
)
class TrendsFilter(TypedDict, total=False):
    """Options of trends."""

    smoothingIntervals: Annotated[int, Range(1, 1000)]
    formula: str
    formulas: list[str]
    formulaNodes: list[FormulaNode]
    display: Display
    hideWeekends: bool


class FunnelExclusion(Entity, total=False):
    """A series that must not occur between two steps of a funnel."""

    funnelFromStep: FunnelStep
    funnelToStep: FunnelStep


@display_options(
    "layout hiddenLegendBreakdowns funnelStepReference useUdf resultCustomizations goalLines "
    "showValuesOnSeries breakdownSorting legendPosition showAnnotations showLegend "
    "showTrendLines"
)
class FunnelsFilter(TypedDict, total=False):
    """Options of funnels."""

    exclusions: list[FunnelExclusion]
    binCount: Annotated[int, Range(1, 90)]
    breakdownAttributionType: Literal["first_touch", "last_touch", "all_events", "step"]
    breakdownAttributionValue: FunnelStep
    funnelAggregateByHogQL: str
    funnelToStep: FunnelStep
    funnelFromStep: FunnelStep
    funnelOrderType: Literal["ordered", "unordered", "strict"]
    funnelVizType: Literal["steps", "trends", "time_to_convert"]
    funnelWindowInterval: FromOne
    funnelWindowIntervalUnit: Literal["second", "minute", "hour", "day", "week", "month"]


@display_options(
    "retentionReference meanRetentionCalculation "
    "selectedInterval showMean dashboardDisplay showTrendLines goalLines cohortLabelStartIndex"
)
class RetentionFilter(TypedDict, total=False):
    """Options of retention."""

    retentionType: Literal[
        "retention_recurring", "retention_first_time", "retention_first_ever_occurrence"
    ]
    totalIntervals: Annotated[int, Range(1, 100)]
    minimumOccurrences: FromOne
    returningEntity: Entity
    targetEntity: Entity
    cumulative: bool
    period: Literal["Hour", "Day", "Week", "Month"]
    timeWindowMode: Literal["strict_calendar_dates", "24_hour_windows"]
    retentionCustomBrackets: list[int]
    aggregationType: Literal["count", "sum", "avg"]
    aggregationProperty: str
    aggregationPropertyType: Literal["event", "person"]
    display: Display


class PathCleaning(TypedDict, total=False):
    """A rule that replaces parts of paths."""

    alias: str
    regex: str
    order: Any


@display_options("pathStartKey pathEndKey pathDropoffKey showFullUrls")
class PathsFilter(TypedDict, total=False):
    """Options of paths."""

    edgeLimit: Annotated[int, Range(1, 1000)]
    pathsHogQLExpression: str
    includeEventTypes: list[Literal["$pageview", "$screen", "custom_event", "hogql"]]
    startPoint: str
    endPoint: str
    pathGroupings: list[str]
    excludeEvents: list[str]
    stepLimit: Annotated[int, Range(2, 20)]
    pathReplacements: bool
    localPathCleaningFilters: list[PathCleaning]
    minEdgeWeight: Count
    maxEdgeWeight: FromOne


@display_options("showValuesOnSeries showLegend stacked legendPosition showPercentagesOnSeries")
class LifecycleFilter(TypedDict, total=False):
    """Options of lifecycle."""

    toggledLifecycles: list[Literal["new", "returning", "resurrecting", "dormant"]]


class StickinessCriteria(TypedDict, total=False):
    """How often a user must be active in an interval: ``{"operator": "gte", "value": 3}``."""

    operator: Literal["gte", "lte", "exact", "gt", "lt"]
    value: Count


@display_options(
    "showLegend showValuesOnSeries showMultipleYAxes hiddenLegendIndexes "
    "resultCustomizationBy resultCustomizations legendPosition"
)
class StickinessFilter(TypedDict, total=False):
    """Options of stickiness."""

    computedAs: Literal["non_cumulative", "cumulative"]
    stickinessCriteria: StickinessCriteria
    display: Display


# --- queries


class _Insight(QueryBase, total=False):
    dateRange: DateRange
    properties: PropertyFilters
    filterTestAccounts: bool
    samplingFactor: Number
    dataColorTheme: Number


class _OfActors(_Insight, total=False):
    aggregation_group_type_index: GroupType


class _BySeries(TypedDict, total=False):
    interval: Interval
    series: list[Series]


class CalendarHeatmapFilter(TypedDict, total=False):
    """Options of the calendar heat map."""

    bucketBySessionStart: bool


class TrendsQuery(_OfActors, _BySeries, total=False):
    """Numbers per interval."""

    kind: Literal["TrendsQuery"]
    trendsFilter: TrendsFilter
    breakdownFilter: BreakdownFilter
    compareFilter: CompareFilter
    conversionGoal: Any
    calendarHeatmapFilter: CalendarHeatmapFilter


class FunnelSource(_OfActors, _BySeries, total=False):
    """The funnel of a paths query."""

    kind: Literal["FunnelsQuery"]
    funnelsFilter: FunnelsFilter
    breakdownFilter: BreakdownFilter


class FunnelsQuery(FunnelSource, total=False):
    """Users who complete steps in order."""

    compareFilter: CompareFilter


class RetentionQuery(_OfActors, total=False):
    """Users who come back."""

    kind: Literal["RetentionQuery"]
    retentionFilter: RetentionFilter
    breakdownFilter: BreakdownFilter


class FunnelPathsFilter(TypedDict, total=False):
    """Restricts paths to those before, between or after steps of a funnel."""

    funnelPathType: Literal[
        "funnel_path_before_step", "funnel_path_between_steps", "funnel_path_after_step"
    ]
    funnelSource: FunnelSource
    funnelStep: int


class PathsQuery(_OfActors, total=False):
    """The paths of users through pages or events."""

    kind: Literal["PathsQuery"]
    pathsFilter: PathsFilter
    funnelPathsFilter: FunnelPathsFilter


class LifecycleQuery(_OfActors, _BySeries, total=False):
    """New, returning, resurrecting and dormant users."""

    kind: Literal["LifecycleQuery"]
    lifecycleFilter: LifecycleFilter


class StickinessQuery(_Insight, _BySeries, total=False):
    """Users by the number of intervals in which they were active."""

    kind: Literal["StickinessQuery"]
    intervalCount: FromOne
    stickinessFilter: StickinessFilter
    compareFilter: CompareFilter


class HogQLFilters(TypedDict, total=False):
    """``filters`` of a HogQL query."""

    dateRange: DateRange
    properties: PropertyFilters
    filterTestAccounts: bool
    interval: Interval
    breakdownFilter: BreakdownFilter


class QueryVariable(TypedDict, total=False):
    """A variable of a HogQL query, and its default value."""

    variableId: str
    code_name: str
    value: Any
    isNull: bool


class HogQLQuery(QueryBase, total=False):
    """A query as text: ``{"kind": "HogQLQuery", "query": "SELECT 1"}``."""

    kind: Literal["HogQLQuery"]
    query: str
    filters: HogQLFilters
    variables: dict[str, QueryVariable]
    values: dict[str, Any]
    explain: bool
    name: str


type InsightQuery = (
    TrendsQuery | FunnelsQuery | RetentionQuery | PathsQuery | LifecycleQuery | StickinessQuery
)
"""The insights by ``kind``."""
