"""Validates and normalizes the ``filters`` of a request.

Source: docs/spec/hog-functions.md#5-filters.
"""

from typing import Any

from hoglet.functions.errors import wrong_type
from hoglet.functions.json_types import FunctionFilters
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, array_at, is_array, is_object
from hoglet.web.validation import Body, validate

SOURCES = ("events", "person-updates", "data-warehouse-table", "data-warehouse-view")
LISTS = ("events", "actions", "data_warehouse", "properties")
GENERATED = ("bytecode", "bytecode_error", "transpiled")
_WAREHOUSE = ("data-warehouse-table", "data-warehouse-view")
_UNCHOSEN_TABLE = "Select a table"
_DROPPED = {
    "events": ("data_warehouse",),
    "person-updates": ("events", "actions", "data_warehouse"),
    "data-warehouse-table": ("events", "actions"),
    "data-warehouse-view": ("events", "actions"),
}


class FilterSwitches(Body):
    """The boolean and string fields of filters."""

    filter_test_accounts: bool | None = None


def normalize_filters(value: Any, *, prefix: str = "filters") -> FunctionFilters:
    """The filters to store, without generated keys.

    Args:
        value: the value in the request; null means ``{}``.
        prefix: the attr of errors, ``filters`` or ``mappings__0__filters``.

    Returns:
        A new dict; ``source`` is always set; everything else stays as it was sent, so that stored
        values round-trip.

    Raises:
        Invalid: not an object, an unknown source, or a field of the wrong type.
    """
    if value is None:
        value = {}
    if not is_object(value):
        raise wrong_type("a dictionary", value, code="not_a_dict", attr=prefix)
    filters = without_generated(value)
    filters = {"source": _source(filters.get("source"), prefix), **_without(filters, "source")}
    switches = validate(FilterSwitches, filters, prefix=prefix).model_dump(exclude_unset=True)
    filters |= switches
    for name in LISTS:
        _check_list(filters, name, prefix)
    for name in _DROPPED[filters["source"]]:
        filters.pop(name, None)
    _drop_unchosen_tables(filters)
    return filters


def without_generated(part: JsonObject) -> JsonObject:
    """Filters or masking without the keys that compiling adds."""
    return {name: value for name, value in part.items() if name not in GENERATED}


def check_view(filters: FunctionFilters, *, enabled: bool) -> None:
    """Reject an enabled function on views without a view."""
    if not enabled or filters.get("source") != "data-warehouse-view":
        return
    entries = array_at(filters, "data_warehouse")
    if not any(entry.get("table_name") or entry.get("id") for entry in entries):
        raise Invalid("Select a view before enabling this function.", attr="filters")


def _without(filters: FunctionFilters, key: str) -> FunctionFilters:
    return {name: value for name, value in filters.items() if name != key}


def _source(value: Any, prefix: str) -> str:
    if value is None:
        return "events"
    if value not in SOURCES:
        attr = f"{prefix}__source"
        raise Invalid(f'"{value}" is not a valid choice.', code="invalid_choice", attr=attr)
    return value


def _check_list(filters: FunctionFilters, name: str, prefix: str) -> None:
    entries = filters.get(name)
    if entries is None:
        return
    attr = f"{prefix}__{name}"
    if not is_array(entries):
        raise wrong_type("a list", entries, code="not_a_list", attr=attr)
    for index, entry in enumerate(entries):
        if not is_object(entry):
            item_attr = f"{attr}__{index}"
            raise wrong_type("a dictionary", entry, code="not_a_dict", attr=item_attr)


def _drop_unchosen_tables(filters: FunctionFilters) -> None:
    if filters["source"] in _WAREHOUSE and is_array(filters.get("data_warehouse")):
        filters["data_warehouse"] = [
            entry for entry in filters["data_warehouse"] if entry.get("name") != _UNCHOSEN_TABLE
        ]
