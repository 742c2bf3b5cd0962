"""A complete application with cohorts, on the warehouse of the endpoint tests."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest_asyncio

from hoglet.cohorts.container import CohortServices
from hoglet.cohorts.tables import CohortRow
from hoglet.events.tables import DistinctIdRow, PersonRow
from support.access import NOW
from support.endpoints import EndpointWorld

type Json = dict[str, Any]

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def cohort_row(project_id: int, **fields: Any) -> CohortRow:
    """A stored cohort without criteria that was never calculated."""
    empty: Json = {"properties": {"type": "OR", "values": []}}
    defaults: Json = {"name": "c", "description": "", "deleted": False, "filters": empty}
    state: Json = {"is_static": False, "is_calculating": False, "errors_calculating": 0}
    stored: Json = {"groups": [], "calculation_id": 0, "revision": 0, "created_at": NOW}
    return CohortRow(project_id=project_id, **(defaults | state | stored | fields))


@dataclass
class CohortsApi:
    """A client whose key has every scope, and the parts of the application."""

    endpoints: EndpointWorld
    services: CohortServices

    @property
    def base(self) -> str:
        return f"/api/projects/{self.endpoints.project_id}"

    @property
    def client(self) -> httpx.AsyncClient:
        return self.endpoints.client

    async def post(self, body: Any, **more: Any) -> httpx.Response:
        return await self.client.post(f"{self.base}/cohorts/", json=body, **more)

    async def created(self, **body: Any) -> Json:
        """Create a cohort, which must succeed, and calculate it."""
        response = await self.post({"name": "c"} | body)
        assert response.status_code == 201, response.text
        await self.services.worker.drain()
        return await self.read(response.json()["id"])

    async def dynamic(self, *leaves: Json, kind: str = "AND", **body: Any) -> Json:
        filters = {"properties": {"type": kind, "values": list(leaves)}}
        return await self.created(filters=filters, **body)

    async def static(self, persons: Iterable[UUID], **body: Any) -> Json:
        ids = [str(each) for each in persons]
        return await self.created(is_static=True, _create_static_person_ids=ids, **body)

    async def read(self, cohort_id: int) -> Json:
        response = await self.client.get(f"{self.base}/cohorts/{cohort_id}/")
        assert response.status_code == 200, response.text
        return response.json()

    async def patch(self, path: str, body: Json) -> httpx.Response:
        return await self.client.patch(f"{self.base}/cohorts/{path}/", json=body)

    async def get(self, path: str, **params: Any) -> httpx.Response:
        return await self.client.get(f"{self.base}/{path}", params=params)

    async def refused(self, body: Json) -> tuple[int, str | None, str]:
        """Status, attr and detail of a refusal."""
        response = await self.post(body)
        problem = response.json()
        return response.status_code, problem["attr"], problem["detail"]

    async def query(self, query: Any) -> httpx.Response:
        node = {"kind": "HogQLQuery", "query": query} if isinstance(query, str) else query
        body = {"query": node, "refresh": "force_blocking"}
        return await self.client.post(f"{self.base}/query/", json=body)

    async def value(self, query: str) -> Any:
        """The single value of a query, which must succeed."""
        response = await self.query(query)
        assert response.status_code == 200, response.text
        return response.json()["results"][0][0]

    async def members(self, cohort_id: int) -> set[UUID]:
        response = await self.get(f"cohorts/{cohort_id}/persons")
        assert response.status_code == 200, response.text
        return {UUID(each["uuid"]) for each in response.json()["results"]}

    async def add_person(
        self,
        distinct_id: str,
        events: Iterable[tuple[str, datetime]] = (),
        **properties: Any,
    ) -> UUID:
        """A person, in the database and in the warehouse, with its events."""

        person, project = uuid4(), self.endpoints.project_id
        text = json.dumps(properties)
        async with self.endpoints.world.database.write() as session:
            session.add(
                PersonRow(
                    id=person,
                    project_id=project,
                    properties=text,
                    created_at=NOW - DAY,
                    is_identified=True,
                    version=1,
                )
            )
            session.add(
                DistinctIdRow(
                    project_id=project, distinct_id=distinct_id, person_id=person, version=1
                )
            )
        await self.endpoints.warehouse.insert(
            "persons",
            ["project_id", "id", "created_at", "properties", "is_identified", "version"],
            [[project, person, NOW - DAY, text, 1, 1]],
        )
        await self.endpoints.warehouse.insert(
            "person_distinct_ids",
            ["project_id", "distinct_id", "person_id", "is_deleted", "version"],
            [[project, distinct_id, person, 0, 1]],
        )
        await self.endpoints.warehouse.insert(
            "events",
            ["project_id", "uuid", "event", "properties", "timestamp", "distinct_id", "person_id"],
            [[project, uuid4(), name, "{}", at, distinct_id, person] for name, at in events],
        )
        return person


@pytest_asyncio.fixture
async def cohorts(endpoints: EndpointWorld) -> CohortsApi:
    """An empty project and a client for its cohorts."""
    return CohortsApi(endpoints, endpoints.app.state.cohorts)
