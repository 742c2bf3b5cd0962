"""Kinds of queries: supported ones, their wrappers, and known but unsupported ones.

Source: docs/spec/data-and-queries.md#13-kinds.
"""

from typing import Any

from hoglet.endpoints.enums import QUERY_KINDS
from hoglet.endpoints.query_schema import expand
from hoglet.hogql.query_json.nodes import MODIFIERS, TAGS, QueryNode
from hoglet.hogql.query_json.validation import check_shape
from hoglet.kit.errors import HogletError, Invalid, SourceError, Unreadable
from hoglet.kit.suggestions import near

EVENTS = "EventsQuery"
EDITOR_KINDS = frozenset({"DatabaseSchemaQuery", "HogQLMetadata", "HogQLAutocomplete"})
OFFERED = (*QUERY_KINDS, EVENTS, *sorted(EDITOR_KINDS))
WRAPPERS = frozenset({"DataTableNode", "DataVisualizationNode", "InsightVizNode"})
_WRAPPER_DEPTH = 3
_NOT_OFFERED = frozenset(
    {
        "SavedInsightNode",
        "ActorsQuery",
        "ActionsNode",
        "EventsNode",
        "DataWarehouseNode",
        "GroupsQuery",
        "GroupNode",
        "FunnelsActorsQuery",
        "FunnelCorrelationActorsQuery",
        "FunnelCorrelationQuery",
        "InsightActorsQuery",
        "InsightActorsQueryOptions",
        "StickinessActorsQuery",
        "SessionsTimelineQuery",
        "SessionsQuery",
        "SessionBatchEventsQuery",
        "SessionAttributionExplorerQuery",
        "RevenueAnalyticsGrossRevenueQuery",
        "RevenueAnalyticsMetricsQuery",
        "RevenueAnalyticsMRRQuery",
        "RevenueAnalyticsOverviewQuery",
        "RevenueAnalyticsTopCustomersQuery",
        "RevenueExampleEventsQuery",
        "RevenueExampleDataWarehouseTablesQuery",
        "MarketingAnalyticsTableQuery",
        "MarketingAnalyticsAggregatedQuery",
        "WebOverviewQuery",
        "WebStatsTableQuery",
        "WebGoalsQuery",
        "WebExternalClicksTableQuery",
        "WebVitalsQuery",
        "WebVitalsPathBreakdownQuery",
        "WebPageURLSearchQuery",
        "WebTrendsQuery",
        "WebAnalyticsExternalSummaryQuery",
        "ErrorTrackingQuery",
        "ErrorTrackingIssueCorrelationQuery",
        "ErrorTrackingSimilarIssuesQuery",
        "ErrorTrackingBreakdownsQuery",
        "ExperimentQuery",
        "ExperimentEventExposureConfig",
        "ExperimentMetric",
        "ExperimentExposureQuery",
        "ExperimentFunnelsQuery",
        "ExperimentTrendsQuery",
        "ExperimentDataWarehouseNode",
        "LogsQuery",
        "LogAttributesQuery",
        "LogValuesQuery",
        "TracesQuery",
        "TraceQuery",
        "TraceSpansQuery",
        "TimeToSeeDataQuery",
        "TimeToSeeDataSessionsQuery",
        "TimeToSeeDataSessionsJSONNode",
        "TimeToSeeDataSessionsWaterfallNode",
        "HogQuery",
        "HogQLASTQuery",
        "RecordingsQuery",
        "SuggestedQuestionsQuery",
        "TeamTaxonomyQuery",
        "EventTaxonomyQuery",
        "ActorsPropertyTaxonomyQuery",
        "PropertyValuesQuery",
        "CalendarHeatmapQuery",
        "VectorSearchQuery",
        "DocumentSimilarityQuery",
        "UsageMetricsQuery",
        "EndpointsUsageOverviewQuery",
        "EndpointsUsageTableQuery",
        "EndpointsUsageTrendsQuery",
        "NonIntegratedConversionsTableQuery",
    }
)
"""PostHog kinds for which hoglet has no data or page."""

