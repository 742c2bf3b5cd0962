"""The materialized endpoints available to a project's queries, and the settings they depend on.

A query reads them by name: ``SELECT * FROM daily_v1``.

The project settings that the rows of a query depend on are part of the key of cached results and
stored with materialized tables: after a change the inline run returns different rows, so the table
is not read until it is rebuilt.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored,
docs/spec/query-endpoints.md#101-tables-and-columns and
docs/spec/query-endpoints.md#55-which-source-is-read-and-the-cache.
"""

import re
from typing import Any

import orjson

from hoglet.access.principals import Project
from hoglet.endpoints import repository
from hoglet.endpoints.analysis.model import table_plan
from hoglet.endpoints.enums import HOGQL
from hoglet.hogql.context import SavedTable
from hoglet.hogql.query_nodes import QueryNode
from hoglet.kit.cache import TTLCache
from hoglet.store.database import Database

type ProjectSettings = dict[str, Any]
"""``{"timezone": "Europe/Berlin"}``, as stored with a table and compared."""

PROPERTY_TYPE_CHANGED = "property_type_changed"
_PLAIN_NAME = re.compile(r"[\w$ .:/-]+")
_NAMED_ELSEWHERE = ("filterTestAccounts", "ActionsNode", "matchesAction", "cohort")
_SECONDS = 2.0


class MaterializedTables:
    """Looks up materialized tables, cached for two seconds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = TTLCache(self._load, seconds=_SECONDS)

    async def of(self, project_id: int) -> dict[str, SavedTable]:
        """The tables by name in FROM: ``{"daily_v1": SavedTable(...)}``."""
        return await self._known.get(project_id) or {}

    def forget(self) -> None:
        """Clear the cache."""
        self._known.forget()

    async def _load(self, project_id: int) -> dict[str, SavedTable]:
        async with self._database.read() as session:
            built = await repository.built_tables(session, project_id)
        return {
            f"{name}_v{number}": table_plan(row.plan).table(row.table_name or "")
            for name, number, row in built
        }


def may_read_property(query: QueryNode, name: str) -> bool:
    """Whether a query may read the property; true if its text does not settle it.

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
