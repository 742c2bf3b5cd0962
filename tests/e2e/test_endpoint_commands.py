"""``hoglet endpoints``: synchronizing a folder of files with a real server."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hoglet.cli.main import app
from support.server import ServerProject

FILE = """\
name: events_of_plan
description: Events by plan
query: |-
  select event, count() as events
  from events
  where properties.plan = {variables.plan} and timestamp > {variables.first_day}
  group by event
variables:
  first_day:
    type: Date
    default: '2020-01-01'
  plan:
    type: String
    default: pro
tags:
  - billing
cache_age_seconds: 600
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "events_of_plan.yaml").write_text(FILE)
    return tmp_path


def command(server: ServerProject, *words: str) -> Result:
    return CliRunner().invoke(app, ["endpoints", *words], env=server.commands)


def test_files_are_pushed_pulled_changed_and_run(server: ServerProject, folder: Path) -> None:
    path = folder / "events_of_plan.yaml"

    assert command(server, "diff", str(folder)).exit_code == 1
    pushed = command(server, "push", str(folder))
    assert pushed.output.splitlines() == [
        "created variable first_day",
        "created variable plan",
        "created endpoint events_of_plan",
    ]
    assert command(server, "diff", str(folder)).exit_code == 0
    assert command(server, "push", str(folder)).output == "nothing to do\n"

    pulled = command(server, "pull", "--to", str(folder / "pulled"))
    assert pulled.exit_code == 0
    assert (folder / "pulled" / "events_of_plan.yaml").read_text() == FILE

    renamed = FILE.replace("count() as events", "count() as n")
    path.write_text(renamed.replace("default: pro", "default: team"))
    different = command(server, "diff", str(path))
    assert different.exit_code == 1
    assert "-  select event, count() as events" in different.output
    assert "+    default: team" in different.output
    changed = command(server, "push", str(path))
    assert changed.output.splitlines() == [
        "updated variable plan",
        "updated endpoint events_of_plan: query, variables (version 2)",
    ]
    assert command(server, "diff", str(path)).output == ""

    path.write_text(FILE.replace("cache_age_seconds: 600\n", ""))
    command(server, "push", str(path))
    record = server.client.get("/api/projects/@current/endpoints/events_of_plan/").json()
    assert record["cache_age_seconds"] is None
    assert record["tags"] == ["billing"]

    listed = command(server, "list").output.splitlines()
    assert listed[1].split()[:2] == ["events_of_plan", "3"]


