"""Filters and searches the list of cohorts.

Source: docs/spec/data-and-queries.md#31-routes (row 1), and its
docs/spec/hog-functions.md#9-rows-6-13 on search.
"""

from collections.abc import Sequence

from hoglet.cohorts.criteria.schema import cohorts_in
from hoglet.cohorts.schemas import CohortListParams
from hoglet.cohorts.serializers import cohort_type
from hoglet.cohorts.tables import CohortRow

_BEHAVIORAL = frozenset({"behavioral", "analytical"})


def matching(
    rows: Sequence[CohortRow], wanted: CohortListParams
) -> list[tuple[CohortRow, str | None]]:
    """The matching cohorts, each with how its name matches the search."""
    hidden = _behavioral(rows) if wanted.hide_behavioral_cohorts else set[int]()
    found: list[tuple[CohortRow, str | None]] = []
    for row in rows:
        if row.id in hidden or (wanted.type and row.is_static != (wanted.type == "static")):
            continue
        if wanted.created_by_id is not None and row.created_by_id != wanted.created_by_id:
            continue
        match = _match(row.name, wanted.search)
        if match is not None or not wanted.search:
            found.append((row, match))
    return found


def _match(name: str, search: str | None) -> str | None:
    if not search:
        return None
    if name == search:
        return "exact"
    words = search.lower().split()
    return "similar" if all(word in name.lower() for word in words) else None


def _behavioral(rows: Sequence[CohortRow]) -> set[int]:
    """Dynamic cohorts that depend on events, also through another cohort."""
    found = {row.id for row in rows if cohort_type(row) in _BEHAVIORAL}
    size = -1
    while size != len(found):
        size = len(found)
        found |= {row.id for row in rows if not row.is_static and cohorts_in(row.filters) & found}
    return found
