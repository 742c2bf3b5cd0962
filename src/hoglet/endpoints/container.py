"""The services of endpoints, built by the composition root, stored in ``app.state.endpoints``."""

from collections import Counter
from collections.abc import Mapping

import msgspec
from prometheus_client import CollectorRegistry
from starlette.requests import Request

from hoglet.access.auth import AccessService
from hoglet.access.principals import Project, ProjectScope
from hoglet.endpoints.analysis.analyzer import CurrentAnalyses, QueryAnalyzer
from hoglet.endpoints.jobs import (
    BUILD_POLICY,
    RUN_POLICY,
    EndpointHousekeeping,
    EndpointJobs,
    run_jobs,
    table_jobs,
)
from hoglet.endpoints.materialization.builder import TableBuilder
from hoglet.endpoints.materialization.scheduler import BUILDS, MaterializationScheduler
from hoglet.endpoints.query_log.log import QueryLog
from hoglet.endpoints.query_log.usage import EndpointUsage
from hoglet.endpoints.run.background import RUNS, BackgroundRuns
from hoglet.endpoints.run.cache import ConcurrencyLimiter
from hoglet.endpoints.run.cursors import Cursors
from hoglet.endpoints.run.executor import ExecutionLimits, QueryExecutor
from hoglet.endpoints.run.fast_path import KnownRequests
from hoglet.endpoints.run.runner import EndpointRunner
from hoglet.endpoints.run.system_rows import RowReader, SystemRows
from hoglet.endpoints.run.targets import MaterializedTables, RunTargets
from hoglet.endpoints.serializers import EndpointUrls
from hoglet.endpoints.service import EndpointService
from hoglet.endpoints.settings import EndpointSettings
from hoglet.endpoints.versions.aliases import Aliases
from hoglet.endpoints.worker.compiler import ProjectSchema, QueryCompiler, SchemaOf
from hoglet.queue.port import Queue
from hoglet.queue.worker import JobHandler, LeasedWorker
from hoglet.sandbox import Sandbox
from hoglet.store.database import Database
from hoglet.warehouse import Warehouse
from hoglet.warehouse.run_usage import RunUsage
from hoglet.warehouse.telemetry import Telemetry
from hoglet.web.pagination import ORIGINAL_PATH

_ENVIRONMENTS = "/api/environments/"


class EndpointServices(msgspec.Struct, frozen=True):
    """Services used by the routes and jobs of endpoints."""

    access: AccessService
    database: Database
    settings: EndpointSettings
    service: EndpointService
    aliases: Aliases
    targets: RunTargets
    runner: EndpointRunner
    known_requests: KnownRequests
    background: BackgroundRuns
    query_log: QueryLog
    telemetry: Telemetry
    usage: EndpointUsage
    jobs: EndpointJobs
    analyzer: QueryAnalyzer
    analyses: CurrentAnalyses
    compiler: QueryCompiler
    materializer: MaterializationScheduler
    warehouse: Warehouse

    @property
    def site_url(self) -> str | None:
        """Public URL of hoglet, if configured."""
        return self.settings.site_url

    def forget(self) -> None:
        """Clear the caches of endpoints; call after every change."""
        self.targets.forget()
        self.runner.forget()


async def _no_schema(_project: Project) -> ProjectSchema:
    return ProjectSchema()


class EndpointBackends(msgspec.Struct, frozen=True):
    """The services that endpoints depend on.

    Attributes:
        warehouse: the engine.
        queue: runs builds and background runs.
        sandbox: compiles queries.
        registry: has the metrics of queries.
    """

    warehouse: Warehouse
    queue: Queue
    sandbox: Sandbox
    registry: CollectorRegistry = msgspec.field(default_factory=CollectorRegistry)


class SchemaProviders(msgspec.Struct, frozen=True):
    """What queries know about a project.

    Attributes:
        schema_of: property types and group types of a project.
        row_readers: readers of ``system`` tables by name: ``{"system.actions": read_actions}``.
        text_reads: counts how often queries read the texts of event properties.
    """

    schema_of: SchemaOf = _no_schema
    row_readers: Mapping[str, RowReader] = msgspec.field(default_factory=dict[str, RowReader])
    text_reads: Counter[tuple[int, str]] = msgspec.field(default_factory=Counter[tuple[int, str]])


