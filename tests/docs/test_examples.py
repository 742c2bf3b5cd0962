"""Sends each ``http`` block of the documentation to a real server, in order."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from support.server import KEY, RunningServer

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"```http\n(\w+) (\S+)\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("data")).start()
    yield running
    running.stop()


COMMANDS = re.compile(r"^\$ hoglet (.+)$", re.MULTILINE)


def test_every_command_of_the_page_succeeds(server):
    words = COMMANDS.findall((DOCS / "command-line.md").read_text())

    assert len(words) > 4
    for line in words:
        environment = {"HOGLET_URL": server.url, "HOGLET_API_KEY": KEY}
        ran = CliRunner().invoke(app, shlex.split(line), env=environment)
        assert ran.exit_code == 0, (line, ran.output)


PAGES = [
    "functions",
    "endpoints",
    "queries",
    "cohorts",
    "persons",
    "definitions",
    "keys",
    "tenant-tokens",
    "mcp",
]


@pytest.mark.parametrize("page", [f"{name}.md" for name in [*PAGES, "system-tables"]])
def test_every_example_is_answered_with_success(server, page):
    blocks = BLOCK.findall((DOCS / page).read_text())
    function = created = ""

    assert blocks
    for method, path, body in blocks:
        address = path.replace("{function}", function).replace("{id}", created)
        sent = json.loads(body.replace("{id}", created)) if body.strip() else None
        answer = server.client.request(method, address, json=sent)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        if method == "POST" and path.endswith("/hog_functions/"):
            function = answer.json()["id"]
        if method == "POST" and answer.status_code == 201:
            created = str(answer.json().get("id", created))


def test_every_route_stands_in_the_page_of_compatibility(server):
    page = (DOCS / "compatibility.md").read_text()
    paths = [path.split("/")[1:] for path in server.client.get("/api/schema").json()["paths"]]
    project = {parts[3] for parts in paths if parts[:2] == ["api", "projects"] and len(parts) > 3}
    others = {parts[1] if parts[0] == "api" else parts[0] for parts in paths}

    assert len(project) > 10
    named = set(re.findall(r"`/?(?:api/)?([\w./]+)`", page))
    first = {name.split("/")[0] for name in named}
    assert project - first == set()
    assert others - first == set()
