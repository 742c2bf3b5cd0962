"""Creates, updates, deletes and restores cohorts; criteria are computed by jobs.

Source: docs/spec/data-and-queries.md#3-cohorts.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, ActivityLog, changes_between
from hoglet.access.auth import AccessService
from hoglet.access.principals import Project, ProjectScope
from hoglet.access.repository import users_by_id
from hoglet.cohorts import repository
from hoglet.cohorts.calculation.service import graph_of, reaches
from hoglet.cohorts.compiler import CohortCompiler
from hoglet.cohorts.criteria.groups import criteria_of_groups
from hoglet.cohorts.criteria.model import stored_criteria
from hoglet.cohorts.criteria.schema import read_criteria
from hoglet.cohorts.jobs import CalculateV1, CohortJob, FillV1, saved_job
from hoglet.cohorts.schemas import CohortFields
from hoglet.cohorts.serializers import cohort_object
from hoglet.cohorts.static.service import new_upload
from hoglet.cohorts.static.sources import StaticSource, read_source
from hoglet.cohorts.tables import CohortRow
from hoglet.cohorts.usage import names_cohort, usage_of
from hoglet.kit.errors import Invalid, NotFound, SourceError
from hoglet.kit.json import same_json
from hoglet.queue.port import Queue

type Json = dict[str, Any]

ACTIVITY_SCOPE = "Cohort"
_LOGGED = ("name", "description", "filters", "query", "is_static", "deleted")


class CohortInUse(Invalid):
    """A cohort in use cannot be deleted; the detail lists its users."""


class CohortService:
    """The cohorts of all projects.

    Args:
        access: database, clock, activity log, hooks.
        queue: receives the jobs.
        compiler: validates criteria before they are stored.
        changed: called after every save, so that queries see the cohort at once.
    """

    def __init__(
        self,
        access: AccessService,
        queue: Queue,
        compiler: CohortCompiler,
        *,
        changed: Callable[[], None],
    ) -> None:
        self._access = access
        self.database = access.database
        self._clock = access.clock
        self._activity: ActivityLog = access.activity
        self._queue = queue
        self._compiler = compiler
        self._changed = changed

    async def get(self, scope: ProjectScope, cohort_id: str) -> Json:
        """A cohort, including deleted ones.

        Raises:
            NotFound: no such cohort in the project.
        """
        async with self.database.read() as session:
            return await self._display(session, await self.row(session, scope, cohort_id))

    async def create(
        self, scope: ProjectScope, fields: CohortFields, sent: set[str], csv: bytes | None
    ) -> Json:
        """Create a cohort; a job computes its members.

        Raises:
            Invalid: the first error.
        """
        if fields.name is None:
            raise Invalid("This field is required.", code="required", attr="name")
        source = StaticSource()
        filters = None
        if fields.is_static:
            source = await read_source(fields, sent, csv)
            filters = source.filters
        else:
            filters = self._criteria(fields, sent)
        if source.query is not None:
            await self._check_query(scope.project, source.query)
        row = self._new_row(scope, fields, source)
        row.filters = filters
        if filters is not None:
            await self._check_criteria(scope.project, filters, None)
        async with self.database.write() as session:
            await self._lock_all(session, scope.project.id)
            if filters is not None:
                await _check_references(session, scope.project.id, filters, None)
            session.add(row)
            await session.flush()
            await self._enqueue_first(session, row, source)
            await self._record(session, scope, row, "created", {})
            view = await self._display(session, row)
        self._changed()
        return view

    def _new_row(
        self, scope: ProjectScope, fields: CohortFields, source: StaticSource
    ) -> CohortRow:
        now = self._clock.now()
        return CohortRow(
            project_id=scope.project.id,
            name=fields.name,
            description=fields.description or "",
            deleted=False,
            query=source.query,
            groups=fields.groups or [],
            is_static=bool(fields.is_static),
            version=None,
            pending_version=1,
            is_calculating=True,
            calculating_since=now,
            errors_calculating=0,
            calculation_id=0,
            revision=1,
            created_by_id=scope.user_id,
            created_at=now,
        )

    async def update(
        self,
        scope: ProjectScope,
        cohort_id: str,
        fields: CohortFields,
        sent: set[str],
        csv: bytes | None,
    ) -> Json:
        """Update a cohort; a job computes new criteria.

        Raises:
            NotFound: no such cohort in the project.
            Invalid: the first error; or it cannot be deleted because it is in use.
        """
        async with self.database.read() as session:
            stored = await self.row(session, scope, cohort_id)
        filters = await self._new_criteria(scope.project, stored, fields, sent)
        upload = None if csv is None else await _read_upload(stored, fields, csv)
        async with self.database.write() as session:
            await self._lock_all(session, scope.project.id)
            row = await self.row(session, scope, cohort_id, lock=True)
            before = {name: getattr(row, name) for name in _LOGGED}
            if fields.deleted and not row.deleted:
                await _refuse_used(session, scope.project, row)
            is_restored = fields.deleted is False and row.deleted
            for name in ("name", "description", "deleted"):
                if name in sent:
                    setattr(row, name, getattr(fields, name))
            if filters is not None:
                await _check_references(session, row.project_id, filters, row.id)
                row.filters = filters
                row.groups = fields.groups or []
            if (filters is not None or is_restored) and not row.is_static:
                await self._recalculate(session, row)
            if upload is not None:
                await self._fill(session, row, upload)
            await self._record(session, scope, row, _activity(before, row), before)
            await self._log_change(session, scope.project, row, before)
            view = await self._display(session, row)
        self._changed()
        return view

    async def _lock_all(self, session: AsyncSession, project_id: int) -> None:
        """Save a project's cohorts one at a time: their criteria refer to one another."""
        await self.database.serialize(session, f"cohorts {project_id}")

    async def row(
        self, session: AsyncSession, scope: ProjectScope, cohort_id: str, *, lock: bool = False
    ) -> CohortRow:
        """The cohort with the id in a path; ``lock`` locks it until the transaction ends.

        Raises:
            NotFound: no such cohort in the project.
        """
        is_number = cohort_id.isascii() and cohort_id.isdecimal() and len(cohort_id) <= 9
        row = None
        if is_number:
            row = await repository.find(session, scope.project.id, int(cohort_id), lock=lock)
        if row is None:
            raise NotFound
        return row

    # --- criteria

    def _criteria(self, fields: CohortFields, sent: set[str]) -> Json:
        if "query" in sent:
            raise Invalid(
                "Only static cohorts can be created from a query: set is_static.", attr="query"
            )
        if sent & {"csv", "create_static_person_ids"}:
            detail = "Only static cohorts can be created from a list: set is_static."
            raise Invalid(detail, attr="filters")
        if fields.filters is None and fields.groups:
            return read_criteria(criteria_of_groups(fields.groups))
        return read_criteria(fields.filters)

    async def _new_criteria(
        self, project: Project, stored: CohortRow, fields: CohortFields, sent: set[str]
    ) -> Json | None:
        """The criteria of a change, if it has any."""
        if fields.is_static is not None and fields.is_static != stored.is_static:
            raise Invalid(
                "A static cohort cannot become dynamic, or the reverse.", attr="is_static"
            )
        if "query" in sent and not same_json(fields.query, stored.query):
            detail = "Only static cohorts can be created from a query: set is_static at creation."
            if stored.is_static:
                detail = "The source of a static cohort cannot be changed."
            raise Invalid(detail, attr="query")
        if "filters" not in sent and not fields.groups:
            return None
        if "filters" in sent and same_json(fields.filters, stored.filters):
            return None
        if "filters" not in sent and same_json(fields.groups, stored.groups):
            return None
        if stored.is_static:
            raise Invalid("The criteria of a static cohort cannot be changed.", attr="filters")
        filters = self._criteria(fields, sent - {"query"})
        if same_json(filters, stored.filters):
            return None
        await self._check_criteria(project, filters, stored.id)
        return filters

    async def _check_criteria(self, project: Project, filters: Json, cohort_id: int | None) -> None:
        """Validate references: cohorts, actions, dates, properties of events."""
        async with self.database.read() as session:
            await _check_references(session, project.id, filters, cohort_id)
        try:
            await self._compiler.criteria(project, stored_criteria(filters))
        except SourceError as error:
            path = f"filters__{error.attr}" if error.attr else "filters"
            raise Invalid(error.advice, attr=path) from None

    async def _check_query(self, project: Project, query: Json) -> None:
        try:
            await self._compiler.query(project, query)
        except SourceError as error:
            source = "query__source" if query["kind"] == "ActorsQuery" else "query"
            path = f"query__{error.attr}" if error.attr else source
            raise Invalid(error.advice, attr=path) from None

    # --- jobs

    async def _enqueue_first(
        self, session: AsyncSession, row: CohortRow, source: StaticSource
    ) -> None:
        if not row.is_static:
            await self._enqueue(session, CalculateV1(row.id, row.pending_version))
            return
        created = await repository.add_calculation(session, row, self._clock.now())
        row.calculation_id = created.id
        if source.upload is None:
            await self._enqueue(session, FillV1(row.id, 1))
            return
        await self._fill(session, row, source)

    async def _fill(self, session: AsyncSession, row: CohortRow, source: StaticSource) -> None:
        if source.upload is None:
            return
        upload = new_upload(row.id, *source.upload)
        session.add(upload)
        row.is_calculating = True
        row.calculating_since = self._clock.now()
        await self._enqueue(session, FillV1(row.id, row.pending_version or 1, upload.id))

    async def _recalculate(self, session: AsyncSession, row: CohortRow) -> None:
        row.pending_version = (row.pending_version or 0) + 1
        row.is_calculating = True
        row.calculating_since = self._clock.now()
        await self._enqueue(session, CalculateV1(row.id, row.pending_version))

    async def _enqueue(self, session: AsyncSession, job: CohortJob) -> None:
        await self._queue.enqueue(session, [saved_job(job)])

    # --- notifications of a save

    async def _log_change(
        self, session: AsyncSession, project: Project, row: CohortRow, before: Mapping[str, Any]
    ) -> None:
        """Recompile functions if test-account filters use the cohort and its criteria changed."""
        if same_json(before["filters"], row.filters) and before["deleted"] == row.deleted:
            return
        if names_cohort(project.test_account_filters, row.id, row.name):
            for reported in self._access.providers.project_changed:
                await reported(session, project)

    async def _record(
        self,
        session: AsyncSession,
        scope: ProjectScope,
        row: CohortRow,
        activity: str,
        before: Json,
    ) -> None:
        after = {name: getattr(row, name) for name in _LOGGED}
        changes = changes_between(before, after)
        entry = Activity.by(scope, activity, ACTIVITY_SCOPE, (row.id, row.name), changes)
        await self._activity.record(session, entry)

    async def _display(self, session: AsyncSession, row: CohortRow) -> Json:
        return cohort_object(row, await users_by_id(session, [row.created_by_id]))

    async def duplicate(self, scope: ProjectScope, cohort_id: str) -> Json:
        """A static copy of a dynamic cohort, with its current members.

        Raises:
            NotFound: no such cohort in the project.
            Invalid: it is static.
        """
        async with self.database.read() as session:
            row = await self.row(session, scope, cohort_id)
        if row.is_static:
            raise Invalid("Only dynamic cohorts can be copied as static ones.")
        fields = CohortFields(
            name=f"{row.name[:386]} (static copy)",
            description=row.description,
            is_static=True,
            query={
                "kind": "HogQLQuery",
                "query": f"SELECT id FROM persons WHERE id IN COHORT {row.id}",  # noqa: S608 (a number)
            },
        )
        return await self.create(scope, fields, {"name", "is_static", "query"}, None)


