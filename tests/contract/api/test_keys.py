"""Personal API keys and project secret keys over the API.

Source: docs/spec/data-and-queries.md#5-keys.
"""

import re
from typing import Any

import pytest

from support.endpoints import EndpointWorld

PERSONAL = "/api/personal_api_keys/"
BASE62 = re.compile(r"ph[xs]_[0-9A-Za-z]{43}")


def secret(endpoints: EndpointWorld) -> str:
    return f"/api/projects/{endpoints.project_id}/project_secret_api_keys/"


async def send(
    endpoints: EndpointWorld, method: str, path: str, body: Any = None, *, key: str = ""
) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {key}"} if key else None
    response = await endpoints.client.request(method, path, json=body, headers=headers)
    return response.status_code, response.json() if response.content else None


async def test_a_personal_key_is_shown_once(endpoints: EndpointWorld) -> None:
    body = {"label": "ci", "scopes": ["endpoint:read", "query:read"]}
    status, created = await send(endpoints, "POST", PERSONAL, body)
    assert status == 201
    assert BASE62.fullmatch(created["value"])
    assert created["scopes"] == body["scopes"]
    status, record = await send(endpoints, "GET", f"{PERSONAL}{created['id']}/")
    assert (status, record["value"]) == (200, None)
    assert record["mask_value"] == f"phx_...{created['value'][-4:]}"
    _, listed = await send(endpoints, "GET", PERSONAL)
    assert created["id"] in [each["id"] for each in listed]
    assert all(each["value"] is None for each in listed)
    status, current = await send(endpoints, "GET", f"{PERSONAL}@current/", key=created["value"])
    assert (status, current["id"]) == (200, created["id"])


async def test_rolling_kills_the_old_value_at_once(endpoints: EndpointWorld) -> None:
    _, created = await send(endpoints, "POST", PERSONAL, {"label": "a", "scopes": ["user:read"]})
    assert (await send(endpoints, "GET", "/api/users/@me/", key=created["value"]))[0] == 200
    status, rolled = await send(endpoints, "POST", f"{PERSONAL}{created['id']}/roll/")
    assert (status, rolled["id"]) == (200, created["id"])
    assert rolled["value"] not in {None, created["value"]}
    assert (await send(endpoints, "GET", "/api/users/@me/", key=created["value"]))[0] == 401
    assert (await send(endpoints, "GET", "/api/users/@me/", key=rolled["value"]))[0] == 200


async def test_a_deleted_key_is_dead(endpoints: EndpointWorld) -> None:
    _, created = await send(endpoints, "POST", PERSONAL, {"label": "a", "scopes": ["user:read"]})
    assert (await send(endpoints, "GET", "/api/users/@me/", key=created["value"]))[0] == 200
    assert (await send(endpoints, "DELETE", f"{PERSONAL}{created['id']}/"))[0] == 204
    assert (await send(endpoints, "GET", "/api/users/@me/", key=created["value"]))[0] == 401
    assert (await send(endpoints, "GET", f"{PERSONAL}{created['id']}/"))[0] == 404


async def test_a_user_has_ten_keys_of_the_api(endpoints: EndpointWorld) -> None:
    for number in range(10):
        body = {"label": str(number), "scopes": ["query:read"]}
        assert (await send(endpoints, "POST", PERSONAL, body))[0] == 201
    assert (await send(endpoints, "POST", PERSONAL, {"label": "x", "scopes": ["*"]}))[0] == 400


async def test_null_restricts_a_key_to_nothing(endpoints: EndpointWorld) -> None:
    body = {"label": "a", "scopes": ["query:read"], "scoped_teams": None}
    status, created = await send(endpoints, "POST", PERSONAL, body | {"scoped_organizations": None})
    assert (status, created["scoped_teams"], created["scoped_organizations"]) == (201, [], [])


@pytest.mark.parametrize(
    ("body", "attr"),
    [
        ({"scopes": ["query:read"]}, "label"),
        ({"label": "x" * 41, "scopes": ["query:read"]}, "label"),
        ({"label": "x"}, "scopes"),
        ({"label": "x", "scopes": []}, "scopes"),
        ({"label": "x", "scopes": ["query"]}, "scopes"),
        ({"label": "x", "scopes": ["quary:read"]}, "scopes"),
        ({"label": "x", "scopes": ["query:read"], "scoped_teams": [999999]}, "scoped_teams"),
        (
            {
                "label": "x",
                "scopes": ["query:read"],
                "scoped_organizations": ["0199b3f0-0000-7000-8000-000000000000"],
            },
            "scoped_organizations",
        ),
    ],
)
async def test_wrong_personal_keys_are_refused(
    endpoints: EndpointWorld, body: Any, attr: str
) -> None:
    status, problem = await send(endpoints, "POST", PERSONAL, body)
    assert (status, problem["attr"]) == (400, attr)


