"""The services of endpoints, built by the composition root, kept on ``app.state.endpoints``."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request

from hoglet.access.entities import Project
from hoglet.access.service import Access
from hoglet.endpoints.aliases import Aliases
from hoglet.endpoints.analysing import QueryAnalyser
from hoglet.endpoints.background import BackgroundRuns
from hoglet.endpoints.building import Builder
from hoglet.endpoints.compiler import Compiler, ProjectSchema
from hoglet.endpoints.computing import Computer
from hoglet.endpoints.cursors import Cursors
from hoglet.endpoints.jobs import EndpointJobs
from hoglet.endpoints.materializing import Materializer
from hoglet.endpoints.quick import QuickRuns
from hoglet.endpoints.runlog import RunLog
from hoglet.endpoints.runner import Runner
from hoglet.endpoints.saved_tables import SavedTables
from hoglet.endpoints.service import EndpointService
from hoglet.endpoints.settings import EndpointSettings
from hoglet.endpoints.slots import Slots
from hoglet.endpoints.targets import Targets
from hoglet.endpoints.usage import EndpointUsage
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
        sandbox: must know ``hoglet.endpoints.operations.OPERATIONS``.
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
