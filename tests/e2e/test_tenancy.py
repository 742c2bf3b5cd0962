"""Nothing of a project is visible or changeable from another one.

Generated from the server's own list of routes and tables: a new route fails here until the seeds
(``tests/support/fuzz_seeds.py``) make what its parameters name, a new table until it has rows.
"""

import asyncio
import json
import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from hoglet.access import provisioning
from hoglet.kit.clock import SystemClock
from hoglet.store.database import Database
from support.fuzz_parameters import Json, P, Seeds
from support.fuzz_seeds import seed
from support.server import RunningServer
from support.waiting import wait_for

_PARAMETER = re.compile(r"\{(\w+)\}")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
METHODS = ("get", "post", "put", "patch", "delete")
OF_ALL_PROJECTS = (
    f"{P}/hog_function_templates",  # one list for everybody
    f"{P}/query/{{kind}}",  # the parameter names no object
    # an unknown function is tried as the configuration that was sent
    f"{P}/hog_functions/{{function_id}}/invocations",
)
ENDLESS = "logs/stream"
EMPTY_TABLES = {
    # nothing in hoglet fills these
    "batch_export_log_entries",
    "console_logs_log_entries",
    "heatmaps",
    "session_replay_events",
    "raw_session_replay_events",
    # filled by what the seeds do not do; their scans are checked in tests/unit/hogql
    "person_distinct_id_overrides",
    "sessions",
    "raw_sessions",
    "groups",
    "system.groups",
    "system.group_type_mappings",
    "system.ingestion_warnings",
    "system.integrations",
    "cohort_people",
    "static_cohort_people",
}


@dataclass
class Tenants:
    """A server with one of everything in project 1, and nothing in another project."""

    server: RunningServer
    seeds: Seeds
    other: int
    paths: Json

    @property
    def client(self) -> httpx.Client:
        return self.server.client

    def operations(self) -> list[tuple[str, str]]:
        """Methods and paths of all routes below a project."""
        return [
            (method.upper(), path)
            for path, operations in self.paths.items()
            if path.startswith(P) and not path.endswith(ENDLESS)
            for method in METHODS
            if method in operations
        ]

    def parameters_of(self, method: str, path: str) -> Json:
        """Parameters that name something of project 1."""
        label = f"{method} {path}"
        fitting = [at for at in self.seeds.places if label.startswith(at) or path.startswith(at)]
        return self.seeds.places[max(fitting, key=len)][0]

    def select(self, project: int, table: str) -> list[Any]:
        node = {"kind": "HogQLQuery", "query": f"select * from {table} limit 1000"}
        body = {"query": node, "refresh": "force_blocking"}
        response = self.client.post(f"/api/projects/{project}/query/", json=body)
        assert response.status_code == 200, (table, response.text)
        return response.json()["results"]


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Generator[Tenants]:
    folder = tmp_path_factory.mktemp("tenants") / "data"
    server = RunningServer(folder).start()

    def post(noun: str, body: Any) -> Any:
        response = server.client.post(f"/api/projects/1/{noun}/", json=body)
        assert response.status_code == 201, response.text
        return response.json()

    seeds = seed(server, post, Seeds(spare_count=1))
    other = asyncio.run(_other_project(f"sqlite+aiosqlite:///{folder.absolute()}/hoglet.db"))
    paths = server.client.get("/api/schema").json()["paths"]
    yield Tenants(server, seeds, other, paths)
    server.stop()


async def _other_project(url: str) -> int:
    database = Database(url)
    async with database.write() as session:
        project = await provisioning.create_project(session, SystemClock(), name="Theirs")
    await database.close()
    return project.id


def test_no_route_knows_what_is_of_another_project(tenants: Tenants) -> None:
    known: list[str] = []
    unseeded: list[str] = []
    for method, path in tenants.operations():
        names = set(_PARAMETER.findall(path)) - {"project_id"}
        if not names or path.startswith(OF_ALL_PROJECTS):
            continue
        parameters = tenants.parameters_of(method, path)
        if names - set(parameters):
            unseeded.append(f"{method} {path}: {sorted(names - set(parameters))}")
            continue
        bodies = tenants.seeds.bodies.get(f"{method} {path}") or [{}]
        body = json.loads(json.dumps(bodies[-1]).replace("$number", "7"))
        url = path.format(**{"project_id": tenants.other, **parameters})
        response = tenants.client.request(method, url, json=None if method == "GET" else body)
        is_empty = response.status_code == 200 and response.json().get("results") == []
        if response.status_code not in {404, 405} and not is_empty:
            known.append(f"{method} {url}: {response.status_code} {response.text[:200]}")
    assert unseeded == []
    assert "\n".join(known) == ""


def test_what_was_seeded_is_still_there(tenants: Tenants) -> None:
    """The requests of the test above would have done something in the project of their objects."""
    for method, path in tenants.operations():
        names = set(_PARAMETER.findall(path)) - {"project_id"}
        if method != "GET" or not names or path.startswith(OF_ALL_PROJECTS):
            continue
        url = path.format(**{"project_id": 1, **tenants.parameters_of(method, path)})
        response = tenants.client.get(url)
        assert response.status_code in {200, 202}, (url, response.text)


