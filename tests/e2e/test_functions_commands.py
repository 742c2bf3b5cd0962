"""``hoglet functions`` with a running server: forced states, redriven dead letters."""

import json
import time
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from hoglet.cli.main import app
from support.server import ServerProject
from support.waiting import wait_for

FUNCTION = {
    "type": "destination",
    "name": "Say",
    "enabled": True,
    "hog": "throw Error('not yet')",
    "filters": {"events": [{"id": "seen", "type": "events"}]},
}


def command(server: ServerProject, *words: str) -> str:
    return invoke(server, "functions", *words)


def admin(server: ServerProject, *words: str) -> str:
    return invoke(server, "admin", "functions", *words)


def invoke(server: ServerProject, *words: str) -> str:
    environment = server.commands | {"HOGLET_DATA_DIR": str(server.data_dir)}
    ran = CliRunner().invoke(app, [*words], env=environment, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.output


def make(server: ServerProject) -> tuple[str, str]:
    created = server.client.post("/api/projects/@current/hog_functions/", json=FUNCTION).json()
    return created["id"], f"/api/projects/@current/hog_functions/{created['id']}/"


def wait_for_page(server: ServerProject, path: str, count: int) -> None:
    wait_for(lambda: server.client.get(path).json()["count"], lambda value: value == count)


def test_dead_letters_are_listed_and_run_again(server: ServerProject) -> None:
    function_id, path = make(server)
    for name in ("ada", "grace"):
        body = {"api_key": server.token, "event": "seen", "distinct_id": name}
        assert server.client.post("/capture/", json=body).status_code == 200
    wait_for_page(server, path + "dead_letters/", 2)

    assert "0 would be queued" in command(
        server, "redrive", function_id, "--dry-run", "--class", "fetch"
    )
    dry = command(server, "redrive", function_id, "--dry-run").splitlines()
    assert dry[-1] == "2 would be queued"
    assert "not yet" in dry[1]
    server.client.patch(path, json={"hog": "print('said')"})
    assert command(server, "redrive", function_id) == "2 queued, 0 skipped\n"
    wait_for_page(server, path + "logs/?search=said", 2)
    assert "0 would be queued" in command(server, "redrive", function_id, "--dry-run")


def test_a_state_is_forced_and_released(server: ServerProject) -> None:
    function_id, path = make(server)
    assert admin(server, "force-state", function_id, "disabled") == (
        "Say is disabled by an administrator.\n"
    )
    record = server.client.get(path).json()
    assert (record["enabled"], record["status"]["state"]) == (False, 12)
    assert server.client.patch(path, json={"enabled": True}).status_code == 400
    listed = [line for line in command(server, "list").splitlines() if function_id in line]
    assert "disabled by an administrator" in listed[0]
    log = f"/api/projects/@current/activity_log/?scope=HogFunction&item_id={function_id}"
    assert server.client.get(log).json()["count"] == 2

    admin(server, "force-state", function_id, "healthy")
    assert server.client.patch(path, json={"enabled": True}).json()["status"]["state"] == 1
    admin(server, "force-state", function_id, "degraded")
    assert server.client.get(path).json()["status"]["state"] == 11


def test_an_unknown_function_is_refused(server: ServerProject) -> None:
    environment = {"HOGLET_DATA_DIR": str(server.data_dir)}
    for some_id in ("x", "01890000-0000-7000-8000-000000000000"):
        ran = CliRunner().invoke(
            app, ["admin", "functions", "force-state", some_id, "healthy"], env=environment
        )
        assert (ran.exit_code, some_id in ran.stderr) == (1, True)


def test_what_a_function_lacks_is_not_called_a_missing_function(server: ServerProject) -> None:
    function_id, path = make(server)
    server.client.post(f"{path}enable_backfills", json={}).raise_for_status()

    for words, says in {
        ("dead-letters", "show", function_id, "nope"): "There is no dead letter nope. See hoglet",
        ("backfill", "watch", function_id, "nope"): "There is no backfill nope. See hoglet",
        ("backfill", "pause", function_id, "nope"): "There is no backfill nope. See hoglet",
    }.items():
        ran = CliRunner().invoke(app, ["functions", *words], env=server.commands)
        assert (ran.exit_code, says in ran.stderr) == (1, True), ran.output


def test_events_are_not_imported_into_a_missing_project(
    server: ServerProject, tmp_path: Path
) -> None:
    file = tmp_path / "one.ndjson"
    file.write_text('{"event": "e", "distinct_id": "a"}\n')

    environment = {"HOGLET_DATA_DIR": str(server.data_dir)}
    words = ["events", "import", str(file), "--project", "9999"]
    ran = CliRunner().invoke(app, words, env=environment)

    assert (ran.exit_code, ran.stdout) == (1, "")
    assert ran.stderr == "There is no project 9999. See: hoglet admin projects list\n"


def test_a_stored_event_is_explained(server: ServerProject) -> None:
    tier = {"key": "tier", "value": "gold", "type": "group", "group_type_index": 0}
    plan = {"key": "plan", "value": "pro", "type": "person"}
    filters = {"events": [{"id": "paid", "type": "events", "properties": [tier, plan]}]}
    body = {"name": "Explained", "hog": "return 1", "enabled": True, "filters": filters}
    function_id = server.client.post("/api/projects/@current/hog_functions/", json=body).json()[
        "id"
    ]
    group = {"$group_type": "company", "$group_key": "acme", "$group_set": {"tier": "gold"}}
    uuids = [f"0198c2a0-0000-7000-8000-00000000000{number}" for number in range(3)]
    paid: dict[str, Any] = {"event": "paid", "distinct_id": "eve"}
    batch = [
        {"event": "$groupidentify", "distinct_id": "eve", "properties": group},
        {
            **paid,
            "uuid": uuids[0],
            "properties": {"$groups": {"company": "acme"}, "$set": {"plan": "pro"}},
        },
        {**paid, "uuid": uuids[1], "properties": {"$set": {"plan": "free"}}},
        {**paid, "uuid": uuids[2], "properties": {"$process_person_profile": False}},
    ]
    sent = {"api_key": server.token, "batch": batch}
    assert server.client.post("/batch/", json=sent).status_code == 200
    stored = "/api/projects/@current/query/"
    query = {"kind": "HogQLQuery", "query": "select count() from events where event = 'paid'"}
    body = {"query": query, "refresh": "force_blocking"}
    wait_for(lambda: server.client.post(stored, json=body).json()["results"] == [[3]])

    command_line = ("explain", "Explained", "--event")
    matches = "paid matches, and the function would run."  # once the group is copied, too
    wait_for(lambda: matches in command(server, *command_line, uuids[0]))
    text = command(server, *command_line, uuids[1])
    assert "filters.events[0].properties[1]" in text
    assert "paid does not match the function." in text
    answer = json.loads(command(server, *command_line, uuids[2], "--json"))
    assert [each["path"] for each in answer["failed"]] == [
        "filters.events[0].properties[0]",
        "filters.events[0].properties[1]",
    ]
    inline = json.dumps({"event": "sold", "distinct_id": "eve"})
    assert "filters.events[0].id" in command(server, "explain", function_id, "--event", inline)
    wider = json.dumps({"filters": {}})
    assert "would run" in command(server, *command_line, uuids[2], "--configuration", wider)


def test_keys_need_the_scopes_of_what_is_explained(server: ServerProject) -> None:
    function_id, path = make(server)
    response = server.client.post(
        "/api/personal_api_keys/", json={"label": "reads", "scopes": ["hog_function:read"]}
    )
    headers = {"Authorization": f"Bearer {response.json()['value']}"}
    event = {"event": "seen", "distinct_id": "ada"}

    def status(**body: Any) -> int:
        url = f"{path}explain_match"
        return server.client.post(url, json=body, headers=headers).status_code

    assert status(event=event) == 200
    assert status(event_uuid=function_id) == 403
    assert status(event=event, configuration={}) == 403


def test_a_draft_is_tested_and_published(server: ServerProject) -> None:
    filters = {"events": [{"id": "drafted", "type": "events"}]}
    body = {"name": "Drafted", "hog": "print('first')", "enabled": True, "filters": filters}
    created = server.client.post("/api/projects/@current/hog_functions/", json=body).json()
    path = f"/api/projects/@current/hog_functions/{created['id']}/"
    server.client.patch(path, json={"draft": {"hog": "print('second')"}})
    event = json.dumps({"event": "drafted", "distinct_id": "eve"})

    assert "second" in command(server, "test", "Drafted", "--event", event, "--draft")
    assert "first" in command(server, "test", "Drafted", "--event", event)
    assert "would run" in command(server, "explain", "Drafted", "--event", event, "--draft")
    sent = {"api_key": server.token, "event": "drafted", "distinct_id": "eve"}
    assert server.client.post("/capture/", json=sent).status_code == 200
    wait_for_page(server, path + "logs/?search=first", 1)
    assert command(server, "publish", "Drafted") == "published Drafted, version 2\n"
    deadline = time.monotonic() + 30
    while not server.client.get(path + "logs/?search=second").json()["count"]:
        assert time.monotonic() < deadline
        assert server.client.post("/capture/", json=sent).status_code == 200
        time.sleep(0.5)


def test_a_backfill_of_everything_asks_first(server: ServerProject) -> None:
    function_id, _ = make(server)
    words = ["functions", "backfill", "start", function_id, "--detach"]
    ran = CliRunner().invoke(app, words, env=server.commands)

    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "run on all stored events" in ran.stderr
    assert "--start and --end, or confirm with --yes, since there is no terminal." in ran.stderr
    assert (
        server.client.get(f"/api/projects/@current/hog_functions/{function_id}/").json()[
            "batch_export_id"
        ]
        is None
    ), "nothing was changed"

    listed = ["backfill", "list", function_id, "--json"]
    assert command(server, *words[1:], "--yes").startswith("Backfill ")
    assert len(json.loads(command(server, *listed))) == 1
    command(server, *words[1:], "--start", "2026-01-01T00:00:00Z")
    assert len(json.loads(command(server, *listed))) == 2
