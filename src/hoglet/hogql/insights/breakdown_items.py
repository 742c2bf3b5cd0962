"""The two notations of breakdowns, in one form."""

from collections.abc import Mapping
from typing import Any


def breakdown_items(filter_: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Both notations of breakdowns in one form: ``[{"property": "$browser", "type": "event"}]``.

    Args:
        filter_: a ``breakdownFilter`` with ``breakdowns``, or with ``breakdown`` and its type;
            other forms are rejected when the query is compiled, and ignored here.
    """
    several = filter_.get("breakdowns")
    if isinstance(several, list) and several:
        return [each for each in several if isinstance(each, Mapping)]
    value = filter_.get("breakdown")
    if value is None or value in ("", []):
        return []
    item = {
        "type": filter_.get("breakdown_type") or "event",
        "group_type_index": filter_.get("breakdown_group_type_index"),
        "normalize_url": filter_.get("breakdown_normalize_url"),
        "histogram_bin_count": filter_.get("breakdown_histogram_bin_count"),
    }
    values = value if isinstance(value, list) else [value]
    return [{"property": each, **item} for each in values]
