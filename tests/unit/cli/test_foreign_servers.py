"""Servers that answer JSON, but not as hoglet does: one sentence, exit status 2, no traceback."""

from collections.abc import Generator

import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from support.local_http import Handler, LocalHttp
from support.seeds import thinned

COMMANDS = [
    "query 'select 1'",
    "query 'select 1' --format csv",
    "events tail --no-follow",
    "functions list",
    "functions show x",
    "functions logs x",
    "endpoints list",
    "endpoints run a",
    "cohorts list",
    "keys list",
    "tokens create --endpoint a",
    "login",
    "pull --to {folder} --yes",
    "status",
    "mcp",
]
ANSWERS = [
    b"null",
    b"[]",
    b"1",
    b"{}",
    b'"text"',
    b'{"results": [{}]}',
    b'{"results": {}}',
    b'{"results": [[1]], "columns": 5}',
    b"[" * 100_000,
    b"",
]


@pytest.fixture(params=thinned(ANSWERS, 3), ids=lambda answer: answer[:20].decode() or "nothing")
def server(request: pytest.FixtureRequest) -> Generator[str]:
    """Answers every request with the same body."""

    class Same(Handler):
        def handle_any(self) -> None:
            self.body()
            self.answer(200, request.param, {"content-type": "application/json"})

    running = LocalHttp(Same)
    yield running.url
    running.close()


@pytest.mark.parametrize("command", COMMANDS)
def test_an_answer_of_another_shape_is_a_sentence(
    command: str, server: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    words = command.format(folder=tmp_path)
    done = CliRunner().invoke(app, f"{words} --url {server} --key phx_x")

    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    if (
        command == "mcp" or done.exit_code != 0
    ):  # an empty list may be what a hoglet server answers, too
        assert done.exit_code in {1, 2}
        assert len(done.stderr.strip().splitlines()) <= 2, done.stderr
