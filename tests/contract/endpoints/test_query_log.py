"""The query log of runs: each run counts once, whatever fails while it is written."""

from typing import Any

import pytest

from hoglet.warehouse.errors import WarehouseDown
from support.endpoints import EndpointWorld


@pytest.mark.parametrize("failing", ["query_log", "log_entries"])
async def test_a_failed_write_is_repeated_once(
    endpoints: EndpointWorld, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    await endpoints.create(name="counted")
    await endpoints.ran("counted")
    written = endpoints.warehouse.insert

    async def insert(table: str, *args: Any, **options: Any) -> None:
        if table == failing:
            raise WarehouseDown("The disk is full.")
        await written(table, *args, **options)

    with monkeypatch.context() as faults:
        faults.setattr(endpoints.warehouse, "insert", insert)
        with pytest.raises(WarehouseDown):
            await endpoints.services.query_log.flush()
    await endpoints.ran("counted", refresh="force")

    lines = (await endpoints.get("/counted/logs")).json()["results"]
    sql = f"SELECT count() FROM query_log WHERE project_id = {endpoints.project_id}"
    assert (len(lines), (await endpoints.warehouse.query(sql)).rows[0][0]) == (2, 2)
