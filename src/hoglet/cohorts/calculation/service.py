"""Calculations: attempts to compute a cohort, from start to outcome.

Members are stored under the id of the attempt. Queries read those of the last finished attempt.

Idempotency: a killed attempt leaves unused rows, which the next attempt deletes.

Source: docs/spec/data-and-queries.md#35-calculation.
"""

from collections.abc import Mapping
from time import perf_counter
from typing import Any, NamedTuple

import structlog

from hoglet.access import repository as projects
from hoglet.access.principals import Project
from hoglet.cohorts import repository
from hoglet.cohorts.criteria.model import Criteria, cohorts_in, stored_criteria
from hoglet.cohorts.jobs import CalculateV1
from hoglet.cohorts.member_computation import MemberComputation, clear_errors
from hoglet.endpoints.worker.query_errors import as_query_error
from hoglet.kit.errors import HogletError

log = structlog.get_logger(__name__)

UNEXPECTED = "The calculation failed unexpectedly; see the server's log."


class CalculationAttempt(NamedTuple):
    """A running calculation."""

    project: Project
    cohort_id: int
    calculation_id: int
    version: int
    criteria: Criteria

    @property
    def key(self) -> tuple[int, int, int]:
        """Identifies its members."""
        return self.project.id, self.cohort_id, self.calculation_id


class CohortCalculator(MemberComputation, frozen=True):
    """Computes dynamic cohorts."""

    async def run(self, job: CalculateV1) -> None:
        """Compute a cohort; after a save, also its dependencies and dependents."""
        if job.version is None:
            await self._calculate(job.cohort_id, None)
            return
        async with self.database.read() as session:
            row = await repository.find_locked(session, job.cohort_id)
            if row is None or row.deleted or row.pending_version != job.version:
                return
            graph = graph_of(await repository.list_all(session, row.project_id))
        before, after = around(job.cohort_id, graph)
        for each in before:
            await self._calculate(each, None)
        await self._calculate(job.cohort_id, job.version)
        for each in after:
            await self._calculate(each, None)

    async def _calculate(self, cohort_id: int, version: int | None) -> None:
        attempt = await self._begin(cohort_id, version)
        if attempt is None:
            return
        started = perf_counter()
        try:
            members = await self.compiler.criteria(attempt.project, attempt.criteria)
            await self.members.compute(attempt.key, members)
            count = await self.members.count(attempt.key)
        except HogletError as error:
            public = as_query_error(error)
            await self._fail(attempt, str(public), public.error_code)
            return
        except Exception:
            log.exception("a calculation broke", action="cohort_failed", cohort=cohort_id)
            await self._fail(attempt, UNEXPECTED, "error")
            return
        await self._finish(attempt, count, int((perf_counter() - started) * 1000))

    async def _begin(self, cohort_id: int, version: int | None) -> CalculationAttempt | None:
        now = self.clock.now()
        async with self.database.write() as session:
            row = await repository.find_locked(session, cohort_id)
            if row is None or row.deleted or row.is_static:
                return None
            if version is None:
                if row.is_calculating:  # a save has enqueued its own job
                    return None
                row.pending_version = (row.pending_version or 0) + 1
            elif row.pending_version != version:
                return None
            row.is_calculating = True
            row.calculating_since = now
            created = await repository.add_calculation(session, row, now)
            project = await projects.find_project(session, row.project_id)
            if project is None:
                return None
            return CalculationAttempt(
                project, row.id, created.id, row.pending_version or 0, stored_criteria(row.filters)
            )

    async def _finish(self, attempt: CalculationAttempt, count: int, milliseconds: int) -> None:
        now = self.clock.now()
        async with self.database.write() as session:
            row = await repository.find_locked(session, attempt.cohort_id)
            is_current = row is not None and row.pending_version == attempt.version
            outcome: dict[str, Any] = {"count": count, "total_query_ms": milliseconds}
            if not is_current:
                outcome |= {"error": "Superseded by a newer save.", "error_code": "obsolete"}
            await self._note(session, attempt, outcome)
            previous = 0
            if row is not None and is_current:
                previous = row.calculation_id
                row.calculation_id = attempt.calculation_id
                row.version = attempt.version
                row.count = count
                row.last_calculation = now
                clear_errors(row)
        self.changed()
        if not is_current:
            await self.members.forget(attempt.key)
        elif previous:  # running queries may still read these members
            await self.members.forget_before((attempt.project.id, attempt.cohort_id, previous))

    async def _fail(self, attempt: CalculationAttempt, message: str, code: str) -> None:
        async with self.database.write() as session:
            await self._note(session, attempt, {"error": message, "error_code": code})
            row = await repository.find_locked(session, attempt.cohort_id)
            if row is not None and row.pending_version == attempt.version:
                self.record_failure(row, message)
        try:
            await self.members.forget(attempt.key)
        except HogletError:  # the next calculation deletes these unused members
            log.warning(
                "members were not deleted", action="cohort_rows_left", cohort=attempt.cohort_id
            )

    async def _note(
        self, session: Any, attempt: CalculationAttempt, outcome: Mapping[str, Any]
    ) -> None:
        created = await repository.calculation(session, attempt.calculation_id)
        if created is not None:
            created.finished_at = self.clock.now()
            for name, value in outcome.items():
                setattr(created, name, value)


# --- dependencies

type Graph = Mapping[int, set[int]]
"""Dynamic cohort → the cohorts in its criteria."""


def graph_of(rows: Any) -> dict[int, set[int]]:
    """The dependency graph of dynamic cohorts."""
    return {row.id: cohorts_in(row.filters) for row in rows if not row.is_static}


def around(cohort_id: int, graph: Graph) -> tuple[list[int], list[int]]:
    """Dependencies and dependents of a cohort, each in computation order.

    Example:
        >>> around(2, {1: set(), 2: {1}, 3: {2}})
        ([1], [3])
    """
    before = [each for each in _ordered(cohort_id, graph) if each != cohort_id]
    inverse: dict[int, set[int]] = {each: set() for each in graph}
    for each, needed in graph.items():
        for item in needed:
            inverse.setdefault(item, set()).add(each)
    after = [each for each in reversed(_ordered(cohort_id, inverse)) if each != cohort_id]
    return before, after


def reaches(start: int, goal: int, graph: Graph) -> bool:
    """Whether a cohort depends on another, or both are the same."""
    return goal in _ordered(start, graph)


def _ordered(start: int, graph: Graph) -> list[int]:
    """All reachable cohorts, dependencies first."""
    done: list[int] = []
    seen: set[int] = set()
    waiting: list[tuple[int, bool]] = [(start, False)]
    while waiting:
        each, is_done = waiting.pop()
        if is_done:
            done.append(each)
        elif each in graph and each not in seen:
            seen.add(each)
            waiting.append((each, True))
            waiting += [(needed, False) for needed in sorted(graph[each], reverse=True)]
    return done
