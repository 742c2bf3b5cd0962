"""The page docs/moving-from-posthog.md, command by command, from a server in PostHog's shapes."""

import json
import os
import shlex
import subprocess
from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import brotli
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.hoglet_process import run_hoglet
from support.posthog import KEY as POSTHOG_KEY
from support.posthog import PostHog, uuid
from support.server import KEY, RunningServer
from support.waiting import wait_for

PAGE = Path("docs/moving-from-posthog.md")
SECRETS = {"TELL_BILLING_TOKEN": "s3cr3t", "TELL_BILLING_HEADERS": '{"X-Shop": "1"}'}
LEFT_OUT = {
    ("action", "33"): "no name",
    ("cohort", "Imported"): "members",
    ("cohort", "Of imported"): "Imported",
    ("cohort", "Odd"): "moon_phase",
    ("cohort", "Old form"): "no criteria",
    ("endpoint", "charges"): "stripe_charges",
    ("endpoint", "replays"): "RecordingsQuery",
    ("function", "Broken"): "1:9",
    ("function", "GeoIP"): "plugin-posthog-plugin-geoip",
    ("function", "Insiders only"): "Imported",
    ("function", "Native"): "native-webhook",
    ("function", "Of an old action"): "999",
    ("function", "Rows"): "data-warehouse-table",
    ("function", "Stripe rows"): "warehouse_source_webhook",
    ("variable", "before"): "renamed",
}
CHANGED = {
    ("cohort", "Insiders (2)"): "another cohort",
    ("function", "Ads"): "template-google-ads",
    ("function", "Helper"): "postHogOfTomorrow",
    ("function", "Newer"): "filters.sampling",
    ("function", "Slack"): "inputs.slack_workspace",
}
FUNCTIONS = {"tell-billing", "tell-billing-2", "drop-bots", "ads", "slack", "newer", "helper",
             "banner", "incoming"}  # fmt: skip


type Ended = subprocess.CompletedProcess[str]


def hoglet(words: Sequence[str]) -> Ended:
    """Run a command in a process of its own: it opens a warehouse, and a process has only one."""
    return run_hoglet(*words, env=os.environ | SECRETS | {"COLUMNS": "300"})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("data")).start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def posthog() -> Generator[PostHog]:
    running = PostHog()
    yield running
    running.close()


