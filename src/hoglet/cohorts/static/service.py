"""Static cohorts: filled once from a source, then changed manually.

Source: docs/spec/data-and-queries.md#33-static-cohorts.
"""

import zlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from itertools import batched
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access import repository as projects
from hoglet.access.principals import Project
from hoglet.cohorts import repository
from hoglet.cohorts.criteria.model import AllOf, Criteria, PersonProperty, stored_criteria
from hoglet.cohorts.jobs import FillV1, MergeV1
from hoglet.cohorts.member_computation import MemberComputation, clear_errors
from hoglet.cohorts.messages import PersonsSql
from hoglet.cohorts.static.merges import final_survivors
from hoglet.cohorts.tables import CohortRow, CohortUploadRow
from hoglet.endpoints.worker.query_errors import as_query_error
from hoglet.kit.clock import new_id
from hoglet.kit.errors import HogletError, Invalid, NotFound

PERSON_ID, DISTINCT_ID, EMAIL = "person_id", "distinct_id", "email"
_EMAILS = 2_000  # per query
_PERSONS = 500  # per query
_FIRST_REVISION = 1  # of the members from the source; manual changes have higher ones


def new_upload(cohort_id: int, kind: str, texts: Sequence[str]) -> CohortUploadRow:
    """An upload for a job to store."""
    packed = zlib.compress(orjson.dumps(list(texts)), 1)
    return CohortUploadRow(id=new_id(), cohort_id=cohort_id, kind=kind, texts=packed)