_WRAPPER = "kind source version response tags"
_TABLE_KEYS = """columns hiddenColumns pinnedColumns allowSorting context contextKey defaultColumns
embedded expandable full propertiesViaUrl showActions showAbsolutePercentages showColumnConfigurator
showCount showDateRange showElapsedTime showEventFilter showEventsFilter showExport
showHogQLEditor showOpenEditorButton showPersistentColumnConfigurator showPropertyFilter
showRecordingColumn showReload showResultsTable showSavedFilters showSavedQueries showSearch
showSourceQueryOptions showTableViews showTestAccountFilters showTimings"""
_INSIGHT_KEYS = """embedded full hidePersonsModal hideTooltipOnScroll showCorrelationTable
showFilters showHeader showLastComputation showLastComputationRefresh showResults showTable
suppressSessionAnalysisWarning vizSpecificOptions"""
WRAPPER_KEYS: dict[str, frozenset[str]] = {
    "DataTableNode": frozenset(f"{_WRAPPER} {_TABLE_KEYS}".split()),
    "DataVisualizationNode": frozenset(f"{_WRAPPER} display chartSettings tableSettings".split()),
    "InsightVizNode": frozenset(f"{_WRAPPER} {_INSIGHT_KEYS}".split()),
}
"""Keys of each wrapper; all except ``source`` are display options."""


def check_annotations(node: QueryNode, path: str) -> None:
    """Reject unknown keys in the tags and modifiers of a node, which have no effect.

    Raises:
        Unreadable: attr is the path of the key.
    """
    for name, keys in (("tags", TAGS), ("modifiers", MODIFIERS)):
        sent = node.get(name)
        if sent is None:
            continue
        try:
            check_shape(sent, keys, f"{path}__{name}")
        except SourceError as error:
            raise Unreadable(error.message, attr=error.attr) from None


def unwrap(node: Any) -> tuple[QueryNode, str]:
    """The query inside its wrappers, and its path in the body.

    Example:
        ``{"kind": "InsightVizNode", "source": {"kind": "TrendsQuery", …}}`` gives the trends query
        and ``query__source``.

    Raises:
        Unreadable: not an object, an unknown kind, or an unknown key of a wrapper; with its path.
        Invalid: an unsupported kind; attr ``query__kind``.
    """
    path = "query"
    for _ in range(_WRAPPER_DEPTH):
        kind = _kind_of(node, path)
        if kind not in WRAPPERS:
            return node, path
        for key in sorted(set(node) - WRAPPER_KEYS[kind]):
            hint = near(key, WRAPPER_KEYS[kind])
            raise Unreadable(f'"{key}" is not a key of {kind}.{hint}', attr=f"{path}__{key}")
        check_annotations(node, path)
        if node.get("source") is None:
            raise Unreadable("This field is required.", attr=f"{path}__source")
        node, path = node["source"], f"{path}__source"
    raise Unreadable("Wrappers are nested too deeply.", attr=path)


def check_node(node: QueryNode, path: str) -> QueryNode:
    """Validate a HogQL or insight query and fill in its keys.

    Raises:
        Unreadable: an unknown or mistyped key; attr is its path.
    """
    try:
        return expand(node, attr=path)
    except (Invalid, SourceError) as error:
        raise unreadable(error, path) from error


def unreadable(error: HogletError, path: str) -> Unreadable:
    """An error inside ``query`` in the form of this API."""
    detail = error.message if isinstance(error, SourceError) else error.detail
    return Unreadable(detail, attr=error.attr or path)


def _kind_of(node: Any, path: str) -> str:
    if not isinstance(node, dict):
        raise Unreadable("A query must be an object with a kind.", attr=path)
    kind = node.get("kind")
    if kind is None:
        raise Unreadable("This field is required.", attr=f"{path}__kind")
    if not isinstance(kind, str):
        raise Unreadable("A kind must be a string.", attr=f"{path}__kind")
    if kind in WRAPPERS or kind in OFFERED:
        return kind
    listed = ", ".join(OFFERED)
    if kind in _NOT_OFFERED:
        raise Invalid(f"{kind} is not supported. Use one of: {listed}.", attr="query__kind")
    raise Unreadable(
        f'"{kind}" is not a kind of query. Use one of: {listed}.', attr=f"{path}__kind"
    )
