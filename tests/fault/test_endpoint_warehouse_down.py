"""Endpoints while the warehouse is down: records are readable, runs get 503, logs catch up."""

from typing import Any

import pytest

from hoglet.warehouse.errors import WarehouseDown
from support.endpoints import EndpointWorld


async def test_only_what_needs_the_warehouse_fails(
    endpoints: EndpointWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    await endpoints.create("SELECT 1", name="a")
    await endpoints.ran("a")

    async def down(*_: Any, **__: Any) -> Any:
        raise WarehouseDown("The warehouse is unreachable.")

    with monkeypatch.context() as broken:
        broken.setattr(endpoints.warehouse, "query", down)
        broken.setattr(endpoints.warehouse, "query_json", down)
        broken.setattr(endpoints.warehouse, "insert", down)
        assert (await endpoints.ran("a"))["is_cached"] is True
        forced = await endpoints.run("a", refresh="force")
        assert forced.status_code == 503
        assert "retry-after" in forced.headers
        record = await endpoints.get("/a")
        assert record.status_code == 200
        assert record.json()["last_executed_at"] is not None
        assert (await endpoints.get("/a/logs")).status_code == 503
    await endpoints.services.query_log.flush()
    count = await endpoints.warehouse.query(
        "SELECT count() FROM query_log WHERE project_id = {p:Int64}", {"p": endpoints.project_id}
    )
    assert count.rows[0][0] == 3
