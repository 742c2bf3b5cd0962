"""Converts insights of older clients.

Source: docs/spec/query-endpoints.md#23-query-expansion,
docs/spec/data-and-queries.md#74-closed-schema-of-nodes.
"""

from collections.abc import Mapping
from typing import Any

from hoglet.hogql.query_json.nodes import NODES, QueryNode, series_kind
from hoglet.kit.errors import SourceError

_FILTERS = (
    "trendsFilter", "funnelsFilter", "retentionFilter", "pathsFilter", "lifecycleFilter",
    "stickinessFilter",
)  # fmt: skip
_GONE = (
    "customAggregationTarget", "aggregation_group_type_index", "connectionId", "sendRawQuery",
)  # fmt: skip
"""Keys that are stored with queries of kinds that lack them; ignored if null or false."""


def upgraded(query: Mapping[str, Any]) -> QueryNode:
    """A copy with legacy keys renamed; unknown ones stay, and are rejected later.

    * ``trendsFilter.compare`` becomes ``compareFilter.compare``;
    * ``breakdown`` of trends becomes ``breakdownFilter``;
    * ``funnels_filter`` keys with underscores become ``funnelVizType`` and so on;
    * ``binCount`` ``auto`` of funnels is the default;
    * a series item gets its ``kind``; ``{id: "$pageview", type: "events"}`` its ``event``.
    """
    shape = NODES.get(str(query.get("kind")), {})
    node: QueryNode = {
        key: value for key, value in query.items() if key in shape or not _is_off(key, value)
    }
    for name in _FILTERS:
        if name in shape and isinstance(node.get(name), dict):
            node[name] = _camel(node[name], shape[name])
    filter_ = node.get("funnelsFilter")
    if isinstance(filter_, dict) and filter_.get("binCount") == "auto":
        node["funnelsFilter"] = {**filter_, "binCount": None}
    if node.get("kind") in ("TrendsQuery", "StickinessQuery"):
        holder = "trendsFilter" if node["kind"] == "TrendsQuery" else "stickinessFilter"
        _move_compare(node, holder)
    if node.get("kind") == "TrendsQuery":
        _rename(node, "breakdown", "breakdownFilter")
    if isinstance(node.get("series"), list):
        node["series"] = [_series(item) for item in node["series"]]
    return node


def _is_off(key: str, value: Any) -> bool:
    """Whether a key that a kind lacks has no effect, e.g. ``compareFilter`` of funnels."""
    if key == "compareFilter" and isinstance(value, Mapping):
        return value.get("compare") is False
    return key in _GONE and (value is None or value is False)


def _camel(part: QueryNode, shape: Mapping[str, Any]) -> QueryNode:
    """``funnel_viz_type`` as ``funnelVizType``, if that is a valid key that was not sent."""
    present = {key.lower(): key for key in shape if "_" not in key}
    renamed: QueryNode = {}
    for key, value in part.items():
        today = present.get(key.replace("_", ""), key) if "_" in key and key not in shape else key
        renamed[key if today in part else today] = value
    return renamed


def _move_compare(query: QueryNode, holder: str) -> None:
    inner = query.get(holder)
    if not isinstance(inner, dict) or "compare" not in inner:
        return
    query[holder] = {key: value for key, value in inner.items() if key != "compare"}
    if query.get("compareFilter") is None and inner["compare"] is not None:
        query["compareFilter"] = {"compare": inner["compare"]}


def _rename(query: QueryNode, old: str, new: str) -> None:
    if isinstance(query.get(old), dict) and query.get(new) is None:
        query[new] = query.pop(old)


def _series(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    series: QueryNode = dict(item)
    kind, key = series.get("type"), series.get("id")
    if series.get("kind") is None and kind in ("events", "actions"):
        del series["type"]
        if kind == "events":
            series.setdefault("event", series.pop("id", None))
        series["kind"] = "EventsNode" if kind == "events" else "ActionsNode"
    elif series.get("kind") == "EventsNode" and isinstance(key, str) and "event" not in series:
        series["event"] = series.pop("id")
    try:
        return {"kind": series_kind(series)} | {k: v for k, v in series.items() if k != "kind"}
    except SourceError:
        return series  # rejected with its path when the node is validated
