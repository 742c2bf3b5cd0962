"""``hoglet tokens`` with a running server: made by it and offline, rotated, revoked."""

import json
from collections.abc import Generator

import httpx
import pytest
from typer.testing import CliRunner, Result

from hoglet.cli.main import app
from support.server import KEY, RunningServer

QUERY = "select {variables.tenant} as tenant"
CREATE = ("create", "--endpoint", "who", "--variable", "tenant=acme")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("data")).start()
    post = running.client.post
    post("/api/projects/1/insight_variables/", json={"name": "tenant", "type": "String"})
    body = {"name": "who", "query": {"kind": "HogQLQuery", "query": QUERY}}
    assert post("/api/projects/1/endpoints/", json=body).status_code == 201
    yield running
    running.stop()


def invoke(server: RunningServer, *words: str, **environment: str) -> Result:
    given = {"HOGLET_URL": server.url, "HOGLET_API_KEY": KEY, **environment}
    return CliRunner().invoke(app, ["tokens", *words], env=given)


def output(server: RunningServer, *words: str, **environment: str) -> str:
    ran = invoke(server, *words, **environment)
    assert ran.exit_code == 0, ran.output
    return ran.stdout.strip()


def run(server: RunningServer, token: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.post(f"{server.url}/api/projects/1/endpoints/who/run", headers=headers, json={})


def test_a_token_is_created(server: RunningServer) -> None:
    token = output(server, *CREATE)
    assert run(server, token).json()["results"] == [["acme"]]
    answer = json.loads(output(server, *CREATE, "--json"))
    assert set(answer) == {"token", "expires_at"}


def test_a_token_is_created_offline(server: RunningServer) -> None:
    key = output(server, "rotate")
    words = (*CREATE, "--offline-project", "1")
    token = output(server, *words, HOGLET_URL="http://127.0.0.1:1", HOGLET_SIGNING_KEY=key)
    assert run(server, token).json()["results"] == [["acme"]]
    key_id = key.partition(":")[0]
    assert key_id in output(server, "keys")
    assert output(server, "revoke", key_id) == f"revoked {key_id}"
    assert run(server, token).status_code == 401


def test_wrong_uses(server: RunningServer) -> None:
    unset = invoke(server, *CREATE, "--offline-project", "1", HOGLET_SIGNING_KEY="")
    assert (unset.exit_code, "HOGLET_SIGNING_KEY" in unset.stderr) == (2, True)
    unknown = invoke(server, "create", "--endpoint", "whoo")
    assert (unknown.exit_code, "whoo" in unknown.stderr) == (1, True)
    unnamed = invoke(server, "create", "--endpoint", "who", "--variable", "acme")
    assert (unnamed.exit_code, "NAME=VALUE" in unnamed.stderr) == (2, True)
    assert invoke(server, "create").exit_code == 2