@pytest.mark.parametrize("inside", [True, False])
def test_the_endpoints_of_a_project(
    server: ServerProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    """The files of tests are no endpoints, and variables are in the project's file."""
    assert CliRunner().invoke(app, ["init", str(tmp_path / "shop")]).exit_code == 0
    file = tmp_path / "shop" / "endpoints" / f"by_plan_{inside}.yaml"
    (file.parent / "by_plan.yaml").rename(file)
    monkeypatch.chdir(tmp_path / "shop" if inside else tmp_path)
    where = [] if inside else ["shop"]
    before = file.read_text()

    assert command(server, "diff", *where).exit_code == 1
    pushed = command(server, "push", *where)
    assert pushed.output.splitlines()[-1] == f"created endpoint {file.stem}"
    assert command(server, "diff", *where).output == ""
    pulled = command(server, "pull", file.stem, *([] if inside else ["--to", "shop"]))

    assert (pulled.exit_code, pulled.output) == (0, "")
    assert file.read_text() == before


def test_a_run_prints_rows(server: ServerProject) -> None:
    query = "select number, concat('a,', toString(number)) as t from numbers(3) where number > "
    query += "{variables.least}"
    variable = {"name": "least", "type": "Number", "default_value": 0}
    server.client.post("/api/projects/@current/insight_variables/", json=variable)
    body = {"name": "rows", "query": {"kind": "HogQLQuery", "query": query}}
    assert server.client.post("/api/projects/@current/endpoints/", json=body).status_code == 201

    table = command(server, "run", "rows", "-v", "least=1")
    assert [line.split() for line in table.output.splitlines()] == [["number", "t"], ["2", "a,2"]]
    csv = command(server, "run", "rows", "--format", "csv", "--limit", "1")
    assert csv.stdout.splitlines()[:2] == ["number,t", '1,"a,1"']
    whole = json.loads(command(server, "run", "rows", "--format", "json").output)
    assert whole["results"] == [[1, "a,1"], [2, "a,2"]]


def test_refusals_are_one_sentence(server: ServerProject, folder: Path) -> None:
    (folder / "bad.yaml").write_text("name: bad\nquery: select x from nowhere\n")
    refused = command(server, "push", str(folder / "bad.yaml"))
    assert "400 invalid_input: query" in refused.stderr

    (folder / "bad.yaml").write_text("name: bad\nquery: select 1\ncolour: red\n")
    different = command(server, "diff", str(folder / "bad.yaml"))
    assert (different.exit_code, "unknown colour" in different.stderr) == (2, True)
    unknown = command(server, "compare", "nobody", "1", "2")
    assert (unknown.exit_code, "404 not_found" in unknown.stderr) == (2, True)
    assert command(server, "diff", str(folder), "--key", "phx_wrong").exit_code == 2

    wrong_key = command(server, "list", "--key", "phx_wrong")
    assert "401 authentication_failed" in wrong_key.stderr
    nobody = command(server, "list", "--url", "http://127.0.0.1:9")
    assert "No server answers at http://127.0.0.1:9" in nobody.stderr


def test_endpoints_that_differ_in_case_are_pulled_to_two_files(
    server: ServerProject, tmp_path: Path
) -> None:
    for name in ("Cased", "cased"):
        body = {"name": name, "query": {"kind": "HogQLQuery", "query": "select 1"}}
        server.client.post("/api/projects/@current/endpoints/", json=body).raise_for_status()

    for _ in range(2):
        assert command(server, "pull", "Cased", "cased", "--to", str(tmp_path)).exit_code == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["Cased.yaml", "cased-2.yaml"]
    assert command(server, "diff", str(tmp_path)).output == ""


def test_a_missing_alias_is_told_from_a_missing_endpoint(server: ServerProject) -> None:
    body = {"name": "aliased", "query": {"kind": "HogQLQuery", "query": "select 1"}}
    server.client.post("/api/projects/@current/endpoints/", json=body).raise_for_status()

    for words, says in {
        ("aliased", "nope"): "There is no alias nope. See hoglet endpoints alias list aliased.",
        (
            "missing",
            "nope",
        ): "404 not_found: There is no endpoint missing. See hoglet endpoints list.",
    }.items():
        refused = command(server, "alias", "delete", *words)
        assert (refused.exit_code, refused.stderr) == (1, f"{says}\n")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("name: bad\nquery: [1,\n", 3, "expected"),
        ("name: bad\nquery: select 1\nname: other\n", 3, "name is defined twice"),
        ("name: bad\nquery: select 1\ntags: abc\n", 3, "tags must be a list"),
        ("name: bad\ntags: 5\nquery: select 1\n", 2, "tags must be a list"),
        ("name: bad\ncolour: red\nquery: select 1\n", 2, "unknown colour"),
        ("name: bad\nquery: select 1\nvariables:\n  x: {default: 5}\n", 4, "does not use x"),
        ("name: bad\n\nquery: selet 1\n", 3, "400 invalid_input: query: 1:1"),
        ("name: bad\nquery: |-\n  select 1,\n    nope(2)\n", 4, "unknown_function: query: 2:3"),
        ("name: bad\nquery:\n  kind: HogQLQuery\n  query: |\n    selet\n", 5, "query: 1:1"),
        ("name: bad\nquery:\n  kind: TrendsQuery\n  seris: []\n", 4, "query__seris"),
        ("name: bad\nquery: select 1\nsync_frequency: hourly\n", 3, "invalid_choice"),
    ],
)
def test_errors_name_file_and_line(
    server: ServerProject, tmp_path: Path, text: str, line: int, says: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)

    refused = command(server, "push", str(tmp_path))

    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"{path}:{line}:")
    assert says in refused.stderr


def test_dates_without_quotes_are_text(server: ServerProject, tmp_path: Path) -> None:
    text = "name: dated\ndescription: 2026-01-05\nquery: select {variables.from_day} as day\n"
    text += "variables:\n  from_day: {type: Date, default: 2026-01-05}\n"
    (tmp_path / "dated.yaml").write_text(text)

    assert command(server, "push", str(tmp_path)).exit_code == 0
    assert command(server, "push", str(tmp_path)).output == "nothing to do\n"
    printed = command(server, "run", "dated", "--format", "csv").output
    assert printed.splitlines() == ["day", "2026-01-05"]


def test_versions_have_names_that_move(server: ServerProject) -> None:
    for number in (1, 2):
        query = {"kind": "HogQLQuery", "query": f"select {number} as n"}
        if number == 1:
            body = {"name": "moving", "query": query}
            server.client.post("/api/projects/@current/endpoints/", json=body)
        else:
            server.client.patch("/api/projects/@current/endpoints/moving/", json={"query": query})

    created = command(server, "alias", "set", "moving", "prod", "1")
    assert created.output == "moving: prod is version 1\n"
    assert command(server, "run", "moving", "--version", "prod").output.split() == ["n", "1"]
    command(server, "alias", "set", "moving", "prod", "2")
    assert command(server, "run", "moving", "--version", "prod").output.split() == ["n", "2"]
    assert command(server, "alias", "list", "moving").output.split()[4:6] == ["prod", "2"]
    different = command(server, "compare", "moving", "1", "prod")
    assert different.exit_code == 1
    assert "+select 2 as n" in different.output.splitlines()
    assert command(server, "compare", "moving", "2", "prod").exit_code == 0
    assert command(server, "alias", "delete", "moving", "prod").exit_code == 0
    assert "400" in command(server, "run", "moving", "--version", "prod").stderr

    document = json.loads(command(server, "openapi", "moving", "--version", "1").output)
    assert document["info"]["version"] == "1"
    all_of_them = json.loads(command(server, "openapi").output)
    assert f"/api/projects/{server.id}/endpoints/moving/run" in all_of_them["paths"]
    used = command(server, "usage", "moving", "--days", "1").output.splitlines()
    assert used[-1].split()[:2] == ["all", "2"]


