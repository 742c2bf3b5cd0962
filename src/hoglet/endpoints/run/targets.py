"""Short-lived caches of what runs read: endpoint versions, and materialized tables by name.

Source: docs/spec/query-endpoints.md#101-tables-and-columns (``SELECT * FROM daily_v1``).
"""

from datetime import datetime
from uuid import UUID

import msgspec

from hoglet.endpoints import repository
from hoglet.endpoints.analysis.model import Analysis, Buckets, TablePlan
from hoglet.endpoints.errors import unknown_version
from hoglet.endpoints.repository import FoundEndpoint, Names
from hoglet.endpoints.serializers import interval_seconds
from hoglet.endpoints.tables import EndpointVersionRow
from hoglet.hogql.context import SavedTable
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.cache import TTLCache
from hoglet.kit.errors import NotFound
from hoglet.store.database import Database

CACHE_SECONDS = 2.0  # other processes may change an endpoint; this one clears its cache at once


class Materialization(msgspec.Struct, frozen=True):
    """The table of a materialized version; ``table`` is None before the first build.

    ``is_stale``: the type of a property it may depend on changed since it was built.
    """

    table: str | None
    plan: TablePlan
    built_at: datetime | None
    interval_seconds: int
    buckets: Buckets | None
    is_stale: bool = False

    def seconds_left(self, now: datetime) -> float:
        """Seconds until the table expires; 0 or less if it must not be read."""
        if self.table is None or self.built_at is None or self.is_stale:
            return 0
        return self.interval_seconds - (now - self.built_at).total_seconds()


class RunTarget(msgspec.Struct, frozen=True):
    """One version of a live endpoint; ``materialization`` is set if it is materialized."""

    endpoint_id: UUID
    project_id: int
    name: str
    is_active: bool
    current_version: int
    version_id: UUID
    version: int
    version_is_active: bool
    version_created_at: datetime
    query: QueryNode
    analysis: Analysis
    cache_seconds: int
    optional_breakdowns: frozenset[str]
    materialization: Materialization | None
    aliases: Names = msgspec.field(default_factory=dict[str, int])


class RunTargets:
    """Resolves targets, cached for ``CACHE_SECONDS``."""

    def __init__(self, database: Database, *, cache_seconds: float = CACHE_SECONDS) -> None:
        self._database = database
        self._known = TTLCache(self._load, seconds=cache_seconds)
        self.times_cleared = 0

    async def current(self, project_id: int, name: str) -> RunTarget:
        """The newest version of an active endpoint.

        Raises:
            NotFound: no such endpoint, or it is inactive.
        """
        target = await self._known.get((project_id, name, None))
        if target is None or not target.is_active:
            raise NotFound
        return target

    async def version(self, current: RunTarget, number: int | None) -> RunTarget:
        """A version of the endpoint of ``current``.

        Raises:
            NotFound: no such version.
        """
        if number is None or number == current.version:
            return current
        target = await self._known.get((current.project_id, current.name, number))
        if target is None:
            raise unknown_version(number, current.name, current.current_version)
        return target

    def cached_until(self, current: RunTarget, target: RunTarget) -> float:
        """How long these versions are cached, on the monotonic clock."""
        project_id, name = current.project_id, current.name
        until = self._known.expires_at((project_id, name, None))
        if target is current:
            return until
        return min(until, self._known.expires_at((project_id, name, target.version)))

    def forget(self) -> None:
        """Clear the cache; call after every change."""
        self.times_cleared += 1
        self._known.forget()

    async def _load(self, key: tuple[int, str, int | None]) -> RunTarget | None:
        project_id, name, number = key
        async with self._database.read() as session:
            endpoint = await repository.find_endpoint(session, project_id, name)
            if endpoint is None:
                return None
            version_rows = await repository.find_version(session, endpoint, number)
            aliases = await repository.alias_names(session, [endpoint.id])
        return (
            None if version_rows is None else target_of(version_rows, aliases.get(endpoint.id, {}))
        )


class MaterializedTables:
    """Looks up materialized tables, cached for two seconds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = TTLCache(self._load, seconds=CACHE_SECONDS)

    async def of(self, project_id: int) -> dict[str, SavedTable]:
        """The tables by name in FROM: ``{"daily_v1": SavedTable(...)}``."""
        tables = await self._known.get(project_id)
        return {} if tables is None else tables

    def forget(self) -> None:
        """Clear the cache."""
        self._known.forget()

    async def _load(self, project_id: int) -> dict[str, SavedTable]:
        async with self._database.read() as session:
            built = await repository.built_tables(session, project_id)
        return {
            f"{name}_v{number}": msgspec.convert(row.plan, TablePlan).table(row.table_name or "")
            for name, number, row in built
        }


def target_of(endpoint_rows: FoundEndpoint, aliases: Names | None = None) -> RunTarget:
    """The run target of the rows of an endpoint."""
    endpoint, version, row = (
        endpoint_rows.endpoint,
        endpoint_rows.version,
        endpoint_rows.materialization,
    )
    materialization = None
    if row is not None:
        materialization = Materialization(
            row.table_name,
            msgspec.convert(row.plan, TablePlan),
            row.last_built_at,
            interval_seconds(version),
            version.bucket_overrides,
            is_stale=row.stale_reason is not None,
        )
    return RunTarget(
        endpoint_id=endpoint.id,
        project_id=endpoint.project_id,
        name=endpoint.name,
        is_active=endpoint.is_active,
        current_version=endpoint.current_version,
        version_id=version.id,
        version=version.number,
        version_is_active=version.is_active,
        version_created_at=version.created_at,
        query=version.query,
        analysis=msgspec.convert(version.analysis, Analysis),
        cache_seconds=_cache_seconds(version),
        optional_breakdowns=frozenset(version.optional_breakdown_properties),
        materialization=materialization,
        aliases=aliases or {},
    )


def _cache_seconds(version: EndpointVersionRow) -> int:
    """How long an inline result may be reused."""
    return version.cache_age_seconds or version.data_freshness_seconds
