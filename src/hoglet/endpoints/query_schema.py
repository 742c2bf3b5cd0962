"""What a stored query looks like: the keys of each kind, their types and their defaults.

A query is stored and answered with every optional key, so that clients can compare it with what
they sent. Keys that are not listed are kept as they came.

Source: docs/spec/query-endpoints.md#23-query-expansion,
docs/spec/query-endpoints.md#3-create-and-update-bodies and
docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from typing import Any

from hoglet.endpoints.enums import HOGQL, QUERY_KINDS
from hoglet.kit.errors import Invalid
from hoglet.web.validation import NULL, REQUIRED

type Json = dict[str, Any]

_TYPE_NAMES: dict[type, str] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


class _Required:
    """Marks a key without a default."""


REQUIRED_KEY = _Required()

# key → (type, default). A default of None is also what null means.
_COMMON: dict[str, tuple[type, Any]] = {
    "modifiers": (dict, None),
    "response": (dict, None),
    "tags": (dict, None),
    "version": (float, None),
}
_INSIGHT: dict[str, tuple[type, Any]] = {
    **_COMMON,
    "aggregation_group_type_index": (int, None),
    "dataColorTheme": (float, None),
    "dateRange": (dict, None),
    "filterTestAccounts": (bool, False),
    "properties": (object, []),
    "samplingFactor": (float, None),
}
_SERIES: dict[str, tuple[type, Any]] = {
    "series": (list, REQUIRED_KEY),
    "interval": (str, "day"),
}
_KEYS: dict[str, dict[str, tuple[type, Any]]] = {
    HOGQL: {
        **_COMMON,
        "explain": (bool, None),
        "filters": (dict, None),
        "name": (str, None),
        "query": (str, REQUIRED_KEY),
        "values": (dict, None),
        "variables": (dict, None),
    },
    "TrendsQuery": {
        **_INSIGHT,
        **_SERIES,
        "breakdownFilter": (dict, None),
        "compareFilter": (dict, None),
        "conversionGoal": (dict, None),
        "trendsFilter": (dict, None),
    },
    "FunnelsQuery": {
        **_INSIGHT,
        **_SERIES,
        "interval": (str, None),
        "breakdownFilter": (dict, None),
        "funnelsFilter": (dict, None),
    },
    "RetentionQuery": {
        **_INSIGHT,
        "breakdownFilter": (dict, None),
        "retentionFilter": (dict, REQUIRED_KEY),
    },
    "PathsQuery": {
        **_INSIGHT,
        "funnelPathsFilter": (dict, None),
        "pathsFilter": (dict, REQUIRED_KEY),
    },
    "StickinessQuery": {
        **_INSIGHT,
        **_SERIES,
        "compareFilter": (dict, None),
        "intervalCount": (int, None),
        "stickinessFilter": (dict, None),
    },
    "LifecycleQuery": {
        **_INSIGHT,
        **_SERIES,
        "customAggregationTarget": (bool, None),
        "lifecycleFilter": (dict, None),
    },
}
# Parts that are read whatever the kind, so they have their form even where they mean nothing.
_PARTS: dict[str, type] = {"series": list, "breakdownFilter": dict, "compareFilter": dict}
_SERIES_KINDS = ("EventsNode", "ActionsNode")
_INTERVALS = ("minute", "hour", "day", "week", "month")


def expand(query: Json, *, attr: str = "query") -> Json:
    """A query with every key of its kind.

    Args:
        query: as sent, e.g. ``{"kind": "HogQLQuery", "query": "SELECT 1"}``.
        attr: path of the query in the body.

    Returns:
        A new dict; keys in alphabetical order, unknown keys kept.

    Raises:
        Invalid: a kind that is not supported, a missing or wrongly typed key.
    """
    kind = query.get("kind")
    if kind is None:
        raise Invalid(REQUIRED, code="required", attr=f"{attr}__kind")
    if not isinstance(kind, str) or kind not in QUERY_KINDS:
        listed = ", ".join(sorted(QUERY_KINDS))
        raise Invalid(
            f'"{kind}" is not a kind of query that endpoints take. Use one of: {listed}.',
            code="invalid_choice",
            attr=f"{attr}__kind",
        )
    upgraded = _upgrade(query)
    filled = {
        **upgraded,
        **{key: _value(upgraded, key, rule, attr) for key, rule in _KEYS[kind].items()},
    }
    _check_parts(filled, attr)
    return dict(sorted(filled.items()))


def _value(query: Json, key: str, rule: tuple[type, Any], attr: str) -> Any:
    kind, default = rule
    value = query.get(key)
    if value is None:
        if default is REQUIRED_KEY:
            detail, code = (NULL, "invalid_input") if key in query else (REQUIRED, "required")
            raise Invalid(detail, code=code, attr=f"{attr}__{key}")
        return [] if default == [] else default
    _check_type(value, kind, f"{attr}__{key}")
    return value


def _check_type(value: Any, kind: type, attr: str) -> None:
    if kind is object:
        fits = isinstance(value, list | dict)
    elif kind in (int, float):
        fits = isinstance(value, (int, float) if kind is float else int) and not isinstance(
            value, bool
        )
    else:
        fits = isinstance(value, kind)
    if not fits:
        raise Invalid(f"This must be {_TYPE_NAMES.get(kind, 'a list or an object')}.", attr=attr)


def _check_parts(query: Json, attr: str) -> None:
    if query["kind"] == HOGQL:
        _check_variables(query["variables"], f"{attr}__variables")
        return
    for key, kind in _PARTS.items():
        if query.get(key) is not None:
            _check_type(query[key], kind, f"{attr}__{key}")
    interval = query.get("interval")
    if interval is not None and interval not in _INTERVALS:
        raise Invalid(
            f'"{interval}" is not a valid choice.', code="invalid_choice", attr=f"{attr}__interval"
        )
    for index, node in enumerate(query.get("series") or []):
        _check_series(node, f"{attr}__series__{index}")


def _check_series(node: Any, attr: str) -> None:
    _check_type(node, dict, attr)
    if node.get("kind") not in _SERIES_KINDS:
        raise Invalid(
            f'"{node.get("kind")}" is not a valid choice.',
            code="invalid_choice",
            attr=f"{attr}__kind",
        )


def _check_variables(variables: Json | None, attr: str) -> None:
    for key, variable in (variables or {}).items():
        _check_type(variable, dict, f"{attr}__{key}")
        for field, kind in (("code_name", str), ("variableId", str), ("isNull", bool)):
            if variable.get(field) is not None:
                _check_type(variable[field], kind, f"{attr}__{key}__{field}")


def _upgrade(query: Json) -> Json:
    """Rewrite what older clients send into the present form.

    Source: docs/spec/query-endpoints.md#23-query-expansion.
    """
    upgraded = dict(query)
    if query["kind"] in ("TrendsQuery", "StickinessQuery"):
        _move_compare(
            upgraded, "trendsFilter" if query["kind"] == "TrendsQuery" else "stickinessFilter"
        )
    if query["kind"] == "TrendsQuery":
        _rename(upgraded, "breakdown", "breakdownFilter")
    return upgraded


def _move_compare(query: Json, holder: str) -> None:
    """``trendsFilter.compare`` became ``compareFilter.compare``."""
    inner = query.get(holder)
    if not isinstance(inner, dict) or "compare" not in inner:
        return
    query[holder] = {key: value for key, value in inner.items() if key != "compare"}
    if query.get("compareFilter") is None and inner["compare"] is not None:
        query["compareFilter"] = {"compare": inner["compare"]}


def _rename(query: Json, old: str, new: str) -> None:
    if isinstance(query.get(old), dict) and query.get(new) is None:
        query[new] = query.pop(old)
