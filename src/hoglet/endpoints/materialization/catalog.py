"""The materialized endpoints available to a project's queries: ``SELECT * FROM daily_v1``.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored and
docs/spec/query-endpoints.md#101-tables-and-columns.
"""

from hoglet.endpoints import repository
from hoglet.endpoints.analysis.model import table_plan
from hoglet.hogql.context import SavedTable
from hoglet.kit.cache import TTLCache
from hoglet.store.database import Database

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
