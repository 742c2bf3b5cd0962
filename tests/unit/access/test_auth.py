"""Authorization: who gets access to a project, and the error for others."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest
from sqlalchemy import delete
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import AccessService, requires
from hoglet.access.bootstrap import ensure_first_project
from hoglet.access.principals import ProjectScope
from hoglet.access.rate_limit import MemoryWindows, RateLimit, RateLimiter, RateSettings
from hoglet.access.repository import hash_key
from hoglet.access.tables import PersonalKeyRow, UserRow
from hoglet.web.app import RequestPolicy, create_application
from hoglet.web.json_response import JsonResponse
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router
from support.access import NOW, World, open_world

router = Router()


@router.get("/things")
async def read(scope: Annotated[ProjectScope, Depends(requires("thing:read"))]) -> Response:
    return JsonResponse({"project": scope.project.id, "user": scope.user_id})


@router.post("/things")
async def write(
    request: Request, scope: Annotated[ProjectScope, Depends(requires("thing:write"))]
) -> Response:
    return JsonResponse({"project": scope.project.id, "body": await read_object(request)})


@router.get("/run")
async def run(
    scope: Annotated[ProjectScope, Depends(requires("endpoint:read", allow_secret_key=True))],
) -> Response:
    return JsonResponse({"project": scope.project.id, "user": scope.user_id})


@pytest.fixture
async def world(tmp_path: Path) -> AsyncGenerator[World]:
    async with open_world(tmp_path) as world:
        yield world


@pytest.fixture
async def client(world: World) -> AsyncGenerator[httpx.AsyncClient]:
    app = create_application(project_routers=[router], policy=RequestPolicy(log_requests=False))
    app.state.access = world.access
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://hoglet.test") as client:
        yield client


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def refusal(response: httpx.Response) -> tuple[int, str, str]:
    body = response.json()
    return response.status_code, body["type"], body["code"]


UNKNOWN = (401, "authentication_error", "authentication_failed")
MISSING = (401, "authentication_error", "not_authenticated")
DENIED = (403, "authentication_error", "permission_denied")
ABSENT = (404, "invalid_request", "not_found")


async def test_the_key_is_found_in_header_body_and_query(
    client: httpx.AsyncClient, world: World
) -> None:
    key = world.first.personal_api_key
    url = "/api/projects/1/things"

    by_header = await client.post(url, json={"a": 1}, headers=world.headers)
    by_body = await client.post(url, json={"a": 1, "personal_api_key": key})
    by_query = await client.post(f"{url}?personal_api_key={key}", json={"a": 1})

    for response in (by_header, by_body, by_query):
        assert response.json() == {"project": 1, "body": {"a": 1}}


async def test_only_the_first_key_found_is_tried(client: httpx.AsyncClient, world: World) -> None:
    key = world.first.personal_api_key
    url = f"/api/projects/1/things?personal_api_key={key}"

    wrong_header = await client.post(url, json={}, headers=bearer("phx_wrong"))
    wrong_body = await client.post(url, json={"personal_api_key": "phx_wrong"})
    other_scheme = await client.post(url, json={}, headers={"Authorization": "bearer phx_wrong"})

    assert refusal(wrong_header) == UNKNOWN
    assert "header" in wrong_header.json()["detail"]
    assert refusal(wrong_body) == UNKNOWN
    assert "body" in wrong_body.json()["detail"]
    assert other_scheme.status_code == 200


async def test_no_key_is_401_with_a_challenge(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/projects/1/things")

    assert refusal(response) == MISSING
    assert response.json()["detail"] == "Authentication credentials were not provided."
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[" * 2000,
        b"[1]",
        b'"x"',
        b'{"personal_api_key": 5}',
        b'"personal_api_key"',
        b'{"personal_api_key',
    ],
)
async def test_a_strange_body_without_a_key_is_401(
    client: httpx.AsyncClient, content: bytes
) -> None:
    response = await client.post("/api/projects/1/things", content=content)

    assert refusal(response) == MISSING


async def test_write_implies_read_but_not_the_reverse(
    client: httpx.AsyncClient, world: World
) -> None:
    writer = bearer(await world.add_key(["thing:write"]))
    reader = bearer(await world.add_key(["thing:read"]))

    assert (await client.get("/api/projects/1/things", headers=writer)).status_code == 200
    refused = await client.post("/api/projects/1/things", headers=reader)
    assert refusal(refused) == DENIED
    assert "'thing:write'" in refused.json()["detail"]


@pytest.mark.parametrize("wrong", ["999", "abc", "0", "-1", "1.0", "9" * 40, "٣", "%00"])
async def test_unknown_projects_are_404(
    client: httpx.AsyncClient, world: World, wrong: str
) -> None:
    response = await client.get(f"/api/projects/{wrong}/things", headers=world.headers)

    assert refusal(response) == ABSENT


async def test_current_is_the_users_project(client: httpx.AsyncClient, world: World) -> None:
    response = await client.get("/api/environments/@current/things/", headers=world.headers)

    assert response.json() == {"project": 1, "user": 1}


async def test_a_foreign_project_is_403(client: httpx.AsyncClient, world: World) -> None:
    foreign = await world.add_project(member=False)

    response = await client.get(f"/api/projects/{foreign.id}/things", headers=world.headers)

    assert refusal(response) == DENIED


async def test_restrictions_come_before_scopes(client: httpx.AsyncClient, world: World) -> None:
    second = await world.add_project()
    foreign = await world.add_project(member=False)
    by_team = bearer(await world.add_key([], teams=[second.id]))
    by_organization = bearer(await world.add_key(["*"], organizations=[foreign.organization_id]))
    fitting = bearer(await world.add_key(["thing:read"], teams=[1]))

    refused = await client.get("/api/projects/1/things", headers=by_team)
    assert refusal(refused) == DENIED
    assert "thing:read" not in refused.json()["detail"]
    refused = await client.get("/api/projects/1/things", headers=by_organization)
    assert refusal(refused) == DENIED
    assert (await client.get("/api/projects/1/things", headers=fitting)).status_code == 200


async def test_keys_of_inactive_users_are_invalid(client: httpx.AsyncClient, world: World) -> None:
    async with world.database.write() as session:
        user = await session.get(UserRow, 1)
        assert user is not None
        user.is_active = False

    response = await client.get("/api/projects/1/things", headers=world.headers)

    assert refusal(response) == UNKNOWN


async def test_secret_keys_work_only_where_allowed(client: httpx.AsyncClient, world: World) -> None:
    scopes = ["endpoint:read", "thing:read", "thing:write"]  # so that it is the kind that counts
    key = await world.add_secret_key(scopes=scopes)
    second = await world.add_project()

    allowed = await client.get("/api/projects/1/run", headers=bearer(key))
    current = await client.get("/api/projects/@current/run", headers=bearer(key))
    other_project = await client.get(f"/api/projects/{second.id}/run", headers=bearer(key))
    other_route = await client.get("/api/projects/1/things", headers=bearer(key))
    in_query = await client.get(f"/api/projects/1/run?personal_api_key={key}")
    in_body = await client.post("/api/projects/1/things", json={"personal_api_key": key})

    assert allowed.json() == {"project": 1, "user": None}
    assert current.status_code == 200
    assert refusal(other_project) == DENIED
    assert refusal(other_route) == DENIED
    assert "secret keys" in other_route.json()["detail"]
    assert refusal(in_query) == UNKNOWN
    assert refusal(in_body) == UNKNOWN


async def test_a_secret_key_needs_the_scope(client: httpx.AsyncClient, world: World) -> None:
    key = await world.add_secret_key(scopes=["other:read"])

    assert refusal(await client.get("/api/projects/1/run", headers=bearer(key))) == DENIED


async def test_last_use_moves_at_most_hourly(client: httpx.AsyncClient, world: World) -> None:
    async def used() -> Any:
        await client.get("/api/projects/1/things", headers=world.headers)
        async with world.database.read() as session:
            return (await session.get_one(PersonalKeyRow, key_id)).last_used_at

    principal = await world.access.identify(world.first.personal_api_key or "")
    assert principal is not None
    key_id = principal.key_id

    assert await used() == NOW
    world.clock.advance(seconds=3599)
    assert await used() == NOW
    world.clock.advance(seconds=2)
    assert await used() == NOW + timedelta(seconds=3601)


async def test_a_deleted_key_stops_working_when_memory_ends(world: World) -> None:
    access = AccessService(world.database, world.clock, cache_seconds=60)
    key = await world.add_key(["*"])
    assert await access.identify(key) is not None

    async with world.database.write() as session:
        await session.execute(
            delete(PersonalKeyRow).where(PersonalKeyRow.key_hash == hash_key(key))
        )

    assert await access.identify(key) is not None
    access.forget()
    assert await access.identify(key) is None


async def test_rate_limits_are_per_key_and_tell_when_to_come_back(
    client: httpx.AsyncClient, world: World
) -> None:
    now = [100.0]
    settings = RateSettings(per_key=RateLimit(per_minute=2))
    world.access.rates = RateLimiter(settings, MemoryWindows(lambda: now[0]))
    other = bearer(await world.add_key(["thing:read"]))
    url = "/api/projects/1/things"

    statuses = [(await client.get(url, headers=world.headers)).status_code for _ in range(3)]
    now[0] += 12.5
    refused = await client.get(url, headers=world.headers)

    assert statuses == [200, 200, 429]
    assert refusal(refused) == (429, "throttled_error", "throttled")
    assert refused.headers["retry-after"] == "48"
    detail = "Request was throttled. Expected available in 48 seconds."
    assert refused.json()["detail"] == detail
    assert (await client.get(url, headers=other)).status_code == 200
    now[0] += 47.5
    assert (await client.get(url, headers=world.headers)).status_code == 200


async def test_secret_keys_of_a_project_share_a_bucket(
    client: httpx.AsyncClient, world: World
) -> None:
    world.access.rates = RateLimiter(RateSettings(per_key=RateLimit(per_hour=2)))
    keys = [await world.add_secret_key() for _ in range(2)]

    statuses = [
        (await client.get("/api/projects/1/run", headers=bearer(key))).status_code
        for key in (*keys, keys[0])
    ]

    assert statuses == [200, 200, 429]


async def test_bootstrap_is_idempotent_and_takes_given_values(world: World) -> None:
    again = await ensure_first_project(world.database, world.clock)
    given = await ensure_first_project(
        world.database, world.clock, personal_api_key="phx_given", project_token="phc_given"
    )
    repeated = await ensure_first_project(
        world.database, world.clock, personal_api_key="phx_given", project_token="phc_given"
    )

    assert (again.created, again.project_id) == (False, 1)
    assert again.project_token == world.first.project_token
    assert given == repeated
    project = await world.access.project_by_token("phc_given")
    assert project is not None
    assert project.id == 1
    assert await world.access.identify("phx_given") is not None
    assert await world.access.identify(world.first.personal_api_key or "") is not None
