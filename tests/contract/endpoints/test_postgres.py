"""Endpoints on PostgreSQL, with truly concurrent requests."""

import asyncio

from hoglet.sandbox import Sandbox
from hoglet.warehouse import ClickHouseWarehouse
from support.endpoints import open_endpoints


async def test_side_by_side(
    postgres_tables_url: str,
    warehouse: ClickHouseWarehouse,
    endpoint_sandbox: Sandbox,
    fresh_project_id: int,
) -> None:
    async with open_endpoints(
        postgres_tables_url, warehouse, endpoint_sandbox, fresh_project_id
    ) as endpoints:
        body = endpoints.body(name="a")
        created = await asyncio.gather(*(endpoints.post("", body) for _ in range(5)))
        assert sorted(each.status_code for each in created) == [201, 400, 400, 400, 400]
        queries = [{"kind": "HogQLQuery", "query": f"SELECT {n}"} for n in range(10, 15)]
        patched = await asyncio.gather(
            *(endpoints.patch("/a", {"query": query}) for query in queries)
        )
        assert [each.status_code for each in patched] == [200] * 5
        versions = (await endpoints.get("/a/versions")).json()["results"]
        assert [each["version"] for each in versions] == [6, 5, 4, 3, 2, 1]
        await endpoints.patch("/a", {"is_materialized": True})
        await endpoints.run("a", refresh="force_async", client_query_id="q")
        await endpoints.services.jobs.drain()
        assert (await endpoints.ran("a"))["endpoint_materialized"] is True
        assert (await endpoints.get("/a/run", client_query_id="q")).status_code == 200
        assert (await endpoints.get("/a")).json()["last_executed_at"] is not None
        await endpoints.services.jobs.housekeeping.clean_up()
        deleted = await asyncio.gather(
            *(endpoints.client.delete(endpoints.base + "/a") for _ in range(3))
        )
        assert sorted(each.status_code for each in deleted) == [204, 404, 404]
