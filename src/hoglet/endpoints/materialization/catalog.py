"""The materialized endpoints available to a project's queries: ``SELECT * FROM daily_v1``.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored and
docs/spec/query-endpoints.md#101-tables-and-columns.
"""

from typing import Any

from hoglet.endpoints import repository
from hoglet.kit.cache import TTLCache
from hoglet.store.database import Database

type Json = dict[str, Any]

_SECONDS = 2.0


class MaterializedTables:
    """Looks up materialized tables, cached for two seconds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = TTLCache(self._load, seconds=_SECONDS)

    async def of(self, project_id: int) -> Json:
        """``{"daily_v1": {"physical": "endpoint_table_…", "columns": [["day", {…}]]}}``."""
        return await self._known.get(project_id) or {}

    def forget(self) -> None:
        """Clear the cache."""
        self._known.forget()

    async def _load(self, project_id: int) -> Json:
        async with self._database.read() as session:
            built = await repository.built_tables(session, project_id)
        return {
            f"{name}_v{number}": {"physical": row.table_name, "columns": row.plan["columns"]}
            for name, number, row in built
        }
