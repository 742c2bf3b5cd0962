"""The examples of the documents work: each ``http`` block is sent to a real server, in order."""

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


@pytest.mark.parametrize("page", ["functions.md", "endpoints.md"])
def test_every_example_is_answered_with_success(server, page):
    blocks = BLOCK.findall((DOCS / page).read_text())
    function = ""

    assert blocks
    for method, path, body in blocks:
        answer = server.client.request(
            method, path.format(function=function), json=json.loads(body) if body.strip() else None
        )
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        if method == "POST" and path.endswith("/hog_functions/"):
            function = answer.json()["id"]
