"""Usage errors: a sentence that says what to do, exit status 2 (or 1), no traceback."""

import gzip
import os
import socketserver
import threading
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app

NOBODY = "http://127.0.0.1:9"  # discard: nobody answers


class Wrong(NamedTuple):
    words: str  # of the command line; {folder} is a temporary one
    says: str  # a part of the error
    code: int = 2


BAD_FILE = "name: [1,\n"
WRONG = [
    Wrong("functins list", "Did you mean 'functions'"),
    Wrong("functions lst", "Did you mean 'list'"),
    Wrong("functions list --jsn", "No such option: --jsn"),
    Wrong("functions list extra", "unexpected extra argument"),
    Wrong("functions show", "Missing argument"),
    Wrong("functions logs", "Missing argument"),
    Wrong("logs --function", "Missing argument"),
    Wrong("functions logs x --limit 0", "'--limit'"),
    Wrong("functions logs x --limit many", "'--limit'"),
    Wrong("functions list --url ftp://host", "http:// or https://"),
    Wrong("functions list --url http://host:port", "The URL of the server"),
    Wrong("functions list --url http://a:b@host", "use --key for a key"),
    Wrong("functions list --key x --url {nobody}", "No server answers at http://127.0.0.1:9"),
    Wrong("functions list --key schlüssel --url {nobody}", "API key"),
    Wrong("functions list --url {nobody}", "hoglet login --url http://127.0.0.1:9"),
    Wrong("functions list --profile nobody", "There is no profile nobody"),
    Wrong("functions test x --event [1] --key k --url {nobody}", "--event must be a JSON object"),
    Wrong("functions test x --event {broken} --key k --url {nobody}", "--event is not JSON"),
    Wrong("functions test x --event nowhere.json --key k", "nowhere.json cannot be read"),
    Wrong("functions delete --yes", "Missing argument"),
    Wrong("functions dead-letters show x", "Missing argument"),
    Wrong("functions backfill start", "Missing argument"),
    Wrong("functions backfill rewind x", "No such command 'rewind'"),
    Wrong("endpoints run", "Missing argument"),
    Wrong("endpoints run a -v plan", "name=value"),
    Wrong("endpoints run a --format xml", "xml"),
    Wrong("endpoints diff {folder}/none", "There is no"),
    Wrong("endpoints push {folder}/bad.yaml", "bad.yaml:2"),
    Wrong("endpoints push {folder}/latin.yaml", "latin.yaml"),
    Wrong("endpoints push {folder}/empty --prune --yes --key k --url {nobody}", "No server"),
    Wrong("endpoints pull a --prune", "do not specify names"),
    Wrong("endpoints alias set a b", "Missing argument"),
    Wrong("query", "Missing argument"),
    Wrong("query select --format excel", "excel"),
    Wrong("query select --json --format csv", "use only one of them"),
    Wrong("query select -o rows.txt --format table", "use another format with --output"),
    Wrong("endpoints run a --json --format ndjson", "use only one of them"),
    Wrong("functions list --key phc_abc --url {nobody}", "use a personal API key (phx_…)"),
    Wrong("query  ", "Missing argument"),
    Wrong("events tail --last -1", "'--last'"),
    Wrong("events import", "Missing argument"),
    Wrong("events import {folder}/none.csv", "There is no file"),
    Wrong("events import {folder}/empty", "empty is a folder; name the files in it"),
    Wrong("events import /dev/null", "/dev/null is a device or a pipe"),
    Wrong("events import {folder}/bad.yaml --format xml", "--format is one of"),
    Wrong("integrations create slack --config no --key k --url {nobody}", "JSON object"),
    Wrong("integrations delete one", "Invalid value"),
    Wrong("login --url {nobody} --key k", "No server answers"),
    Wrong("login --url nonsense://x --key k", "http:// or https://"),
    Wrong("login --profile  --key k", "profile"),
    Wrong("logout", "no profile to remove"),
    Wrong("profiles use nobody", "There is no profile nobody"),
    Wrong("status --url {nobody}", "No server answers"),
    Wrong("status --url {other}", "does not respond like a hoglet server"),
    Wrong("functions list --key k --url {other}", "does not respond like a hoglet server"),
    Wrong("query select --key k --url {other}", "does not respond like a hoglet server"),
    Wrong("admin keys list --data-dir {folder}/none", "There is no database at"),
    Wrong("admin keys list --data-dir {folder}", "There is no database at"),
    Wrong("admin keys list --data-dir {folder}/nodata", "cannot be used"),
    Wrong("admin keys list --data-dir {folder}/garbage", "restore the file from a backup"),
    Wrong("admin queues failed --data-dir {folder}/garbage", "restore the file from a backup"),
    Wrong("admin warehouse adopt --data-dir {folder}/garbage", "restore the file from a backup"),
    Wrong("admin secrets rotate --data-dir {folder}/bad.hog", "choose another --data-dir"),
    Wrong("events import {folder}/one.ndjson --data-dir {folder}/garbage", "from a backup"),
    Wrong("events import {folder}/one.ndjson --data-dir {folder}/bad.hog", "another --data-dir"),
    Wrong("events import {folder}/latin.csv --data-dir {folder}/d", "latin.csv: 'utf-8' codec"),
    Wrong("events import {folder}/large.csv --data-dir {folder}/d", "large.csv: field larger"),
    Wrong("events import {folder}/half.ndjson.gz --data-dir {folder}/d", "half.ndjson.gz: "),
    Wrong("events import {folder}/broken.ndjson.gz --data-dir {folder}/d", "broken.ndjson.gz: "),
    Wrong("events import {folder}/plain.ndjson.gz --data-dir {folder}/d", "plain.ndjson.gz: "),
    Wrong("admin keys create --project x", "'--project'"),
    Wrong("key create --data-dir {folder}/none", "There is no database at"),
    Wrong("project create", "Missing argument"),
    Wrong("queue revive", "Missing argument"),
    Wrong("admin functions force-state x asleep", "asleep"),
    Wrong("admin secrets turn", "No such command 'turn'"),
    Wrong("serve --port many", "'--port'"),
    Wrong("serve --port 70000 --data-dir {folder}/d", "--port"),
    Wrong("serve --roles cook --data-dir {folder}/d", "--roles"),
    Wrong("demo --limit 0", "'--limit'"),
    Wrong("hog run", "Missing argument"),
    Wrong("hog run {folder}/none.hog", "Cannot read"),
    Wrong("hog run {folder}/empty", "Cannot read"),
    Wrong("hog run {folder}/bad.hog", "1:"),
    Wrong("hog run {folder}/good.hog --globals {folder}/bad.yaml", "is not JSON"),
    Wrong("hog compile {folder}/good.hog --to rust", "rust"),
    Wrong("--nonsense", "No such option: --nonsense. See hoglet -h."),
    Wrong("help", "No such command 'help'. See hoglet -h."),
    Wrong("version extra", "No such command 'version'"),
    Wrong("functions create", "No such command 'create'. See hoglet functions -h."),
    Wrong("functions list -f", "No such option: -f"),
    Wrong("functions list --jsno", "See hoglet functions list -h."),
    Wrong("functions enable a b c", "(b c). See hoglet functions enable -h."),
    Wrong("functions list --url", "Option '--url' requires an argument."),
    Wrong("functions backfill x", "No such command 'x'. See hoglet functions backfill -h."),
    Wrong("query select 1", "unexpected extra argument(s) (1). See hoglet query -h."),
    Wrong(
        "query select --url nonsense.invalid", "There is no key for http://nonsense.invalid:8000"
    ),
    Wrong("query select --format", "Option '--format' requires an argument."),
    Wrong("events tial", "Did you mean 'tail'? See hoglet events -h."),
    Wrong("events import {folder}/one.ndjson --url x", "No such option: --url"),
    Wrong("endpoints run x --variables a=1", "No such option: --variables"),
    Wrong("endpoints lst", "Did you mean 'list'?"),
    Wrong("tokens create", "Missing option '--endpoint'"),
    Wrong("tokens create --endpoint a --expires-in -5", "'--expires-in'"),
    Wrong("logout --profile nobody", "There is no profile nobody"),
    Wrong("pull {folder}/x", "unexpected extra argument"),
    Wrong("push --prun", "No such option: --prun"),
    Wrong("test -C {folder}/named --watch --update", "omit --update and --junit"),
    Wrong("test -C {folder}/named --watch --junit a.xml", "omit --update and --junit"),
    Wrong("test {folder}/none", "There is no hoglet.yaml"),
    Wrong("test {folder}/empty", "hoglet init creates a project"),
    Wrong("init {folder}/bad.hog", "bad.hog is a file; specify a folder"),
    Wrong("dev --port 99999", "'--port'"),
    Wrong("serve --data x", "No such option: --data"),
    Wrong("backup", "Missing argument 'folder'. See hoglet backup -h."),
    Wrong("restore {folder}/none --data-dir {folder}/d", "does not exist"),
    Wrong("restore {folder}/empty", "Missing option '--data-dir'"),
    Wrong("hog compile {folder}/none.hog", "Cannot read"),
    Wrong("hog compile {folder}/bad.hog", "1:"),
    Wrong("hog compile {folder}/latin.yaml", "Cannot read"),
    Wrong("admin keys delete", "No such command 'delete'. See hoglet admin keys -h."),
    Wrong("cohorts show", "Missing argument 'cohort'"),
    Wrong("cohorts list --limit x", "No such option: --limit"),
    Wrong("integrations create --kind slack", "No such option: --kind"),
    Wrong("hog run {folder}/good.hog --globals {folder}/deep.json", "is not JSON"),
    Wrong("hog run {folder}/good.hog --globals {folder}/digits.json", "is not JSON"),
    Wrong("status extra", "unexpected extra argument"),
    Wrong("demo --port x", "'--port'"),
    Wrong("mcp --url nonsense.invalid --key k", "No server answers at http://nonsense.invalid"),
    Wrong("mcp --url {other} --key k", "does not respond like a hoglet server"),
    Wrong("mcp --url {nobody}", "There is no key"),
    Wrong(
        "test {folder}/zone/functions", "zone/hoglet.yaml:2: timezone must be the name of a time"
    ),
    Wrong("test -C {folder}/half", "half/hoglet.yaml:2:1: "),
    Wrong("push -C {folder}/zone --key k --url {nobody}", "zone/hoglet.yaml:2: "),
    Wrong("test -C {folder}/deep", "function.yaml:"),  # what is wrong depends on the stack
    Wrong("test -C {folder}/list-key", "function.yaml:2:3: a key must be a string"),
    Wrong("test -C {folder}/mapping", "function.yaml:2: inputs of a mapping"),
    Wrong("test -C {folder}/tag", "function.yaml:2:14: could not determine a constructor"),
    Wrong("test -C {folder}/alias", "function.yaml:1:1: it contains itself"),
    Wrong(
        "push -C {folder}/secret --key k --url {nobody}", "secret must name an environment variable"
    ),
    Wrong("test -C {folder}/when", "a.tests.yaml:2: the timestamp 'nope' is not a time"),
    Wrong("test -C {folder}/named nowhere", "There is no file or folder nowhere"),
    Wrong("test -C {folder}/named -k nothing", "contains nothing; check -k."),
    Wrong("tokens create --endpoint a --variable x", "write NAME=VALUE"),
    Wrong("tokens create --endpoint a --variable t=NaN --offline-project 1", "t is not finite"),
    Wrong("tokens create --endpoint a --variable t=1 --variable t=2", "t is given twice"),
    Wrong("endpoints run a -v =1", "=1 is not of the form name=value"),
    Wrong("endpoints run a -v t=1 -v t=2", "the variable t is given twice"),
    Wrong("test {folder}/when --junit {folder}", "the timestamp 'nope'"),
    Wrong("status --url http://[::1", "Invalid IPv6 URL"),
    Wrong("status --url http://127.0.0.1:99999", "Port out of range"),
    Wrong("diff -C {folder}/half --key k --url {nobody}", "half/hoglet.yaml:2:1: "),
    Wrong("admin projects create {blank}", "The name of the project is empty."),
    Wrong("admin secrets rotate --data-dir {folder}/none", "There is no database at"),
    Wrong("admin secrets reencrypt --data-dir {folder}/none", "There is no database at"),
    Wrong("function lst", "hoglet function is now hoglet functions. No such command 'lst'."),
    Wrong("queue revive", "now hoglet admin queues retry. Missing argument 'queue'. See"),
    Wrong("endpoint compare a 1 2 --url {nobody} --key k", "is now hoglet endpoints. No server"),
    Wrong("functions list --host {nobody} --key k", "--host is now --url here. No server"),
    Wrong("events tail --event", "'--event' requires an argument. See hoglet events tail -h."),
    Wrong("functions logs x --level warm", "--level warm is not one of debug, log, info, warn"),
    Wrong("endpoints usage a --days 0", "'--days'"),
    Wrong("endpoints push {folder}/none", "There is no file or folder"),
    Wrong("demo --data-dir /dev/null", "/dev/null cannot be used (File exists): choose another"),
    Wrong("backup {folder}/b --data-dir {folder} --url {nobody}", "use only one of them"),
    Wrong("hog check nope.hog", "Cannot read nope.hog: No such file or directory"),
    Wrong("backup {folder}/b --data-dir {folder}/bad.hog", "cannot be used: Not a directory."),
    Wrong("backup {long}", "cannot be used: File name too long."),
    Wrong("init {long}", "cannot be used: File name too long."),
    Wrong("backup {folder}/b --url {nobody} --key schlüssel", "The API key contains invalid"),
    Wrong("functions list --url bücher.example --key k", "write its host as xn--"),
    Wrong("functions list --url http://host/ü --key k", "percent-encoded"),
]