async def _read_upload(stored: CohortRow, fields: CohortFields, csv: bytes) -> StaticSource:
    if not stored.is_static:
        raise Invalid("Only static cohorts support files.", attr="csv")
    return await read_source(fields, {"csv"}, csv)


def as_uuids(values: list[Any], attr: str) -> set[UUID]:
    """Parse the person ids of a body.

    Raises:
        Invalid: one of them is not a UUID.
    """
    ids: set[UUID] = set()
    for index, value in enumerate(values):
        try:
            ids.add(UUID(value))
        except (ValueError, TypeError, AttributeError):
            raise Invalid("Must be a valid UUID.", attr=f"{attr}__{index}") from None
    return ids


async def _refuse_used(session: AsyncSession, project: Project, row: CohortRow) -> None:
    users = (await usage_of(session, project, row)).names()
    if users:
        raise CohortInUse(f"The cohort is in use by {users}: change them first.", attr="deleted")


def _activity(before: Mapping[str, Any], row: CohortRow) -> str:
    if before["deleted"] == row.deleted:
        return "updated"
    return "deleted" if row.deleted else "restored"


async def _check_references(
    session: AsyncSession, project_id: int, filters: Json, cohort_id: int | None
) -> None:
    """Refuse criteria that refer to unknown cohorts, or to the cohort itself."""
    references = stored_criteria(filters).cohorts()
    if not references:
        return
    rows = await repository.list_all(session, project_id)
    for each in sorted(references - {row.id for row in rows}):
        raise Invalid(f"Cohort {each} does not exist.", attr="filters")
    graph = graph_of(rows)
    if cohort_id is not None and any(reaches(each, cohort_id, graph) for each in references):
        raise Invalid(
            "The cohort would depend on itself: its criteria refer to it, or to a cohort that "
            "depends on it.",
            attr="filters",
        )
