"""One server for all public clients."""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from support.clients import Post
from support.oracle import node
from support.server import RunningServer


@pytest.fixture(scope="session", autouse=True)
def _node_on_path() -> None:
    """Programs of npm ask the shell for ``node``; the machine may have none but that of .venv."""
    if path := node():
        os.environ["PATH"] += f":{Path(path).parent}"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    server = RunningServer(tmp_path_factory.mktemp("clients") / "data").start()
    yield server
    assert server.stop() == 0
    assert "unexpected error" not in server.log()


@pytest.fixture(scope="session")
def post(server: RunningServer) -> Post:
    """Create something below the project; it must be accepted."""

    def send(noun: str, body: Any) -> Any:
        response = server.client.post(f"/api/projects/1/{noun}/", json=body)
        assert response.status_code == 201, response.text
        return response.json()

    return send
