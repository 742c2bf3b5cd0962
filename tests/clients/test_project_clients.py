"""Clients generated from the document of a whole project: variables of all types, insights.

The names are odd on purpose: ``all-types`` and ``all_types`` want the same name in most languages.
"""

from pathlib import Path
from typing import Any

import pytest

from support.clients import TOOLS, Post, run_json
from support.generators import openapi_generator, openapi_python_client, openapi_typescript
from support.server import KEY, TOKEN, RunningServer

pytestmark = pytest.mark.clients

TYPES: dict[str, Any] = {"String": None, "Number": 2, "Boolean": True, "Date": "2026-01-05"}
TYPES["List"] = ["a", "b"]
QUERY = """SELECT toInt(number) AS n, {variables.v_string} AS word, {variables.v_boolean} AS yes,
toDate({variables.v_date}) AS day, {variables.v_list} AS words
FROM numbers(5) WHERE number >= {variables.v_number}"""
ROWS = [[number, "x", False, "2026-02-03", ["c"]] for number in (3, 4)]


@pytest.fixture(scope="module")
def document(server: RunningServer, post: Post, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document of all endpoints that are here so far."""
    variables: dict[str, Any] = {}
    for kind, default in TYPES.items():
        created = post(
            "insight_variables", {"name": f"v {kind}", "type": kind, "default_value": default}
        )
        variables[created["id"]] = {"variableId": created["id"], "code_name": created["code_name"]}
    query = {"kind": "HogQLQuery", "query": QUERY, "variables": variables}
    trend = {"kind": "TrendsQuery", "series": [{"kind": "EventsNode", "event": "counted"}]}
    post("endpoints", {"name": "all-types", "query": query})
    post("endpoints", {"name": "all_types", "query": {"kind": "HogQLQuery", "query": "SELECT 1"}})
    post("endpoints", {"name": "Trend2", "query": trend | {"interval": "day"}})
    event = {"event": "counted", "distinct_id": "u", "properties": {}}
    captured = server.client.post("/batch/", json={"api_key": TOKEN, "batch": [event]})
    assert captured.status_code == 200
    response = server.client.get("/api/projects/1/endpoints/openapi.json")
    path = tmp_path_factory.mktemp("project") / "openapi.json"
    path.write_bytes(response.content)
    return path


def test_openapi_python_client(server: RunningServer, document: Path) -> None:
    openapi_python_client(document, document.parent / "python_client")
    program = f"""
import datetime, json
from python_client import AuthenticatedClient
from python_client.api.default import run_all_types, run_trend_2
from python_client.models import AllTypesRunRequest, AllTypesVariables, Trend2RunRequest
client = AuthenticatedClient(base_url={server.url!r}, token={KEY!r})
variables = AllTypesVariables(
    v_string="x", v_number=3, v_boolean=False, v_date=datetime.date(2026, 2, 3), v_list=["c"]
)
answer = run_all_types.sync(client=client, body=AllTypesRunRequest(variables=variables))
trend = run_trend_2.sync(client=client, body=Trend2RunRequest())
print(json.dumps([answer.results, sum(trend.results[0].data), trend.results[0].label]))
"""
    rows, count, label = run_json([TOOLS / "python", "-c", program], cwd=document.parent)
    assert rows == ROWS
    assert (count, label) == (1, "counted")


def test_openapi_generator(server: RunningServer, document: Path) -> None:
    created = document.parent / "generated"
    openapi_generator(document, created)
    program = f"""
import datetime, json
from generated_client import (
    AllTypesRunRequest, AllTypesVariables, ApiClient, Configuration, DefaultApi
)
configuration = Configuration(host={server.url!r}, access_token={KEY!r})
variables = AllTypesVariables(
    v_string="x", v_number=3, v_boolean=False, v_date=datetime.date(2026, 2, 3), v_list=["c"]
)
with ApiClient(configuration) as client:
    answer = DefaultApi(client).run_all_types(AllTypesRunRequest(variables=variables))
print(json.dumps(answer.columns))
"""
    columns = run_json([TOOLS / "python", "-c", program], cwd=created)
    assert columns == ["n", "word", "yes", "day", "words"]


TYPESCRIPT = """
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

declare const process: { argv: string[] };
const [url, key] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });
const all = "/api/projects/1/endpoints/all-types/run";
const variables = {
  v_string: "x", v_number: 3, v_boolean: false, v_date: "2026-02-03", v_list: ["c"],
};
const { data, error } = await client.POST(all, { body: { variables } });
if (data === undefined) throw new Error(JSON.stringify(error));
const trend = await client.POST("/api/projects/1/endpoints/Trend2/run", { body: {} });
const label: string | null | undefined = trend.data?.results[0].label;
console.log(JSON.stringify([data.results, label]));

// @ts-expect-error a number is wanted
const wrong = () => client.POST(all, { body: { variables: { v_string: "x", v_number: "3" } } });
// @ts-expect-error there is no such variable
const unknown: components["schemas"]["AllTypesVariables"] = { v_string: "x", other: 1 };
// @ts-expect-error there is no such endpoint
const missing = () => client.POST("/api/projects/1/endpoints/none/run", { body: {} });
export { missing, unknown, wrong };
"""


def test_openapi_typescript(server: RunningServer, document: Path) -> None:
    bundle = openapi_typescript(document, document.parent / "typescript", TYPESCRIPT)
    rows, label = run_json(["node", bundle, server.url, KEY])
    assert (rows, label) == (ROWS, "counted")
