"""``hoglet tokens`` with a running server: made by it and offline, rotated, revoked."""

import json

import httpx
import pytest
from typer.testing import CliRunner, Result

from hoglet.cli.main import app
from support.server import ServerProject

QUERY = "select {variables.tenant} as tenant"
CREATE = ("create", "--endpoint", "who", "--variable", "tenant=acme")


@pytest.fixture(scope="module")
def server(server: ServerProject) -> ServerProject:
    post = server.client.post
    post("/api/projects/@current/insight_variables/", json={"name": "tenant", "type": "String"})
    body = {"name": "who", "query": {"kind": "HogQLQuery", "query": QUERY}}
    assert post("/api/projects/@current/endpoints/", json=body).status_code == 201
    return server


def invoke(server: ServerProject, *words: str, **environment: str) -> Result:
    given = server.commands | environment
    return CliRunner().invoke(app, ["tokens", *words], env=given)


def output(server: ServerProject, *words: str, **environment: str) -> str:
    ran = invoke(server, *words, **environment)
    assert ran.exit_code == 0, ran.output
    return ran.stdout.strip()


def run(server: ServerProject, token: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    run = "/api/projects/@current/endpoints/who/run"
    return server.client.post(run, headers=headers, json={})


def test_a_token_is_created(server: ServerProject) -> None:
    token = output(server, *CREATE)
    assert run(server, token).json()["results"] == [["acme"]]
    answer = json.loads(output(server, *CREATE, "--json"))
    assert set(answer) == {"token", "expires_at"}


def test_a_token_is_created_offline(server: ServerProject) -> None:
    key = output(server, "rotate")
    words = (*CREATE, "--offline-project", str(server.id))
    token = output(server, *words, HOGLET_URL="http://127.0.0.1:1", HOGLET_SIGNING_KEY=key)
    assert run(server, token).json()["results"] == [["acme"]]
    key_id = key.partition(":")[0]
    assert key_id in output(server, "keys")
    assert output(server, "revoke", key_id) == f"revoked {key_id}"
    assert run(server, token).status_code == 401


def test_wrong_uses(server: ServerProject) -> None:
    unset = invoke(server, *CREATE, "--offline-project", "1", HOGLET_SIGNING_KEY="")
    assert (unset.exit_code, "HOGLET_SIGNING_KEY" in unset.stderr) == (2, True)
    unknown = invoke(server, "create", "--endpoint", "whoo")
    assert (unknown.exit_code, "whoo" in unknown.stderr) == (1, True)
    unnamed = invoke(server, "create", "--endpoint", "who", "--variable", "acme")
    assert (unnamed.exit_code, "NAME=VALUE" in unnamed.stderr) == (2, True)
    assert invoke(server, "create").exit_code == 2
