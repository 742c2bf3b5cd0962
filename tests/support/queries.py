"""A complete application with the query API, on the warehouse of the endpoint tests."""

from dataclasses import dataclass
from typing import Any

import httpx
import pytest_asyncio

from hoglet.queries.container import QueryServices
from support.endpoints import EndpointWorld


@dataclass
class QueryWorld:
    """A client whose key has every scope, and the parts of the application."""

    endpoints: EndpointWorld
    services: QueryServices

    @property
    def base(self) -> str:
        return f"/api/projects/{self.endpoints.project_id}/query"

    @property
    def client(self) -> httpx.AsyncClient:
        return self.endpoints.client

    async def send(self, query: Any, path: str = "", **body: Any) -> httpx.Response:
        """POST a query; a text is HogQL."""
        node = {"kind": "HogQLQuery", "query": query} if isinstance(query, str) else query
        return await self.client.post(f"{self.base}{path}/", json={"query": node, **body})

    async def ran(self, query: Any, **body: Any) -> dict[str, Any]:
        response = await self.send(query, **body)
        assert response.status_code == 200, response.text
        return response.json()

    async def refused(self, query: Any, **body: Any) -> tuple[int, str, str | None]:
        """Status, code and attr of a refusal."""
        response = await self.send(query, **body)
        problem = response.json()
        return response.status_code, problem["code"], problem["attr"]

    async def get(self, query_id: str, **params: Any) -> httpx.Response:
        return await self.client.get(f"{self.base}/{query_id}/", params=params)

    async def delete(self, query_id: str, **params: Any) -> httpx.Response:
        return await self.client.delete(f"{self.base}/{query_id}/", params=params)


@pytest_asyncio.fixture
async def queries(endpoints: EndpointWorld) -> QueryWorld:
    """An empty project and a client for its query API."""
    return QueryWorld(endpoints, endpoints.app.state.queries)
