"""Applies overrides of a request to its query.

Source: docs/spec/data-and-queries.md#12-body.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.errors import not_allowed
from hoglet.endpoints.run.plan import both_filters
from hoglet.kit.errors import Unreadable
from hoglet.kit.relative_dates import DateClock, NotADate, range_bounds
from hoglet.queries.kinds import EVENTS
from hoglet.queries.schemas import FiltersOverride, VariableOverride

type Json = dict[str, Any]

_DATES = ("date_from", "date_to", "explicitDate")
_REPLACED = {
    "interval": "interval",
    "filterTestAccounts": "filterTestAccounts",
    "breakdown_filter": "breakdownFilter",
}
_FILTERS_PLACEHOLDER = re.compile(r"\{\s*filters\b")


def with_variables(query: Json, sent: Mapping[str, VariableOverride] | None) -> Json:
    """The query with the sent variables; unknown ones are ignored."""
    stored: Json = query.get("variables") or {}
    replaced = {
        key: entry | sent[key].model_dump(exclude_unset=True)
        for key, entry in stored.items()
        if sent and key in sent
    }
    return query | {"variables": stored | replaced} if replaced else query


def with_filters(query: Json, sent: FiltersOverride | None) -> Json:
    """The query with the sent filters.

    Raises:
        Invalid: attr ``filters_override``; HogQL without the placeholder ``{filters}``.
        Unreadable: attr ``filters_override__date_from`` or ``__date_to``; not a date.
    """
    if sent is None or not (fields := sent.model_dump(exclude_none=True)):
        return query
    _check_dates(fields)
    if query["kind"] == EVENTS:
        return query | _of_events(query, fields)
    if query["kind"] != HOGQL:
        merged = _merged(query, fields)
        return query | {key: value for key, value in merged.items() if key in query}
    if _FILTERS_PLACEHOLDER.search(query["query"]) is None:
        raise not_allowed(
            "filters_override",
            "is only supported for HogQL queries that contain the {filters} placeholder.",
        )
    filters = query.get("filters") or {}
    return query | {"filters": filters | _merged(filters, fields)}


def _check_dates(fields: Json) -> None:
    try:
        range_bounds(fields.get("date_from"), fields.get("date_to"), DateClock(datetime.now(UTC)))
    except NotADate as error:
        raise Unreadable(str(error), attr=f"filters_override__{error.key}") from None


def _of_events(query: Json, fields: Json) -> Json:
    """Changes of ``fields`` to an events query, whose date bounds are keys."""
    ends = {"date_from": "after", "date_to": "before"}
    changed = {key: fields[name] for name, key in ends.items() if name in fields}
    if fields.get("properties"):
        changed["properties"] = both_filters(query.get("properties"), fields["properties"])
    if "filterTestAccounts" in fields:
        changed["filterTestAccounts"] = fields["filterTestAccounts"]
    return changed


def _merged(base: Json, fields: Json) -> Json:
    """Changes of ``fields`` to a query or its ``filters``."""
    changed: Json = {}
    dates = {name: fields[name] for name in _DATES if name in fields}
    if dates:
        changed["dateRange"] = {**(base.get("dateRange") or {}), **dates}
    if fields.get("properties"):
        changed["properties"] = both_filters(base.get("properties"), fields["properties"])
    for name, key in _REPLACED.items():
        if name in fields:
            changed[key] = fields[name]
    return changed