async def test_no_key_grants_more_than_it_has(endpoints: EndpointWorld) -> None:
    weak = await endpoints.world.add_key(["query:read"])
    for method, path in (("GET", PERSONAL), ("POST", PERSONAL)):
        body = {"label": "x", "scopes": ["*"]} if method == "POST" else None
        assert (await send(endpoints, method, path, body, key=weak))[0] == 403
    one_team = await endpoints.world.add_key(["*"], teams=[endpoints.project_id])
    wider = {"label": "x", "scopes": ["query:read"]}
    assert (await send(endpoints, "POST", PERSONAL, wider, key=one_team))[0] == 403
    same = wider | {"scoped_teams": [endpoints.project_id]}
    assert (await send(endpoints, "POST", PERSONAL, same, key=one_team))[0] == 201


async def test_the_last_key_with_everything_stays(endpoints: EndpointWorld) -> None:
    _, current = await send(endpoints, "GET", f"{PERSONAL}@current/")
    path = f"{PERSONAL}{current['id']}/"
    assert (await send(endpoints, "DELETE", path))[0] == 400
    assert (await send(endpoints, "PATCH", path, {"scopes": ["query:read"]}))[0] == 400
    _, other = await send(endpoints, "POST", PERSONAL, {"label": "x", "scopes": ["*"]})
    assert (await send(endpoints, "DELETE", path, key=other["value"]))[0] == 204


async def test_secret_keys(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="one")
    run = f"{endpoints.base}/one/run"
    body = {"label": "site", "scopes": ["endpoint:read"]}
    status, created = await send(endpoints, "POST", secret(endpoints), body)
    assert status == 201
    assert BASE62.fullmatch(created["value"])
    assert created["created_by"]["id"] == 1
    assert (await send(endpoints, "POST", run, {}, key=created["value"]))[0] == 200
    status, problem = await send(endpoints, "POST", secret(endpoints), body)
    assert (status, problem["attr"]) == (400, "label")
    for scopes in (["*"], ["endpoint:write"], ["insight:read"], []):
        wrong = {"label": "w", "scopes": scopes}
        status, problem = await send(endpoints, "POST", secret(endpoints), wrong)
        assert (status, problem["attr"]) == (400, "scopes")
    path = f"{secret(endpoints)}{created['id']}/"
    _, rolled = await send(endpoints, "POST", f"{path}roll/")
    assert (await send(endpoints, "POST", run, {}, key=created["value"]))[0] == 401
    assert (await send(endpoints, "POST", run, {}, key=rolled["value"]))[0] == 200
    _, changed = await send(endpoints, "PATCH", path, {"scopes": ["query:read"]})
    assert (changed["scopes"], changed["value"]) == (["query:read"], None)
    assert (await send(endpoints, "POST", run, {}, key=rolled["value"]))[0] == 403
    assert (await send(endpoints, "DELETE", path))[0] == 204
    assert (await send(endpoints, "POST", run, {}, key=rolled["value"]))[0] == 401
    _, listed = await send(endpoints, "GET", secret(endpoints))
    assert listed["count"] == 0


async def test_secret_keys_need_the_scope_of_projects(endpoints: EndpointWorld) -> None:
    reader = await endpoints.world.add_key(["project:read", "endpoint:read"])
    body = {"label": "x", "scopes": ["endpoint:read"]}
    assert (await send(endpoints, "GET", secret(endpoints), key=reader))[0] == 200
    assert (await send(endpoints, "POST", secret(endpoints), body, key=reader))[0] == 403
    writer = await endpoints.world.add_key(["project:write"])
    assert (await send(endpoints, "POST", secret(endpoints), body, key=writer))[0] == 403
    both = await endpoints.world.add_key(["project:write", "endpoint:read"])
    assert (await send(endpoints, "POST", secret(endpoints), body, key=both))[0] == 201


async def test_changes_of_keys_are_logged_without_values(endpoints: EndpointWorld) -> None:
    body = {"label": "site", "scopes": ["endpoint:read"]}
    _, created = await send(endpoints, "POST", secret(endpoints), body)
    await send(endpoints, "POST", f"{secret(endpoints)}{created['id']}/roll/")
    path = f"/api/projects/{endpoints.project_id}/activity_log/?scope=ProjectSecretAPIKey"
    _, log = await send(endpoints, "GET", path)
    assert [each["activity"] for each in log["results"]] == ["rolled", "created"]
    assert created["value"] not in str(log)
