"""The services of endpoints, built by the composition root, kept on ``app.state.endpoints``."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request

from hoglet.access.principals import Project
from hoglet.access.service import Access
from hoglet.endpoints.analysis.analyzer import QueryAnalyser
from hoglet.endpoints.jobs import EndpointJobs
from hoglet.endpoints.materialization.builder import Builder
from hoglet.endpoints.materialization.catalog import SavedTables
from hoglet.endpoints.materialization.scheduler import Materializer
from hoglet.endpoints.query_log.log import RunLog
from hoglet.endpoints.query_log.usage import EndpointUsage
from hoglet.endpoints.run.background import BackgroundRuns
from hoglet.endpoints.run.concurrency import Slots
from hoglet.endpoints.run.cursors import Cursors
from hoglet.endpoints.run.executor import Computer
from hoglet.endpoints.run.fast_path import QuickRuns
from hoglet.endpoints.run.runner import Runner
from hoglet.endpoints.run.targets import Targets
from hoglet.endpoints.service import EndpointService
from hoglet.endpoints.settings import EndpointSettings
from hoglet.endpoints.versions.aliases import Aliases
from hoglet.endpoints.worker.compiler import Compiler, ProjectSchema
from hoglet.queue.port import Queue
from hoglet.sandbox import Sandbox
from hoglet.store.database import Database
from hoglet.warehouse import Warehouse
from hoglet.warehouse.run_usage import RunUsage
from hoglet.warehouse.telemetry import Telemetry

type SchemaOf = Callable[[Project], Awaitable[ProjectSchema]]


@dataclass(frozen=True, slots=True)
class EndpointRooms:
    """Everything the routes and jobs of endpoints use."""

    access: Access
    database: Database
    settings: EndpointSettings
    service: EndpointService
    aliases: Aliases
    targets: Targets
    runner: Runner
    quick: QuickRuns
    background: BackgroundRuns
    notes: RunLog
    telemetry: Telemetry
    usage: EndpointUsage
    jobs: EndpointJobs
    analyser: QueryAnalyser
    materializer: Materializer

    @property
    def site_url(self) -> str | None:
        """Address users reach hoglet at, when it is set."""
        return self.settings.site_url

    def forget(self) -> None:
        """Drop what is remembered of endpoints; call after every change."""
        self.targets.forget()
        self.runner.forget()


async def _no_schema(_project: Project) -> ProjectSchema:
    return ProjectSchema()


def build_endpoints(
    *,
    access: Access,
    warehouse: Warehouse,
    queue: Queue,
    sandbox: Sandbox,
    settings: EndpointSettings | None = None,
    schema_of: SchemaOf = _no_schema,
) -> EndpointRooms:
    """Put the room together.

    Args:
        access: users, projects, keys; with the database and the clock.
        warehouse: the engine.
        queue: for builds and background runs.
        sandbox: must know ``hoglet.endpoints.worker.operations.OPERATIONS``.
        settings: limits.
        schema_of: property types and group types of a project.
    """
    settings = settings or EndpointSettings()
    database, clock = access.database, access.clock
    tables = SavedTables(database)
    compiler = Compiler(sandbox, clock, schema_of, tables)
    analyser = QueryAnalyser(compiler, warehouse)
    materializer = Materializer(queue, clock)
    service = EndpointService(access, analyser, materializer)
    targets = Targets(database)
    log = RunLog(warehouse, database)
    computer = Computer(
        compiler,
        warehouse,
        clock,
        inline=Slots(settings.query_slots, wait_seconds=settings.queue_seconds),
        materialized=Slots(settings.concurrent_materialized, wait_seconds=settings.queue_seconds),
        result_bytes=settings.result_bytes,
    )
    cursors = Cursors(settings.secret_keys)
    runner = Runner(database, clock, computer, log, settings, cursors=cursors)
    background = BackgroundRuns(database, queue, clock, runner, settings)
    builder = Builder(
        database, warehouse, clock, compiler, materializer=materializer, settings=settings
    )

    def forget() -> None:
        targets.forget()
        tables.forget()

    return EndpointRooms(
        access=access,
        database=database,
        settings=settings,
        service=service,
        aliases=Aliases(access),
        targets=targets,
        runner=runner,
        quick=QuickRuns(runner),
        background=background,
        notes=log,
        telemetry=Telemetry(warehouse),
        usage=EndpointUsage(service, log, RunUsage(warehouse), clock),
        jobs=EndpointJobs(
            queue,
            database,
            clock,
            builder=builder,
            materializer=materializer,
            background=background,
            log=log,
            forget=forget,
        ),
        analyser=analyser,
        materializer=materializer,
    )


def rooms_of(request: Request) -> EndpointRooms:
    """The room of the application."""
    rooms: EndpointRooms = request.app.state.endpoints
    return rooms
