"""``hoglet pull``, ``diff`` and ``push`` of a whole project against a real server."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hoglet.cli.main import app
from support.hoglet_process import HogletProcess
from support.local_http import Handler, LocalHttp
from support.server import KEY, ServerProject

COHORT = {"type": "person", "key": "email", "value": "@x.com", "operator": "icontains"}
HOOK = {
    "type": "destination",
    "name": "Welcome webhook",
    "description": "Says hello.\nTwice.",
    "enabled": True,
    "hog": "print(inputs.url)\nfetch(inputs.url, {'headers': {'X': inputs.token}})",
    "inputs_schema": [
        {"key": "url", "type": "string", "required": True},
        {"key": "token", "type": "string", "secret": True},
        {"key": "loud", "type": "boolean", "default": False},
    ],
    "inputs": {
        "url": {"value": "https://example.com/{event.event}"},
        "token": {"value": "s3cr3t"},
        "loud": {"value": False},
    },
    "masking": {"ttl": 60, "hash": "{person.id}", "threshold": None},
    "retry": {"max_attempts": 3},
    "delivery": {"batch": {"max_events": 10, "max_seconds": 2.5}},
}


def run(server: ServerProject, project: int, *words: str, **variables: str) -> Result:
    environment = {
        "HOGLET_URL": server.url,
        "HOGLET_API_KEY": KEY,
        "HOGLET_PROJECT": str(project),
        "WELCOME_WEBHOOK_TOKEN": None,
    }
    return CliRunner().invoke(app, [*words], env=environment | variables)


def done(server: ServerProject, project: int, *words: str, **variables: str) -> str:
    ran = run(server, project, *words, **variables)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def new_project(server: ServerProject) -> int:
    environment = {"HOGLET_DATA_DIR": str(server.data_dir)}
    result = CliRunner().invoke(app, ["admin", "projects", "create", "Other"], env=environment)
    return int(result.stdout.split()[0])


def post(server: ServerProject, path: str, body: dict[str, Any], project: int = 1) -> Any:
    answer = server.client.post(f"/api/projects/{project}/{path}/", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def source(server: ServerProject) -> int:
    """A project that holds something of everything, with references between them."""
    project = new_project(server)
    action = post(server, "actions", {"name": "Docs", "steps": [{"event": "read"}]}, project)
    criteria = {"properties": {"type": "AND", "values": [COHORT]}}
    cohort = post(server, "cohorts", {"name": "Insiders", "filters": criteria}, project)
    nested = {"type": "cohort", "key": "id", "value": cohort["id"]}
    criteria = {"properties": {"type": "OR", "values": [nested, COHORT]}}
    post(server, "cohorts", {"name": "Also insiders", "filters": criteria}, project)
    variable = {"name": "plan", "type": "String", "default_value": "pro"}
    post(server, "insight_variables", variable, project)
    choices = {"name": "Sort order", "type": "List", "values": ["up", "down"]}
    post(server, "insight_variables", {**choices, "default_value": "up"}, project)
    filters = {"actions": [{"id": str(action["id"]), "type": "actions"}]}
    post(server, "hog_functions", {**HOOK, "filters": filters}, project)
    post(server, "hog_functions", {**HOOK, "enabled": False}, project)
    bots = {"type": "transformation", "name": "Drop bots", "hog": "return event", "enabled": True}
    post(server, "hog_functions", bots, project)
    text = "select count() as n from events\nwhere properties.plan = {variables.plan}"
    query = {"kind": "HogQLQuery", "query": text}
    post(server, "endpoints", {"name": "by_plan", "query": query, "tags": ["x"]}, project)
    series = [{"kind": "ActionsNode", "id": action["id"]}]
    trend = {"kind": "TrendsQuery", "series": series}
    post(server, "endpoints", {"name": "trend", "query": trend}, project)
    settings = {"name": "Shop", "timezone": "Europe/Berlin", "test_account_filters": [COHORT]}
    assert server.client.patch(f"/api/projects/{project}/", json=settings).status_code == 200
    return project


SECRETS = {"WELCOME_WEBHOOK_TOKEN": "a", "WELCOME_WEBHOOK_2_TOKEN": "b"}


def test_a_copy_of_a_project_has_the_same_files(
    server: ServerProject, source: int, tmp_path: Path
) -> None:
    first, second, copy = tmp_path / "first", tmp_path / "second", new_project(server)
    pulled = run(server, source, "pull", "--to", str(first))
    assert pulled.exit_code == 0, pulled.output
    assert "WELCOME_WEBHOOK_TOKEN" in pulled.stderr
    files = contents(first)
    assert b"s3cr3t" not in b"".join(files.values())
    assert server.url.encode() not in b"".join(files.values())
    assert done(server, source, "pull", "--to", str(first)) == ""

    assert run(server, copy, "diff", "-C", str(first)).exit_code == 1
    pushed = done(server, copy, "push", "-C", str(first), **SECRETS)
    assert pushed.splitlines()[-1] == "pushed: 10 created, 1 updated, 0 deleted"
    assert done(server, copy, "diff", "-C", str(first)) == ""
    assert done(server, source, "diff", "-C", str(first)) == ""
    assert done(server, copy, "push", "-C", str(first)) == "nothing to do\n"
    done(server, copy, "pull", "--to", str(second))
    assert contents(second) == files

    path = f"/api/projects/{copy}"
    actions = server.client.get(f"{path}/actions/").json()["results"]
    listed = server.client.get(f"{path}/hog_functions/?types=destination").json()["results"]
    (hook,) = [each["id"] for each in listed if each["enabled"] and "Welcome" in each["name"]]
    filters = server.client.get(f"{path}/hog_functions/{hook}/").json()["filters"]
    assert filters["actions"][0]["id"] == str(actions[0]["id"])


BY_HAND = {
    "hoglet.yaml": "timezone: UTC  # mine\nname: Shop\n",
    "cohorts.yaml": """# in an order of mine
