"""Session properties: built in, always present, never changed.

Source: docs/spec/data-and-queries.md#22-property_definitions.
"""

from typing import Any

from hoglet.definitions.listing import PropertyListFilter
from hoglet.definitions.serializers import property_record
from hoglet.definitions.tables import PropertyDefinitionRow
from hoglet.hogql.schema.fields import Computed, Derived, StoredColumn
from hoglet.hogql.schema.sessions import SESSIONS

BUILT_IN = "$builtin_"
_TYPES = {
    "String": "String",
    "Integer": "Numeric",
    "Float": "Numeric",
    "Boolean": "Boolean",
    "DateTime": "DateTime",
}


def session_properties(filters: PropertyListFilter) -> list[dict[str, Any]]:
    """The records that match a list request, sorted by name."""
    return [_record(name) for name in sorted(_NAMES) if _matches(name, filters)]


def session_property_types() -> dict[str, str | None]:
    """The types of all session properties, by name."""
    return dict(sorted(_NAMES.items()))


def find_session_property(definition_id: str) -> dict[str, Any] | None:
    """The record with an id such as ``$builtin_$session_duration``."""
    name = definition_id.removeprefix(BUILT_IN)
    return _record(name) if name in _NAMES else None


def _types() -> dict[str, str | None]:
    types = {
        name: _TYPES.get(field.type.name)
        for name, field in SESSIONS.fields.items()
        if name.startswith("$") and isinstance(field, StoredColumn | Computed | Derived)
    }
    return types | {"$session_duration": "Duration"}


_NAMES = _types()


def _record(name: str) -> dict[str, Any]:
    row = PropertyDefinitionRow(
        name=name, property_type=_NAMES[name], description="", tags=[], verified=False, hidden=False
    )
    record = property_record(row, {}, is_seen=None)
    return record | {"id": BUILT_IN + name}


def _matches(name: str, filters: PropertyListFilter) -> bool:
    is_numerical = _NAMES[name] == "Numeric"
    return (
        all(word in name.lower() for word in filters.words)
        and (filters.names is None or name in filters.names)
        and name not in filters.excluded
        and filters.is_numerical in {None, is_numerical}
        and filters.is_feature_flag is not True
        and filters.verified is not True
        and not filters.exclude_core
    )
