"""Object columns of events queries, each assembled from several columns.

Source: docs/spec/data-and-queries.md#17-eventsquery.
"""

from collections.abc import Sequence

from hoglet.hogql.ast_builders import call, constant, field
from hoglet.hogql.frontend.print_hogql import print_expression

EVENT_COLUMNS: tuple[str, ...] = (
    "uuid",
    "event",
    "properties",
    "timestamp",
    "distinct_id",
    "elements_chain",
    "created_at",
    "person_mode",
)
_DISPLAY = ("email", "Email", "$email", "name", "Name", "username", "Username", "UserName")
NAME = "{name}"
"""Placeholder for the display name of a person."""

SPECIAL: dict[str, tuple[str, ...]] = {
    "*": tuple(f"events.{name}" for name in EVENT_COLUMNS),
    "person": (
        "events.distinct_id",
        "events.person.id",
        "events.person.created_at",
        "events.person.properties",
    ),
    "person_display_name": (NAME, "events.person.id", "events.distinct_id"),
}


def display_name(properties: Sequence[str] | None) -> str:
    """HogQL for the display name: the first property that is set, else the distinct id."""
    values = (field("events", "person", "properties", each) for each in properties or _DISPLAY)
    names = [call("nullIf", call("toString", value), constant("")) for value in values]
    return print_expression(call("coalesce", *names, field("events", "distinct_id")))
