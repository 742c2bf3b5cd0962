"""The services of ad hoc queries, stored in ``app.state.queries``."""

import msgspec
from starlette.requests import Request

from hoglet.definitions.conversion import ConversionShares
from hoglet.endpoints.container import EndpointServices
from hoglet.queries.background import QUERIES, BackgroundQueries, QueryJob
from hoglet.queries.editors import EditorQueries
from hoglet.queries.service import QueryService
from hoglet.queries.taxonomy import Taxonomy
from hoglet.queue.port import Job, Queue
from hoglet.queue.worker import JobHandler, JobPolicy, LeasedWorker

AT_ONCE = 4


class QueryServices(msgspec.Struct, frozen=True):
    """Services used by the query routes."""

    endpoints: EndpointServices
    service: QueryService
    editors: EditorQueries
    taxonomy: Taxonomy
    background: BackgroundQueries
    worker: LeasedWorker


def build_queries(endpoints: EndpointServices, queue: Queue) -> QueryServices:
    """The query API on the services of endpoints."""
    database, clock = endpoints.database, endpoints.access.clock
    service = QueryService(endpoints.runner, endpoints.compiler)
    warehouse = endpoints.warehouse
    shares = ConversionShares(database, warehouse, clock)
    editors = EditorQueries(database, endpoints.compiler, endpoints.runner, warehouse, shares)
    background = BackgroundQueries(
        database, queue, clock, service, editors, seconds=endpoints.settings.background_seconds
    )

    async def work(job: Job) -> None:
        await background.do(msgspec.json.decode(job.payload, type=QueryJob))

    async def give_up(job: Job) -> None:
        await background.give_up(msgspec.json.decode(job.payload, type=QueryJob))

    policy = JobPolicy(at_once=AT_ONCE)
    worker = LeasedWorker(queue, database, clock, QUERIES, JobHandler(work, give_up), policy=policy)
    taxonomy = Taxonomy(service, endpoints.compiler)
    return QueryServices(endpoints, service, editors, taxonomy, background, worker)


def services_of(request: Request) -> QueryServices:
    """The services of the application."""
    services: QueryServices = request.app.state.queries
    return services
