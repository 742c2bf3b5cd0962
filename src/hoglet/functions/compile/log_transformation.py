"""Restrictions of log transformations, which run on log records, without an event.

Source: docs/spec/hog-functions.md#31-types and docs/spec/hog-functions.md#136-transformations.
"""

from typing import Any

from hoglet.functions.filters.roots import global_paths, nodes_of
from hoglet.kit.errors import Invalid, SourceError
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_program

GLOBALS = frozenset({"project", "record", "inputs"})
_OF_EVENTS = frozenset({"event", "person", "groups", "source", "request", "variables"})
_CALLS = frozenset({"fetch", "postHogCapture", "sendEmail"})
_FILTERS = {
    "events": "events",
    "actions": "actions",
    "data_warehouse": "tables",
    "properties": "properties of events and persons",
    "filter_test_accounts": "the test-account filter",
}


def check_log_filters(filters: dict[str, Any]) -> None:
    """Reject filters on events.

    Raises:
        Invalid: attr ``filters``.
    """
    for name, what in _FILTERS.items():
        if filters.get(name):
            raise Invalid(
                f"A log transformation cannot be filtered by {what}: it runs on log records. "
                f"Remove filters.{name} and test the record in the code.",
                attr="filters",
            )


def check_log_program(source: str) -> None:
    """Reject code that reads an event or calls functions that log transformations lack.

    Code that does not parse is accepted here; compiling reports the error.

    Raises:
        Invalid: attr ``hog``.
    """
    try:
        program = parse_program(source)
    except SourceError:
        return
    for node in nodes_of(program):
        if isinstance(node, tree.Call) and node.name in _CALLS:
            raise Invalid(
                f"Log transformations cannot call {node.name}: they run while logs are ingested.",
                attr="hog",
            )
    read = sorted({str(path[0]) for path in global_paths(program)} & (_OF_EVENTS | _CALLS))
    if read:
        raise Invalid(
            f"Log transformations cannot read {', '.join(read)}. The available globals "
            "are project, record and inputs.",
            attr="hog",
        )
