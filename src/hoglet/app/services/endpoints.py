"""Builds the endpoint services; queries get a project's property types from its definitions."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.principals import Project
from hoglet.access.rate_limit import RateLimit
from hoglet.app.services.container import Services
from hoglet.cohorts.repository import cohort_refs
from hoglet.definitions import repository as definitions
from hoglet.endpoints.run.system_rows import RowReader
from hoglet.endpoints.services import (
    EndpointBackends,
    EndpointServices,
    SchemaProviders,
    build_endpoints,
)
from hoglet.endpoints.settings import EndpointSettings
from hoglet.endpoints.worker.compiler import ProjectSchema
from hoglet.events.repository import EventsRepository
from hoglet.functions.actions import repository as action_repository
from hoglet.store.database import Database

SCHEMA_SECONDS = 2.0  # how long queries may miss the type of a new property


@dataclass
class _Loaded:
    """A project's schema; not current while it is being loaded."""

    version: int
    at: float | None = None
    schema: ProjectSchema = field(default_factory=ProjectSchema)

    def is_current(self, project: Project) -> bool:
        return (
            self.version == project.definitions_version
            and self.at is not None
            and time.monotonic() - self.at < SCHEMA_SECONDS
        )


class PropertySchemaProvider:
    """What queries of a project can refer to: property definitions, groups and actions."""

    def __init__(self, database: Database, events: EventsRepository) -> None:
        self._database = database
        self._events = events
        self._known: dict[int, _Loaded] = {}

    async def __call__(self, project: Project) -> ProjectSchema:
        """The schema of a project.

        It is up to two seconds old if another process stores the events. A changed type takes
        effect at once, because it changes the project's ``definitions_version``.
        """
        known = self._known.get(project.id)
        if known is not None and known.is_current(project):
            return known.schema
        loading = self._known[project.id] = _Loaded(project.definitions_version)
        loading.schema = await self._load(project)
        loading.at = time.monotonic()
        return loading.schema

    async def _load(self, project: Project) -> ProjectSchema:
        async with self._database.read() as session:
            return ProjectSchema(
                property_types=await definitions.property_types(session, project.id),
                property_forms=await definitions.property_forms(session, project.id),
                group_types=await self._events.group_types(session, project.id),
                actions=await _actions(session, project.id),
                cohorts=await cohort_refs(session, project.id),
            )

    def forget(self) -> None:
        """Clear the cache; call after a change of actions."""
        self._known.clear()

    def forget_project(self, project_id: int) -> None:
        """Clear the cache of a project; call when properties were detected."""
        self._known.pop(project_id, None)


async def _actions(session: AsyncSession, project_id: int) -> dict[str, dict[str, Any]]:
    rows = await action_repository.page(session, project_id, limit=None, offset=0)
    return {str(row.id): {"name": row.name, "steps": row.steps} for row in rows}


def build_endpoint_services(
    services: Services, repository: EventsRepository, row_readers: Mapping[str, RowReader]
) -> EndpointServices:
    """The services of endpoints with the limits of the settings."""
    settings = services.settings
    schema = PropertySchemaProvider(services.database, repository)
    endpoints = build_endpoints(
        services.access,
        EndpointBackends(
            services.warehouse, services.queue, services.sandboxes.compile, services.registry
        ),
        SchemaProviders(schema, row_readers),
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
    providers.forget = (schema.forget, endpoints.forget)
    providers.properties_detected += (schema.forget_project,)
    providers.project_changed += (endpoints.materializer.project_changed,)
    providers.property_type_changed += (endpoints.materializer.property_type_changed,)
    return endpoints


def _allowance(per_minute: int, per_hour: int) -> RateLimit:
    return RateLimit(per_minute=per_minute or None, per_hour=per_hour or None)