def test_no_list_shows_what_is_of_another_project(tenants: Tenants) -> None:
    ids = {
        uuid
        for places in tenants.seeds.places.values()
        for uuid in _UUID.findall(json.dumps(places))
    }
    assert len(ids) > 10
    for method, path in tenants.operations():
        if method != "GET" or set(_PARAMETER.findall(path)) != {"project_id"}:
            continue
        if path.startswith(OF_ALL_PROJECTS):
            continue
        queries = tenants.seeds.query.get(f"GET {path}") or {}
        params = {name: values[0] for name, values in queries.items()}
        response = tenants.client.get(path.format(project_id=tenants.other), params=params)
        assert response.status_code < 500, (path, response.text)
        sent = json.dumps(params)
        leaked = {each for each in ids if each in response.text and each not in sent}
        assert leaked == set(), path
        body = response.json() if "json" in response.headers.get("content-type", "") else {}
        if isinstance(body, dict) and "activity" not in path:
            assert body.get("results") in (None, []), (path, body)


def test_no_table_shows_rows_of_another_project(tenants: Tenants) -> None:
    node = {"kind": "DatabaseSchemaQuery"}
    answer = tenants.client.post("/api/projects/1/query/", json={"query": node}).json()
    tables = {
        name for name, each in answer["tables"].items() if each["type"] != "materialized_view"
    }
    assert len(tables) > 25
    _until_stored(tenants)
    assert {table for table in tables if not tenants.select(1, table)} - EMPTY_TABLES == set()
    assert [row[0] for row in tenants.select(tenants.other, "system.teams")] == [tenants.other]
    own = {"system.teams", "query_log", "system.activity_logs"}
    for table in sorted(tables - own):
        assert tenants.select(tenants.other, table) == [], table
    logged = tenants.select(tenants.other, "query_log")
    assert not any("seed" in row for row in logged)  # the id of a query of project 1
    changes = tenants.select(tenants.other, "system.activity_logs")
    assert {row[1] for row in changes} <= {tenants.other}
    for name, each in answer["tables"].items():
        if each["type"] == "materialized_view":
            query = {"kind": "HogQLQuery", "query": f"select * from {name}"}
            refused = tenants.client.post(
                f"/api/projects/{tenants.other}/query/", json={"query": query}
            )
            assert (refused.status_code, refused.json()["code"]) == (400, "unknown_table"), name


def test_bodies_that_name_objects_of_another_project(tenants: Tenants) -> None:
    base = f"/api/projects/{tenants.other}"
    cohort = tenants.seeds.places[f"{P}/cohorts/{{cohort_id}}"][0]["cohort_id"]
    person = tenants.seeds.places[f"{P}/persons/{{person_id}}"][0]["person_id"]
    variable = tenants.seeds.places[f"{P}/insight_variables"][0]["variable_id"]
    trend = {"kind": "TrendsQuery", "series": [{"event": "a"}]}
    rule = {"type": "cohort", "key": "id", "value": cohort}
    entry = {variable: {"variableId": variable, "code_name": "n"}}
    hogql = {"kind": "HogQLQuery", "query": "select {variables.n}", "variables": entry}
    function = {"type": "destination", "name": "f", "hog": "return 1", "enabled": True}
    refused: list[tuple[str, Json]] = [
        ("query/", {"query": trend | {"properties": [rule]}}),
        ("query/", {"query": {"kind": "HogQLQuery", "query": _in_cohort(cohort)}}),
        ("query/", {"query": hogql}),
        ("query/", {"query": trend | {"series": [{"kind": "ActionsNode", "id": 1}]}}),
        ("query/", {"query": {"kind": "EventsQuery", "select": ["*"], "actionId": 1}}),
        ("cohorts/", {"name": "c", "filters": {"properties": {"type": "AND", "values": [rule]}}}),
        ("endpoints/", {"name": "e", "query": hogql}),
        ("hog_functions/", function | {"filters": {"actions": [{"id": 1, "type": "actions"}]}}),
        ("hog_functions/", function | {"filters": {"properties": [rule]}}),
    ]
    for path, body in refused:
        response = tenants.client.post(f"{base}/{path}", json=body)
        assert response.status_code == 400, (path, body, response.text)
    deleted = tenants.client.post(f"{base}/persons/bulk_delete/", json={"ids": [person]})
    assert deleted.json()["persons_found"] == 0
    static = {"name": "s", "is_static": True, "_create_static_person_ids": [person]}
    created = tenants.client.post(f"{base}/cohorts/", json=static).json()
    record = wait_for(
        lambda: tenants.client.get(f"{base}/cohorts/{created['id']}/").json(),
        lambda cohort: not cohort["is_calculating"],
    )
    assert record["count"] == 0


def _in_cohort(cohort: int) -> str:
    return f"select count() from events where person_id in cohort {cohort}"


def _until_stored(tenants: Tenants) -> None:
    """Logs and metrics reach the warehouse a moment later."""
    for table in ("events", "persons", "app_metrics", "log_entries", "query_log"):
        wait_for(lambda table=table: tenants.select(1, table))
