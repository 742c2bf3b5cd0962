"""Wrong uses that a server notices, and commands whose output or time limit ends early.

Each is one sentence that says what to change, with an exit code; never a traceback. Wrong uses that
need no server are in ``tests/unit/cli/test_wrong_uses.py``.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from support.server import KEY, RunningServer
from support.watched_command import can_be_interrupted

HOGLET = [sys.executable, "-c", "from hoglet.cli.entry import main; main()"]
UNKNOWN = "01a208e8-d644-7870-ab2d-f4234cdd16b3"


@pytest.fixture(scope="module")
def server(shared_server: RunningServer) -> RunningServer:
    """The shared one, in its first project: addresses and messages name it."""
    return shared_server


class Wrong(NamedTuple):
    words: tuple[str, ...]
    says: str  # a part of the error
    code: int
    given: str = ""  # on standard input


def tail(where: str) -> tuple[str, ...]:
    return ("events", "tail", "--no-follow", "--where", where)


OTHER_KEY = "Give another key with --key, or hoglet login --url http://127.0.0.1:"
NO_PROJECT = "choose another --project, or omit it to use your current one."
WRONG = [
    Wrong(("functions", "list", "--key", "phx_wrong"), OTHER_KEY, 2),
    Wrong(("functions", "list", "--json", "--key", "phx_wrong"), OTHER_KEY, 2),
    Wrong(("query", "select 1", "--key", "phx_wrong"), OTHER_KEY, 2),
    Wrong(("push", "-C", "{project}", "--key", "phx_wrong"), OTHER_KEY, 2),
    Wrong(("login", "--key", "phx_wrong"), OTHER_KEY, 2),
    Wrong(
        ("functions", "list", "--project", "99"),
        f"has no access to a project 99 at {{url}}: {NO_PROJECT}",
        2,
    ),
    Wrong(("functions", "list", "--project", "a/../1"), NO_PROJECT, 2),
    Wrong(("endpoints", "run", "nope", "--project", "99"), NO_PROJECT, 2),
    Wrong(("pull", "--to", "{project}", "--project", "abc"), NO_PROJECT, 2),
    Wrong(("tokens", "create", "--endpoint", "a", "--project", "99"), NO_PROJECT, 2),
    Wrong(("endpoints", "run", "nope"), "There is no endpoint nope. See hoglet endpoints list.", 1),
    Wrong(("endpoints", "run", "nope", "--json"), "There is no endpoint nope.", 1),
    Wrong(("endpoints", "usage", "nope"), "There is no endpoint nope.", 1),
    Wrong(("endpoints", "openapi", "nope"), "There is no endpoint nope.", 1),
    Wrong(("endpoints", "alias", "set", "nope", "prod", "1"), "There is no endpoint nope.", 1),
    Wrong(("tokens", "create", "--endpoint", "nope"), 'There is no active endpoint "nope"', 1),
    Wrong(("tokens", "revoke", "nope"), "There is no signing key nope. See hoglet tokens keys.", 1),
    Wrong(("endpoints", "run", ""), "The id or name is empty.", 1),
    Wrong(("cohorts", "show", ""), "The id or name is empty.", 1),
    Wrong(("cohorts", "show", "nope"), "There is no cohort nope. See hoglet cohorts list.", 1),
    Wrong(("cohorts", "show", "99", "--json"), "There is no cohort 99.", 1),
    Wrong(("integrations", "delete", "99"), "There is no integration 99.", 1),
    Wrong(("functions", "show", UNKNOWN), f"There is no function {UNKNOWN}.", 1),
    Wrong(("functions", "logs", UNKNOWN), f"There is no function {UNKNOWN}.", 1),
    Wrong(("functions", "enable", ""), "The id or name is empty.", 1),
    Wrong(("functions", "show", "nope", "--json"), "There is no function nope.", 1),
    Wrong(("functions", "test", "x", "--event", "-"), "--event is not JSON", 2, "{a"),
    Wrong(("functions", "test", "x", "--event", "-"), "--event must be a JSON object", 2, "[1]"),
    Wrong(("query", "-"), "400 hogql_syntax_error", 1, "selec"),
    Wrong(("query", "-"), "The query is empty", 2, " \n"),
    Wrong(("query", "select nope"), "Unable to resolve field: nope", 1),
    Wrong(("query", "select 1", "--format", "csv", "-o", "{project}"), "cannot be written", 2),
    Wrong(
        ("endpoints", "pull", "--to", "{project}/hoglet.yaml"), "yaml cannot be written: File", 2
    ),
    Wrong(("functions", "list", "--url", "{url}/api"), "404 not_found: Not found. --url is", 1),
    Wrong(("query", "select 1", "--url", "{url}/api"), "remove /api", 1),
    Wrong(tail("nope ="), "400 hogql_syntax_error: --where: 1:7: ", 1),
    Wrong(tail("(("), "400 hogql_syntax_error: --where: 1:3: ", 1),
    Wrong(tail("event = 'a') or (1 = 1"), "--where: 1:12: ')' is not expected here", 1),
    Wrong(tail("1 = 1 limit 1"), "--where: Expected a single expression", 1),
    Wrong(tail("evnt = 1"), "--where: 1:1: Unable to resolve field: evnt", 1),
    Wrong(tail("count() > 1"), "--where: a condition on events cannot contain an aggregate", 1),
]


@pytest.mark.parametrize("wrong", WRONG, ids=[" ".join(each.words) for each in WRONG])
def test_a_wrong_use_is_a_sentence(wrong: Wrong, server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "hoglet.yaml").write_text("name: a\n")
    environment = {"HOGLET_URL": server.url, "HOGLET_API_KEY": KEY, "COLUMNS": "300"}
    environment["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    words = [
        word.replace("{project}", str(tmp_path)).replace("{url}", server.url)
        for word in wrong.words
    ]

    ran = CliRunner().invoke(app, words, env=environment, input=wrong.given)

    assert isinstance(ran.exception, SystemExit), ran.exception
    assert (ran.exit_code, ran.stdout) == (wrong.code, "")
    assert wrong.says.replace("{url}", server.url) in " ".join(ran.stderr.split())
    assert len(ran.stderr.strip().splitlines()) == 1


def start(server: RunningServer, *words: str, stdout: int) -> subprocess.Popen[bytes]:
    environment = server.environment | {"HOGLET_URL": server.url, "HOGLET_API_KEY": KEY}
    return subprocess.Popen(
        [*HOGLET, *words],
        env=environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=can_be_interrupted,  # noqa: PLW1509 (nothing else runs in this process)
    )


ROWS = "select number from numbers(20000)"


@pytest.mark.parametrize("form", ["csv", "table"])
def test_a_reader_that_has_enough_is_no_error(server: RunningServer, form: str) -> None:
    process = start(server, "query", ROWS, "--format", form, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, says = process.communicate(timeout=60)

    assert (process.returncode, says) == (1, b"")


def test_nothing_to_show_is_said(server: RunningServer) -> None:
    function = {"type": "destination", "name": "Grüße 🦔", "hog": "print(1)"}
    server.client.post("/api/projects/1/hog_functions/", json=function).raise_for_status()

    tail = ["events", "tail", "--no-follow", "--event", "never"]
    for words in (["functions", "logs", "Grüße 🦔"], tail):
        process = start(server, *words, stdout=subprocess.PIPE)
        output, says = process.communicate(timeout=60)
        assert (process.returncode, output) == (0, b"")
        assert says.startswith(b"There are no such ")


def test_a_terminal_without_unicode_shows_what_it_can(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = {"type": "destination", "name": "Straße 🦔", "hog": "print(1)"}
    server.client.post("/api/projects/1/hog_functions/", json=function).raise_for_status()
    monkeypatch.setitem(server.environment, "PYTHONIOENCODING", "ascii")

    process = start(server, "functions", "list", "--json", stdout=subprocess.PIPE)
    output, says = process.communicate(timeout=60)

    assert (process.returncode, says) == (0, b"")
    assert "Stra?e ?" in [each["name"] for each in json.loads(output)]


@pytest.mark.parametrize(
    "words", [["-h"], ["--version"], ["query", ROWS, "--format", "csv"], ["functions", "list"]]
)
def test_an_output_that_is_full_is_a_sentence(server: RunningServer, words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        process = start(server, *words, stdout=full.fileno())
        _, says = process.communicate(timeout=60)

    sentence = "Standard output cannot be written: No space left on device."
    assert (process.returncode, says.decode().splitlines()[-1]) == (1, sentence)
    assert "Traceback" not in says.decode()


def test_ctrl_c_ends_a_command_quietly(server: RunningServer) -> None:
    process = start(server, "events", "tail", "--last", "1", "--json", stdout=subprocess.PIPE)
    body = {"api_key": "phc_" + "t" * 40, "event": "seen", "distinct_id": "ada"}
    server.client.post("/capture/", json=body).raise_for_status()
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, says = process.communicate(timeout=60)

    assert (process.returncode, says) == (0, b"")


@pytest.mark.parametrize("interrupted", ["raise KeyboardInterrupt", "Incomplete()"])
def test_ctrl_c_while_the_commands_are_loaded_is_no_traceback(interrupted: str) -> None:
    """The signal arrives in the import of a module of the commands, or in a constructor there."""
    program = (
        "import io, sys\n"
        "class Incomplete(io.IOBase):\n"
        "    def __init__(self): raise KeyboardInterrupt\n"
        "    def close(self): self.lacking\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == 'typer': {interrupted}\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from hoglet.cli.entry import main\n"
        "main()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")


@pytest.mark.parametrize("command", [["profiles", "list"], ["serve", "--help"]])
def test_ctrl_c_is_not_lost_in_a_callback(command: list[str], tmp_path: Path) -> None:
    """The signal arrives while an object is collected, where Python drops exceptions."""
    program = (
        "import sys, time\n"
        "class Collected:\n"
        "    def __del__(self): raise KeyboardInterrupt\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer':\n"
        "            Collected()\n"
        "            time.sleep(30)\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from hoglet.cli.entry import main\n"
        f"sys.argv[1:] = {command}\n"
        "main()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")