FUNCTIONS = {
    "deep": "a: " + "{" * 2000 + "}" * 2000,
    "list-key": "name: a\n? [a]\n: 1\n",
    "mapping": "name: a\nmappings: [{inputs: [1]}]\n",
    "tag": "name: a\ndescription: !!python/object/apply:os.system [ls]\n",
    "alias": "&a [*a]\n",
    "named": "name: a\n",
    "secret": "name: a\ninputs: {x: {secret: hunter2}}\n",
}


class _Greeter(socketserver.StreamRequestHandler):
    """Something that is no web server."""

    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(b"220 mail.example.com ready\r\n")


@pytest.fixture(scope="module")
def other_server() -> Generator[str]:
    with socketserver.TCPServer(("127.0.0.1", 0), _Greeter) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(autouse=True)
def _same_umask() -> Generator[None]:
    """Commands on a data folder make what they create private, for the whole process."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wrong")
    (path / "bad.yaml").write_text(BAD_FILE)
    (path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    (path / "bad.hog").write_text("let x :=")
    (path / "good.hog").write_text("print(1)")
    (path / "deep.json").write_text("[" * 100_000)
    (path / "digits.json").write_text("1" * 5000)
    (path / "empty").mkdir()
    (path / "nodata").mkdir()
    (path / "nodata" / "hoglet.db").write_bytes(b"")
    (path / "garbage").mkdir()
    (path / "garbage" / "hoglet.db").write_bytes(b"x" * 8192)
    line = b'{"event": "e", "distinct_id": "a"}\n'
    packed = gzip.compress(line * 100)
    (path / "one.ndjson").write_bytes(line)
    (path / "latin.csv").write_bytes(b"event,distinct_id\nc\xe9,a\n")
    (path / "large.csv").write_bytes(b"event,distinct_id\n" + b"x" * 200_000 + b",a\n")
    (path / "half.ndjson.gz").write_bytes(packed[:-20])
    (path / "broken.ndjson.gz").write_bytes(packed[:12] + b"\xff" * 20 + packed[32:])
    (path / "plain.ndjson.gz").write_bytes(line)
    (path / "config").mkdir()
    for name, text in FUNCTIONS.items():
        (path / name / "functions/a").mkdir(parents=True)
        (path / name / "hoglet.yaml").write_text("name: a\n")
        (path / name / "functions/a/function.yaml").write_text(text)
        (path / name / "functions/a/code.hog").write_text("print(1)")
    (path / "when" / "endpoints").mkdir(parents=True)
    (path / "when" / "hoglet.yaml").write_text("name: a\n")
    (path / "when" / "endpoints/a.yaml").write_text("query: select 1\n")
    (path / "when" / "endpoints/a.tests.yaml").write_text(
        "- name: a\n  events: [{event: a, timestamp: nope}]\n  expect: {rows: [[1]]}\n"
    )
    (path / "half").mkdir()
    (path / "half" / "hoglet.yaml").write_text(BAD_FILE)
    (path / "zone" / "functions").mkdir(parents=True)
    (path / "zone" / "hoglet.yaml").write_text("name: a\ntimezone: Mars/Olympus\n")
    return path


@pytest.mark.parametrize("wrong", WRONG, ids=[each.words for each in WRONG])
def test_a_wrong_use_is_a_sentence(wrong: Wrong, folder: Path, other_server: str) -> None:
    fill = {
        "folder": str(folder),
        "nobody": NOBODY,
        "other": other_server,
        "broken": "{a",
        "blank": " ",
        "long": "x" * 300,
    }
    words = [word.format(**fill) for word in wrong.words.split(" ")]
    words = [word for word in words if word or "--profile" in words]
    variables = ("URL", "API_KEY", "PROFILE", "PROJECT", "HOST", "PORT", "DATA_DIR", "DATABASE_URL")
    environment: dict[str, str | None] = {f"HOGLET_{name}": None for name in variables}
    environment |= {"XDG_CONFIG_HOME": str(folder / "config"), "COLUMNS": "300", "TERM": "dumb"}

    ran = CliRunner().invoke(app, words, env=environment, input="")

    assert isinstance(ran.exception, SystemExit), ran.exception
    assert (ran.exit_code, ran.stdout) == (wrong.code, "")
    assert wrong.says in " ".join(ran.stderr.split())
    assert "Traceback" not in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_imported_events_are_closed_to_other_users(tmp_path: Path) -> None:
    file, folder = tmp_path / "one.ndjson", tmp_path / "new" / "data"
    file.write_text('{"event": "e", "distinct_id": "a"}\n')
    os.umask(0)

    ran = CliRunner().invoke(app, ["events", "import", str(file), "--data-dir", str(folder)])

    assert (ran.exit_code, ran.stdout) == (0, "1 events spooled, 0 rejected\n")
    assert [oct(path.stat().st_mode & 0o077) for path in (folder, folder / "hoglet.db")] == [
        "0o0"
    ] * 2


def test_a_named_data_folder_is_stronger_than_the_variable_of_the_url(tmp_path: Path) -> None:
    words = ["backup", str(tmp_path / "copy"), "--data-dir", str(tmp_path / "data")]
    ran = CliRunner().invoke(app, words, env={"HOGLET_URL": NOBODY, "HOGLET_API_KEY": "phx_a"})

    assert ran.exit_code == 2
    assert ran.stderr.startswith(f"No server is running on {tmp_path / 'data'}: ")


def test_progress_is_shown_on_terminals_only(tmp_path: Path) -> None:
    file = tmp_path / "one.ndjson"
    file.write_text("{}\n")

    words = ["events", "import", str(file), "--data-dir", str(tmp_path / "data")]
    CliRunner().invoke(app, words)

    assert CliRunner().invoke(app, words).stderr == ""


def test_an_import_into_a_new_data_folder_says_so(tmp_path: Path) -> None:
    """Most often the folder of an existing server was meant, which would not get the events."""
    file, folder = tmp_path / "one.ndjson", tmp_path / "new"
    file.write_text('{"event": "e", "distinct_id": "a"}\n')

    words = ["events", "import", str(file), "--data-dir", str(folder)]
    ran = CliRunner().invoke(app, words, env={"COLUMNS": "300", "HOGLET_DATABASE_URL": None})

    assert ran.stderr == f"{folder} is a new data folder; no server has used it yet\n"
