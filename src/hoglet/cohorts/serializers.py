"""Cohorts, calculations and persons in the form of the API.

Source: docs/spec/data-and-queries.md#32-record.
"""

from collections.abc import Mapping
from typing import Any

from hoglet.access.principals import User, user_object
from hoglet.cohorts.criteria.model import Behavior, BehaviorKind, stored_criteria
from hoglet.cohorts.tables import CohortCalculationRow, CohortRow
from hoglet.kit.clock import iso_z, iso_z_or_none

type Json = dict[str, Any]

_SIMPLE = frozenset({BehaviorKind.PERFORMED, BehaviorKind.MULTIPLE})
_HEAVY = ("filters", "query", "groups")


def cohort_object(
    row: CohortRow, users: Mapping[int, User], *, match: str | None = None, basic: bool = False
) -> Json:
    """A cohort; ``basic`` omits fields that can be large."""
    visible: Json = {
        "id": row.id,
        "name": row.name,
        "description": row.description,
        "deleted": row.deleted,
        "filters": row.filters,
        "query": row.query,
        "groups": row.groups,
        "version": row.version,
        "pending_version": row.pending_version,
        "is_calculating": row.is_calculating,
        "created_by": user_object(users.get(row.created_by_id or 0)),
        "created_at": iso_z(row.created_at),
        "last_calculation": iso_z_or_none(row.last_calculation),
        "last_backfill_person_properties_at": None,
        "errors_calculating": row.errors_calculating,
        "last_error_message": row.last_error_message,
        "count": row.count,
        "is_static": row.is_static,
        "cohort_type": cohort_type(row),
        "experiment_set": [],
        "search_match_type": match,
    }
    return {name: value for name, value in visible.items() if not basic or name not in _HEAVY}


def cohort_type(row: CohortRow) -> str:
    """``static``, ``person_property``, ``behavioral`` or ``analytical`` (more than counting)."""
    if row.is_static:
        return "static"
    leaves = stored_criteria(row.filters).leaves() if row.filters else ()
    kinds = {leaf.value for leaf in leaves if isinstance(leaf, Behavior)}
    if not kinds:
        return "person_property"
    return "behavioral" if kinds <= _SIMPLE else "analytical"


def calculation_object(row: CohortCalculationRow) -> Json:
    """A calculation in the history."""
    is_completed = row.finished_at is not None
    seconds = None
    if row.finished_at is not None:
        seconds = round((row.finished_at - row.started_at).total_seconds(), 3)
    return {
        "id": row.id,
        "filters": row.filters,
        "count": row.count,
        "started_at": iso_z(row.started_at),
        "finished_at": iso_z_or_none(row.finished_at),
        "error": row.error,
        "error_code": row.error_code,
        "duration_seconds": seconds,
        "is_completed": is_completed,
        "is_successful": is_completed and row.error is None,
        "total_query_ms": row.total_query_ms,
        "total_read_rows": row.total_read_rows,
    }
