"""A complete application and pipeline with one project."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
from cryptography.fernet import Fernet
from sqlalchemy import delete

from hoglet.access.bootstrap import ensure_first_project
from hoglet.app.http.application import build_application
from hoglet.app.services.container import Services, open_services
from hoglet.app.services.features import Features, build_features
from hoglet.queue.tables import JobRow
from hoglet.settings import Settings
from hoglet.warehouse import ClickHouseWarehouse
from support.access import add_project_with_id
from support.documented import ASYNC_RESPONSE_HOOKS
from support.pipeline import Line, open_line
from support.server import KEY
from support.warehouses import KEEP


@dataclass
class DefinitionWorld:
    """A client whose key has every scope, a pipeline, and the parts behind them."""

    client: httpx.AsyncClient
    line: Line
    services: Services
    features: Features
    project_id: int

    async def send(
        self, method: str, path: str, body: Any = None, *, key: str = KEY, **params: Any
    ) -> tuple[int, Any]:
        """Status and body of a request below the project."""
        response = await self.client.request(
            method,
            f"/api/projects/{self.project_id}/{path}",
            json=body,
            params=params,
            headers={"Authorization": f"Bearer {key}"},
        )
        return response.status_code, response.json() if response.content else None

    async def got(self, path: str, **params: Any) -> Any:
        """The body of a GET, which must succeed."""
        status, body = await self.send("GET", path, **params)
        assert status == 200, body
        return body

    async def capture(self, *events: dict[str, Any]) -> None:
        """Capture and store events; ``event`` and ``distinct_id`` may be left out."""
        await self.line.capture(*({"event": "e", "distinct_id": "u", **each} for each in events))
        self.line.forget_definitions()
        await self.line.work()

    async def property(self, name: str, kind: str = "event", **more: Any) -> dict[str, Any]:
        """The definition of a property."""
        listing = await self.got("property_definitions", type=kind, properties=name, **more)
        assert [each["name"] for each in listing["results"]] == [name]
        return listing["results"][0]

    async def retype(self, name: str, property_type: str | None, kind: str = "event") -> None:
        """Set the type of a property."""
        more = {"group_type_index": 0} if kind == "group" else {}
        definition = await self.property(name, kind, **more)
        path = f"property_definitions/{definition['id']}"
        status, body = await self.send("PATCH", path, {"property_type": property_type})
        assert (status, body["property_type"]) == (200, property_type)

    async def query(self, sql: str) -> list[Any]:
        """The rows of a HogQL query through the query API."""
        status, body = await self.send(
            "POST", "query", {"query": {"kind": "HogQLQuery", "query": sql}}
        )
        assert status == 200, body
        return body["results"]


@dataclass
class _Application:
    client: httpx.AsyncClient
    services: Services
    features: Features


@pytest_asyncio.fixture(scope="module")
async def definition_application(
    tmp_path_factory: pytest.TempPathFactory, warehouse: ClickHouseWarehouse
) -> AsyncGenerator[_Application]:
    """The application that all tests of a file share."""
    settings = Settings(  # pyright: ignore[reportCallIssue]
        data_dir=tmp_path_factory.mktemp("definitions"),
        roles=["api", "pipeline"],
        warehouse_url=warehouse.url,
        logs_retention_days=KEEP.log_days,  # of the warehouse that all tests share
        metrics_retention_days=KEEP.metric_days,
        secret_keys=[Fernet.generate_key().decode()],
    )
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(open_services(settings))
        await ensure_first_project(services.database, services.clock, personal_api_key=KEY)
        features = build_features(services)
        app = build_application(services, features)
        await stack.enter_async_context(app.router.lifespan_context(app))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        client = httpx.AsyncClient(
            transport=transport,
            base_url="http://h",
            follow_redirects=True,
            event_hooks=ASYNC_RESPONSE_HOOKS,
        )
        await stack.enter_async_context(client)
        yield _Application(client, services, features)


@pytest_asyncio.fixture
async def world(
    definition_application: _Application, fresh_project_id: int
) -> AsyncGenerator[DefinitionWorld]:
    """A new project of the shared application, and a pipeline for it."""
    shared = definition_application
    services = shared.services
    await add_project_with_id(services.database, fresh_project_id)
    async with open_line(
        services.database, services.warehouse, services.clock, fresh_project_id
    ) as line:
        line.definitions._readers_notice_after = timedelta(0)
        line.definitions._on_detected = services.access.providers.properties_detected
        yield DefinitionWorld(shared.client, line, services, shared.features, fresh_project_id)
    async with services.database.write() as session:
        await session.execute(delete(JobRow))  # no other test runs the remaining jobs