@pytest.fixture
def other_project(server: ServerProject) -> str:
    result = CliRunner().invoke(
        app,
        ["admin", "projects", "create", "Pruned"],
        env={"HOGLET_DATA_DIR": str(server.data_dir)},
    )
    assert result.exit_code == 0, result.output
    projects = server.client.get("/api/projects/").json()["results"]
    return str(max(each["id"] for each in projects))


def test_pruning_deletes_what_the_other_side_lacks(
    server: ServerProject, tmp_path: Path, other_project: str
) -> None:
    def endpoints(*words: str) -> Result:
        return command(server, *words, "--project", other_project)

    def names() -> set[str]:
        response = server.client.get(f"/api/projects/{other_project}/endpoints/").json()["results"]
        return {each["name"] for each in response}

    for name in ("kept", "old", "older"):
        (tmp_path / f"{name}.yaml").write_text(f"name: {name}\nquery: select 1\n")
    assert endpoints("push", str(tmp_path), "--prune").exit_code == 0
    assert names() == {"kept", "old", "older"}
    (tmp_path / "old.yaml").unlink()
    (tmp_path / "older.yaml").unlink()

    assert endpoints("diff", str(tmp_path)).exit_code == 0
    diff = endpoints("diff", str(tmp_path), "--prune")
    assert (diff.exit_code, "--- server/old" in diff.output) == (1, True)
    for refused in (
        endpoints("push", str(tmp_path), "--prune"),  # there is no terminal to ask at
        endpoints("push", str(tmp_path / "kept.yaml"), "--prune", "--yes"),
    ):
        assert refused.exit_code == 2
        assert names() == {"kept", "old", "older"}
    (tmp_path / "empty").mkdir()
    assert endpoints("push", str(tmp_path / "empty"), "--prune", "--yes").exit_code == 2
    assert names() == {"kept", "old", "older"}

    pushed = endpoints("push", str(tmp_path), "--prune", "--yes")
    assert pushed.output.splitlines() == ["deleted endpoint old", "deleted endpoint older"]
    assert names() == {"kept"}

    (tmp_path / "gone.yaml").write_text("name: gone\nquery: select 1\n")
    assert endpoints("pull", "--to", str(tmp_path), "--prune").exit_code == 2
    assert (tmp_path / "gone.yaml").exists()
    pulled = endpoints("pull", "--to", str(tmp_path), "--prune", "--yes")
    assert pulled.output.splitlines() == [f"deleted {tmp_path / 'gone.yaml'}"]
    assert [path.name for path in tmp_path.glob("*.yaml")] == ["kept.yaml"]


@pytest.mark.parametrize(("answer", "left"), [("y", set()), ("n", {"at_terminal"})])
def test_pruning_asks_at_a_terminal(
    server: ServerProject, tmp_path: Path, answer: str, left: set[str]
) -> None:
    names = {
        each["name"]
        for each in server.client.get("/api/projects/@current/endpoints/").json()["results"]
    }
    command(server, "pull", "--to", str(tmp_path))
    (tmp_path / "always.yaml").write_text("name: always\nquery: select 1\n")
    body = {"name": "at_terminal", "query": {"kind": "HogQLQuery", "query": "select 1"}}
    if "at_terminal" not in names:
        server.client.post("/api/projects/@current/endpoints/", json=body)
    (tmp_path / "at_terminal.yaml").unlink(missing_ok=True)
    leader, follower = os.openpty()
    with os.fdopen(leader, "wb", buffering=0) as keyboard, os.fdopen(follower) as terminal:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "hoglet",
                "endpoints",
                "push",
                "--prune",
                str(tmp_path),
            ],
            env=os.environ | server.commands,
            stdin=terminal,
            stdout=subprocess.PIPE,
            text=True,
        )
        keyboard.write(f"{answer}\n".encode())
        output, _ = process.communicate(timeout=60)

    assert "to be deleted: endpoint at_terminal" in output
    response = server.client.get("/api/projects/@current/endpoints/").json()["results"]
    assert {each["name"] for each in response} & {"at_terminal"} == left
    assert process.returncode == (1 if left else 0)
