"""The types of property filters: whose property ``{"key": "plan", "type": "person"}`` tests.

Functions and queries support different ones; both store filters of the other kind in actions.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

COHORT_TYPES = ("cohort", "static-cohort", "dynamic-cohort", "precalculated-cohort")
"""Membership of a cohort; functions know these types, to refuse them with the reason."""

_EVERYWHERE = (
    "event",
    "feature",
    "person",
    "group",
    "element",
    "event_metadata",
    "hogql",
    *COHORT_TYPES,
)
QUERY_TYPES = (*_EVERYWHERE, "session", "person_metadata")
"""The types in filters of queries and of test accounts."""

FUNCTION_TYPES = (*_EVERYWHERE, "workflow_variable", "empty")
"""The types in filters of functions; ``empty`` is a row that nobody filled in."""

PROPERTY_TYPES = tuple(dict.fromkeys((*FUNCTION_TYPES, *QUERY_TYPES)))
"""All types."""
