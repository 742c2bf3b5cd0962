"""Enables and disables materialization in the transaction of the request.

The work is done by jobs (see ``builder``) enqueued in the same transaction, so a crash loses
neither a first build nor the dropping of a table.

Source: docs/spec/query-endpoints.md#7-materialization.
"""

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import repository as projects
from hoglet.access.principals import Project
from hoglet.endpoints import repository
from hoglet.endpoints.analysis.model import Analysis, TablePlan
from hoglet.endpoints.errors import NotMaterializable
from hoglet.endpoints.run.plan import depends_on
from hoglet.endpoints.tables import (
    EndpointRow,
    EndpointVersionRow,
    MaterializationRow,
)
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.clock import Clock, new_id
from hoglet.queue.port import NewJob, Queue

BUILDS = "endpoint_builds"
TABLE_PREFIX = "endpoint_table_"
DROP_AFTER = timedelta(minutes=2)  # runs that chose the old table shortly before still read it
UNUSED_AFTER = timedelta(days=30)
PROPERTY_TYPE_CHANGED = "property_type_changed"
_PLAIN_NAME = re.compile(r"[\w$ .:/-]+")
_NAMED_ELSEWHERE = ("filterTestAccounts", "ActionsNode", "matchesAction", "cohort")


class BuildJob(msgspec.Struct, frozen=True, tag="build.1"):
    """Build the table of a version, if ``schedule`` is still the current one."""

    version_id: UUID
    schedule: UUID


class DropJob(msgspec.Struct, frozen=True, tag="drop.1"):
    """Drop a table that is no longer used."""

    table: str


type TableJob = BuildJob | DropJob


class MaterializationScheduler:
    """Schedules materializations.

    Args:
        queue: queue of the builds.
        clock: the time.
    """

    def __init__(self, queue: Queue, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock

    async def enable(
        self,
        session: AsyncSession,
        project: Project,
        endpoint: EndpointRow,
        version: EndpointVersionRow,
    ) -> None:
        """Materialize a version and build it at once.

        Also reschedules an existing materialization.

        Raises:
            NotMaterializable: its query cannot be materialized.
        """
        shape = msgspec.convert(version.analysis, Analysis).plan
        if shape is None:
            raise NotMaterializable("This query cannot be materialized.", attr="is_materialized")
        plan = TablePlan(
            shape.columns,
            shape.variables,
            buckets=version.bucket_overrides or None,
            built_for=depends_on(version.query, project),
        )
        row = await repository.get_materialization(session, version.id)
        if row is None:
            row = self._new_row(project, endpoint, version)
            session.add(row)
        elif msgspec.convert(row.plan, TablePlan) != plan:
            row.status = "Modified"
            await self._forget_table(session, row)
        row.plan = msgspec.to_builtins(plan)
        await self.schedule(session, row, self._clock.now())

    async def project_changed(self, session: AsyncSession, project: Project) -> None:
        """Rebuild at once the tables that depend on a changed time zone or test-account filter."""
        rows = await repository.materializations_in(session, project.id, lock=True)
        for row, version, endpoint in rows:
            if msgspec.convert(row.plan, TablePlan).built_for != depends_on(version.query, project):
                await self.enable(session, project, endpoint, version)

    async def property_type_changed(
        self, session: AsyncSession, project_id: int, name: str
    ) -> None:
        """Mark tables stale that may depend on a changed property type, until their next build."""
        rows = await repository.materializations_in(session, project_id, lock=True)
        for row, version, _ in rows:
            if may_read_property(version.query, name):
                row.stale_reason = PROPERTY_TYPE_CHANGED

    async def renew_outdated(self, session: AsyncSession) -> None:
        """Rebuild the tables that were built for other project settings than the current ones."""
        rows = await repository.all_materializations(session)
        for project_id in sorted({row.project_id for row in rows}):
            project = await projects.find_project(session, project_id)
            if project is not None:
                await self.project_changed(session, project)

    async def schedule(self, session: AsyncSession, row: MaterializationRow, at: datetime) -> None:
        """Schedule the next build; supersedes earlier schedules."""
        row.schedule = new_id()
        await session.flush()
        job = BuildJob(row.version_id, row.schedule)
        await self._enqueue(session, job, at)

    async def disable(self, session: AsyncSession, version_id: UUID) -> None:
        """Disable the materialization of a version; no effect if it is not materialized."""
        row = await repository.get_materialization(session, version_id)
        if row is not None:
            await self._drop(session, row)

    async def disable_all(self, session: AsyncSession, endpoint_id: UUID) -> None:
        """Disable the materializations of all versions of an endpoint."""
        for row in await repository.materializations_of(session, endpoint_id):
            await self._drop(session, row)

    async def disable_unused(self, session: AsyncSession) -> None:
        """Disable the materializations of versions that were not run for a month."""
        before = self._clock.now() - UNUSED_AFTER
        for row, _ in await repository.unused_materializations(session, before):
            await self._drop(session, row)

    async def drop_table(self, session: AsyncSession, table: str) -> None:
        """Schedule dropping a table after the last runs that may still read it."""
        await self._enqueue(session, DropJob(table), self._clock.now() + DROP_AFTER)

    def _new_row(
        self, project: Project, endpoint: EndpointRow, version: EndpointVersionRow
    ) -> MaterializationRow:
        return MaterializationRow(
            version_id=version.id,
            saved_query_id=new_id(),
            endpoint_id=endpoint.id,
            project_id=project.id,
            plan=None,
            table_name=None,
            status="Unknown",
            error="",
            schedule=new_id(),
            enabled_at=self._clock.now(),
            last_built_at=None,
        )

    async def _forget_table(self, session: AsyncSession, row: MaterializationRow) -> None:
        """Stop using a table built by a different plan."""
        if row.table_name is not None:
            await self.drop_table(session, row.table_name)
        row.table_name = row.last_built_at = None

    async def _drop(self, session: AsyncSession, row: MaterializationRow) -> None:
        if row.table_name is not None:
            await self.drop_table(session, row.table_name)
        await session.delete(row)
        await session.flush()

    async def _enqueue(self, session: AsyncSession, job: TableJob, at: datetime) -> None:
        payload: Any = msgspec.json.encode(job)
        await self._queue.enqueue(session, [NewJob(queue=BUILDS, payload=payload, run_at=at)])


def may_read_property(query: QueryNode, name: str) -> bool:
    """Whether a query may read the property; true if its text does not settle it.

    Actions, cohorts and test-account filters use properties outside of the query.
    """
    text = orjson.dumps(query).decode()
    if _PLAIN_NAME.fullmatch(name) is None or any(word in text for word in _NAMED_ELSEWHERE):
        return True
    return re.search(rf"(?<![\w$]){re.escape(name)}(?!\w)", text) is not None
