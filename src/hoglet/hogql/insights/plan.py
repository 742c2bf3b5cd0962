"""Builds insights: the queries to run, and the function that shapes their rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import Expression, fill
from hoglet.hogql.compile import CompiledQuery, compile_query
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import in_expression, located, near, refused
from hoglet.hogql.filters.properties import (
    filter_expressions,
    property_condition,
    single_filters,
)
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.hogql.insights import lifecycle, stickiness
from hoglet.hogql.insights.breakdown_items import breakdown_items
from hoglet.hogql.insights.breakdown_parts import part_of
from hoglet.hogql.insights.build_result import Built
from hoglet.hogql.insights.date_range import compare_to
from hoglet.hogql.insights.funnels import build as funnels
from hoglet.hogql.insights.measures import check_math, measure_of
from hoglet.hogql.insights.paths import build as paths
from hoglet.hogql.insights.retention import build as retention
from hoglet.hogql.insights.series import (
    common_conditions,
    series_condition,
)
from hoglet.hogql.insights.trends import build as trends
from hoglet.hogql.query_json.upgrade import upgraded
from hoglet.hogql.query_json.validation import check_node
from hoglet.kit.errors import SourceError

_KINDS: dict[str, Callable[[Mapping[str, Any], QueryContext], Built]] = {
    "TrendsQuery": trends.build,
    "FunnelsQuery": funnels.build,
    "RetentionQuery": retention.build,
    "LifecycleQuery": lifecycle.build,
    "StickinessQuery": stickiness.build,
    "PathsQuery": paths.build,
}

_FILTERS = ("properties", "fixedProperties")
"""The keys of a series with filters."""

_SECTIONS = {
    "TrendsQuery": "trendsFilter",
    "FunnelsQuery": "funnelsFilter",
    "RetentionQuery": "retentionFilter",
    "LifecycleQuery": "lifecycleFilter",
    "StickinessQuery": "stickinessFilter",
    "PathsQuery": "pathsFilter",
}
"""Default path of errors, where most of them belong."""


class InsightPlan(msgspec.Struct, frozen=True):
    """``queries`` are trees for ``compile_query`` (with ``Limits(max_limit=None)``).

    ``shape`` takes their rows, in the same order, and returns ``results``;
    ``date_range`` is ``{"date_from": ISO, "date_to": ISO}``.
    """

    queries: tuple[Any, ...]
    shape: Callable[[Sequence[Sequence[Sequence[Any]]]], list[Any] | dict[str, Any]]
    date_range: dict[str, str]


def build_insight(query: Mapping[str, Any], context: QueryContext) -> InsightPlan:
    """The plan of an insight query such as ``{"kind": "TrendsQuery", "series": [...]}``.

    Concurrency: pure; the same query, context and clock yield the same plan, so it can be built in
        one process to compile and in another to shape.

    Raises:
        SourceError: an unsupported part of the query; ``attr`` is its path.
    """
    builder = _KINDS.get(str(query.get("kind")))
    if builder is None:
        kind = str(query.get("kind"))
        hint = near(kind, _KINDS) or f" Use one of {', '.join(_KINDS)}."
        raise refused(f"Unsupported kind of insight '{kind}'.{hint}", attr="kind")
    query = upgraded(query)
    check_node(query)
    check_parts(query, context)
    try:
        built = builder(query, context)
    except SourceError as error:
        error.attr = error.attr or _SECTIONS[str(query["kind"])]
        raise
    dates = {"date_from": built.span.start.isoformat(), "date_to": built.span.end.isoformat()}
    return InsightPlan(tuple(built.queries), built.shape, dates)


def compile_insight(
    query: Mapping[str, Any], context: QueryContext
) -> tuple[InsightPlan, list[CompiledQuery]]:
    """The plan of an insight, with its queries compiled to SQL.

    Raises:
        SourceError: ``attr`` is the path of the invalid part.
    """
    plan = build_insight(query, context)
    try:
        return plan, [compile_query(each, context=context) for each in plan.queries]
    except SourceError as error:
        raise _with_place(query, context, error) from None


def _with_place(query: Mapping[str, Any], context: QueryContext, error: SourceError) -> SourceError:
    """The error with the path of the first part that does not compile on its own."""
    for path, text in expressions(query):
        try:
            compile_query(
                fill("SELECT {expr} FROM events", expr=read_expression(text)), context=context
            )
        except SourceError as own:
            return in_expression(own, path, text)
    for path, expr in _columns(query, context):
        try:
            compile_query(fill("SELECT {expr} FROM events", expr=expr), context=context)
        except SourceError as own:
            own.attr = path
            return own
    error.attr = error.attr or _SECTIONS[str(query["kind"])]
    return error


def _columns(query: Mapping[str, Any], context: QueryContext) -> Iterator[tuple[str, Expression]]:
    """What may read a column that does not exist: filters, measures and breakdowns."""
    filters = [("properties", query.get("properties"))]
    for path, node in entities(query):
        filters += [(f"{path}__{key}", node.get(key)) for key in _FILTERS]
        if node.get("math_property"):
            measure = measure_of(node, query)
            yield f"{path}__math_property", measure.inner or measure.value
    for path, items in filters:
        for own, item in single_filters(items, path):
            yield f"{own}__key", property_condition(item, context)
    breakdown = query.get("breakdownFilter") or {}
    for index, item in enumerate(breakdown_items(breakdown)):
        several = f"breakdowns__{index}__property"
        path = several if breakdown.get("breakdowns") else "breakdown"
        yield f"breakdownFilter__{path}", part_of(item["property"], item, context)


def check_parts(query: Mapping[str, Any], context: QueryContext) -> None:
    """Validate filters, series, entities and exclusions of an insight.

    Raises:
        SourceError: ``attr`` is the path of the first invalid part.
    """
    for path, text in expressions(query):
        read_expression(text, path)
    common_conditions(query, context)
    compare_to(query)
    for path, node in entities(query):
        with located(path):
            check_math(node, "exclusions" if "exclusions" in path else query["kind"])
            series_condition(node, context)
            if query["kind"] == "TrendsQuery":
                measure_of(node, query)


def entities(query: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Series, retention entities and exclusions with their paths."""
    for index, node in enumerate(query.get("series") or []):
        yield f"series__{index}", node
    retention = query.get("retentionFilter") or {}
    for key in ("targetEntity", "returningEntity"):
        if retention.get(key):
            yield f"retentionFilter__{key}", retention[key]
    for index, node in enumerate((query.get("funnelsFilter") or {}).get("exclusions") or []):
        yield f"funnelsFilter__exclusions__{index}", node


def expressions(query: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """HogQL expressions in an insight, e.g. ``("series__0__math_hogql", "sum(properties.x)")``."""
    yield from filter_expressions(query.get("properties"), "properties")
    for path, node in entities(query):
        if node.get("math") == "hogql" and node.get("math_hogql"):
            yield f"{path}__math_hogql", node["math_hogql"]
        for key in _FILTERS:
            yield from filter_expressions(node.get(key), f"{path}__{key}")
    breakdown = query.get("breakdownFilter") or {}
    if breakdown.get("breakdown_type") == "hogql":
        yield "breakdownFilter__breakdown", str(breakdown.get("breakdown"))
    for index, item in enumerate(breakdown.get("breakdowns") or []):
        if item.get("type") == "hogql":
            yield f"breakdownFilter__breakdowns__{index}__property", str(item.get("property"))
    for name, key in (
        ("pathsFilter", "pathsHogQLExpression"),
        ("funnelsFilter", "funnelAggregateByHogQL"),
    ):
        if (query.get(name) or {}).get(key):
            yield f"{name}__{key}", query[name][key]