- name: Pros
  filters: {properties: {type: AND, values: [{type: person, key: a, value: b, operator: exact}]}}
- name: All
  filters: {properties: {type: OR, values: [{type: cohort, key: id, cohort: Pros}]}}
""",
    "endpoints/trend.yaml": """query:
  series: [{event: a, kind: EventsNode}]
  kind: TrendsQuery
  filterTestAccounts: false
""",
    "endpoints/weeks.yaml": """query:
  kind: TrendsQuery
  series: [{id: a, type: events}]
  interval: week
  trendsFilter: {compare: true}
""",
    "endpoints/paths.yaml": "query: {kind: PathsQuery, pathsFilter: {stepLimit: 3}}\n",
    "functions/many/function.yaml": """name: Many
filters: {events: [{type: events, id: a}]}
mappings:
  - {name: one, filters: {events: [{type: events, id: b}]}}
""",
    "functions/many/code.hog": "print(1)\n",
}


def test_files_by_hand_are_what_a_push_leaves(server: ServerProject, tmp_path: Path) -> None:
    project = new_project(server)
    for name, text in BY_HAND.items():
        broken(tmp_path, name, text)

    done(server, project, "push", "-C", str(tmp_path))

    assert done(server, project, "diff", "-C", str(tmp_path), "--prune") == ""
    assert done(server, project, "push", "-C", str(tmp_path)) == "nothing to do\n"
    assert done(server, project, "pull", "--to", str(tmp_path)) == ""
    assert contents(tmp_path) == {name: text.encode() for name, text in BY_HAND.items()}


SPELLED_OUT = {
    "hoglet.yaml": "name: Shop  # ours\nweek_start_day: 0\nperson_display_name_properties: null\n",
    "variables.yaml": "tenant: {type: String}  # no default\r\nplan: {default: pro}\r\n",
    "actions.yaml": """- name: Read
  description: ''
  steps: [{event: read, url: null, properties: [{key: a, value: b, type: event}]}]
