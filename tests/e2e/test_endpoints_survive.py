"""Accepted builds and background runs are completed, whatever happens to the server."""

import time
from pathlib import Path
from typing import Any

import pytest

from support.server import RunningServer

pytestmark = pytest.mark.slow

BASE = "/api/environments/1/endpoints"


def wait_for(server: RunningServer, path: str, expected: Any) -> Any:
    deadline = time.monotonic() + 30
    answer: Any = None
    while time.monotonic() < deadline:
        response = server.client.get(path)
        answer = response.json()
        if expected(response):
            return answer
        time.sleep(0.1)
    raise AssertionError(answer)


def test_a_killed_server_builds_and_runs_what_it_accepted(tmp_path: Path) -> None:
    server = RunningServer(tmp_path).start()
    try:
        query = {"kind": "HogQLQuery", "query": "SELECT count() FROM numbers(200000000)"}
        body = {"name": "a", "query": query, "is_materialized": True}
        assert server.client.post(BASE, json=body).status_code == 201
        request = {"refresh": "force_async", "client_query_id": "q"}
        assert server.client.post(BASE + "/a/run", json=request).status_code == 202
        server.kill()
        server.start()
        status = wait_for(
            server,
            BASE + "/a/materialization_status",
            lambda response: response.json()["ready"],
        )
        assert status["status"] == "Completed"
        run = wait_for(
            server,
            BASE + "/a/run?client_query_id=q",
            lambda response: response.status_code == 200,
        )
        assert run["results"] == [[200000000]]
        table = server.client.post(BASE + "/a/run", json={"refresh": "force"}).json()
        assert table["endpoint_materialized"] is True
    finally:
        server.stop()
