"""The difference between two versions of an endpoint."""

import difflib
from typing import Any, TypedDict

import orjson

from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.repository import FoundEndpoint

_FIELDS = (
    "description",
    "is_active",
    "cache_age_seconds",
    "data_freshness_seconds",
    "sync_frequency",
    "bucket_overrides",
    "optional_breakdown_properties",
)


class ChangedField(TypedDict):
    """A field that differs, with its value in both versions."""

    field: str
    a: Any
    b: Any


class VersionDifference(TypedDict):
    """The difference between two versions; ``query_diff`` is empty for equal queries."""

    a: int
    b: int
    query_diff: str
    changes: list[ChangedField]


_PRETTY = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS


def difference(a: FoundEndpoint, b: FoundEndpoint) -> VersionDifference:
    """Compare version ``a`` with version ``b``; queries as a unified diff."""
    before, after = _text(a), _text(b)
    lines = difflib.unified_diff(
        before.splitlines(),
        after.splitlines(),
        f"version {a.version.number}",
        f"version {b.version.number}",
        lineterm="",
    )
    return {
        "a": a.version.number,
        "b": b.version.number,
        "query_diff": "\n".join(lines),
        "changes": _changes(a, b),
    }


def _text(endpoint: FoundEndpoint) -> str:
    """The SQL of a HogQL query, any other query as JSON."""
    query = endpoint.version.query
    if query["kind"] == HOGQL:
        return query["query"]
    return orjson.dumps(query, option=_PRETTY).decode()


def _changes(a: FoundEndpoint, b: FoundEndpoint) -> list[ChangedField]:
    before, after = _fields(a), _fields(b)
    return [
        {"field": name, "a": before.get(name), "b": after.get(name)}
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]


def _fields(endpoint: FoundEndpoint) -> dict[str, Any]:
    fields: dict[str, Any] = {name: getattr(endpoint.version, name) for name in _FIELDS}
    fields["is_materialized"] = endpoint.materialization is not None
    fields["columns"] = endpoint.version.analysis.get("columns") or []
    query = endpoint.version.query
    inner = ("kind", "values", "variables", "filters", "modifiers")
    names = inner if query["kind"] == HOGQL else ("kind",)
    return fields | {f"query.{name}": query.get(name) for name in names}
