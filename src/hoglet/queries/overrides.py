"""Applies overrides of a request to its query.

Source: docs/spec/data-and-queries.md#12-body.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.errors import not_allowed
from hoglet.endpoints.run.plan import both_filters
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import Unreadable
from hoglet.kit.relative_dates import DateClock, NotADate, range_bounds
from hoglet.queries.kinds import EVENTS
from hoglet.queries.schemas import FiltersOverride, VariableOverride

_DATES = ("date_from", "date_to", "explicitDate")
_REPLACED = {
    "interval": "interval",
    "filterTestAccounts": "filterTestAccounts",
    "breakdown_filter": "breakdownFilter",
}
_FILTERS_PLACEHOLDER = re.compile(r"\{\s*filters\b")


type Places = tuple[tuple[str, str], ...]
"""Where overrides of the body ended up in the query: pairs of path prefixes, query and body.

Example: ``(("properties__values__1", "filters_override__properties"),)``.
"""


def place_of(inside: str, places: Places) -> str | None:
    """The path in the body of the query's part at ``inside``; None if it is not an override."""
    for prefix, outside in places:
        if inside == prefix or inside.startswith(f"{prefix}__"):
            return outside + inside.removeprefix(prefix)
    return None


def with_variables(
    query: QueryNode, sent: Mapping[str, VariableOverride] | None
) -> tuple[QueryNode, Places]:
    """The query with the sent variables; unknown ones are ignored."""
    stored: dict[str, Any] = query.get("variables") or {}
    replaced = {
        key: entry | sent[key].model_dump(exclude_unset=True)
        for key, entry in stored.items()
        if sent and key in sent
    }
    if not replaced:
        return query, ()
    places = tuple((f"variables__{key}", f"variables_override__{key}") for key in replaced)
    return query | {"variables": stored | replaced}, places


def with_filters(query: QueryNode, sent: FiltersOverride | None) -> tuple[QueryNode, Places]:
    """The query with the sent filters.

    Raises:
        Invalid: attr ``filters_override``; HogQL without the placeholder ``{filters}``.
        Unreadable: attr ``filters_override__date_from`` or ``__date_to``; not a date.
    """
    if sent is None or not (fields := sent.model_dump(exclude_none=True)):
        return query, ()
    _check_dates(fields)
    if query["kind"] == EVENTS:
        return query | _of_events(query, fields), _places(query, fields)
    if query["kind"] != HOGQL:
        merged = _merged(query, fields)
        changed = {key: value for key, value in merged.items() if key in query}
        return query | changed, _places(query, fields)
    if _FILTERS_PLACEHOLDER.search(query["query"]) is None:
        raise not_allowed(
            "filters_override",
            "is only supported for HogQL queries that contain the {filters} placeholder.",
        )
    filters = query.get("filters") or {}
    places = tuple((f"filters__{inside}", outside) for inside, outside in _places(filters, fields))
    return query | {"filters": filters | _merged(filters, fields)}, places


def refuse_unused_filters(query: QueryNode, path: str) -> None:
    """Reject filters of a HogQL query without the placeholder ``{filters}``: they have no effect.

    Raises:
        Unreadable: attr is the path of ``filters``.
    """
    filters = query.get("filters")
    if query["kind"] != HOGQL or not filters:
        return
    used = [name for name, is_set in _SET.items() if is_set(filters)]
    if used and _FILTERS_PLACEHOLDER.search(query["query"]) is None:
        detail = (
            f"The query does not use its filters ({', '.join(used)}): write {{filters}} where they "
            "belong, e.g. WHERE {filters}."
        )
        raise Unreadable(detail, attr=f"{path}__filters")


def _has_dates(filters: QueryNode) -> bool:
    dates = filters.get("dateRange") or {}
    return any(dates.get(name) not in {None, "", "all"} for name in ("date_from", "date_to"))


def _has_properties(filters: QueryNode) -> bool:
    given = filters.get("properties")
    return bool(given.get("values") if isinstance(given, dict) else given)


_SET: dict[str, Callable[[QueryNode], bool]] = {
    "dateRange": _has_dates,
    "properties": _has_properties,
    "filterTestAccounts": lambda filters: bool(filters.get("filterTestAccounts")),
}
"""Filters that restrict rows, each with a test whether it is set."""


def _places(base: dict[str, Any], fields: dict[str, Any]) -> Places:
    """The paths of the parts of ``fields`` in the result of ``_merged`` and in the body."""
    sent, paths = "filters_override", list[tuple[str, str]]()
    if more := fields.get("properties"):
        saved, outside = base.get("properties"), f"{sent}__properties"
        if not saved:
            paths.append(("properties", outside))
        elif isinstance(saved, list) and isinstance(more, list):
            first = len(saved)
            paths += [(f"properties__{first + n}", f"{outside}__{n}") for n in range(len(more))]
        else:
            paths.append((f"properties__values__1{'__values' * isinstance(more, list)}", outside))
    paths += [(key, f"{sent}__{name}") for name, key in _REPLACED.items() if name in fields]
    return tuple(paths)


def _check_dates(fields: dict[str, Any]) -> None:
    try:
        range_bounds(fields.get("date_from"), fields.get("date_to"), DateClock(datetime.now(UTC)))
    except NotADate as error:
        raise Unreadable(str(error), attr=f"filters_override__{error.key}") from None


def _of_events(query: QueryNode, fields: dict[str, Any]) -> QueryNode:
    """The keys that ``fields`` changes in an events query, which has its date bounds as keys."""
    ends = {"date_from": "after", "date_to": "before"}
    changed = {key: fields[name] for name, key in ends.items() if name in fields}
    if fields.get("properties"):
        changed["properties"] = both_filters(query.get("properties"), fields["properties"])
    if "filterTestAccounts" in fields:
        changed["filterTestAccounts"] = fields["filterTestAccounts"]
    return changed


def _merged(base: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """The keys that ``fields`` changes in a query or its ``filters``."""
    changed: dict[str, Any] = {}
    dates = {name: fields[name] for name in _DATES if name in fields}
    if dates:
        changed["dateRange"] = {**(base.get("dateRange") or {}), **dates}
    if fields.get("properties"):
        changed["properties"] = both_filters(base.get("properties"), fields["properties"])
    for name, key in _REPLACED.items():
        if name in fields:
            changed[key] = fields[name]
    return changed
