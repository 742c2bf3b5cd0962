"""The recipes of docs/recipes.md, as the files that their titles name."""

import hmac
import json
import re
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.hoglet_process import run_hoglet
from support.oracle import need, why_no_node
from support.oracle import node as installed_node
from support.server import TOKEN, RunningServer

PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text()
FENCED = re.compile(r"^```\w+ title=\"([^\"]+)\"\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILES = dict(FENCED.findall(PAGE))
CASES = sum(len(re.findall(r"^- name:", text, re.MULTILINE)) for text in FILES.values())


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("recipes") / "shop"
    for name, text in {"hoglet.yaml": "name: shop\n", **FILES}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.engine
@pytest.mark.slow
def test_every_case_of_the_page_passes(project: Path) -> None:
    ran = run_hoglet("test", "-C", str(project))

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == f"{CASES} passed, 0 failed"


def test_every_recipe_is_complete_and_in_the_table() -> None:
    recipes = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    table = re.findall(r"^\| \[(.+?)\]", PAGE, re.MULTILINE)
    functions = {Path(name).parent for name in FILES if name.startswith("functions/")}

    assert recipes == table
    assert len(functions) == len(recipes) - 1
    assert all(
        f"{folder}/{name}" in FILES
        for folder in functions
        for name in ("function.yaml", "code.hog", "tests.yaml")
    )
    assert PAGE.count("title=") == len(FILES)


BODY = (
    b'{"id":"0199c7b2-0000-7000-8000-000000000001",'
    b'"event":"order_paid","customer":"ada","amount":42}'
)


def test_the_receiver_accepts_what_the_function_signs_and_nothing_else() -> None:
    receiver: dict[str, object] = {}
    exec(FILES["receiver.py"], receiver)  # noqa: S102 (the example itself)
    is_genuine = receiver["is_genuine"]
    header = re.search(r"X-Signature: (t=(\d+),\S+)", FILES["functions/signed-webhook/tests.yaml"])
    assert header is not None
    assert callable(is_genuine)
    signed_at = int(header[2])

    assert is_genuine("s3cret", header[1], BODY, now=signed_at + 10)
    assert not is_genuine("s3cret", header[1], BODY + b" ", now=signed_at + 10)
    assert not is_genuine("other", header[1], BODY, now=signed_at + 10)
    assert not is_genuine("s3cret", header[1], BODY, now=signed_at + 301)
    later = header[1].replace(f"t={signed_at}", f"t={signed_at + 600}")
    assert not is_genuine("s3cret", later, BODY, now=signed_at + 610)


DOCUMENT = """
const shownRows = [];
const insertRow = () => {
  const cells = [];
  shownRows.push(cells);
  return {insertCell: () => ({set textContent(value) { cells.push(value); }})};
};
const daily = {dataset: SETTINGS, tBodies: [{insertRow}]};
globalThis.document = {getElementById: (id) => (id === "daily" ? daily : null)};
"""


def _run_page(node: str, settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The script of the page, with a document of one table; prints the rows as JSON."""
    script = FILES["daily.html"].split('<script type="module">')[1].split("</script>")[0]
    source = DOCUMENT.replace("SETTINGS", json.dumps(settings)) + script
    program = f"{source}\nconsole.log(JSON.stringify(shownRows));"
    command = [node, "--input-type=module", "-e", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path_factory.mktemp("data")).start()
    query = re.search(r"query: \|-\n(.*)", FILES["endpoints/daily_orders.yaml"], re.DOTALL)
    assert query is not None
    for path, body in (
        ("insight_variables/", {"name": "customer", "type": "String", "default_value": ""}),
        ("endpoints", {"name": "daily_orders", "query": {"kind": "HogQLQuery", "query": query[1]}}),
    ):
        response = running.client.post(f"/api/projects/1/{path}", json=body)
        assert response.status_code == 201, response.text
    batch = [
        {
            "event": "order_paid",
            "distinct_id": "ada",
            "properties": {"customer": customer, "amount": amount},
            "timestamp": f"{datetime.now(UTC):%Y-%m-%d}T00:00:00Z",
        }
        for customer, amount in (("acme", 10), ("acme", 5), ("globex", 99))
    ]
    sent = running.client.post("/batch/", json={"api_key": TOKEN, "batch": batch})
    assert sent.status_code == 200, sent.text
    yield running
    running.stop()


def _tenant_token(server: RunningServer, customer: str) -> str:
    body = {"endpoints": ["daily_orders"], "variables": {"customer": customer}}
    response = server.client.post("/api/projects/1/tenant_tokens/", json=body)
    assert response.status_code < 300, response.text
    return response.json()["token"]


def _wait_for_events(server: RunningServer) -> None:
    query = {"kind": "HogQLQuery", "query": "select count() from events"}
    for _ in range(600):
        ran = server.client.post(
            "/api/projects/1/query/", json={"query": query, "refresh": "force_blocking"}
        )
        assert ran.status_code == 200, ran.text
        if ran.json()["results"] == [[3]]:
            return
        time.sleep(0.1)
    raise AssertionError("the events were not stored")


def test_the_page_shows_the_rows_of_its_customer_and_of_nobody_else(server) -> None:
    need(why_no_node())
    node = str(installed_node())
    _wait_for_events(server)

    rows_by_customer: dict[str, list[list[str]]] = {}
    for customer in ("acme", "globex"):
        settings = {"server": server.url, "token": _tenant_token(server, customer)}
        ran = _run_page(node, settings)
        assert ran.returncode == 0, ran.stderr
        rows_by_customer[customer] = [cells[1:] for cells in json.loads(ran.stdout)]
    refused = _run_page(node, {"server": server.url, "token": "pht_wrong"})

    assert rows_by_customer == {"acme": [["2", "15"]], "globex": [["1", "99"]]}
    assert refused.returncode != 0
    assert "daily_orders: 401" in refused.stderr


def test_the_expected_signatures_are_those_of_the_standard_library() -> None:
    payment = FILES["functions/payment-webhook/tests.yaml"]
    signed = re.search(r"stringBody: '(.*)'", payment)
    assert signed is not None
    expected = hmac.new(b"s3cret", signed[1].encode(), "sha256").hexdigest()

    assert f"x-signature-256: sha256={expected}\n" in payment
