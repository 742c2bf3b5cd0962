"""The largest answer: one limit, for every writer and every form.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation, row 15.
"""

from collections.abc import AsyncGenerator
from pathlib import Path

import orjson
import pytest
import pytest_asyncio

from hoglet.endpoints.settings import EndpointSettings
from hoglet.sandbox import Sandbox
from hoglet.warehouse import ClickHouseWarehouse
from support.endpoints import EndpointWorld, open_endpoints

MAX_BYTES = 3_000_000
# The engine counts a constant once, not once for each row: our own count has to refuse.
BY_ENGINE = "SELECT number, repeat('x', 1000) FROM numbers(50000) LIMIT {rows}"
BY_US = "SELECT number, tuple(repeat('x', 1000), 1) FROM numbers(50000) LIMIT {rows}"
DIFFERENT = "SELECT number, repeat(toString(number % 10), 1000) FROM numbers(50000) LIMIT {rows}"
FORMS = (
    "application/json",
    "text/csv",
    "application/x-ndjson",
    "application/vnd.apache.arrow.stream",
    "application/vnd.apache.parquet",
)


@pytest_asyncio.fixture
async def small(
    tmp_path: Path,
    warehouse: ClickHouseWarehouse,
    endpoint_sandbox: Sandbox,
    fresh_project_id: int,
) -> AsyncGenerator[EndpointWorld]:
    settings = EndpointSettings(result_bytes=MAX_BYTES)
    world = open_endpoints(tmp_path, warehouse, endpoint_sandbox, fresh_project_id, settings)
    async with world as opened:
        yield opened


@pytest.mark.parametrize("sql", [BY_ENGINE, BY_US, DIFFERENT])
async def test_too_large_is_refused_in_every_form(small: EndpointWorld, sql: str) -> None:
    await small.create(sql.format(rows=4000), name="a")
    for form in FORMS:
        path = f"{small.base}/a/run"
        refused = await small.client.post(path, json={}, headers={"Accept": form})
        problem = refused.json()
        reported = (refused.status_code, problem["type"], problem["code"], problem["attr"])
        assert reported == (400, "server_error", "query_too_large", None), form
        assert "materializ" in problem["detail"]


@pytest.mark.parametrize("sql", [BY_ENGINE, BY_US])
async def test_a_large_answer_is_sent_whole(small: EndpointWorld, sql: str) -> None:
    await small.create(sql.format(rows=2500), name="a")
    for refresh in ("force", "blocking", "blocking"):
        response = await small.client.post(
            f"{small.base}/a/run",
            json={"refresh": refresh, "debug": True},
            headers={"Accept-Encoding": "identity"},  # compressed, its length is not known before
        )
        assert response.status_code == 200
        assert response.headers["Content-Length"] == str(len(response.content))
        answer = orjson.loads(response.content)
        assert next(iter(answer)) == "results"
        assert [row[0] for row in answer["results"]] == list(range(2500))
        assert (answer["hasMore"], answer["name"], "hogql" in answer) == (False, "a", True)
