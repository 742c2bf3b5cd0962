"""One entry for every kind of insight: what to run, and how to shape what comes back."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from hoglet.hogql.client_schemas import INSIGHT, check_shape
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.insights import lifecycle, stickiness
from hoglet.hogql.insights.build_result import Built
from hoglet.hogql.insights.funnels import build as funnels
from hoglet.hogql.insights.paths import build as paths
from hoglet.hogql.insights.retention import build as retention
from hoglet.hogql.insights.trends import build as trends

_KINDS: dict[str, Callable[[Mapping[str, Any], QueryContext], Built]] = {
    "TrendsQuery": trends.build,
    "FunnelsQuery": funnels.build,
    "RetentionQuery": retention.build,
    "LifecycleQuery": lifecycle.build,
    "StickinessQuery": stickiness.build,
    "PathsQuery": paths.build,
}


class InsightPlan(msgspec.Struct, frozen=True):
    """``queries`` are trees for ``compile_query`` (with ``Limits(max_limit=None)``), all to be run.

    ``shape`` takes their rows, in the same order, and gives the ``results`` of the answer;
    ``date_range`` is ``{"date_from": ISO, "date_to": ISO}``.
    """

    queries: tuple[Any, ...]
    shape: Callable[[Sequence[Sequence[Sequence[Any]]]], list[Any] | dict[str, Any]]
    date_range: dict[str, str]


def build_insight(query: Mapping[str, Any], context: QueryContext) -> InsightPlan:
    """The plan of an insight query such as ``{"kind": "TrendsQuery", "series": [...]}``.

    Concurrency: pure; the same query, context and clock give the same plan, so it may be built
    in one process to compile and in another to shape.

    Raises:
        SourceError: a part of the query that hoglet does not know.
    """
    builder = _KINDS.get(str(query.get("kind")))
    if builder is None:
        raise refused(f"Unsupported insight kind: {query.get('kind')}")
    check_shape(query, INSIGHT)
    built = builder(query, context)
    dates = {"date_from": built.span.start.isoformat(), "date_to": built.span.end.isoformat()}
    return InsightPlan(tuple(built.queries), built.shape, dates)
