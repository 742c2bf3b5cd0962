"""A complete application with endpoints: database, warehouse and worker processes."""

import itertools
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
from cryptography.fernet import Fernet
from starlette.applications import Starlette

from hoglet.access.api import keys as api_keys
from hoglet.access.api import project as api_project
from hoglet.access.api import user as api_user
from hoglet.access.principals import Project
from hoglet.app.services.features import row_readers
from hoglet.cohorts import api as cohort_api
from hoglet.cohorts.container import build_cohorts
from hoglet.cohorts.repository import cohort_refs
from hoglet.endpoints import api
from hoglet.endpoints.container import (
    EndpointBackends,
    EndpointServices,
    SchemaProviders,
    build_endpoints,
)
from hoglet.endpoints.materialization import builds_api
from hoglet.endpoints.openapi import api as api_documents
from hoglet.endpoints.query_log import api as api_log
from hoglet.endpoints.query_log import usage_api as api_usage
from hoglet.endpoints.run.api import run_routes
from hoglet.endpoints.run.fast_path import PATHS
from hoglet.endpoints.settings import EndpointSettings
from hoglet.endpoints.tenant_tokens import api as tenant_token_api
from hoglet.endpoints.versions import api as api_versions
from hoglet.endpoints.worker.compiler import ProjectSchema, SchemaOf
from hoglet.functions.integrations.service import IntegrationService
from hoglet.functions.secrets.box import SecretBox
from hoglet.mcp import api as mcp_api
from hoglet.queries import api as query_api
from hoglet.queries import tools_api
from hoglet.queries.container import build_queries
from hoglet.queue.sql import SqlQueue
from hoglet.sandbox import Sandbox
from hoglet.warehouse import ClickHouseWarehouse
from hoglet.web.app import RequestPolicy, create_application
from hoglet.web.router import Shortcut
from support.access import World, add_project_with_id, open_world
from support.documented import ASYNC_RESPONSE_HOOKS
from support.sandboxes import shared_sandbox

_event_columns = (
    "project_id",
    "uuid",
    "event",
    "properties",
    "timestamp",
    "distinct_id",
    "person_id",
)


@dataclass
class EndpointWorld:
    """A client whose key has every scope, and the parts of the application."""

    world: World
    warehouse: ClickHouseWarehouse
    services: EndpointServices
    app: Starlette
    client: httpx.AsyncClient
    project_id: int
    property_types: dict[tuple[str, str], str] = field(default_factory=dict)
    _names: Any = field(default_factory=itertools.count)

    @property
    def base(self) -> str:
        return f"/api/environments/{self.project_id}/endpoints"

    async def create(self, query: Any = "SELECT 1", **body: Any) -> dict[str, Any]:
        """Create an endpoint, which must succeed."""
        response = await self.post("", self.body(query, **body))
        assert response.status_code == 201, response.text
        return response.json()

    def body(self, query: Any = "SELECT 1", **body: Any) -> dict[str, Any]:
        if isinstance(query, str):
            query = {"kind": "HogQLQuery", "query": query}
        return {"name": f"endpoint_{next(self._names)}", "query": query} | body

    async def run(self, name: str, **body: Any) -> httpx.Response:
        return await self.post(f"/{name}/run", body)

    async def ran(self, name: str, **body: Any) -> dict[str, Any]:
        """Run an endpoint, which must succeed."""
        response = await self.run(name, **body)
        assert response.status_code == 200, response.text
        return response.json()

    async def post(self, path: str, body: Any) -> httpx.Response:
        return await self.client.post(self.base + path, json=body)

    async def patch(self, path: str, body: Any) -> httpx.Response:
        return await self.client.patch(self.base + path, json=body)

    async def get(self, path: str, **params: Any) -> httpx.Response:
        return await self.client.get(self.base + path, params=params)

    async def add_events(self, events: Sequence[tuple[str, datetime, str, str]]) -> None:
        """Insert ``(event, timestamp, distinct_id, properties)``."""
        rows = [
            (self.project_id, uuid4(), event, properties, at, distinct_id, uuid4())
            for event, at, distinct_id, properties in events
        ]
        await self.warehouse.insert("events", _event_columns, rows)

    async def add_variable(self, code_name: str, kind: str, default: Any = None) -> str:
        """Create a project variable; its id."""
        response = await self.client.post(
            f"/api/projects/{self.project_id}/insight_variables",
            json={"name": code_name.replace("_", " "), "type": kind, "default_value": default},
        )
        assert response.status_code == 201, response.text
        return response.json()["id"]


@asynccontextmanager
async def open_endpoints(
    folder: Path | str,
    warehouse: ClickHouseWarehouse,
    sandbox: Sandbox,
    project_id: int,
    settings: EndpointSettings | None = None,
    *,
    cache_seconds: float = 0,
) -> AsyncGenerator[EndpointWorld]:
    """The application wired as in the server, with a project id of its own."""
    async with open_world(folder, cache_seconds=cache_seconds) as world:
        await add_project_with_id(world.database, project_id)
        queue = SqlQueue(world.database, world.clock, owner="test")
        types: dict[tuple[str, str], str] = {}
        services = build_endpoints(
            world.access,
            EndpointBackends(warehouse, queue, sandbox),
            SchemaProviders(_schema_of(world, types), row_readers(_integrations(world))),
            settings,
        )
        app = create_application(
            routes=[*run_routes(), *query_api.query_routes()],
            routers=[api_user.router, api_keys.router, mcp_api.router],
            project_routers=[
                api_versions.router,
                api_documents.router,
                api_usage.router,
                builds_api.router,
                api_log.router,
                tenant_token_api.router,
                api.router,
                api_project.router,
                api_keys.project_router,
                query_api.router,
                tools_api.router,
                cohort_api.router,
                mcp_api.project_router,
            ],
            policy=RequestPolicy(log_requests=False),
            shortcut=Shortcut(PATHS, services.known_requests.answer),
        )
        app.state.access = world.access
        app.state.endpoints = services
        app.state.queries = build_queries(services, queue)
        app.state.cohorts = build_cohorts(services, queue, changed=world.access.forget)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport,
            base_url="http://h",
            headers=world.headers,
            event_hooks=ASYNC_RESPONSE_HOOKS,
        ) as client:
            yield EndpointWorld(world, warehouse, services, app, client, project_id, types)


def _schema_of(world: World, types: dict[tuple[str, str], str]) -> SchemaOf:
    async def schema_of(project: Project) -> ProjectSchema:
        async with world.database.read() as session:
            return ProjectSchema(
                property_types=dict(types),
                actions={"7": {"name": "Bought", "steps": [{"event": "buy"}]}},
                cohorts=await cohort_refs(session, project.id),
            )

    return schema_of


def _integrations(world: World) -> IntegrationService:
    box = SecretBox([Fernet.generate_key()])
    activity = world.access.activity
    return IntegrationService(world.database, box, world.clock, activity, lambda _kind: None)


@pytest.fixture(scope="session")
def endpoint_sandbox() -> Sandbox:
    """The worker process that all applications with endpoints share."""
    return shared_sandbox("endpoints")


@pytest_asyncio.fixture
async def endpoints(
    tmp_path: Path,
    warehouse: ClickHouseWarehouse,
    endpoint_sandbox: Sandbox,
    fresh_project_id: int,
) -> AsyncGenerator[EndpointWorld]:
    """An empty project and a client for it."""
    async with open_endpoints(tmp_path, warehouse, endpoint_sandbox, fresh_project_id) as opened:
        yield opened