""",
    "cohorts.yaml": """- name: Pros
  filters: {properties: {type: AND, values: [{type: person, key: a, value: b}]}}
- name: Readers  # often
  description: ""
  filters:
    filterTestAccounts: false
    properties:
      type: OR
      values:
        - {type: cohort, cohort: Pros, operator: in}
        - {type: AND, values: [{type: cohort, cohort: Pros, operator: not_in}, {type: behavioral,
            action: Read, value: performed_event, time_value: "30", time_interval: day,
            event_type: actions, event_filters: []}]}
""",
    "endpoints/one.yaml": """query:
  {kind: HogQLQuery, query: "select {variables.own}, {variables.plan}"}
variables: {own: {default: x}}
description: ""
tags: []
is_active: true
cache_age_seconds: null
""",
    "functions/full/function.yaml": """type: destination
name: Full
description: First  # the first one
enabled: false
filters:
  source: events
  events: [{id: a, name: a, order: 0, properties: [{key: x, value: y}]}]
  filter_test_accounts: false
inputs_schema:
  - {secret: false, key: url, type: string, required: true}
inputs: {url: https://example.com}
mappings: []
""",
    "functions/full/code.hog": "// first\nprint(inputs.url)\n\n\n",
    "functions/short/function.yaml": "{}\n",
    "functions/short/code.hog": "return 1",
}


def test_a_pull_leaves_what_is_equal_as_it_is_written(
    server: ServerProject, tmp_path: Path
) -> None:
    project = new_project(server)
    for name, text in SPELLED_OUT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    done(server, project, "push", "-C", str(tmp_path))

    assert done(server, project, "diff", "-C", str(tmp_path), "--prune") == ""
    assert done(server, project, "pull", "--prune", "--to", str(tmp_path)) == ""
    assert contents(tmp_path) == {name: text.encode() for name, text in SPELLED_OUT.items()}

    listed = server.client.get(f"/api/projects/{project}/hog_functions/?search=Full").json()
    path = f"/api/projects/{project}/hog_functions/{listed['results'][0]['id']}/"
    server.client.patch(path, json={"description": "Second"}).raise_for_status()
    done(server, project, "pull", "--to", str(tmp_path))
    changed = SPELLED_OUT["functions/full/function.yaml"].replace("First  #", "Second  #")
    assert (tmp_path / "functions/full/function.yaml").read_text() == changed


def test_a_change_is_planned_shown_and_made(
    server: ServerProject, source: int, tmp_path: Path
) -> None:
    project = new_project(server)
    done(server, source, "pull", "--to", str(tmp_path))
    done(server, project, "push", "-C", str(tmp_path), **SECRETS)
    path = tmp_path / "functions/welcome-webhook/function.yaml"
    path.write_text("# ours\n" + path.read_text().replace("enabled: true", "enabled: false  # now"))
    code = tmp_path / "functions/drop-bots/code.hog"
    code.write_text("return null\n")
    bots = tmp_path / "functions/drop-bots/function.yaml"  # the server chose the order
    bots.write_text(bots.read_text().replace("execution_order: 1\n", ""))

    plan = [
        "update function Welcome webhook: enabled",
        "update function Drop bots: hog",
    ]
    dry = done(server, project, "push", "-C", str(tmp_path), "--dry-run").splitlines()
    assert sorted(dry) == sorted(plan)
    diff = run(server, project, "diff", "-C", str(tmp_path))
    assert diff.exit_code == 1
    lines = [
        line for line in diff.stdout.splitlines() if line[:1] in "-+" and line[1:2] not in "-+"
    ]
    assert sorted(lines) == ["+return null", "-enabled: true", "-return event"]
    listed = json.loads(run(server, project, "diff", "-C", str(tmp_path), "--json").stdout)
    assert {each["action"] for each in listed} == {"update"}
    done(server, project, "push", "-C", str(tmp_path))
    assert done(server, project, "diff", "-C", str(tmp_path)) == ""
    before = contents(tmp_path)
    done(server, project, "pull", "--to", str(tmp_path))
    assert contents(tmp_path) == before

    hooks = f"/api/projects/{project}/hog_functions/"
    listing = server.client.get(hooks, params={"types": "destination"}).json()["results"]
    listing = [each for each in listing if each["name"] == "Welcome webhook"]
    assert len(listing) == 2
    for each in listing:
        whole = server.client.get(f"{hooks}{each['id']}/").json()
        assert whole["inputs"]["token"] == {"secret": True}
        server.client.patch(f"{hooks}{each['id']}/", json={"description": "Changed there"})
    done(server, project, "pull", "--to", str(tmp_path))
    text = path.read_text()
    assert text.startswith("# ours\n")
    assert "description: Changed there" in text
    assert "enabled: false  # now" in text


def broken(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


REFUSED = [
    ("endpoints/zz.yaml", "query: select nope from nowhere\n", "create endpoint zz: 400", 1),
    ("functions/zz/function.yaml", "masking: {ttl: 1, hash: x}\n", "masking__ttl", 1),
    ("functions/say/code.hog", "let x :=\n", "code.hog:1:", 2),
    ("actions.yaml", "- {name: A, steps: nothing}\n", "create action A: 400", 1),
    ("cohorts.yaml", "- {name: C, filters: {properties: {}}}\n", "create cohort C: 400", 1),
]


@pytest.mark.parametrize(("name", "text", "says", "code"), REFUSED)
def test_one_refusal_leaves_everything_as_it_was(
    server: ServerProject, tmp_path: Path, name: str, text: str, says: str, code: int
) -> None:
    project, after = new_project(server), tmp_path / "after"
    broken(tmp_path, "hoglet.yaml", "timezone: Asia/Tokyo\n")
    broken(tmp_path, "variables.yaml", "plan: {default: pro}\n")
    broken(tmp_path, "functions/say/function.yaml", "name: Say\n")
    broken(tmp_path, "functions/say/code.hog", "print(1)\n")
    broken(tmp_path, "functions/zz/function.yaml", "name: Zz\n")
    broken(tmp_path, "functions/zz/code.hog", "print(1)\n")
    broken(tmp_path, "endpoints/a.yaml", "query: select {variables.plan}\n")
    broken(tmp_path, name, text)

    refused = run(server, project, "push", "-C", str(tmp_path))

    assert refused.exit_code == code
    assert says in refused.stderr
    done(server, project, "pull", "--to", str(after))
    assert contents(after) == {"hoglet.yaml": b"name: Other\ntimezone: UTC\n"}


NAMELESS = "inputs_schema:\n  - {key: a, type: string}\n  - {key: b, type: nope}\n"
REFUSED = [
    ("hoglet.yaml", "name: A\ntest_account_filters: [{key: a, operator: nope}]\n", 2),
    ("actions.yaml", "- name: One\n- name: Two\n  steps: [{url_matching: nope}]\n", 2),
    ("cohorts.yaml", "- name: One\n  filters: {properties: {type: AND, values: []}}\n", 1),
    ("variables.yaml", "one: {}\ntwo: {type: Nope}\n", 2),
    ("functions/a/function.yaml", NAMELESS, 3),
    ("functions/a/draft.yaml", f"name: b\n{NAMELESS}", 4),
    ("endpoints/a.yaml", "tags: [a]\nquery: |\n  select 1,\n    nope(2)\n", 4),
    ("endpoints/a.sql", "select 1,\n  nope(2)\n", 2),
]


@pytest.mark.parametrize(("name", "text", "line"), REFUSED, ids=[each[0] for each in REFUSED])
def test_a_refusal_names_file_and_line(
    server: ServerProject, tmp_path: Path, name: str, text: str, line: int
) -> None:
    project = new_project(server)
    files = {"hoglet.yaml": "name: A\n", "functions/a/code.hog": "return 1\n"}
    files |= {"functions/a/function.yaml": "name: A\n", "endpoints/a.yaml": "tags: [a]\n"}
    files |= {"endpoints/a.sql": "select 1\n", name: text}
    if name == "endpoints/a.yaml":
        del files["endpoints/a.sql"]
    for each, content in files.items():
        broken(tmp_path, each, content)

    refused = run(server, project, "push", "-C", str(tmp_path))

    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"{tmp_path / name}:{line}: "), refused.stderr
    assert "Nothing was changed" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_a_push_repeats_the_warnings_of_the_server(server: ServerProject, tmp_path: Path) -> None:
    project = new_project(server)
    broken(tmp_path, "hoglet.yaml", "name: A\n")
    broken(tmp_path, "functions/a/function.yaml", "name: A\n")
    broken(tmp_path, "functions/a/code.hog", "return 1\n")
    assert run(server, project, "push", "-C", str(tmp_path)).stderr == ""
    broken(tmp_path, "functions/a/code.hog", "let x := 1\nprint(x)\nfecth('https://a.example')\n")

    pushed = run(server, project, "push", "-C", str(tmp_path))

    assert pushed.exit_code == 0, pushed.output
    assert pushed.stderr.startswith("warning: function A: ")
    assert "(hog, line 3)" in pushed.stderr
    assert "fetch" in pushed.stderr
    assert "1 updated" in pushed.stdout


def test_a_secret_that_nobody_gives_stops_the_push(server: ServerProject, tmp_path: Path) -> None:
    project = new_project(server)
    broken(tmp_path, "hoglet.yaml", "name: Other\n")
    schema = "inputs_schema: [{key: token, type: string, secret: true}]\n"
    inputs = "inputs: {token: {secret: env:NOT_SET_ANYWHERE}}\n"
    broken(tmp_path, "functions/a/function.yaml", schema + inputs)
    broken(tmp_path, "functions/a/code.hog", "print(1)\n")

    missing = run(server, project, "push", "-C", str(tmp_path))
    assert (missing.exit_code, "NOT_SET_ANYWHERE, which is not set" in missing.stderr) == (2, True)
    done(server, project, "push", "-C", str(tmp_path), NOT_SET_ANYWHERE="x")
    assert done(server, project, "push", "-C", str(tmp_path)) == "nothing to do\n"


def test_pruning_deletes_on_either_side(server: ServerProject, source: int, tmp_path: Path) -> None:
    project = new_project(server)
    done(server, source, "pull", "--to", str(tmp_path))
    done(server, project, "push", "-C", str(tmp_path), **SECRETS)
    empty = tmp_path / "empty"
    broken(empty, "hoglet.yaml", "name: Shop\n")
    broken(empty, "variables.yaml", "only: {default: here}\n")

    assert done(server, project, "push", "-C", str(empty), "--dry-run") == "create variable only\n"
    changed = {"query": {"kind": "HogQLQuery", "query": "select 1"}}
    server.client.patch(f"/api/projects/{project}/endpoints/by_plan/", json=changed)
    asked = run(server, project, "push", "-C", str(empty), "--prune")
    assert (asked.exit_code, "--yes" in asked.stderr) == (2, True)
    assert "endpoint by_plan with its 2 versions, endpoint trend," in asked.stderr.replace(
        "\n", " "
    )
    pushed = done(server, project, "push", "-C", str(empty), "--prune", "--yes")
    assert pushed.splitlines()[-1] == "pushed: 1 created, 0 updated, 10 deleted"
    assert done(server, project, "diff", "-C", str(empty), "--prune") == ""

    before = contents(tmp_path / "functions")
    done(server, project, "pull", "--to", str(tmp_path))
    assert contents(tmp_path / "functions") == before
    done(server, project, "pull", "--to", str(tmp_path), "--prune", "--yes")
    assert contents(tmp_path / "functions") == contents(tmp_path / "endpoints") == {}
    assert (tmp_path / "actions.yaml").read_text().strip() == "[]"
    assert done(server, project, "diff", "-C", str(tmp_path), "--prune") == ""


def test_without_a_project_the_commands_say_how_to_make_one(
    server: ServerProject, tmp_path: Path
) -> None:
    for verb in ("push", "diff"):
        ran = run(server, 1, verb, "-C", str(tmp_path))
        assert (ran.exit_code, "hoglet init" in ran.stderr) == (2, True)


class Meddler(LocalHttp):
    """Passes requests on to a server; before the answer of a write it calls ``meddle``."""

    def __init__(self, server: ServerProject, meddle: Callable[[int], int | None]) -> None:
        self.writes = 0
        meddler = self

        class Passing(Handler):
            def handle_any(self) -> None:
                refusal, body = None, self.body()
                if self.command != "GET":
                    meddler.writes += 1
                    refusal = meddle(meddler.writes)
                if refusal is not None:
                    self.answer(refusal, b'{"code": "unavailable", "detail": "Not now."}')
                    return
                headers = {k: v for k, v in self.names().items() if k not in {"host", "connection"}}
                answer = server.client.request(
                    self.command, self.path, content=body, headers=headers
                )
                self.answer(answer.status_code, answer.content)

        super().__init__(Passing)


STOPS = ["refuse", "interrupt", "terminate", "kill"]


@pytest.mark.parametrize("stop", STOPS)
def test_a_push_that_ends_in_the_middle(
    server: ServerProject, source: int, tmp_path: Path, stop: str
) -> None:
    project, files, after = new_project(server), tmp_path / "files", tmp_path / "after"
    done(server, source, "pull", "--to", str(files))
    running: list[subprocess.Popen[str]] = []

    def meddle(number: int) -> int | None:
        if number != 5 or running[0].returncode is not None:
            return None
        if stop == "refuse":
            return 503
        signals = {"interrupt": "SIGINT", "terminate": "SIGTERM", "kill": "SIGKILL"}
        running[0].send_signal(signal.Signals[signals[stop]])
        return None

    meddler = Meddler(server, meddle)
    environment = os.environ | SECRETS | {"HOGLET_URL": meddler.url, "HOGLET_API_KEY": KEY}
    process = HogletProcess(
        ["push", "-C", str(files), "--project", str(project)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    running.append(process)
    _, says = process.communicate(timeout=120)
    if stop != "kill":
        meddler.close()

    if stop == "kill":
        assert process.returncode < 0
        killed = "An earlier push was killed after 4 of 11 changes (create variable plan; "
        diff = run(server, project, "diff", "-C", str(files), HOGLET_URL=meddler.url)
        assert (diff.exit_code, killed in diff.stderr) == (1, True)
        again = run(server, project, "push", "-C", str(files), HOGLET_URL=meddler.url, **SECRETS)
        assert (again.exit_code, killed in again.stderr) == (0, True)
        assert "This push applies the rest." in again.stderr
        meddler.close()
        assert done(server, project, "push", "-C", str(files)) == "nothing to do\n"
        assert not (files / ".hoglet-push.json").exists()
        done(server, project, "pull", "--to", str(after))
        assert contents(after) == contents(files)
        return
    assert process.returncode == 1, says
    rolled_back = 4 if stop == "refuse" else 5
    assert f"Nothing was changed: {rolled_back} earlier changes were rolled back." in says
    done(server, project, "pull", "--to", str(after))
    assert contents(after) == {"hoglet.yaml": b"name: Other\ntimezone: UTC\n"}


def test_what_somebody_else_saves_meanwhile_is_kept(server: ServerProject, tmp_path: Path) -> None:
    """Also: a rollback says that it cannot bring back the value of a secret."""
    project = new_project(server)
    ids = {
        name: post(server, "hog_functions", {**HOOK, "name": name}, project)["id"]
        for name in ("First", "Second")
    }
    assert run(server, project, "pull", "--to", str(tmp_path)).exit_code == 0
    for name in ("first", "second"):
        settings = tmp_path / "functions" / name / "function.yaml"
        settings.write_text(settings.read_text().replace("Says hello", "Says goodbye"))
    path = f"/api/projects/{project}/hog_functions"

    def save_in_console(number: int) -> None:
        if number == 1:
            other = {"description": "of somebody else"}
            server.client.patch(f"{path}/{ids['Second']}/", json=other).raise_for_status()

    meddler = Meddler(server, save_in_console)
    secrets = {"FIRST_TOKEN": "new", "SECOND_TOKEN": "new"}
    refused = run(server, project, "push", "-C", str(tmp_path), HOGLET_URL=meddler.url, **secrets)
    meddler.close()

    assert (refused.exit_code, "Second: description: it was changed" in refused.stderr) == (1, True)
    assert "Nothing was changed: 1 earlier changes were rolled back." in refused.stderr
    assert "The secrets of function First keep their new values." in refused.stderr
    stored = {name: server.client.get(f"{path}/{ids[name]}/").json() for name in ids}
    descriptions = {name: each["description"] for name, each in stored.items()}
    assert descriptions == {"First": HOOK["description"], "Second": "of somebody else"}


def test_drafts_are_files_beside_the_live_version(server: ServerProject, tmp_path: Path) -> None:
    project, copy = new_project(server), new_project(server)
    first, second = tmp_path / "first", tmp_path / "second"
    created = post(server, "hog_functions", HOOK, project)
    post(
        server,
        "hog_functions",
        {"type": "transformation", "name": "Empty", "hog": "return event"},
        project,
    )
    path = f"/api/projects/{project}/hog_functions/{created['id']}/"
    inputs = {"url": {"value": "https://next.example"}, "token": {"secret": True}}
    draft = {"hog": "print('next')", "inputs": inputs, "description": "", "masking": None}
    assert server.client.patch(path, json={"draft": draft}).status_code == 200

    assert run(server, project, "pull", "--to", str(first)).exit_code == 0
    folder = first / "functions/welcome-webhook"
    assert (folder / "draft.hog").read_text() == "print('next')\n"
    settings = folder / "draft.yaml"
    assert "description: ''\n" in settings.read_text()
    assert "masking: null\n" in settings.read_text()
    assert "secret: env:WELCOME_WEBHOOK_TOKEN" in settings.read_text()
    assert list((first / "functions/empty").glob("draft*")) == []

    pushed = done(server, copy, "push", "-C", str(first), **SECRETS)
    assert "create draft Welcome webhook" in pushed.splitlines()
    done(server, copy, "pull", "--to", str(second))
    assert contents(second) == contents(first)
    assert done(server, copy, "diff", "-C", str(first)) == ""

    settings.write_text("# next week\n" + settings.read_text().replace("next.ex", "later.ex"))
    before = contents(first)
    assert run(server, copy, "diff", "-C", str(first)).exit_code == 1
    changed = done(server, copy, "push", "-C", str(first), "--dry-run")
    assert changed == "update draft Welcome webhook: inputs\n"
    done(server, copy, "push", "-C", str(first))
    assert done(server, copy, "pull", "--to", str(first)) == ""
    assert contents(first) == before

    settings.write_text("name: Greeter\n")
    done(server, copy, "push", "-C", str(first))
    assert done(server, copy, "diff", "-C", str(first)) == ""
    listed = server.client.get(f"/api/projects/{copy}/hog_functions/").json()["results"]
    (copied,) = [each["id"] for each in listed if each["name"] == "Welcome webhook"]
    record = server.client.get(f"/api/projects/{copy}/hog_functions/{copied}/").json()
    assert (record["name"], record["draft"]["name"]) == ("Welcome webhook", "Greeter")
    assert record["draft"]["masking"]["ttl"] == 60
    assert record["draft"]["hog"] == "print('next')"
    assert record["hog"] == HOOK["hog"]

    for each in ("draft.hog", "draft.yaml"):
        (folder / each).unlink()
    assert done(server, copy, "push", "-C", str(first)) == "nothing to do\n"
    assert run(server, copy, "diff", "-C", str(first), "--prune").exit_code == 1
    assert "delete draft Welcome webhook" in done(
        server, copy, "push", "-C", str(first), "--prune", "--yes"
    )
    assert done(server, copy, "diff", "-C", str(first), "--prune") == ""
    pulled = run(server, copy, "pull", "--to", str(second))
    assert "only in files: draft Welcome webhook" in pulled.stderr
    done(server, copy, "pull", "--to", str(second), "--prune", "--yes")
    assert list((second / "functions/welcome-webhook").glob("draft*")) == []


def test_a_draft_that_is_refused_leaves_everything_as_it_was(
    server: ServerProject, tmp_path: Path
) -> None:
    project = new_project(server)
    broken(tmp_path, "hoglet.yaml", "name: Other\n")
    broken(tmp_path, "functions/a/function.yaml", "name: A\n")
    broken(tmp_path, "functions/a/code.hog", "print(1)\n")
    broken(tmp_path, "functions/b/function.yaml", "name: B\n")
    broken(tmp_path, "functions/b/code.hog", "print(1)\n")
    done(server, project, "push", "-C", str(tmp_path))
    broken(tmp_path, "functions/a/draft.hog", "print(2)\n")
    broken(tmp_path, "functions/b/draft.yaml", "masking: {ttl: 1, hash: x}\n")

    refused = run(server, project, "push", "-C", str(tmp_path))
    assert (refused.exit_code, "draft__masking__ttl" in refused.stderr) == (1, True)
    assert "1 earlier changes were rolled back" in refused.stderr
    listed = server.client.get(f"/api/projects/{project}/hog_functions/").json()["results"]
    records = [
        server.client.get(f"/api/projects/{project}/hog_functions/{each['id']}/").json()
        for each in listed
    ]
    assert [record.get("draft") for record in records] == [None, None]
    broken(tmp_path, "functions/b/draft.yaml", "masking: [1]\nhog: x\n")
    assert "draft.yaml:2: unknown hog." in run(server, project, "diff", "-C", str(tmp_path)).stderr
    broken(tmp_path, "functions/b/draft.yaml", "{}\n")
    broken(tmp_path, "functions/a/draft.hog", "let x :=\n")
    assert "a/draft.hog:1:" in run(server, project, "push", "-C", str(tmp_path)).stderr


def test_a_function_that_is_renamed_stays_the_same(server: ServerProject, tmp_path: Path) -> None:
    project = new_project(server)
    for name, code in (("Say", "print(1)"), ("Sing", "print(2)")):
        post(server, "hog_functions", {"type": "destination", "name": name, "hog": code}, project)
    done(server, project, "pull", "--to", str(tmp_path))
    path = f"/api/projects/{project}/hog_functions/"
    before = {each["name"]: each["id"] for each in server.client.get(path).json()["results"]}
    folder = tmp_path / "functions/say"
    settings = folder / "function.yaml"
    settings.write_text("# mine\n" + settings.read_text().replace("name: Say", "name: Shout"))
    folder.rename(tmp_path / "functions/shout")

    plan = done(server, project, "push", "-C", str(tmp_path), "--prune", "--dry-run")
    assert plan == "update function Say: name\n"
    done(server, project, "push", "-C", str(tmp_path), "--prune")
    now = {each["name"]: each["id"] for each in server.client.get(path).json()["results"]}
    assert now == {"Shout": before["Say"], "Sing": before["Sing"]}
    assert done(server, project, "diff", "-C", str(tmp_path), "--prune") == ""

    server.client.patch(f"{path}{before['Say']}/", json={"name": "Whisper"})
    done(server, project, "pull", "--to", str(tmp_path), "--prune")
    text = (tmp_path / "functions/shout/function.yaml").read_text()
    assert text.startswith("# mine\n")
    assert "name: Whisper" in text
    assert sorted(each.name for each in (tmp_path / "functions").iterdir()) == ["shout", "sing"]
