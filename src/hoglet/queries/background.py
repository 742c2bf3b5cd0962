"""Background queries: accepted with 202, processed by a job, fetched by polling.

The row and the job are written in one transaction, so a restart loses neither.

Idempotency: a job may run twice; a finished row keeps its outcome.

Source: docs/spec/data-and-queries.md#14-asynchronous-runs.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from hoglet.access import repository as projects
from hoglet.access.principals import Project, ProjectScope
from hoglet.endpoints.errors import RunCancelled
from hoglet.endpoints.run.response import RunResult
from hoglet.endpoints.worker.query_errors import QueryError
from hoglet.kit.clock import Clock, new_id
from hoglet.kit.errors import HogletError, NotFound
from hoglet.kit.json import dump_json
from hoglet.queries import repository
from hoglet.queries.editors import EditorQueries
from hoglet.queries.progress import final_progress
from hoglet.queries.response import body_of, failed_body
from hoglet.queries.service import QueryRequest, QueryService
from hoglet.queries.tables import QueryRunRow
from hoglet.queue.port import NewJob, Queue
from hoglet.store.database import Database
from hoglet.web.error_handlers import status_and_type

QUERIES = "queries"
EXPIRES_AFTER = timedelta(minutes=20)


class QueryJob(msgspec.Struct, frozen=True, tag="query.1"):
    """Process the background query with this id."""

    project_id: int
    query_id: str
    execution_id: UUID


class BackgroundQueries:
    """Starts, processes, looks up and cancels background queries."""

    def __init__(
        self,
        database: Database,
        queue: Queue,
        clock: Clock,
        service: QueryService,
        editors: EditorQueries,
        *,
        seconds: float,
    ) -> None:
        self._database = database
        self._queue = queue
        self._clock = clock
        self._service = service
        self._editors = editors
        self._seconds = seconds

    async def start(self, scope: ProjectScope, request: QueryRequest) -> QueryRunRow:
        """Enqueue a query, or return the one that is running under the same id."""
        project_id, query_id = scope.project.id, request.query_id or str(new_id())
        now = self._clock.now()
        async with self._database.write() as session:
            # Two requests with the same new id: the second one returns the run of the first.
            await self._database.serialize(session, f"query {project_id} {query_id}")
            await repository.delete_expired_runs(session, now)
            running = await repository.find_run(session, project_id, query_id, now)
            if running is not None and running.ended_at is None:
                return running
            await repository.delete_run(session, project_id, query_id)
            session.expunge_all()
            row = QueryRunRow(
                project_id=project_id,
                query_id=query_id,
                execution_id=new_id(),
                user_id=scope.user_id,
                request=msgspec.to_builtins(request),
                cache_key=None,
                answer=None,
                failure=None,
                progress=None,
                started_at=now,
                picked_up_at=None,
                ended_at=None,
                expires_at=now + EXPIRES_AFTER,
            )
            session.add(row)
            payload = msgspec.json.encode(QueryJob(project_id, query_id, row.execution_id))
            await self._queue.enqueue(session, [NewJob(queue=QUERIES, payload=payload)])
        return row

    async def find(self, project_id: int, query_id: str) -> QueryRunRow:
        """The run with this id.

        Raises:
            NotFound: unknown, expired, or of another project.
        """
        async with self._database.read() as session:
            row = await repository.find_run(session, project_id, query_id, self._clock.now())
        if row is None:
            raise NotFound
        return row

    async def cancel(self, project_id: int, query_id: str, *, waiting_only: bool) -> bool:
        """Cancel a run, or optionally only dequeue it; returns whether anything was cancelled.

        A finished run is not changed.

        Raises:
            NotFound: no such run.
        """
        execution_id: UUID | None = None
        now = self._clock.now()
        async with self._database.write() as session:
            row = await repository.find_run(session, project_id, query_id, now, lock=True)
            is_waiting = row is not None and row.picked_up_at is None
            if row is not None and row.ended_at is None and (is_waiting or not waiting_only):
                row.failure = _failure(RunCancelled("The query was cancelled."))
                row.ended_at = now
                execution_id = row.execution_id
        if waiting_only:
            stopped = False
        else:
            stopped = await self._service.cancel(
                project_id, query_id, execution_id, elsewhere=row is None
            )
        if row is None and not stopped:
            raise NotFound
        return stopped or execution_id is not None

    async def do(self, job: QueryJob) -> None:
        """Process a query and store its outcome."""
        loaded = await self._pick_up(job)
        if loaded is None:
            return
        row, project = loaded
        request = msgspec.convert(row.request, QueryRequest)
        try:
            answer = await self._service.compute(
                project,
                msgspec.structs.replace(request, query_id=row.query_id),
                user_id=row.user_id,
                execution_id=row.execution_id,
                seconds=self._seconds,
            )
        except HogletError as error:
            await self._end(job, await self._ended_by(error, project, request))
            return
        extra = await self._editors.explain(project, request.node, request.system_tables)
        body = body_of(answer, extra=extra)
        outcome = {"answer": body, "cache_key": _cache_key(answer)}
        await self._end(job, outcome | {"progress": final_progress(answer)})

    async def _ended_by(
        self, error: HogletError, project: Project, request: QueryRequest
    ) -> dict[str, Any]:
        """The outcome of a failed query; with ``explain``, the response contains the error."""
        if not isinstance(error, QueryError) or not request.is_explained:
            return {"failure": _failure(error)}
        body = failed_body(request.node, error.detail, project.timezone)
        more = await self._editors.explain(project, request.node, request.system_tables)
        return {"answer": dump_json(body | more)}

    async def give_up(self, job: QueryJob) -> None:
        """End a query that failed because of hoglet."""
        await self._end(job, {"failure": {"status": 500, "code": "error", "message": None}})

    async def _pick_up(self, job: QueryJob) -> tuple[QueryRunRow, Project] | None:
        now = self._clock.now()
        async with self._database.write() as session:
            row = await repository.find_run(session, job.project_id, job.query_id, now, lock=True)
            if row is None or row.ended_at is not None or row.execution_id != job.execution_id:
                return None
            row.picked_up_at = row.picked_up_at or now
            project = await projects.find_project(session, job.project_id)
        return None if project is None else (row, project)

    async def _end(self, job: QueryJob, outcome: Mapping[str, Any]) -> None:
        now = self._clock.now()
        async with self._database.write() as session:
            row = await repository.find_run(session, job.project_id, job.query_id, now, lock=True)
            if row is None or row.ended_at is not None or row.execution_id != job.execution_id:
                return
            for name, value in outcome.items():
                setattr(row, name, value)
            row.ended_at = now


def _failure(error: HogletError) -> dict[str, Any]:
    status = status_and_type(type(error))[0]
    message = None if status == 500 else error.detail
    return {"status": status, "code": error.error_code, "message": message}


def _cache_key(answer: RunResult) -> str | None:
    return answer.result.debug.get("cache_key")
