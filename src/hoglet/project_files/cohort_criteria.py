"""Criteria of cohorts in the form that a server stores: with the defaults that files omit."""

from typing import Any

from hoglet.cohorts.criteria.schema import read_criteria
from hoglet.kit.errors import Invalid
from hoglet.project_files.documents import CohortDocument
from hoglet.project_files.function_file import without_defaults
from hoglet.project_files.references import Names, references, with_ids, with_names

_FIRST_ID = 10**12  # stands for a name; no server has as many cohorts or actions


def as_stored(document: CohortDocument) -> CohortDocument:
    """The cohort with its criteria as a server would store them, for comparison.

    Criteria that a server would reject are unchanged.

    Example:
        ``{type: person, key: plan, value: pro}`` becomes
        ``{type: person, key: plan, value: pro, operator: exact}``.
    """
    filters = document.get("filters")
    if filters is None:
        return document
    names = _placeholders(filters)
    try:
        read = read_criteria(with_ids(filters, names))
    except Invalid:
        return document
    return {**document, "filters": without_defaults(with_names(read, names))}


def _placeholders(filters: Any) -> Names:
    """Ids for the actions and cohorts that criteria refer to by name."""
    numbered = enumerate(sorted(set(references(filters))), start=_FIRST_ID)
    ids: dict[str, dict[int, str]] = {"action": {}, "cohort": {}}
    for number, (kind, name) in numbered:
        ids[kind][number] = name
    return Names(ids["action"], ids["cohort"])
