"""Parts that queries of several kinds share: properties, dates, series and breakdowns.

``nodes`` derives the accepted keys from these types and those of ``kinds``: a key is
added here and nowhere else. Null means "not sent", so keys are read with ``get``. ``Any`` is
stored as it is.

Source: docs/spec/data-and-queries.md#74-closed-schema-of-nodes,
docs/spec/data-and-queries.md#75-series-and-display.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypedDict

import msgspec

MOST = 10**9
"""Counts and indexes in queries; larger numbers are mistakes."""


class Range(msgspec.Struct, frozen=True):
    """A whole number, bounds included."""

    low: int
    high: int = MOST


class MaxLength(msgspec.Struct, frozen=True):
    """The largest number of items of a list."""

    items: int


DISPLAY_OPTIONS: dict[type, list[str]] = {}
"""Additional keys of a type: options of charts, stored unchanged and not read by queries."""


def display_options[T: type](names: str) -> Callable[[T], T]:
    """Add display options to a type: ``@display_options("showLegend showMean")``."""

    def add(cls: T) -> T:
        DISPLAY_OPTIONS[cls] = names.split()
        return cls

    return add


type Word = str | int | float
type Number = int | float
type Count = Annotated[int, Range(0)]
type FromOne = Annotated[int, Range(1)]
type GroupType = Annotated[int, Range(0, 4)]
type FunnelStep = Annotated[int, Range(0, 14)]
"""A step of a funnel, from 0."""

type Interval = Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
type Display = Literal[
    "Auto", "ActionsLineGraph", "ActionsLineGraphCumulative", "ActionsAreaGraph", "ActionsBar",
    "ActionsUnstackedBar", "ActionsStackedBar", "ActionsBarValue", "ActionsTable", "ActionsPie",
    "BoldNumber", "WorldMap", "CalendarHeatmap", "TwoDimensionalHeatmap", "BoxPlot", "FunnelViz",
    "PathsViz", "Metric", "SlopeGraph",
]  # fmt: skip


class PropertyFilter(TypedDict, total=False):
    """A condition on a property: ``{"key": "plan", "value": ["pro"], "type": "event"}``."""

    key: Word
    value: Any
    operator: str
    type: str
    label: Any
    negation: bool
    group_type_index: GroupType
    group_key_names: Any
    cohort_name: Any


class PropertyGroup(TypedDict, total=False):
    """Conditions joined by AND or OR: ``{"type": "OR", "values": […]}``."""

    type: str
    id: Any
    values: "list[PropertyItem]"


type PropertyItem = PropertyFilter | PropertyGroup
type PropertyFilters = list[PropertyItem] | PropertyGroup


class DateRange(TypedDict, total=False):
    """A range of dates: ``{"date_from": "-7d"}``; days of the week count from Monday, 1."""

    date_from: str
    date_to: str
    explicitDate: bool
    excludeIncompletePeriods: bool
    daysOfWeek: Annotated[list[Annotated[int, Range(1, 7)]], MaxLength(7)]


class CompareFilter(TypedDict, total=False):
    """The comparison with an earlier period: ``{"compare": true, "compare_to": "-1m"}``."""

    compare: bool
    compare_to: str


@display_options(
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
class Modifiers(TypedDict, total=False):
    """Settings of PostHog's query engine; accepted, but without effect."""


class QueryTags(TypedDict, total=False):
    """Where PostHog's interface shows the query; accepted, without effect."""

    name: str
    productKey: str
    scene: str


class QueryBase(TypedDict, total=False):
    """Keys of every query."""

    version: Number
    response: dict[str, Any]
    tags: QueryTags
    modifiers: Modifiers


# --- series


class _Series(TypedDict, total=False):
    version: Number
    response: dict[str, Any]
    name: str
    custom_name: str
    math: str
    math_multiplier: Number
    math_property: str
    math_property_type: str
    math_property_revenue_currency: Any
    math_hogql: str
    math_group_type_index: GroupType
    properties: PropertyFilters
    fixedProperties: PropertyFilters
    optionalInFunnel: bool


class EventsNode(_Series, total=False):
    """A series of one event; of all events if ``event`` is missing."""

    kind: Literal["EventsNode"]
    event: str
    limit: Count
    orderBy: list[str]


class ActionsNode(_Series, total=False):
    """A series of the events that match an action."""

    kind: Literal["ActionsNode"]
    id: Word


type GroupMember = EventsNode | ActionsNode


class GroupNode(_Series, total=False):
    """Events that match any of several series; its own ``math`` counts, not theirs."""

    kind: Literal["GroupNode"]
    operator: Literal["OR"]
    nodes: Annotated[list[GroupMember], MaxLength(50)]
    limit: Count
    orderBy: list[str]


type Series = EventsNode | ActionsNode | GroupNode


class Entity(_Series, total=False):
    """Series of retention and exclusions; also ``{"id": "$pageview", "type": "events"}``."""

    kind: str
    event: str
    id: Word
    type: str
    order: int
    uuid: Any


type BreakdownType = Literal[
    "event", "person", "event_metadata", "session", "hogql", "cohort", "group"
]
type Bins = Annotated[int, Range(1, 100)]


class BreakdownPart(TypedDict, total=False):
    """One of several breakdowns."""

    type: BreakdownType
    property: Word
    normalize_url: bool
    group_type_index: GroupType
    histogram_bin_count: Bins


class BreakdownFilter(TypedDict, total=False):
    """How results are split: by one property, or by up to three ``breakdowns``."""

    breakdown: Any
    breakdown_type: BreakdownType
    breakdown_limit: Annotated[int, Range(1, 10_000)]
    breakdown_normalize_url: bool
    breakdown_group_type_index: GroupType
    breakdown_histogram_bin_count: Bins
    breakdown_hide_other_aggregation: bool
    breakdown_path_cleaning: bool
    breakdowns: Annotated[list[BreakdownPart], MaxLength(3)]
