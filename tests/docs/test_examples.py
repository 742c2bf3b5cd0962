"""The examples of the documents work: each ``http`` block is sent to a real server, in order."""

import json
import re
from pathlib import Path

import pytest

from support.server import RunningServer

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"```http\n(\w+) (\S+)\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = RunningServer(tmp_path_factory.mktemp("data")).start()
    yield running
    running.stop()


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
