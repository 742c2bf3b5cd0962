"""Integrations end to end: created on the command line, sent to a real receiver."""

import base64
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from support.recorder import Recorder
from support.server import ServerProject

SECRET = "xoxb-4711-a/b+c=d"
FUNCTIONS = "/api/projects/@current/hog_functions/"


@pytest.fixture
def receiver() -> Generator[Recorder]:
    recorder = Recorder()
    yield recorder
    recorder.close()


def command(server: ServerProject, *words: str, token: str = "") -> str:
    environment = server.commands
    ran = CliRunner().invoke(app, ["integrations", *words], env=environment, input=token)
    assert ran.exit_code == 0, ran.output
    return ran.output


def create(server: ServerProject, kind: str, *more: str) -> int:
    said = command(server, "create", kind, *more, token=SECRET + "\n")
    return int(said.rstrip(".\n").split()[-1])


def from_template(server: ServerProject, template: str, host: str, to: str, **more: Any) -> str:
    """A function of a template whose service is played by the receiver at ``to``."""
    code = server.client.get(f"/api/projects/@current/hog_function_templates/{template}").json()[
        "code"
    ]
    assert host in code
    body = {
        "template_id": template,
        "type": "destination",
        "enabled": True,
        "hog": code.replace(host, to),
        "filters": {"events": [{"id": template, "type": "events"}]},
        "retry": {"max_attempts": 1},
        **more,
    }
    response = server.client.post(FUNCTIONS, json=body)
    assert response.status_code == 201, response.text
    return response.json()["id"]


def trigger(server: ServerProject, event: str) -> None:
    body = {
        "api_key": server.token,
        "event": event,
        "distinct_id": "ada",
        "properties": {"$set": {}},
    }
    assert server.client.post("/capture/", json=body).status_code == 200


