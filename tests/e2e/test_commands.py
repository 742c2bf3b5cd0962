"""Commands that call a server: functions, queries, events, profiles."""

import csv
import io
import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from hoglet.cli.endpoints.versions import complete_endpoints
from hoglet.cli.functions.reference import complete_functions
from hoglet.cli.main import app
from support.hoglet_process import HogletProcess
from support.server import KEY, ServerProject
from support.waiting import wait_for

FUNCTION = {
    "type": "destination",
    "name": "Say plan",
    "enabled": True,
    "hog": "print(event.properties.plan)",
    "filters": {"events": [{"id": "plan_chosen", "type": "events"}]},
}
EMAIL = {"type": "person", "key": "email", "value": "@x.com", "operator": "icontains"}
UNKNOWN = "01890000-0000-7000-8000-000000000000"


@pytest.fixture(scope="module")
def function_id(server: ServerProject) -> str:
    for plan in ("pro", "team"):
        body = {"event": "plan_chosen", "distinct_id": "ada", "properties": {"plan": plan}}
        server.client.post("/capture/", json={"api_key": server.token, **body})
    created = server.client.post("/api/projects/@current/hog_functions/", json=FUNCTION).json()
    query = {"kind": "HogQLQuery", "query": "select count() from events"}
    body = {"query": query, "refresh": "force_blocking"}
    path = "/api/projects/@current/query/"
    wait_for(lambda: server.client.post(path, json=body).json()["results"] == [[2]])
    return created["id"]


def run(server: ServerProject, *words: str) -> Result:
    environment = server.commands | {"COLUMNS": "300"}
    return CliRunner().invoke(app, [*words], env=environment)


def printed(server: ServerProject, *words: str) -> Any:
    ran = run(server, *words, "--json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


@pytest.mark.parametrize("words", [("show",), ("logs",), ("enable",), ("test",), ("redrive",)])
@pytest.mark.parametrize("function", [UNKNOWN, "Say plans"])
def test_an_unknown_function_is_named(
    server: ServerProject, function_id: str, words: tuple[str, ...], function: str
) -> None:
    ran = run(server, "functions", *words, function)

    assert (ran.exit_code, ran.stdout) == (1, "")
    assert "Did you mean Say plan?" in ran.stderr or "404 not_found" in ran.stderr


def test_a_function_is_shown_by_id_and_by_name(server: ServerProject, function_id: str) -> None:
    by_id = printed(server, "functions", "show", function_id)
    assert by_id["hog"] == FUNCTION["hog"]
    assert printed(server, "functions", "show", "Say plan")["id"] == function_id
    output = run(server, "functions", "show", "Say plan").stdout
    assert "healthy" in output
    assert "print(event.properties.plan)" in output
    assert [each["id"] for each in printed(server, "functions", "list")] == [function_id]


def test_a_function_is_switched(server: ServerProject, function_id: str) -> None:
    assert run(server, "functions", "disable", function_id).stdout == "Say plan is disabled.\n"
    assert printed(server, "functions", "show", function_id)["enabled"] is False
    assert run(server, "functions", "enable", "Say plan").stdout == "Say plan is enabled.\n"
    assert printed(server, "functions", "show", function_id)["enabled"] is True


def test_a_function_is_run_once(server: ServerProject, function_id: str, tmp_path: Path) -> None:
    event = {"event": "plan_chosen", "distinct_id": "ada", "properties": {"plan": "pro"}}
    (tmp_path / "event.json").write_text(json.dumps(event))

    for given in (json.dumps(event), str(tmp_path / "event.json")):
        ran = run(server, "functions", "test", function_id, "--event", given)
        assert (ran.exit_code, ran.stdout.splitlines()[-1]) == (0, "status: success")
        assert "pro" in ran.stdout
    skipped = printed(server, "functions", "test", function_id)
    assert skipped["status"] == "skipped"


def test_a_function_is_deleted_when_agreed(server: ServerProject) -> None:
    response = server.client.post(
        "/api/projects/@current/hog_functions/", json={**FUNCTION, "name": "Old"}
    )
    asked = run(server, "functions", "delete", "Old")
    assert (asked.exit_code, "--yes" in asked.stderr) == (2, True)
    assert run(server, "functions", "delete", "Old", "--yes").stdout == "deleted function Old\n"
    assert server.client.get(
        f"/api/projects/@current/hog_functions/{response.json()['id']}/"
    ).is_error


SQL = "select event, properties.plan as plan, 1.5 as n from events order by plan"


def test_a_query_is_printed_in_every_format(
    server: ServerProject, function_id: str, tmp_path: Path
) -> None:
    rows = [["plan_chosen", "pro", 1.5], ["plan_chosen", "team", 1.5]]

    assert printed(server, "query", SQL)["results"] == rows
    table = run(server, "query", SQL).stdout.splitlines()
    assert [line.split() for line in table[:2]] == [["event", "plan", "n"], [*map(str, rows[0])]]
    text = run(server, "query", SQL, "--format", "csv").stdout
    assert list(csv.reader(io.StringIO(text)))[1:] == [[*map(str, row)] for row in rows]
    lines = run(server, "query", SQL, "--format", "ndjson").stdout.splitlines()
    assert json.loads(lines[1]) == {"event": "plan_chosen", "plan": "team", "n": 1.5}
    file = tmp_path / "rows.parquet"
    assert run(server, "query", SQL, "--format", "parquet", "-o", str(file)).exit_code == 0
    assert pq.read_table(file).to_pydict()["plan"] == ["pro", "team"]
    assert run(server, "query", SQL, "-o", str(file.with_suffix(".ndjson"))).exit_code == 0
    assert file.with_suffix(".ndjson").read_text() == "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("words", "plans"),
    [
        ((), ["pro", "team"]),
        (("--event", "plan_chosen", "--where", "properties.plan = 'team'"), ["team"]),
        (("--where", "properties.plan = 'team' -- the team"), ["team"]),
        (("--event", "it's"), []),
        (("--last", "1"), ["team"]),
        (("--last", "0"), []),
    ],
)
def test_past_events_are_printed(
    server: ServerProject, function_id: str, words: tuple[str, ...], plans: list[str]
) -> None:
    ran = run(server, "events", "tail", "--no-follow", "--json", *words)

    events = [json.loads(line) for line in ran.stdout.splitlines()]
    printed = sorted(event["properties"]["plan"] for event in events)
    assert len(printed) == len(plans)
    assert "--last" in words or printed == plans


