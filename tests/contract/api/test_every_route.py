"""Invariants of every route below a project.

No key → 401; another organization's project → 403; no such project → 404; each in the one error
shape, and never a 500, whatever is in the body.
"""

import asyncio
import re
from collections.abc import Generator
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import httpx
import psycopg
import pytest
from cryptography.fernet import Fernet
from psycopg.sql import SQL, Identifier
from sqlalchemy.engine import make_url
from starlette.applications import Starlette
from starlette.routing import Route

from hoglet.access.bootstrap import ensure_first_project
from hoglet.access.tables import OrganizationRow, ProjectRow
from hoglet.app.http.application import build_application
from hoglet.app.services.container import Services, open_services
from hoglet.app.services.features import build_features
from hoglet.kit.clock import new_id
from hoglet.settings import Settings
from hoglet.warehouse import ClickHouseWarehouse
from support.documented import ASYNC_RESPONSE_HOOKS
from support.seeds import thinned
from support.server import KEY
from support.warehouses import KEEP

PREFIX = "/api/projects/{project_id}"
FOREIGN = "2"
SOME_ID = "01890000-0000-7000-8000-000000000000"
HEALTHY = {"type", "code", "detail", "attr"}
# DELETE of a function is the one empty error body
# (docs/spec/hog-functions.md#12-errors-keys-rate-limits).
ALWAYS_EMPTY = ("DELETE", f"{PREFIX}/hog_functions/{{function_id}}")


