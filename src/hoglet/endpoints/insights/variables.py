"""Variables of insight endpoints, and whether they can be materialized.

Source: docs/spec/query-endpoints.md#52-variables, docs/spec/query-endpoints.md#54-overrides,
docs/spec/query-endpoints.md#72-what-can-be-materialized and
docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from collections.abc import Mapping
from typing import Any

from hoglet.endpoints.analysis.model import Eligibility
from hoglet.hogql.insights.breakdown_items import breakdown_items
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.json import array_at, is_array, object_at

type Breakdown = dict[str, Any]
"""A breakdown of a query: ``{"property": "$browser", "type": "event"}``."""

type PropertyFilter = dict[str, Any]
"""``{"type": "event", "key": "$browser", "operator": "exact", "value": "Chrome"}``."""

DATE_NAMES = ("date_from", "date_to")
BREAKDOWN_LIMIT = 10_000  # docs/spec/query-endpoints.md#73-how-variables-are-stored
_MATERIALIZABLE = (
    "FunnelsQuery",
    "HogQLQuery",
    "LifecycleQuery",
    "PathsQuery",
    "RetentionQuery",
    "StickinessQuery",
    "TrendsQuery",
)
_GROUPED = ("histogram_bin_count", "normalize_url")
_BY_BREAKDOWN = ("TrendsQuery", "RetentionQuery")


def breakdown_names(query: QueryNode) -> list[str]:
    """The breakdown properties of an insight, in order; each is a variable."""
    if query["kind"] not in (*_BY_BREAKDOWN, "FunnelsQuery"):
        return []
    return [name for name, _ in _breakdowns(query)]


def eligibility(query: QueryNode) -> Eligibility:
    """Whether an insight can be materialized, and if not, why."""
    kind = query["kind"]
    if kind not in _MATERIALIZABLE:
        listed = ", ".join(_MATERIALIZABLE)
        return _no("query_type_not_materializable", f"{kind} is not one of {listed}.")
    refusals = (
        ("compare_mode_not_supported", _compares(query), "A comparison with an earlier period"),
        ("cohort_breakdown_not_supported", _has_cohort(query), "A breakdown by cohorts"),
        (
            "funnel_breakdown_not_supported",
            kind == "FunnelsQuery" and bool(_breakdowns(query)),
            "A funnel with a breakdown",
        ),
        (
            "query_type_not_materializable",
            any(item.get(name) for _, item in _breakdowns(query) for name in _GROUPED),
            "A breakdown by bins or normalized URLs",
        ),
        (
            "query_type_not_materializable",
            bool(_breakdowns(query)) and _counts_first_matching(query),
            "A breakdown of first matching events, which differ between values",
        ),
        (
            "query_type_not_materializable",
            query.get("samplingFactor") not in (None, 1),
            "A sampled query",
        ),
    )
    for code, applies, what in refusals:
        if applies:
            return _no(code, f"{what} is not supported.")
    return Eligibility(can_materialize=True)


def bind(query: QueryNode, variables: Mapping[str, Any], *, dates: bool) -> QueryNode:
    """An insight with the values of a run: dates replaced, breakdown values as filters.

    Args:
        query: the stored query with overrides.
        variables: e.g. ``{"$browser": "Chrome", "date_from": "-7d"}``.
        dates: False if ``filters_override`` already set the dates, which take precedence.
    """
    bound = dict(query)
    moments = {name: variables[name] for name in DATE_NAMES if variables.get(name)}
    if moments and dates:
        bound["dateRange"] = {**(query.get("dateRange") or {}), **moments}
    rules = [
        _filter(name, item, variables[name])
        for name, item in _breakdowns(query)
        if variables.get(name) is not None
    ]
    if rules:
        bound["properties"] = _and(query.get("properties"), rules)
    return bound


def for_table(query: QueryNode) -> QueryNode:
    """The insight that fills a table, with separate rows for every breakdown value.

    Values beyond the limit are shown as "Other", so that the build detects them.
    """
    if not _breakdowns(query):
        return query
    visible = {"breakdown_limit": BREAKDOWN_LIMIT, "breakdown_hide_other_aggregation": False}
    raised = {**query["breakdownFilter"], **visible}
    return {**query, "breakdownFilter": raised}


def _breakdowns(query: QueryNode) -> list[tuple[str, Breakdown]]:
    """Name and description of every breakdown, e.g. ``("$browser", {"type": "event"})``.

    Cohorts are omitted, because they are not values of a property.
    """
    items = breakdown_items(query.get("breakdownFilter") or {})
    return [
        (str(item.get("property")), dict(item)) for item in items if item.get("type") != "cohort"
    ]


def _filter(name: str, item: Breakdown, value: Any) -> PropertyFilter:
    """A breakdown value as a property filter; the empty string means "not set"."""
    kind = item.get("type") or "event"
    if kind == "hogql":
        test = f"isNull({name})" if value == "" else f"(toString({name})) = {_literal(value)}"
        return {"type": "hogql", "key": test}
    rule = {"type": kind, "key": name, "group_type_index": item.get("group_type_index")}
    if value == "":
        return {**rule, "operator": "is_not_set"}
    return {**rule, "operator": "exact", "value": value}


def _literal(value: Any) -> str:
    """A value as a HogQL literal; the parser binds it."""
    text = text_of(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def text_of(value: Any) -> str:
    """A value as displayed in breakdowns.

    Example:
        >>> text_of(True), text_of(3.0), text_of(3.5), text_of("3.0")
        ('true', '3', '3.5', '3.0')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _and(saved: Any, rules: list[PropertyFilter]) -> Any:
    if not saved:
        return rules
    if is_array(saved):
        return [*saved, *rules]
    return {"type": "AND", "values": [saved, {"type": "AND", "values": rules}]}


def _compares(query: QueryNode) -> bool:
    return bool(object_at(query, "compareFilter").get("compare"))


def _has_cohort(query: QueryNode) -> bool:
    breakdown = object_at(query, "breakdownFilter")
    kinds = [breakdown.get("breakdown_type")]
    kinds += [each.get("type") for each in array_at(breakdown, "breakdowns")]
    return "cohort" in kinds


def _counts_first_matching(query: QueryNode) -> bool:
    math = "first_matching_event_for_user"
    return any(node.get("math") == math for node in array_at(query, "series"))


def refuse_live(table: str) -> Eligibility:
    """The refusal of an insight that reads a ``system`` table, e.g. ``system.actions``."""
    reason = f"The query reads {table}, whose records are always read live."
    return _no("query_type_not_materializable", reason)


def _no(code: str, reason: str) -> Eligibility:
    return Eligibility(can_materialize=False, reason=reason, reason_code=code)
