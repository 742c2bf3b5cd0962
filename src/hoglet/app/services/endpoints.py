"""Builds the endpoint services; queries get a project's property types from its definitions."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.access.rate_limit import RateLimit
from hoglet.app.services.container import Services
from hoglet.cohorts.repository import cohort_refs
from hoglet.definitions import repository as definitions
from hoglet.definitions.observer import TEXT
from hoglet.definitions.text_columns import TextColumnWorker
from hoglet.endpoints.container import (
    EndpointBackends,
    EndpointServices,
    SchemaProviders,
    build_endpoints,
)
from hoglet.endpoints.run.system_rows import RowReader
from hoglet.endpoints.settings import EndpointSettings
from hoglet.endpoints.worker.compiler import ProjectSchema, ProjectSchemas, SchemaOf
from hoglet.events.repository import EventsRepository
from hoglet.functions.actions import repository as action_repository
from hoglet.store.database import Database


def _schema_loader(
    database: Database, events: EventsRepository, columns: TextColumnWorker
) -> SchemaOf:
    """Loads what queries of a project can refer to."""

    async def load(project: Project) -> ProjectSchema:
        async with database.read() as session:
            forms = await definitions.property_forms(session, project.id)
            return ProjectSchema(
                property_types=await definitions.property_types(session, project.id),
                property_forms=forms,
                text_columns=[
                    name for name in columns.filled if forms.get(("event", name)) == TEXT
                ],
                group_types=await events.group_types(session, project.id),
                actions=await _actions(session, project.id),
                cohorts=await cohort_refs(session, project.id),
            )

    return load


async def _actions(session: AsyncSession, project_id: int) -> dict[str, dict[str, Any]]:
    rows = await action_repository.page(session, project_id, limit=None, offset=0)
    return {str(row.id): {"name": row.name, "steps": row.steps} for row in rows}


def build_endpoint_services(
    services: Services,
    repository: EventsRepository,
    row_readers: Mapping[str, RowReader],
    columns: TextColumnWorker,
) -> EndpointServices:
    """The services of endpoints with the limits of the settings."""
    settings = services.settings
    schemas = ProjectSchemas(_schema_loader(services.database, repository, columns))
    endpoints = build_endpoints(
        services.access,
        EndpointBackends(
            services.warehouse, services.queue, services.sandboxes.compile, services.registry
        ),
        SchemaProviders(schemas.get, row_readers, columns.reads),
        EndpointSettings(
            site_url=settings.site_url,
            concurrent_queries=settings.query_concurrency or None,
            run_seconds=settings.query_seconds,
            runs=_allowance(
                settings.rate_limit_burst_per_minute, settings.rate_limit_sustained_per_hour
            ),
            materialized_runs=_allowance(
                settings.rate_limit_materialized_burst_per_minute,
                settings.rate_limit_materialized_sustained_per_hour,
            ),
            concurrent_materialized=settings.query_concurrency_materialized,
            queue_seconds=settings.query_queue_seconds,
            cache_bytes=settings.query_cache_bytes,
            result_bytes=settings.query_result_bytes,
            secret_keys=services.secret_keys,
            is_sharded=settings.warehouse_cluster is not None,
        ),
    )
    providers = services.access.providers
    providers.forget = (schemas.forget, endpoints.forget)
    providers.properties_detected += (schemas.forget_project,)
    providers.project_changed += (endpoints.materializer.project_changed,)
    providers.property_type_changed += (endpoints.materializer.property_type_changed,)
    return endpoints


def _allowance(per_minute: int, per_hour: int) -> RateLimit:
    return RateLimit(per_minute=per_minute or None, per_hour=per_hour or None)