class Hoglet(NamedTuple):
    """The whole application, opened once for this module."""

    app: Starlette
    services: Services
    runner: asyncio.Runner

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        return self.runner.run(self._send(method, path, **more))

    async def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://hoglet.test", event_hooks=ASYNC_RESPONSE_HOOKS
        ) as client:
            return await client.request(method, path, **more)

    @property
    def signed_in(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {KEY}"}


@pytest.fixture(scope="module", params=thinned(["sqlite", "postgres"], 2))
def hoglet(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Hoglet]:
    folder = tmp_path_factory.mktemp("hoglet")
    url = None
    if request.param == "postgres":
        url = _new_postgres_database(request.getfixturevalue("postgres_server"))
    warehouse: ClickHouseWarehouse = request.getfixturevalue("warehouse")
    settings = Settings(  # pyright: ignore[reportCallIssue]
        data_dir=folder,
        roles=["api", "pipeline"],  # its workers are not begun here
        database_url=url,
        warehouse_url=warehouse.url,
        logs_retention_days=KEEP.log_days,  # of the warehouse that all tests share
        metrics_retention_days=KEEP.metric_days,
        secret_keys=[Fernet.generate_key().decode()],
    )
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        app, services = runner.run(_open(stack, settings))
        yield Hoglet(app, services, runner)
        runner.run(stack.aclose())


def _new_postgres_database(server: str) -> str:
    name = f"every_route_{new_id().hex}"  # workers of the suite share the server
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    url = make_url(server).set(drivername="postgresql+psycopg", database=name)
    return url.render_as_string(hide_password=False)


async def _open(stack: AsyncExitStack, settings: Settings) -> tuple[Starlette, Services]:
    services = await stack.enter_async_context(open_services(settings))
    await ensure_first_project(services.database, services.clock, personal_api_key=KEY)
    app = build_application(services, build_features(services))
    await stack.enter_async_context(app.router.lifespan_context(app))
    now = services.clock.now()
    async with services.database.write() as session:
        others = OrganizationRow(
            id=new_id(), name="Others", slug="others", created_at=now, updated_at=now
        )
        session.add(others)
        await session.flush()
        project = ProjectRow(
            uuid=new_id(),
            organization_id=others.id,
            api_token="phc_others",
            name="Theirs",
            created_at=now,
            updated_at=now,
        )
        session.add(project)
        await session.flush()
        assert str(project.id) == FOREIGN
    return app, services


def project_routes(hoglet: Hoglet) -> list[tuple[str, str]]:
    """Methods with the paths of all routes below a project."""
    return [
        (method, route.path)
        for route in hoglet.app.routes
        if isinstance(route, Route) and route.path.startswith(PREFIX)
        for method in sorted((route.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def fill(path: str, project: str) -> str:
    return re.sub(r"\{[^}]+\}", SOME_ID, path.replace("{project_id}", project))


def check_shape(method: str, path: str, response: httpx.Response) -> None:
    if (method, path) == ALWAYS_EMPTY and response.status_code == 405:
        assert response.content == b""
        return
    body = response.json()
    assert set(body) >= HEALTHY, (method, path, body)
    assert all(isinstance(body[key], str) for key in ("type", "code", "detail")), (path, body)
    assert body["attr"] is None or isinstance(body["attr"], str), (path, body)


def test_there_are_routes_to_check(hoglet: Hoglet) -> None:
    paths = {path for _, path in project_routes(hoglet)}

    assert PREFIX in paths
    for noun in ("hog_functions", "endpoints", "insight_variables", "activity_log"):
        assert any(path.startswith(f"{PREFIX}/{noun}") for path in paths), noun


@pytest.mark.parametrize("prefix", ["projects", "environments"])
def test_no_key_is_401(hoglet: Hoglet, prefix: str) -> None:
    for method, path in project_routes(hoglet):
        url = fill(path, "1").replace("/api/projects", f"/api/{prefix}") + "/"
        response = hoglet.send(method, url, json={} if method != "GET" else None)
        assert response.status_code == 401, (method, path, response.text)
        assert response.headers["www-authenticate"] == "Bearer", (method, path)
        assert response.json()["code"] == "not_authenticated", (method, path)
        check_shape(method, path, response)


def test_a_wrong_key_is_401(hoglet: Hoglet) -> None:
    for method, path in project_routes(hoglet):
        response = hoglet.send(
            method, fill(path, "1"), headers={"Authorization": "Bearer phx_wrong"}
        )
        assert response.status_code == 401, (method, path, response.text)
        assert response.json()["code"] == "authentication_failed", (method, path)


@pytest.fixture(scope="module")
def tenant_headers(hoglet: Hoglet) -> dict[str, str]:
    """Those of a tenant token that names an endpoint with the id that paths are filled with."""
    endpoint = {"name": "named", "query": {"kind": "HogQLQuery", "query": "SELECT 1"}}
    created = hoglet.send(
        "POST", "/api/projects/1/endpoints/", headers=hoglet.signed_in, json=endpoint
    )
    assert created.status_code == 201, created.text
    body = {"endpoints": ["named"], "expires_in": 3600}
    url = "/api/projects/1/tenant_tokens/"
    answer = hoglet.send("POST", url, headers=hoglet.signed_in, json=body)
    assert answer.status_code == 201, answer.text
    return {"Authorization": f"Bearer {answer.json()['token']}"}


RUN = f"{PREFIX}/endpoints/{{name}}/run"


@pytest.mark.parametrize("project", ["1", FOREIGN, "999", "nonsense", "@current"])
def test_a_tenant_token_is_403_but_for_runs(
    hoglet: Hoglet, tenant_headers: dict[str, str], project: str
) -> None:
    for method, path in project_routes(hoglet):
        if (path == RUN and method != "DELETE") or path.endswith("/mcp"):
            continue  # held by contract/endpoints/test_tenant_tokens.py and test_mcp.py
        for url in (fill(path, project), fill(path, project).replace(SOME_ID, "named")):
            response = hoglet.send(method, url, headers=tenant_headers, json={})
            assert response.status_code == 403, (method, url, response.text)
            check_shape(method, path, response)


def test_a_tenant_token_runs_what_it_names(hoglet: Hoglet, tenant_headers: dict[str, str]) -> None:
    for method in ("GET", "POST"):
        named = fill(RUN, "1").replace(SOME_ID, "named")
        assert hoglet.send(method, named, headers=tenant_headers).status_code == 200
        other = hoglet.send(method, fill(RUN, "1"), headers=tenant_headers)
        assert other.status_code == 403
        foreign = hoglet.send(method, named.replace("/1/", f"/{FOREIGN}/"), headers=tenant_headers)
        assert foreign.status_code == 403


def test_a_tenant_token_is_refused_outside_of_projects(
    hoglet: Hoglet, tenant_headers: dict[str, str]
) -> None:
    """Routes that need a key refuse it; public ones answer as they do without a key."""
    for route in hoglet.app.routes:
        if not isinstance(route, Route) or route.path.startswith(PREFIX):
            continue
        if route.path == "/mcp":  # held by contract/endpoints/test_mcp.py
            continue
        for method in sorted((route.methods or set()) - {"HEAD", "OPTIONS"}):
            url = fill(route.path, "1")
            response = hoglet.send(method, url, headers=tenant_headers, json={})
            without = hoglet.send(method, url, json={})
            if without.status_code == 401 and without.json()["code"] == "not_authenticated":
                assert response.status_code == 403, (method, url, response.text)
            else:
                assert response.status_code == without.status_code, (method, url, response.text)


def test_a_forged_tenant_token_is_401(hoglet: Hoglet, tenant_headers: dict[str, str]) -> None:
    headers = {"Authorization": tenant_headers["Authorization"][:-2] + "AA"}
    for method, path in project_routes(hoglet):
        response = hoglet.send(method, fill(path, "1"), headers=headers, json={})
        assert response.status_code == 401, (method, path, response.text)
        assert response.json()["code"] == "authentication_failed", (method, path)


def test_another_organizations_project_is_403(hoglet: Hoglet) -> None:
    for method, path in project_routes(hoglet):
        response = hoglet.send(method, fill(path, FOREIGN), headers=hoglet.signed_in, json={})
        assert response.status_code == 403, (method, path, response.text)
        check_shape(method, path, response)


@pytest.mark.parametrize("project", ["999", "nonsense"])
def test_an_unknown_project_is_404(hoglet: Hoglet, project: str) -> None:
    for method, path in project_routes(hoglet):
        response = hoglet.send(method, fill(path, project), headers=hoglet.signed_in, json={})
        assert response.status_code == 404, (method, path, response.text)
        check_shape(method, path, response)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff",
        b"[]",
        b'"text"',
        b"[" * 400,
        b'{"name": {"a": [null]}, "query": [1], "hog": 5, "inputs": "x", "filters": [2]}',
        b'{"name": "\\u0000", "hog": "\\u0000", "description": null, "type": []}',
    ],
)
def test_strange_bodies_are_never_a_500(hoglet: Hoglet, body: bytes) -> None:
    headers = {**hoglet.signed_in, "Content-Type": "application/json"}
    for method, path in project_routes(hoglet):
        response = hoglet.send(method, fill(path, "1"), headers=headers, content=body)
        assert response.status_code < 500, (method, path, body, response.text)
        if response.status_code >= 400:
            check_shape(method, path, response)


@pytest.mark.parametrize(
    "query",
    [
        "limit=-1&offset=x",
        "limit=99999999999999999999&offset=99999999999999999999",
        "search=%00&filters=[&filter_groups={&id=x&created_by=y&after=z&before=%ff",
        "version=abc&interval=x&level=%00&instance_id=x&name=&kind=&breakdown_by=q",
        "after=0001-01-01&before=9999-12-31T23:59:59%2B23:59",
    ],
)
def test_strange_queries_are_never_a_500(hoglet: Hoglet, query: str) -> None:
    for method, path in project_routes(hoglet):
        if method != "GET":
            continue
        response = hoglet.send("GET", f"{fill(path, '1')}?{query}", headers=hoglet.signed_in)
        assert response.status_code < 500, (path, query, response.text)