@pytest.fixture(scope="module")
def shop(posthog: PostHog, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """The folder that the ``hoglet pull`` of the page makes, and the output of the command."""
    folder = tmp_path_factory.mktemp("moving") / "shop"
    words = ["pull", "--url", posthog.url, "--key", POSTHOG_KEY, "--to", str(folder), "--json"]
    return folder, hoglet(words)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_what_cannot_come_along_is_listed(shop: tuple[Path, Ended]) -> None:
    folder, pulled = shop
    assert pulled.returncode == 0, pulled.stderr
    said = json.loads(pulled.stdout)

    for key, expected in (("left_out", LEFT_OUT), ("changed", CHANGED)):
        remarks = {(each["kind"], each["name"]): each["reason"] for each in said[key]}
        assert remarks.keys() == expected.keys()
        for kind_and_name, part in expected.items():
            assert part in remarks[kind_and_name]
    assert [(each["input"], each["variable"]) for each in said["secrets"]] == [
        ("token", "TELL_BILLING_TOKEN"),
        ("headers", "TELL_BILLING_HEADERS"),
    ]
    assert {path.name for path in (folder / "functions").iterdir()} == FUNCTIONS
    assert {path.stem for path in (folder / "endpoints").iterdir()} == {"by_plan", "readers"}
    text = b"".join(contents(folder).values()).decode()
    for word in ("bytecode", "conditionHash", "uuid", "999", "4711", "sampling"):
        assert word not in text
    for name in ("newer", "slack"):
        assert "enabled: true" not in (folder / f"functions/{name}/function.yaml").read_text()


def export(folder: Path) -> list[Path]:
    """Two files as PostHog writes them."""
    rows = [
        {
            "uuid": uuid(900 + number),
            "event": "paid",
            "distinct_id": f"d{number % 2}",
            "team_id": 4711,
            "person_id": uuid(800 + number % 2),
            "timestamp": datetime(2026, 1, 5, 10, number, tzinfo=UTC),
            "created_at": datetime(2026, 1, 5, 11, tzinfo=UTC),
            "properties": json.dumps({"plan": "pro" if number else "free"}),
            "person_properties": json.dumps({"email": f"{number % 2}@shop.com"}),
            "elements_chain": "",
        }
        for number in range(6)
    ]
    folder.mkdir()
    first, second = folder / "events-2026-01.parquet", folder / "events-2026-02.jsonl.br"
    pq.write_table(pa.Table.from_pylist(rows[:4]), first)
    lines = (json.dumps(row, default=lambda time: time.isoformat()) for row in rows[3:])
    second.write_bytes(brotli.compress("\n".join(lines).encode()))
    return [first, second]


@pytest.mark.slow
def test_every_command_of_the_page_works(
    server: RunningServer,
    posthog: PostHog,
    shop: tuple[Path, Ended],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = shop[0].parent
    before = contents(shop[0])
    export(folder / "export")
    commands = [line.strip() for line in PAGE.read_text().splitlines() if line.startswith("    h")]
    monkeypatch.chdir(folder)
    ran: dict[str, Ended] = {}
    for command in commands:
        key = POSTHOG_KEY if "posthog.com" in command else KEY
        real = command.replace("https://us.posthog.com", posthog.url).replace("phx_…", key)
        real = real.replace("http://localhost:8000", server.url)
        real = real.replace("--data-dir hoglet-data", f"--data-dir {server.data_dir}")
        result = hoglet(shlex.split(real)[1:])
        assert result.returncode == 0, (command, result.stderr)
        ran[command] = result

    assert contents(folder / "shop") == before
    plan, pushed, differing, imported = [ran[command].stdout for command in commands[1:]]
    assert pushed.splitlines()[:-1] == plan.splitlines()
    assert pushed.splitlines()[-1] == "pushed: 17 created, 1 updated, 0 deleted"
    assert differing == ""
    assert imported.splitlines()[-1] == "7 events spooled, 0 rejected"
    assert "created_at, person_id, team_id" in ran[commands[-1]].stderr
    assert paid(server, 5) == [["paid", 5]]
    assert emails(server, 2) == ["0@shop.com", "1@shop.com"]


def emails(server: RunningServer, expected: int) -> list[str]:
    """Those of the persons, who arrive a little after their events."""
    persons = wait_for(
        lambda: server.client.get("/api/projects/1/persons/").json()["results"],
        lambda value: len(value) >= expected,
    )
    return sorted(each["properties"]["email"] for each in persons)


def paid(server: RunningServer, expected: int) -> list[list[object]]:
    """What the moved endpoint answers, when the events have arrived."""

    def rows() -> list[list[object]]:
        answer = server.client.post(
            "/api/projects/1/endpoints/by_plan/run", json={"refresh": "force"}
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]

    return wait_for(rows, lambda value: bool(value) and value[0][1] == expected, 180)


def test_a_strict_pull_says_that_something_is_missing(posthog: PostHog, tmp_path: Path) -> None:
    words = ["pull", "--url", posthog.url, "--key", POSTHOG_KEY, "--to", str(tmp_path), "--strict"]
    ran = hoglet(words)
    assert ran.returncode == 1
    assert "not included: function Stripe rows: " in ran.stderr
    assert "changed: function Slack: " in ran.stderr


def test_a_wrong_key_or_project_writes_nothing(posthog: PostHog, tmp_path: Path) -> None:
    cases = [
        (["--key", "phx_wrong"], 2, "401"),
        (["--key", POSTHOG_KEY, "--project", "5"], 2, "project 5"),
    ]
    for words, code, says in cases:
        ran = hoglet(["pull", "--url", posthog.url, "--to", str(tmp_path), *words])
        assert (ran.returncode, says in ran.stderr) == (code, True), ran.stderr
    assert contents(tmp_path) == {}
