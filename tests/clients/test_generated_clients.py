"""Clients generated from openapi.json compile, run, and return typed rows."""

from pathlib import Path

import pytest

from support.clients import TOOLS, Post, run_json
from support.generators import openapi_generator, openapi_python_client, openapi_typescript
from support.server import KEY, RunningServer

pytestmark = pytest.mark.clients

ROW = [3, "free", True, None, "2026-01-05T12:00:00Z", "0199c7b2-0000-7000-8000-000000000000"]
QUERY = """SELECT toInt(3) AS n, {variables.plan} AS plan, true AS yes, nullIf(1, 1) AS nothing,
toDateTime('2026-01-05 12:00:00') AS at, toUUID('0199c7b2-0000-7000-8000-000000000000') AS id,
1 AS `größe in cm`"""


@pytest.fixture(scope="module")
def document(server: RunningServer, post: Post, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document of an endpoint with a required variable and a column of an odd name."""
    server.client.patch("/api/projects/1/", json={"timezone": "UTC"})  # other clients change it
    variable = post("insight_variables", {"name": "plan", "type": "String"})
    definition = {"variableId": variable["id"], "code_name": "plan"}
    query = {"kind": "HogQLQuery", "query": QUERY, "variables": {variable["id"]: definition}}
    post("endpoints", {"name": "typed-rows", "query": query, "description": "Rows of all types."})
    response = server.client.get("/api/environments/1/endpoints/typed-rows/openapi.json")
    path = tmp_path_factory.mktemp("generated") / "openapi.json"
    path.write_bytes(response.content)
    return path


def test_openapi_python_client(server: RunningServer, document: Path) -> None:
    openapi_python_client(document, document.parent / "openapi_python_client")
    program = f"""
from openapi_python_client import AuthenticatedClient
from openapi_python_client.api.default import run_typed_rows as run
from openapi_python_client.models import EndpointRunRequest, Variables
client = AuthenticatedClient(base_url={server.url!r}, token={KEY!r})
answer = run.sync(client=client, body=EndpointRunRequest(variables=Variables(plan="free")))
import json
print(json.dumps([answer.results, answer.columns, answer.has_more]))
"""
    rows, columns, has_more = run_json([TOOLS / "python", "-c", program], cwd=document.parent)
    assert rows == [[*ROW, 1]]
    assert (columns[-1], has_more) == ("größe in cm", False)


def test_openapi_generator(server: RunningServer, document: Path) -> None:
    created = document.parent / "generated"
    openapi_generator(document, created)
    program = f"""
import json
from generated_client import ApiClient, Configuration, DefaultApi, EndpointRunRequest, Variables
configuration = Configuration(host={server.url!r}, access_token={KEY!r})
with ApiClient(configuration) as client:
    body = EndpointRunRequest(variables=Variables(plan="free"))
    answer = DefaultApi(client).run_typed_rows(body)
rows = [[cell and cell.actual_instance for cell in row] for row in answer.results]
print(json.dumps([rows, answer.columns, answer.has_more], default=str))
"""
    rows, columns, has_more = run_json([TOOLS / "python", "-c", program], cwd=created)
    assert rows == [[*ROW, 1]]
    assert (columns[-1], has_more) == ("größe in cm", False)


TYPESCRIPT = """
import createClient from "openapi-fetch";
import type { paths } from "./schema";

declare const process: { argv: string[] };
const path = "/api/environments/1/endpoints/typed-rows/run";
type Answer = paths[typeof path]["post"]["responses"][200]["content"];
type Cell = Answer["application/json"]["results"][number][number];

const texts: Cell[] = ["free", 3, null, true];
// @ts-expect-error a cell is no object
const wrong: Cell = { a: 1 };

const [url, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });
const { data, error } = await client.POST(path, { body: { variables: { plan: "free" } } });
if (data === undefined) throw new Error(JSON.stringify(error));
const rows: (string | number | boolean | null)[][] = data.results;
console.log(JSON.stringify([rows, data.columns, texts, wrong]));

// @ts-expect-error the variable is required
const missing = () => client.POST(path, { body: {} });
"""


def test_openapi_typescript(server: RunningServer, document: Path) -> None:
    bundle = openapi_typescript(document, document.parent / "typescript", TYPESCRIPT)
    rows, columns, *_ = run_json(["node", bundle, server.url, KEY])
    assert rows == [[*ROW, 1]]
    assert columns[0] == "n"
