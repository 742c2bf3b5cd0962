"""One server on a ClickHouse server behind HTTP: from capture to a deleted person."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from support.server import TOKEN, RunningServer
from support.waiting import wait_for
from support.warehouses import new_clickhouse_database

BASE = "/api/projects/1"
ENDPOINTS = "/api/environments/1/endpoints"


@pytest.fixture(scope="module")
def database(clickhouse_server: str) -> Generator[str]:
    """The address of an empty database."""
    with new_clickhouse_database(clickhouse_server) as url:
        yield url


def rows(server: RunningServer, query: str) -> Any:
    node = {"kind": "HogQLQuery", "query": query}
    body = {"query": node, "refresh": "force_blocking"}
    answer = server.client.post(f"{BASE}/query/", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_capture_query_materialize_and_delete(tmp_path: Path, database: str) -> None:
    server = RunningServer(tmp_path, warehouse_url=database).start()
    try:
        client = server.client
        batch = [
            {
                "event": "buy",
                "distinct_id": person,
                "properties": {"price": price, "note": "it's \t\\N ☃", "$set": {"name": person}},
            }
            for person, price in (("ann", 1.5), ("ann", 2), ("bob", 40))
        ]
        body = {"api_key": TOKEN, "batch": batch}
        assert client.post("/batch/", json=body).status_code == 200
        wait_for(lambda: rows(server, "select count() from events"), lambda value: value == [[3]])
        sums = (
            "select person.properties.name, sum(toFloat(properties.price)) from events group by 1"
        )
        expected = [["ann", 3.5], ["bob", 40.0]]
        wait_for(lambda: sorted(rows(server, sums)), lambda value: value == expected)
        assert rows(server, "select distinct properties.note from events") == [["it's \t\\N ☃"]]

        query = {"kind": "HogQLQuery", "query": f"{sums} order by 1"}
        created = {"name": "sums", "query": query, "is_materialized": True}
        assert client.post(ENDPOINTS, json=created).status_code == 201
        status = f"{ENDPOINTS}/sums/materialization_status"
        wait_for(lambda: client.get(status).json(), lambda value: value["ready"])
        table = client.post(f"{ENDPOINTS}/sums/run", json={"refresh": "force"}).json()
        assert (table["endpoint_materialized"], table["results"]) == (True, expected)

        person = client.get(f"{BASE}/persons/?distinct_id=ann").json()["results"][0]["uuid"]
        deleted = client.delete(f"{BASE}/persons/{person}/", params={"delete_events": "true"})
        assert deleted.status_code == 202
        done = f"{BASE}/persons/deletion_status/?status=completed"
        wait_for(lambda: client.get(done).json()["count"], lambda count: count == 1)
        assert rows(server, sums) == [["bob", 40.0]]

        assert server.stop() == 0
        server.start()  # its schema and its identity are there
        assert rows(server, "select distinct_id from events") == [["bob"]]
    finally:
        server.stop()