def build_endpoints(
    access: AccessService,
    backends: EndpointBackends,
    schemas: SchemaProviders,
    settings: EndpointSettings | None = None,
) -> EndpointServices:
    """Build the services of endpoints.

    ``access`` provides users, projects and keys, the database and the clock.
    """
    settings = settings or EndpointSettings()
    warehouse, queue = backends.warehouse, backends.queue
    database, clock = access.database, access.clock
    targets, tables = RunTargets(database), MaterializedTables(database)
    compiler = QueryCompiler(
        backends.sandbox,
        clock,
        schemas.schema_of,
        tables,
        is_sharded=settings.is_sharded,
        text_reads=schemas.text_reads,
    )
    analyzer = QueryAnalyzer(compiler, warehouse)
    materializer = MaterializationScheduler(queue, clock)
    service = EndpointService(access, analyzer, materializer)
    log = QueryLog(warehouse, database, backends.registry)
    executor = _executor(access, compiler, warehouse, schemas, settings)
    cursors = Cursors(settings.secret_keys)
    runner = EndpointRunner(database, clock, executor, log, settings, cursors=cursors)
    background = BackgroundRuns(database, queue, clock, runner, settings)
    builder = TableBuilder(
        database, warehouse, clock, compiler, materializer=materializer, settings=settings
    )

    def forget() -> None:
        targets.forget()
        tables.forget()

    housekeeping = EndpointHousekeeping(database, clock, builder, materializer, forget)
    workers = _workers(access, queue, table_jobs(builder, forget), run_jobs(background))
    return EndpointServices(
        access=access,
        database=database,
        settings=settings,
        service=service,
        aliases=Aliases(access),
        targets=targets,
        runner=runner,
        known_requests=KnownRequests(access, runner, log),
        background=background,
        query_log=log,
        telemetry=Telemetry(warehouse),
        usage=EndpointUsage(service, log, RunUsage(warehouse), clock),
        jobs=EndpointJobs(workers, housekeeping, log),
        analyzer=analyzer,
        analyses=CurrentAnalyses(compiler, analyzer),
        compiler=compiler,
        materializer=materializer,
        warehouse=warehouse,
    )


def _workers(
    access: AccessService, queue: Queue, builds: JobHandler, runs: JobHandler
) -> tuple[LeasedWorker, LeasedWorker]:
    database, clock = access.database, access.clock
    return (
        LeasedWorker(queue, database, clock, BUILDS, builds, policy=BUILD_POLICY),
        LeasedWorker(queue, database, clock, RUNS, runs, policy=RUN_POLICY),
    )


def _executor(
    access: AccessService,
    compiler: QueryCompiler,
    warehouse: Warehouse,
    schemas: SchemaProviders,
    settings: EndpointSettings,
) -> QueryExecutor:
    wait = settings.queue_seconds
    return QueryExecutor(
        compiler,
        warehouse,
        access.clock,
        limits=ExecutionLimits(
            ConcurrencyLimiter(settings.query_slots, wait_seconds=wait),
            ConcurrencyLimiter(settings.concurrent_materialized, wait_seconds=wait),
            settings.result_bytes,
        ),
        system_rows=SystemRows(access.database, schemas.row_readers),
    )


def services_of(request: Request) -> EndpointServices:
    """The services of endpoints of the application."""
    services: EndpointServices = request.app.state.endpoints
    return services


def urls_of(request: Request, scope: ProjectScope) -> EndpointUrls:
    """The base URL and prefix for paths and URLs in a response."""
    path: str = request.scope.get(ORIGINAL_PATH, request.url.path)
    prefix = "environments" if path.startswith(_ENVIRONMENTS) else "projects"
    site = services_of(request).site_url or f"{request.url.scheme}://{request.url.netloc}"
    return EndpointUrls(site.rstrip("/"), prefix, scope.project.id)