def test_a_name_cannot_command_the_terminal(server: ServerProject, function_id: str) -> None:
    """Whoever has the capture token chooses the names of events."""
    body = {"api_key": server.token, "event": "\x1b[31mred\x9b", "distinct_id": "\x07a\nb"}
    server.client.post("/capture/", json=body).raise_for_status()
    words = ("events", "tail", "--no-follow", "--where", "event like '%red%'")
    output = wait_for(lambda: run(server, *words).stdout)
    assert "␛[31mred\ufffd ␇a\nb {" in output


def test_a_wrong_condition_is_refused(server: ServerProject) -> None:
    ran = run(server, "events", "tail", "--no-follow", "--where", "nope = 1")

    assert ran.exit_code == 1
    assert "nope" in ran.stderr


def test_a_profile_is_enough(
    server: ServerProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function_id: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("HOGLET_URL", "HOGLET_API_KEY", "HOGLET_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOGLET_PROJECT", str(server.id))

    def plain(*words: str, text: str = "") -> Result:
        return CliRunner().invoke(app, [*words], input=text)

    wrong = plain("login", "--url", server.url, text="phx_wrong\n")
    assert (wrong.exit_code, "401" in wrong.stderr) == (2, True)
    assert plain("functions", "list").exit_code == 2
    logged_in = plain("login", "--url", server.url, "--profile", "work", text=KEY + "\n")
    assert logged_in.exit_code == 0, logged_in.output
    assert KEY not in logged_in.output
    assert function_id in plain("functions", "list").stdout
    assert function_id in plain("functions", "list", "--profile", "work").stdout
    assert (function_id, "Say plan") in complete_functions("Say")
    assert complete_functions("zzz") == []
    assert complete_endpoints("") == []


def test_completion_is_silent_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOGLET_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HOGLET_API_KEY", "phx_x")
    assert complete_functions("") == []


def test_a_function_without_backfills_lists_none(server: ServerProject, function_id: str) -> None:
    assert printed(server, "functions", "backfill", "list", function_id) == []


def test_cohorts_are_listed_and_shown(server: ServerProject) -> None:
    body = {"name": "Nobody", "filters": {"properties": {"type": "AND", "values": [EMAIL]}}}
    created = server.client.post("/api/projects/@current/cohorts/", json=body).json()
    assert [each["name"] for each in printed(server, "cohorts", "list")] == ["Nobody"]
    assert printed(server, "cohorts", "show", str(created["id"]))["is_static"] is False
    assert run(server, "cohorts", "show", "999").exit_code == 1


def test_the_status_is_json(server: ServerProject) -> None:
    assert set(printed(server, "status")["checks"].values()) == {"ok"}


def test_new_events_are_followed(server: ServerProject, function_id: str) -> None:
    following = HogletProcess(
        ["events", "tail", "--json", "--last", "0"],
        env=os.environ | server.commands,
        stdout=subprocess.PIPE,
        text=True,
    )
    stopping = threading.Event()

    def capture() -> None:  # repeatedly, because the command may not be following yet
        number = 0
        while not stopping.wait(0.5):
            number += 1
            body = {"api_key": server.token, "event": "later", "distinct_id": str(number)}
            server.client.post("/capture/", json=body)

    capturing = threading.Thread(target=capture)
    capturing.start()
    try:
        assert following.stdout is not None
        lines = [json.loads(following.stdout.readline()) for _ in range(3)]
    finally:
        stopping.set()
        capturing.join()
        following.kill()
    numbers = [int(event["distinct_id"]) for event in lines if event["event"] == "later"]
    assert len(numbers) == len(set(numbers)) == 3
