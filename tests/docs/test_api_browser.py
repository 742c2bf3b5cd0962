"""``/docs``: its files, their headers, and the commands that it shows for every operation."""

import json
import re
import shlex
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest

from hoglet.app.http import openapi
from hoglet.web.app import create_application
from support.oracle import need, why_no_node
from support.oracle import node as installed_node

STATIC = Path(openapi.__file__).parent / "static"
ORIGIN = "http://hoglet.test"


@pytest.fixture
async def client():
    app = create_application(routers=[openapi.router])
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as opened:
        yield opened


class _Page(HTMLParser):
    """Addresses that a page loads, and what a strict policy would not run."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.inline: list[str] = []
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._script = tag in {"script", "style"}
        if tag in {"script", "link", "img"}:
            self.loads.append(str(given.get("src") or given.get("href")))
        self.inline += [key for key in given if key == "style" or key.startswith("on")]

    def handle_data(self, data: str) -> None:
        if self._script and data.strip():
            self.inline.append(data)


@pytest.mark.parametrize("path", ["/docs", "/docs/"])
async def test_the_page_loads_only_files_of_this_server(client, path: str) -> None:
    response = await client.get(path)
    page = _Page()
    page.feed(response.text)

    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "unsafe" not in response.headers["content-security-policy"]
    assert page.inline == []
    assert page.loads
    for address in page.loads:
        if address != "data:,":
            loaded = await client.get(address)
            assert (address, loaded.status_code) == (address, 200)
            assert loaded.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [("api-browser.js", "text/javascript"), ("api-browser.css", "text/css")],
)
async def test_files_have_their_media_type(client, name: str, media_type: str) -> None:
    response = await client.get(f"/docs/{name}")

    assert response.headers["content-type"].startswith(media_type)
    assert response.content == (STATIC / name).read_bytes()


@pytest.mark.parametrize(
    "name", ["nothing.js", "api-browser.html", "..%2Fopenapi.py", "%2e%2e%2fopenapi.py", "x%00"]
)
async def test_other_files_are_not_served(client, name: str) -> None:
    response = await client.get(f"/docs/{name}")

    assert response.status_code == 404


def test_the_files_name_no_other_host_and_write_no_html() -> None:
    for name in ("api-browser.html", "api-browser.css", "api-browser.js"):
        text = (STATIC / name).read_text()
        assert re.findall(r"(?:https?:)?//[\w-]+\.[\w.-]+", text) == []
    script = (STATIC / "api-browser.js").read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)


def run_script(tmp_path: Path, body: str, document: dict[str, Any]) -> Any:
    """What ``body`` prints as JSON, with the exports of the script and ``openapi`` in scope."""
    need(why_no_node())
    (tmp_path / "browser.mjs").write_text((STATIC / "api-browser.js").read_text())
    (tmp_path / "document.json").write_text(json.dumps(document))
    program = f"""
import {{readFileSync}} from "node:fs";
import {{curl, matches, operationsOf, sample, typeName}} from "./browser.mjs";
const openapi = JSON.parse(readFileSync("document.json", "utf8"));
{body}
"""
    (tmp_path / "main.mjs").write_text(program)
    ran = subprocess.run(
        [str(installed_node()), "main.mjs"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.engine
def test_every_operation_has_a_command_that_a_shell_reads_as_meant(tmp_path) -> None:
    from jsonschema import Draft202012Validator

    document = openapi.api_document()
    rows = run_script(
        tmp_path,
        "console.log(JSON.stringify(operationsOf(openapi).map("
        f'(each) => ({{...each, command: curl(openapi, each, "{ORIGIN}", "7")}}))));',
        document,
    )

    documented = {(method, path) for path, item in document["paths"].items() for method in item}
    assert {(row["method"], row["path"]) for row in rows} == documented
    for row in rows:
        operation = row["operation"]
        words = [word for word in shlex.split(row["command"]) if word.strip()]
        assert words[:3] == ["curl", "-X", row["method"].upper()]
        address = words[3].removeprefix(ORIGIN)
        assert address == re.sub(
            r"{(\w+)}",
            lambda match: "7" if match[1] == "project_id" else match[1].upper(),
            row["path"],
        )
        assert ("Authorization: Bearer $HOGLET_API_KEY" in words) == bool(operation.get("security"))
        assert ("-d" in words) == ("requestBody" in operation)
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            body = json.loads(words[words.index("-d") + 1])
            full = {**schema, "components": document["components"]}
            errors = [error.message for error in Draft202012Validator(full).iter_errors(body)]
            assert (row["id"], errors) == (row["id"], [])


def _document(schema: dict[str, Any]) -> dict[str, Any]:
    body = {"content": {"application/json": {"schema": schema}}}
    operation = {"operationId": "make", "tags": ["things"], "summary": "Create", "responses": {}}
    path = "/api/projects/{project_id}/things/{id}"
    return {
        "paths": {path: {"post": operation | {"requestBody": body}}},
        "components": {"schemas": {"Tree": {
            "type": "object", "required": ["child"],
            "properties": {"child": {"$ref": "#/components/schemas/Tree"}},
        }}},
    }  # fmt: skip


def test_a_quote_in_a_value_does_not_end_the_argument(tmp_path) -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"enum": ["it's; $(x)"]}}}
    command = run_script(
        tmp_path,
        'console.log(JSON.stringify(curl(openapi, operationsOf(openapi)[0], "http://h", "1; x")));',
        _document(schema),
    )
    words = [word for word in shlex.split(command) if word.strip()]

    assert words[3] == "http://h/api/projects/1%3B%20x/things/ID"
    assert json.loads(words[-1]) == {"a": "it's; $(x)"}


def test_a_schema_that_contains_itself_has_a_finite_sample(tmp_path) -> None:
    value = run_script(
        tmp_path,
        'console.log(JSON.stringify(sample(openapi, {"$ref": "#/components/schemas/Tree"})));',
        _document({}),
    )

    assert "child" in value


@pytest.mark.parametrize(
    ("search", "matches"),
    [
        ("", True),
        ("things", True),
        ("POST things", True),
        ("create  THINGS", True),
        ("get things", False),
        ("thingz", False),
    ],
)
def test_search_wants_every_word(tmp_path, search: str, matches: bool) -> None:
    program = f"console.log(matches(operationsOf(openapi)[0], {json.dumps(search)}));"

    assert run_script(tmp_path, program, _document({})) is matches
