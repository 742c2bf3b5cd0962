"""Shapes of the JSON that clients send: filters and insight queries.

A shape is a type (or several), a count, a list of one shape, or a dict of known keys; other keys
are free, and null means "not sent" everywhere. What does not fit is refused with the path of the
field.
"""

from collections.abc import Mapping
from typing import Any

from hoglet.hogql.errors import refused

TEXT = (str,)
WHOLE = (int,)
NUMBER = (int, float)
WORD = (str, int, float)
FLAG = (bool,)
COUNT = "count"
"""A whole number, not negative; 0 means what nothing means."""
MOST = 10**9
"""Numbers of queries are counts and indexes; larger ones are mistakes."""

_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}

PROPERTY: dict[str, Any] = {
    "key": WORD,
    "type": TEXT,
    "operator": TEXT,
    "group_type_index": WHOLE,
}
PROPERTY["values"] = [PROPERTY]
PROPERTIES = "properties"
"""A list of filters or one group of them; see ``_check_properties``."""

DATE_RANGE = {"date_from": TEXT, "date_to": TEXT, "explicitDate": FLAG}
FILTERS = {"dateRange": DATE_RANGE, "properties": PROPERTIES}

_ENTITY = {
    "kind": TEXT,
    "event": TEXT,
    "id": WORD,
    "type": TEXT,
    "name": TEXT,
    "custom_name": TEXT,
    "math": TEXT,
    "math_property": TEXT,
    "math_property_type": TEXT,
    "math_hogql": TEXT,
    "math_group_type_index": WHOLE,
    "math_multiplier": NUMBER,
    "optionalInFunnel": FLAG,
    "properties": PROPERTIES,
    "fixedProperties": PROPERTIES,
}
_BREAKDOWN = {
    "breakdown_hide_other_aggregation": FLAG,
    "breakdown_normalize_url": FLAG,
    "breakdown_type": TEXT,
    "breakdown_limit": COUNT,
    "breakdown_group_type_index": WHOLE,
    "breakdown_histogram_bin_count": COUNT,
    "breakdowns": [
        {
            "property": WORD,
            "type": TEXT,
            "group_type_index": WHOLE,
            "histogram_bin_count": COUNT,
            "normalize_url": FLAG,
        }
    ],
}
_QUERY = {
    "dateRange": DATE_RANGE,
    "interval": TEXT,
    "intervalCount": WHOLE,
    "series": [_ENTITY],
    "properties": PROPERTIES,
    "samplingFactor": NUMBER,
    "aggregation_group_type_index": WHOLE,
    "breakdownFilter": _BREAKDOWN,
    "compareFilter": {"compare": FLAG, "compare_to": TEXT},
    "trendsFilter": {
        "display": TEXT,
        "formula": TEXT,
        "formulas": [TEXT],
        "formulaNodes": [{"formula": TEXT, "custom_name": TEXT}],
        "smoothingIntervals": COUNT,
    },
    "funnelsFilter": {
        "funnelVizType": TEXT,
        "funnelOrderType": TEXT,
        "funnelWindowInterval": COUNT,
        "funnelWindowIntervalUnit": TEXT,
        "binCount": COUNT,
        "funnelFromStep": WHOLE,
        "funnelToStep": WHOLE,
        "funnelAggregateByHogQL": TEXT,
        "breakdownAttributionType": TEXT,
        "breakdownAttributionValue": WHOLE,
        "exclusions": [{**_ENTITY, "funnelFromStep": WHOLE, "funnelToStep": WHOLE}],
    },
    "retentionFilter": {
        "period": TEXT,
        "aggregationType": TEXT,
        "cumulative": FLAG,
        "totalIntervals": COUNT,
        "retentionType": TEXT,
        "targetEntity": _ENTITY,
        "returningEntity": _ENTITY,
        "minimumOccurrences": COUNT,
        "retentionCustomBrackets": [WHOLE],
        "timeWindowMode": TEXT,
    },
    "lifecycleFilter": {"toggledLifecycles": [TEXT]},
    "stickinessFilter": {
        "computedAs": TEXT,
        "stickinessCriteria": {"operator": TEXT, "value": COUNT},
    },
    "pathsFilter": {
        "includeEventTypes": [TEXT],
        "excludeEvents": [TEXT],
        "stepLimit": COUNT,
        "edgeLimit": COUNT,
        "startPoint": TEXT,
        "endPoint": TEXT,
        "minEdgeWeight": COUNT,
        "maxEdgeWeight": COUNT,
        "pathGroupings": [TEXT],
        "pathsHogQLExpression": TEXT,
        "localPathCleaningFilters": [{"alias": TEXT, "regex": TEXT}],
    },
}

# A funnel inside of another insight.
INSIGHT = {
    **_QUERY,
    "funnelPathsFilter": {"funnelPathType": TEXT, "funnelStep": WHOLE, "funnelSource": _QUERY},
}


def check_shape(value: Any, shape: Any, path: str = "") -> None:
    """Refuse a value that does not have a shape.

    Raises:
        SourceError: the message names the field, e.g. ``series.0.math must be text``.
    """
    if value is None:
        return
    if shape is PROPERTIES:
        shape = [PROPERTY] if isinstance(value, list | tuple) else PROPERTY
    if isinstance(shape, tuple):
        _check_plain(value, shape, path)
    elif shape is COUNT:
        _check_count(value, path)
    elif isinstance(shape, list):
        if not isinstance(value, list | tuple):
            raise refused(f"{path or 'The filters'} must be a list")
        for index, item in enumerate(value):
            if item is None and shape[0] is not PROPERTY:
                raise refused(f"{path}.{index} must not be null")
            check_shape(item, shape[0], f"{path}.{index}")
    else:
        _check_object(value, shape, path)


def _check_plain(value: Any, kinds: tuple[type, ...], path: str) -> None:
    fits = isinstance(value, kinds) and (kinds == FLAG or not isinstance(value, bool))
    if not fits or (isinstance(value, int | float) and not -MOST <= value <= MOST):
        wanted = " or ".join(_NAMES[kind] for kind in kinds)
        raise refused(f"{path} must be {wanted}")


def _check_count(value: Any, path: str) -> None:
    _check_plain(value, WHOLE, path)
    if value < 0:
        raise refused(f"{path} must not be negative")


def _check_object(value: Any, shape: Mapping[str, Any], path: str) -> None:
    if not isinstance(value, Mapping):
        raise refused(f"{path or 'The query'} must be an object")
    for key, inner in shape.items():
        if value.get(key) is not None:
            check_shape(value[key], inner, f"{path}.{key}" if path else key)
