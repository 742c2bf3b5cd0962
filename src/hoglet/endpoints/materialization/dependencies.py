"""The project settings that the rows of a query depend on.

They are part of the key of cached results and stored with materialized tables: after a change the
inline run returns different rows, so the table is not read until it is rebuilt.

Source: docs/spec/query-endpoints.md#55-which-source-is-read-and-the-cache and
docs/spec/query-endpoints.md#73-how-variables-are-stored (same rows as the inline run).
"""

import re
from typing import Any

import orjson

from hoglet.access.principals import Project
from hoglet.endpoints.enums import HOGQL
from hoglet.hogql.query_nodes import QueryNode

type ProjectSettings = dict[str, Any]
"""``{"timezone": "Europe/Berlin"}``, as stored with a table and compared."""

PROPERTY_TYPE_CHANGED = "property_type_changed"
_PLAIN_NAME = re.compile(r"[\w$ .:/-]+")
_NAMED_ELSEWHERE = ("filterTestAccounts", "ActionsNode", "matchesAction", "cohort")


def may_read_property(query: QueryNode, name: str) -> bool:
    """Whether a query may read the property; true if its text cannot tell.

    Actions, cohorts and test-account filters use properties outside of the query.
    """
    text = orjson.dumps(query).decode()
    if _PLAIN_NAME.fullmatch(name) is None or any(word in text for word in _NAMED_ELSEWHERE):
        return True
    return re.search(rf"(?<![\w$]){re.escape(name)}(?!\w)", text) is not None


def depends_on(query: QueryNode, project: Project) -> ProjectSettings:
    """The settings relevant to a query, for comparison.

    Returns:
        ``{"timezone": "Europe/Berlin"}``, with ``test_account_filters`` if the query uses them.
    """
    settings: ProjectSettings = {"timezone": project.timezone}
    if project.week_start_day:  # omitted if weeks start on Sunday, the former behavior
        settings["week_start_day"] = project.week_start_day
    filters = query if query["kind"] != HOGQL else query.get("filters") or {}
    if filters.get("filterTestAccounts"):
        settings["test_account_filters"] = project.test_account_filters
    return settings
