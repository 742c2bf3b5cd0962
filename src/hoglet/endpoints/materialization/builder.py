"""Builds the tables of materialized versions and swaps them in.

A build fills a new table under a new name; the row refers to it only when it is complete, so runs
never see a partial table, and a crash leaves at most an unreferenced table, which ``sweep``
removes.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored and
docs/spec/query-endpoints.md#75-life-cycle.
"""

import re
from datetime import timedelta
from typing import Any

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import repository as projects
from hoglet.access.principals import Project
from hoglet.endpoints import repository
from hoglet.endpoints.analysis.analyzer import QueryAnalyzer
from hoglet.endpoints.analysis.model import Analysis, TablePlan
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.errors import NotMaterializable
from hoglet.endpoints.insights.all_time import is_of_all_time, since_oldest
from hoglet.endpoints.insights.runs import (
    TABLE_COLUMNS,
    TABLE_DEFINITION,
    compute_insight,
    items_of,
)
from hoglet.endpoints.insights.variables import for_table
from hoglet.endpoints.materialization.builds import (
    Outcome,
    begin_build,
    cancel_build,
    end_build,
)
from hoglet.endpoints.materialization.hogql_table import HogqlTable
from hoglet.endpoints.materialization.scheduler import (
    TABLE_PREFIX,
    BuildJob,
    MaterializationScheduler,
)
from hoglet.endpoints.run.plan import depends_on
from hoglet.endpoints.serializers import COMPLETED, interval_seconds
from hoglet.endpoints.settings import EndpointSettings
from hoglet.endpoints.tables import EndpointVersionRow, MaterializationRow
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.endpoints.worker.query_errors import as_query_error
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.clock import Clock, new_id
from hoglet.kit.errors import HogletError
from hoglet.store.database import Database
from hoglet.warehouse import Warehouse
from hoglet.warehouse.errors import QueryCancelled, QueryRefused

logger = structlog.get_logger(__name__)

AGAIN_AFTER = timedelta(minutes=1)  # if the warehouse was busy or down
SWEPT_AFTER = timedelta(days=1)  # older than any build that may still be running
_TABLE = re.compile(rf"{TABLE_PREFIX}[0-9a-f]{{32}}")


