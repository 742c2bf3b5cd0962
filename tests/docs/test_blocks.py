"""Blocks of the pages in languages other than ``http``: each is run by a test named here."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hoglet.hog import run
from hoglet.hogql import QueryContext, compile_query
from hoglet.project_files.formats.endpoint_file import read_file
from support.oracle import need, node, why_no_node
from support.server import TOKEN, RunningServer

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
HERE = "test_blocks.py"
RUN_BY = {
    ("command-line.md", "console"): "test_examples.py",
    ("endpoints.md", "yaml"): HERE,
    ("endpoints.md", "json"): HERE,
    ("functions.md", "hog"): HERE,
    ("hog-language.md", "hog"): "test_hog_language.py",
    ("hogql.md", "sql"): HERE,
    ("library.md", "python"): "test_library.py",
    ("project-files.md", "yaml"): "test_shown_commands.py",
    ("recipes.md", "html"): "test_recipes.py",
    ("recipes.md", "python"): "test_recipes.py",
    ("recipes.md", "yaml"): "test_recipes.py",
    ("recipes.md", "hog"): "test_recipes.py",
    ("tenant-tokens.md", "js"): HERE,
    ("tenant-tokens.md", "python"): HERE,
    ("testing.md", "yaml"): "test_testing_page.py",
}
NOT_RUN = {("growing.md", "sql"): "needs a ClickHouse server with users"}


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text()
    return [body for value, body in FENCE.findall(text) if value == language]


def test_every_block_is_run_by_a_test() -> None:
    in_page = {
        (page.name, language)
        for page in DOCS.glob("*.md")
        for language, _ in FENCE.findall(page.read_text())
    }
    in_page = {pair for pair in in_page if pair[1] != "http"}  # test_examples.py
    assert in_page == RUN_BY.keys() | NOT_RUN.keys()
    assert all((Path(__file__).parent / name).exists() for name in RUN_BY.values())


def test_the_batch_of_the_page_of_functions_answers_for_each_event() -> None:
    (program,) = blocks("functions.md", "hog")
    events = [{"event": {"properties": properties}} for properties in ({"id": 7}, {})]
    sent: list[Any] = []

    def fetch(_url: str, options: dict[str, Any]) -> dict[str, Any]:
        sent.append(options["body"])
        return {"status": 200}

    outcome = run(
        program,
        globals={"events": events, "inputs": {"url": "http://a"}},
        functions={"fetch": fetch},
    )
    assert outcome.result == [{"status": 200}, {"error": "no id"}]
    assert sent == [[{"id": 7}, {}]]


def test_the_query_of_the_page_of_hogql_compiles() -> None:
    (query,) = blocks("hogql.md", "sql")
    context = QueryContext(project_id=1)
    compiled = compile_query(query, context=context, variables={"event_name": "$pageview"})
    assert [column.name for column in compiled.columns] == ["browser", "plan", "views"]


def test_the_file_of_the_page_of_endpoints_is_an_endpoint(tmp_path: Path) -> None:
    path = tmp_path / "by_plan.yaml"
    path.write_text(blocks("endpoints.md", "yaml")[0])
    document = read_file(path)
    context = QueryContext(project_id=1)
    values = {code: each["default"] for code, each in document["variables"].items()}
    compiled = compile_query(document["query"]["query"], context=context, variables=values)
    assert [column.name for column in compiled.columns] == ["event", "events"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("data")).start()
    yield running
    running.stop()


def make(server: RunningServer, path: str, body: dict[str, Any]) -> dict[str, Any]:
    response = server.client.post(f"/api/projects/1/{path}", json=body)
    assert response.status_code < 300, response.text
    return response.json()


def test_the_preview_of_the_page_of_endpoints_is_answered(server: RunningServer) -> None:
    sql = "select toDate(timestamp) as day, uniq(person_id) as n from events group by day"
    make(server, "endpoints", {"name": "seen", "query": {"kind": "HogQLQuery", "query": sql}})
    expected = json.loads(blocks("endpoints.md", "json")[0])
    preview = make(server, "endpoints/seen/materialization_preview", {})
    assert preview["build"] == expected["build"]


@pytest.fixture(scope="module")
def usage_by_day(server: RunningServer) -> None:
    """The objects of docs/tenant-tokens.md, and events of two tenants."""
    page = (DOCS / "tenant-tokens.md").read_text()
    for path, body in re.findall(r"```http\nPOST (\S+)\n(\{.*?)```", page, re.DOTALL)[:2]:
        assert server.client.post(path, json=json.loads(body)).status_code == 201
    tenants = ["acme", "acme", "globex"]
    batch = [
        {"event": "used", "distinct_id": "a", "properties": {"tenant": name}} for name in tenants
    ]
    sent = server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch})
    assert sent.status_code == 200, sent.text
    count = {"kind": "HogQLQuery", "query": "select count() from events where event = 'used'"}
    body = {"query": count, "refresh": "force_blocking"}
    deadline = time.monotonic() + 60
    while make(server, "query/", body)["results"] != [[len(batch)]]:  # before a run is cached
        assert time.monotonic() < deadline
        time.sleep(0.1)


def run_script(server: RunningServer, token: str) -> dict[str, Any]:
    """The script of the page with a token, as a browser would run it; its answer as JSON."""
    (script,) = blocks("tenant-tokens.md", "js")
    assert "https://hoglet.example.com/" in script
    script = script.replace("https://hoglet.example.com", server.url)
    program = (
        f"const token = {json.dumps(token)};\n{script}\n"
        "console.log(JSON.stringify({status: answer.status, body: await answer.json()}));"
    )
    command = [str(node()), "--input-type=module", "-e", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def offline_token(server: RunningServer) -> tuple[str, str]:
    """What the Python of the page makes with a new signing key, and the id of the key."""
    key = make(server, "tenant_tokens/rotate", {})
    names: dict[str, Any] = {"secret": key["secret"], "key_id": key["id"]}
    (program,) = blocks("tenant-tokens.md", "python")
    exec(compile(program, "tenant-tokens.md", "exec"), names)  # noqa: S102 (our own page)
    return names["token"], key["id"]


@pytest.mark.usefixtures("usage_by_day")
def test_a_token_of_the_page_runs_in_its_script_for_one_tenant(server: RunningServer) -> None:
    need(why_no_node())
    token, key_id = offline_token(server)

    answer = run_script(server, token)
    assert answer["status"] == 200, answer
    assert [count for _, count in answer["body"]["results"]] == [2]

    server.client.delete(f"/api/projects/1/tenant_tokens/keys/{key_id}").raise_for_status()
    assert run_script(server, token)["status"] == 401
