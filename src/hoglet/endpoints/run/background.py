"""Background runs: accepted with 202, processed by a job, fetched by polling.

The row and the job are written in one transaction, so a restart loses neither. A job may run twice;
the second outcome replaces the first.

Source: docs/spec/query-endpoints.md#53-refresh.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
from msgspec.structs import replace

from hoglet.access import repository as projects
from hoglet.access.principals import Project, ProjectScope
from hoglet.endpoints import repository
from hoglet.endpoints.errors import RunCancelled
from hoglet.endpoints.run.response import NeedsBackground, query_status
from hoglet.endpoints.run.runner import EndpointRunner
from hoglet.endpoints.run.targets import RunTarget, target_of
from hoglet.endpoints.schemas import RunRequest
from hoglet.endpoints.settings import EndpointSettings
from hoglet.endpoints.tables import AsyncRunRow
from hoglet.kit.clock import Clock, new_id
from hoglet.kit.errors import Bug, HogletError, NotFound
from hoglet.queue.port import NewJob, Queue
from hoglet.store.database import Database
from hoglet.web.error_handlers import problem

RUNS = "endpoint_runs"
KEPT_FOR = timedelta(hours=1)


class RunJob(msgspec.Struct, frozen=True, tag="run.1"):
    """Process the background run with this key.

    ``execution_id`` distinguishes a run from earlier ones with the same id; jobs of older versions
    have none.
    """

    endpoint_id: UUID
    query_id: str
    user_id: int | None
    execution_id: UUID | None = None


class BackgroundRuns:
    """Starts, processes and looks up background runs."""

    def __init__(
        self,
        database: Database,
        queue: Queue,
        clock: Clock,
        runner: EndpointRunner,
        settings: EndpointSettings,
    ) -> None:
        self._database = database
        self._queue = queue
        self._clock = clock
        self._runner = runner
        self._settings = settings

    async def start(self, scope: ProjectScope, run: NeedsBackground) -> AsyncRunRow:
        """Enqueue a run, or return the one that is running under the same id."""
        target, request = run.target, run.request
        query_id = request.client_query_id or str(new_id())
        now = self._clock.now()
        async with self._database.write() as session:
            # Two requests with the same new id: the second one returns the run of the first.
            await self._database.serialize(session, f"run {target.endpoint_id} {query_id}")
            await repository.delete_expired_runs(session, now)
            running = await repository.find_run(session, target.endpoint_id, query_id, now)
            if running is not None and running.ended_at is None:
                return running
            await repository.delete_run(session, target.endpoint_id, query_id)
            session.expunge_all()
            row = AsyncRunRow(
                endpoint_id=target.endpoint_id,
                query_id=query_id,
                project_id=target.project_id,
                execution_id=new_id(),
                version=target.version,
                request=msgspec.to_builtins(request),
                answer=None,
                failure=None,
                started_at=now,
                picked_up_at=None,
                ended_at=None,
                expires_at=now + KEPT_FOR,
            )
            session.add(row)
            job = RunJob(target.endpoint_id, query_id, scope.user_id, row.execution_id)
            payload = msgspec.json.encode(job)
            await self._queue.enqueue(session, [NewJob(queue=RUNS, payload=payload)])
        return row

    async def find(self, target: RunTarget, query_id: str) -> AsyncRunRow:
        """The run with this id.

        Raises:
            NotFound: unknown, expired, or of another endpoint.
        """
        async with self._database.read() as session:
            row = await repository.find_run(
                session, target.endpoint_id, query_id, self._clock.now()
            )
        if row is None:
            raise NotFound
        return row

    async def cancel(self, target: RunTarget, query_id: str) -> None:
        """Cancel the run with this id, waiting or in the background.

        The engine has stopped when this returns. The row is ended first, so that a job loaded later
        does nothing; the runner knows the jobs loaded earlier and cancels them.

        Raises:
            NotFound: no run with that id.
        """
        execution_id: UUID | None = None
        now = self._clock.now()
        async with self._database.write() as session:
            row = await repository.find_run(session, target.endpoint_id, query_id, now, lock=True)
            if row is not None and row.ended_at is None:
                row.failure = _failure(RunCancelled("The run was cancelled."))
                row.ended_at = now
                execution_id = row.execution_id
        endpoint_id = target.endpoint_id
        stopped = await self._runner.cancel(endpoint_id, query_id, execution_id=execution_id)
        if not stopped and execution_id is None:
            raise NotFound

    async def do(self, job: RunJob) -> None:
        """Process a run and store its outcome."""
        with self._runner.cancellable.announced(job.endpoint_id, job.query_id):
            await self._do(job)

    async def give_up(self, job: RunJob) -> None:
        """End a run that failed because of hoglet, so that polling clients are informed."""
        error = Bug("The run failed because of an internal error.")
        await self._record(job, answer=None, failure=_failure(error))

    async def _do(self, job: RunJob) -> None:
        loaded = await self._load(job)
        if loaded is None:
            return
        row, project, target = loaded
        answer, failure = None, None
        try:
            request = msgspec.convert(row.request, RunRequest)
            request = replace(request, client_query_id=row.query_id)
            result = await self._runner.compute(
                project,
                target,
                request,
                user_id=job.user_id,
                execution_id=row.execution_id,
                seconds=self._settings.background_seconds,
            )
        except HogletError as error:
            failure = _failure(error)
        else:
            row.ended_at = self._clock.now()
            answer = result.body(query_status(row, labels=["endpoint"]))
        await self._record(job, answer=answer, failure=failure)

    async def _load(self, job: RunJob) -> tuple[AsyncRunRow, Project, RunTarget] | None:
        """The run's row, project and version; None if there is nothing left to do."""
        now = self._clock.now()
        async with self._database.write() as session:
            row = await repository.find_run(session, job.endpoint_id, job.query_id, now, lock=True)
            if row is None or row.ended_at is not None or not _is_of(job, row):
                return None
            row.picked_up_at = row.picked_up_at or now
            endpoint = await repository.find_version_by_endpoint(
                session, job.endpoint_id, row.version
            )
            project = await projects.find_project(session, row.project_id)
        if endpoint is None or project is None:
            return None
        return row, project, target_of(endpoint)

    async def _record(
        self, job: RunJob, *, answer: bytes | None, failure: dict[str, Any] | None
    ) -> None:
        """Store the outcome of a run, unless it ended in another way meanwhile."""
        now = self._clock.now()
        async with self._database.write() as session:
            row = await repository.find_run(session, job.endpoint_id, job.query_id, now, lock=True)
            if row is not None and row.ended_at is None and _is_of(job, row):
                row.answer = answer
                row.failure = failure
                row.ended_at = now


def _is_of(job: RunJob, row: AsyncRunRow) -> bool:
    return job.execution_id is None or job.execution_id == row.execution_id


def _failure(error: HogletError) -> dict[str, Any]:
    """Error payload stored for polling clients."""
    response = problem(error)
    headers = {k: v for k, v in response.headers.items() if k == "retry-after"}
    body = msgspec.json.decode(bytes(response.body))
    return {"status": response.status_code, "body": body, "headers": headers}