def finished(server: ServerProject, function_id: str) -> list[dict[str, str]]:
    """The lines of the function's only run, once it ended."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        lines = server.client.get(f"{FUNCTIONS}{function_id}/logs/").json()["results"]
        if any("Function completed" in line["message"] for line in lines) or any(
            line["message"].startswith("Error") for line in lines
        ):
            return lines
        time.sleep(0.1)
    raise AssertionError(server.log())


def test_slack_gets_the_real_token(server: ServerProject, receiver: Recorder) -> None:
    integration = create(server, "slack", "--name", "Shop")
    inputs = {
        "slack_workspace": {"value": integration},
        "channel": {"value": "C01|#general"},
        "text": {"value": "Hello {event.distinct_id}"},
    }
    function = from_template(
        server, "template-slack", "https://slack.com", receiver.url, inputs=inputs
    )
    trigger(server, "template-slack")
    finished(server, function)

    (request,) = receiver.requests
    assert (request.method, request.path) == ("POST", "/api/chat.postMessage")
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert (request.json["channel"], request.json["text"]) == ("C01", "Hello ada")


def test_hubspot_gets_the_real_token_and_its_echo_is_hidden(
    server: ServerProject, receiver: Recorder
) -> None:
    integration = create(server, "hubspot")
    receiver.answers.append((400, {"message": f"the token {SECRET} is not allowed to do this"}))
    inputs = {
        "oauth": {"value": integration},
        "email": {"value": "ada@example.com"},
        "properties": {"value": {"firstname": "Ada"}},
    }
    function = from_template(
        server, "template-hubspot", "https://api.hubapi.com", receiver.url, inputs=inputs
    )
    trigger(server, "template-hubspot")
    lines = finished(server, function)
    letters = server.client.get(f"{FUNCTIONS}{function}/dead_letters/")
    letter = server.client.get(
        f"{FUNCTIONS}{function}/dead_letters/{letters.json()['results'][0]['id']}/"
    )

    assert receiver.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert letters.json()["results"][0]["class"] == "fetch"
    for text in (str(lines), letters.text, letter.text):
        assert SECRET not in text
        assert "hoglet-integration-" not in text
    assert "***REDACTED***" in str(lines)


def test_tokens_go_where_they_may(server: ServerProject, receiver: Recorder) -> None:
    """In headers, Basic ones too, in the body and the query; not in the rest of the URL."""
    integration = create(server, "custom")
    code = """
        let token := inputs.service.access_token
        let basic := base64Encode(concat('me:', token))
        fetch(f'{inputs.url}/{token}?key={token}', {
            'headers': {'Authorization': f'Basic {basic}', 'Content-Type': 'application/json'},
            'body': {'token': token}
        })
        print('sent', token)
    """
    body = {
        "type": "destination",
        "enabled": True,
        "hog": code,
        "inputs_schema": [
            {"key": "service", "type": "integration"},
            {"key": "url", "type": "string"},
        ],
        "inputs": {"service": {"value": integration}, "url": {"value": receiver.url}},
        "filters": {"events": [{"id": "places", "type": "events"}]},
    }
    function = server.client.post(FUNCTIONS, json=body).json()["id"]
    trigger(server, "places")
    lines = finished(server, function)

    (request,) = receiver.requests
    path, _, query = request.path.partition("?")
    assert SECRET not in path
    assert query == "key=xoxb-4711-a%2Fb%2Bc%3Dd"
    basic = request.headers["authorization"].removeprefix("Basic ")
    assert base64.b64decode(basic).decode() == f"me:{SECRET}"
    assert request.json == {"token": SECRET}
    assert "hoglet-integration-" not in str(lines)
    test_run = server.client.post(
        f"{FUNCTIONS}{function}/invocations/",
        json={"globals": {"event": {"event": "places"}}, "mock_async_functions": False},
    )
    assert receiver.requests[1].json == {"token": SECRET}
    assert SECRET not in test_run.text


def test_a_token_stays_with_its_hosts(server: ServerProject, receiver: Recorder) -> None:
    integration = create(server, "slack", "--to", "slack.com,*.slack.com")
    inputs = {"slack_workspace": {"value": integration}, "channel": {"value": "#x"}}
    function = from_template(
        server,
        "template-slack",
        "https://slack.com",
        receiver.url,
        inputs=inputs,
        filters={"events": [{"id": "elsewhere", "type": "events"}]},
    )
    trigger(server, "elsewhere")
    lines = finished(server, function)
    letters = server.client.get(f"{FUNCTIONS}{function}/dead_letters/").json()["results"]

    assert receiver.requests == []
    assert "is not allowed for this host" in str(lines)
    assert [letter["class"] for letter in letters] == ["fetch"]


def test_a_deleted_integration_fails_the_inputs(server: ServerProject, receiver: Recorder) -> None:
    integration = create(server, "slack")
    assert f"{integration} " in command(server, "list", "--kind", "slack")
    inputs = {"slack_workspace": {"value": integration}, "channel": {"value": "#x"}}
    function = from_template(
        server,
        "template-slack",
        "https://slack.com",
        receiver.url,
        inputs=inputs,
        filters={"events": [{"id": "gone", "type": "events"}]},
    )
    command(server, "delete", str(integration))
    time.sleep(1.2)  # workers look for changes once a second
    trigger(server, "gone")
    lines = finished(server, function)
    letters = server.client.get(f"{FUNCTIONS}{function}/dead_letters/").json()["results"]

    assert receiver.requests == []
    assert f"slack_workspace: the project has no integration {integration}" in str(lines)
    assert [letter["class"] for letter in letters] == ["inputs"]
    totals = server.client.get(f"{FUNCTIONS}{function}/metrics/totals?breakdown_by=name").json()
    assert totals["totals"].get("inputs_failed", 1) == 1


def test_the_token_is_in_no_file_in_the_clear(server: ServerProject) -> None:
    """Not in the database and its journal, the queue, the server's log; the warehouse packs."""
    create(server, "hubspot")
    for path in Path(server.data_dir).rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


def test_a_bad_config_is_told(server: ServerProject) -> None:
    environment = server.commands
    ran = CliRunner().invoke(
        app, ["integrations", "create", "x", "--config", "[]"], env=environment, input=SECRET
    )
    assert ran.exit_code == 2
    assert "JSON object" in ran.stderr