class StaticCohorts(MemberComputation, frozen=True):
    """Fills and changes static cohorts."""

    async def fill(self, job: FillV1) -> None:
        """Fill a cohort.

        Raises:
            HogletError: a later retry may succeed; the job is retried.
        """
        async with self.database.read() as session:
            row = await repository.find_locked(session, job.cohort_id)
            project = row and await projects.find_project(session, row.project_id)
        if row is None or project is None:
            return
        try:
            if job.upload_id is not None:
                await self._store_upload(project, row, job.upload_id)
            else:
                await self._store_query(project, row)
        except HogletError as error:
            public = as_query_error(error)
            if public.retry == "later":
                raise
            await self.fail(job, str(public), public.error_code)
            return
        await self._settle(row.id, job.upload_id)

    async def fail(self, job: FillV1, message: str, code: str) -> None:
        """Record that filling a cohort failed."""
        async with self.database.write() as session:
            row = await repository.find_locked(session, job.cohort_id)
            if row is None:
                return
            self.record_failure(row, message)
            created = await repository.calculation(session, row.calculation_id)
            if created is not None and created.finished_at is None:
                created.finished_at = self.clock.now()
                created.error, created.error_code = message, code

    async def add(self, row: CohortRow, persons: set[UUID]) -> None:
        """Add persons manually."""
        await self._change(row, persons)

    async def remove(self, row: CohortRow, person: UUID) -> None:
        """Remove a person; no effect if it is not a member."""
        await self._change(row, removed={person})

    async def forget_person(self, project_id: int, person: UUID) -> None:
        """Remove a deleted person from every cohort, including dynamic ones. Safe to repeat."""
        async with self.database.read() as session:
            rows = await repository.list_all(session, project_id)
        pairs = [(row.id, row.calculation_id) for row in rows]
        inside = await self.members.memberships(project_id, {person}, pairs)
        for row in rows:
            if (row.id, person) in inside:
                await self._change(row, removed={person})

    async def merge(self, job: MergeV1) -> bool:
        """Replace members that were merged away. Safe to repeat.

        Returns:
            False if a cohort is being filled, perhaps with persons from before the merge; the
            caller must repeat it.
        """
        survivors = final_survivors(job.pairs)
        async with self.database.read() as session:
            rows = await repository.list_static(session, job.project_id)
        pairs = [(row.id, row.calculation_id) for row in rows]
        for part in batched(survivors, _PERSONS):
            inside = await self.members.memberships(job.project_id, part, pairs)
            for row in rows:
                gone = {person for cohort, person in inside if cohort == row.id}
                if gone:
                    await self._change(row, {survivors[person] for person in gone}, removed=gone)
        return not any(row.is_calculating for row in rows)

    async def _change(
        self, row: CohortRow, added: Collection[UUID] = (), *, removed: Collection[UUID] = ()
    ) -> None:
        """Change members; increments the revision first, so that the later of two changes wins."""
        async with self.database.write() as session:
            fresh = await repository.find_locked(session, row.id)
            if fresh is None:
                raise NotFound
            fresh.revision += 1
            revision, key = fresh.revision, key_of(fresh)
        await self.members.put(key, added, revision=revision)
        await self.members.put(key, removed, revision=revision, is_deleted=True)

        async def store(_: AsyncSession, current: CohortRow) -> None:
            if current.is_static:
                current.last_calculation = self.clock.now()

        await self._count(row.id, store)
        self.changed()

    async def _store_upload(self, project: Project, row: CohortRow, upload_id: UUID) -> None:
        async with self.database.read() as session:
            upload = await repository.upload(session, upload_id)
            if upload is None:
                return
            texts: list[str] = orjson.loads(zlib.decompress(upload.texts))
            persons: set[UUID] = set()
            if upload.kind == PERSON_ID:
                ids = {person_id for text in texts if (person_id := as_uuid(text)) is not None}
                persons = await repository.known_persons(session, project.id, ids)
            elif upload.kind == DISTINCT_ID:
                distinct_ids = set(texts)
                persons = await repository.persons_by_distinct_id(session, project.id, distinct_ids)
        revision = await self._next_revision(row.id)
        if upload.kind == EMAIL:
            for start in range(0, len(texts), _EMAILS):
                part = texts[start : start + _EMAILS]
                email = PersonProperty(key="email", operator="exact", value=part, negation=False)
                members = await self.compiler.criteria(project, Criteria(AllOf([email])))
                await self.members.compute(key_of(row), members, revision=revision)
            return
        await self.members.put(key_of(row), persons, revision=revision)

    async def _store_query(self, project: Project, row: CohortRow) -> None:
        if row.query is not None:
            members = await self.compiler.query(project, row.query)
        else:
            members = await self.compiler.criteria(project, stored_criteria(row.filters))
        await self.members.compute(key_of(row), members, revision=_FIRST_REVISION)
        if members.strays is not None and not await self.members.count(key_of(row)):
            await self._check_strays(members.strays)

    async def _check_strays(self, strays: PersonsSql) -> None:
        """Fail if a cohort is empty because its query selected values other than person ids."""
        value = await self.members.first_value(strays)
        if value is not None:
            raise Invalid(
                f"The query selects no person ids, but values like '{value[:60]}': select "
                "person ids in the first column, or in one named person_id."
            )

    async def _next_revision(self, cohort_id: int) -> int:
        async with self.database.write() as session:
            row = await repository.find_locked(session, cohort_id)
            if row is None:
                raise NotFound
            row.revision += 1
            return row.revision

    async def _settle(self, cohort_id: int, upload_id: UUID | None) -> None:
        async def store(session: AsyncSession, current: CohortRow) -> None:
            if upload_id is not None:
                await repository.drop_upload(session, upload_id)
            clear_errors(current)
            current.last_calculation = self.clock.now()
            current.version = current.pending_version
            created = await repository.calculation(session, current.calculation_id)
            if created is not None:
                created.finished_at, created.count = current.last_calculation, current.count
                created.error = created.error_code = None

        await self._count(cohort_id, store)
        self.changed()

    async def _count(
        self, cohort_id: int, store: Callable[[AsyncSession, CohortRow], Awaitable[None]]
    ) -> None:
        """Count the members and store their number, and what ``store`` writes.

        If another change stored a number meanwhile, it may have counted later: count again.
        """
        while True:
            async with self.database.read() as session:
                counted = await session.get(CohortRow, cohort_id)
            if counted is None:
                return
            count = await self.members.count(key_of(counted))
            async with self.database.write() as session:
                current = await repository.find_locked(session, cohort_id)
                if current is None:
                    return
                if (current.revision, key_of(current)) == (counted.revision, key_of(counted)):
                    current.revision += 1
                    current.count = count
                    await store(session, current)
                    return


def key_of(row: CohortRow) -> tuple[int, int, int]:
    """Identifies the members of a cohort."""
    return row.project_id, row.id, row.calculation_id


def as_uuid(text: Any) -> UUID | None:
    """Parse a UUID, or None."""
    try:
        return UUID(text) if isinstance(text, str) and len(text) <= 40 else None
    except ValueError:
        return None
