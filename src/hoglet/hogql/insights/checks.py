"""Validates parts of insights separately, so that errors have a path."""

from collections.abc import Iterator, Mapping
from typing import Any

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import located
from hoglet.hogql.insights.measures import measure_of
from hoglet.hogql.insights.series import (
    common_conditions,
    entity_of,
    series_condition,
)


def check_parts(query: Mapping[str, Any], context: QueryContext) -> None:
    """Validate filters, series, entities and exclusions of an insight.

    Raises:
        SourceError: ``attr`` is the path of the first invalid part.
    """
    common_conditions(query, context)
    entity_of(query)
    for path, node in entities(query):
        with located(path):
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
    yield from _filters(query.get("properties"), "properties")
    for path, node in entities(query):
        if node.get("math") == "hogql" and node.get("math_hogql"):
            yield f"{path}__math_hogql", node["math_hogql"]
        for key in ("properties", "fixedProperties"):
            yield from _filters(node.get(key), f"{path}__{key}")
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


def _filters(items: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(items, Mapping):
        yield from _filters(items.get("values"), f"{path}__values")
        return
    for index, item in enumerate(items or ()):
        if isinstance(item, Mapping) and isinstance(item.get("values"), list):
            yield from _filters(item["values"], f"{path}__{index}__values")
        elif isinstance(item, Mapping) and item.get("type") == "hogql":
            yield f"{path}__{index}__key", str(item.get("key") or "1")