class TableBuilder:
    """Processes build and drop jobs.

    Args:
        database: stores versions and schedules.
        warehouse: stores the tables.
        clock: the time.
        compiler: generates the SQL.
        materializer: schedules the next build.
        settings: time limit of a build.
    """

    def __init__(
        self,
        database: Database,
        warehouse: Warehouse,
        clock: Clock,
        compiler: QueryCompiler,
        *,
        materializer: MaterializationScheduler,
        settings: EndpointSettings,
    ) -> None:
        self._database = database
        self._warehouse = warehouse
        self._clock = clock
        self._compiler = compiler
        self._analyzer = QueryAnalyzer(compiler, warehouse)
        self._materializer = materializer
        self._settings = settings
        self._hogql = HogqlTable(warehouse, compiler, seconds=settings.background_seconds)

    async def build(self, job: BuildJob) -> None:
        """Build the table of a version, unless another build was scheduled in the meantime.

        Idempotency: a second run builds a second table and drops the first, or keeps the first if
        no events changed.
        """
        started = await self._start(job)
        if started is None:
            return
        version, project, previous = started
        table = f"{TABLE_PREFIX}{new_id().hex}"
        built_at = self._clock.now()
        try:
            fresh = await self._analyzed(project, version)
            used = await self._fill(project, version, table, previous)
        except HogletError as error:
            public = await self._public(version.query, error)
            status = "Cancelled" if isinstance(error, QueryCancelled) else "Failed"
            logger.info("a build failed", action="build_failed", version=str(version.id))
            soon = AGAIN_AFTER if public.retry == "later" else None
            values = {"status": status, "error": str(public)}
            await self._finish(job, values, table=table, next_in=soon)
            return
        values = {"status": COMPLETED, "error": "", "table_name": used, "last_built_at": built_at}
        await self._finish(job, values, table=table, project=project, fresh=fresh)

    async def _public(self, query: QueryNode, error: HogletError) -> HogletError:
        if isinstance(error, QueryRefused):
            error = await self._compiler.explained(query, error)
        return as_query_error(error)

    async def give_up(self, job: BuildJob) -> None:
        """Record an unexpected failure of a build; the next build runs at its regular time."""
        error = "The build failed unexpectedly; see the server's log."
        await self._finish(job, {"status": "Failed", "error": error})

    async def drop(self, table: str) -> None:
        """Drop a table of an earlier build."""
        if _TABLE.fullmatch(table):
            await self._warehouse.drop_table(table)

    async def sweep(self) -> None:
        """Drop tables that no version refers to, left by killed builds."""
        before = self._clock.now() - SWEPT_AFTER
        tables = await self._warehouse.query(
            "SELECT name FROM system.tables WHERE database = currentDatabase() "
            "AND startsWith(name, {prefix:String}) "
            "AND metadata_modification_time < {before:DateTime}",
            {"prefix": TABLE_PREFIX, "before": before},
        )
        async with self._database.read() as session:
            used = {row.table_name for row in await repository.all_materializations(session)}
        for (name,) in tables.rows:
            if name not in used:
                await self.drop(name)

    async def _start(self, job: BuildJob) -> tuple[EndpointVersionRow, Project, str | None] | None:
        """The version, and the table of the last build if its rows may be used again."""
        async with self._database.write() as session:
            stored = await repository.lock_materialization(session, job.version_id)
            if stored is None or stored[0].schedule != job.schedule:
                await cancel_build(session, job.schedule, self._clock.now())
                return None
            row, version = stored
            row.status = "Running"
            await begin_build(session, job.schedule, version, self._clock.now())
            project = await projects.find_project(session, row.project_id)
            if project is None:
                return None
            is_usable = not row.stale_reason and _plan(row).built_for == depends_on(
                version.query, project
            )
            return version, project, row.table_name if is_usable else None

    async def _analyzed(self, project: Project, version: EndpointVersionRow) -> Analysis:
        """The query analyzed with the property types that the table is built with.

        Types detected or changed since it was saved change its columns.

        Raises:
            NotMaterializable: it can no longer be materialized.
        """
        fresh = await self._analyzer.analyze(project, version.query, version.bucket_overrides)
        if fresh.plan is None:
            raise NotMaterializable(fresh.eligibility.reason or "", attr="is_materialized")
        return fresh

    async def _fill_insight(self, project: Project, query: QueryNode, table: str) -> None:
        table_query = for_table(query)
        if is_of_all_time(table_query):
            table_query = await since_oldest(
                self._compiler, self._warehouse, project, table_query, query_id=table
            )
        compiled = await self._compiler.compile_insight(project, table_query)
        computed = await compute_insight(
            self._warehouse,
            table_query,
            compiled,
            query_id=table,
            seconds=self._settings.background_seconds,
        )
        rows = items_of(project.id, computed)
        columns = f"project_id Int64, {TABLE_DEFINITION}"
        await self._warehouse.create_table(table, columns, order_by="(project_id, position)")
        await self._warehouse.insert(table, TABLE_COLUMNS, rows)

    async def _fill(
        self, project: Project, version: EndpointVersionRow, table: str, previous: str | None
    ) -> str:
        """Fill the table; returns the name of the table to use."""
        if version.query["kind"] == HOGQL:
            return await self._hogql.fill(project, version, table, previous=previous)
        await self._fill_insight(project, version.query, table)
        return table

    async def _finish(
        self,
        job: BuildJob,
        values: dict[str, Any],
        *,
        table: str | None = None,
        next_in: timedelta | None = None,
        project: Project | None = None,
        fresh: Analysis | None = None,
    ) -> None:
        """Record the outcome, swap the tables, and schedule the next build, in one transaction.

        ``table`` is the one that the build made; it is dropped unless it is used.
        """
        async with self._database.write() as session:
            stored = await repository.lock_materialization(session, job.version_id)
            if stored is None or stored[0].schedule != job.schedule:
                await cancel_build(session, job.schedule, self._clock.now())
                await self._drop_later(session, table)
                return
            row, version = stored
            old = row.table_name
            is_unchanged = old is not None and values.get("table_name") == old
            outcome = Outcome(values["status"], values["error"], is_unchanged)
            await end_build(session, job.schedule, outcome, self._clock.now())
            for name, value in values.items():
                setattr(row, name, value)
            if project is not None:
                await _renew(session, row, version, project, fresh)
            for unused in {table, old} - {row.table_name}:
                await self._drop_later(session, unused)
            next_in = next_in or timedelta(seconds=interval_seconds(version))
            await self._materializer.schedule(session, row, self._clock.now() + next_in)

    async def _drop_later(self, session: Any, table: str | None) -> None:
        if table is not None:
            await self._materializer.drop_table(session, table)


async def _renew(
    session: AsyncSession,
    row: MaterializationRow,
    version: EndpointVersionRow,
    project: Project,
    fresh: Analysis | None,
) -> None:
    """Describe the table as it was built, and clear its stale flag unless a type changed meanwhile.

    The server that scheduled the build may not have known the project's latest settings.
    """
    plan = msgspec.structs.replace(_plan(row), built_for=depends_on(version.query, project))
    if fresh is not None and fresh.plan is not None:
        version.analysis = msgspec.to_builtins(fresh)
        plan = msgspec.structs.replace(
            plan, columns=fresh.plan.columns, variables=fresh.plan.variables
        )
    row.plan = msgspec.to_builtins(plan)
    now = await projects.find_project(session, project.id)
    if now is not None and now.definitions_version == project.definitions_version:
        row.stale_reason = None


def _plan(row: MaterializationRow) -> TablePlan:
    return msgspec.convert(row.plan, TablePlan)
