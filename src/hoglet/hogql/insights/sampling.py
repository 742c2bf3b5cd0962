"""Sampling of insights: reads a share of the actors and scales up their numbers.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (samplingFactor).
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from hoglet.hogql.errors import refused
from hoglet.syntax import tree


def sampling_factor(query: Mapping[str, Any]) -> float | None:
    """The share of actors to read, or None for all.

    Raises:
        SourceError: not above 0 and at most 1.
    """
    factor = query.get("samplingFactor")
    if factor is None or factor == 1:
        return None
    if not 0 < float(factor) < 1:
        raise refused("samplingFactor must be above 0 and at most 1", attr="samplingFactor")
    return float(factor)


def sampled(node: Any, factor: float | None) -> Any:
    """The query with every read of events restricted to the sample."""
    if factor is None:
        return node
    if isinstance(node, tuple):
        return tuple(sampled(item, factor) for item in node)
    if not isinstance(node, tree.Node):
        return node
    names = (name for name in node.__struct_fields__ if name not in {"start", "end"})
    inner = {name: sampled(getattr(node, name), factor) for name in names}
    if isinstance(node, tree.JoinExpr) and _reads_events(node):
        ratio = tree.RatioExpr(left=tree.Constant(value=factor))
        inner["sample"] = tree.SampleExpr(sample_value=ratio)
    return msgspec.structs.replace(node, **inner)


def _reads_events(join: tree.JoinExpr) -> bool:
    return isinstance(join.table, tree.Field) and join.table.chain == ("events",)


def scaled(count: Any, factor: float | None) -> int:
    """A count of the sample scaled up, rounded to an integer."""
    return int(count) if factor is None else round(int(count) / factor)
