"""The bootstrap routes in their specified shapes."""

from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, FieldChange
from hoglet.access.api import project as api_project
from hoglet.access.api import sdk_config
from hoglet.access.api import user as api
from hoglet.access.hooks import FileEntry
from hoglet.access.principals import Project
from hoglet.web.app import RequestPolicy, create_application
from support.access import NOW, World, open_world

TEAM_KEYS = {
    "id",
    "uuid",
    "organization",
    "api_token",
    "name",
    "timezone",
    "is_demo",
    "ingested_event",
    "completed_snippet_onboarding",
    "access_control",
}
P = "/api/projects/1"


@pytest.fixture
async def world(tables_url: str) -> AsyncGenerator[World]:
    """Once on SQLite, once on PostgreSQL."""
    async with open_world(tables_url) as world:
        yield world


@pytest.fixture
async def client(world: World) -> AsyncGenerator[httpx.AsyncClient]:
    app = create_application(
        routers=[api.router, sdk_config.router],
        project_routers=[api_project.router],
        policy=RequestPolicy(log_requests=False),
    )
    app.state.access = world.access
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://hoglet.test", headers=world.headers
    ) as client:
        yield client


async def get(client: httpx.AsyncClient, url: str, status: int = 200) -> Any:
    response = await client.get(url)
    assert response.status_code == status, response.text
    return response.json()


def refusal(response: httpx.Response) -> tuple[int, str, str | None]:
    body = response.json()
    return response.status_code, body["code"], body["attr"]


async def test_me_shows_user_team_and_organizations(
    client: httpx.AsyncClient, world: World
) -> None:
    me = await get(client, "/api/users/@me/")

    assert set(me["team"]) == TEAM_KEYS
    assert me["team"]["api_token"] == world.first.project_token
    assert me["organization"]["id"] == me["organizations"][0]["id"] == me["team"]["organization"]
    assert me["organizations"][0]["membership_level"] == 15
    assert me["date_joined"] == "2026-01-05T12:00:00.000000Z"


async def test_me_without_a_project_in_reach_shows_the_first_organization(
    client: httpx.AsyncClient, world: World
) -> None:
    key = await world.add_key(["*"], teams=[999])

    response = await client.get("/api/users/@me/", headers={"Authorization": f"Bearer {key}"})

    me = response.json()
    assert (response.status_code, me["team"]) == (200, None)
    assert me["organization"]["id"] == me["organizations"][0]["id"]


async def test_the_current_key_is_shown_without_its_value(
    client: httpx.AsyncClient, world: World
) -> None:
    key = await world.add_key(["a:read"], teams=[1])

    response = await client.get(
        "/api/personal_api_keys/@current", headers={"Authorization": f"Bearer {key}"}
    )

    body = response.json()
    assert (body["scopes"], body["scoped_teams"], body["user_id"]) == (["a:read"], [1], 1)
    assert body["mask_value"] == f"phx_...{key[-4:]}"
    assert body["last_used_at"] == "2026-01-05T12:00:00.000000Z"
    assert key not in response.text


async def test_organizations_are_those_of_the_caller(
    client: httpx.AsyncClient, world: World
) -> None:
    foreign = await world.add_project(member=False)
    current = await get(client, "/api/organizations/@current/")

    by_id = await get(client, f"/api/organizations/{current['id']}")
    listed = await get(client, "/api/organizations/")
    assert listed["results"] == [current]
    assert current == by_id
    assert current["member_count"] == 1
    assert [team["id"] for team in current["teams"]] == [1]
    assert set(current["projects"][0]) == {"id", "organization_id", "name"}
    await get(client, f"/api/organizations/{foreign.organization_id}", 404)
    await get(client, "/api/organizations/nonsense", 404)


async def test_lists_of_projects_hold_what_the_key_reaches(
    client: httpx.AsyncClient, world: World
) -> None:
    second = await world.add_project()
    await world.add_project(member=False)
    key = await world.add_key(["*"], teams=[second.id])

    for url in ("/api/projects/", "/api/environments/", "/api/organizations/@current/projects/"):
        body = await get(client, url)
        assert (body["count"], body["next"], body["previous"]) == (2, None, None)
        assert set(body["results"][0]) == TEAM_KEYS
        narrow = await client.get(url, headers={"Authorization": f"Bearer {key}"})
        assert [each["id"] for each in narrow.json()["results"]] == [second.id]
    paged = await get(client, "/api/projects/?limit=1")
    assert paged["next"] == "http://hoglet.test/api/projects/?limit=1&offset=1"


async def test_a_project_can_be_read_and_changed(client: httpx.AsyncClient, world: World) -> None:
    reported: list[str] = []

    async def report(_session: AsyncSession, project: Project) -> None:
        reported.append(project.timezone)

    world.access.providers.project_changed = (report,)
    before = await get(client, "/api/environments/@current/")
    filters = [{"key": "email", "value": "@hoglet.dev", "operator": "not_icontains"}]
    changes = {
        "name": " Shop ",
        "timezone": "Europe/Berlin",
        "app_urls": ["https://shop.example"],
        "test_account_filters": filters,
        "week_start_day": 1,
        "api_token": "phc_mine",
    }

    after = (await client.patch(f"{P}/", json=changes)).json()

    assert before["app_urls"] == []
    assert before["group_types"] == []
    assert (after["name"], after["timezone"]) == ("Shop", "Europe/Berlin")
    assert after["test_account_filters"] == filters
    assert (before["week_start_day"], after["week_start_day"]) == (0, 1)
    assert after["api_token"] == world.first.project_token
    assert (await get(client, f"{P}/")) == after
    assert (await client.patch(f"{P}/", json={"name": "Shop"})).status_code == 200
    assert reported == ["Europe/Berlin"]
    log = await get(client, f"{P}/activity_log/?scope=Team")
    assert {change["field"] for change in log["results"][0]["detail"]["changes"]} == {
        "name",
        "timezone",
        "app_urls",
        "test_account_filters",
        "week_start_day",
    }


@pytest.mark.parametrize(
    ("body", "code", "attr"),
    [
        ({"name": " "}, "blank", "name"),
        ({"name": None}, "null", "name"),
        ({"name": "x" * 201}, "max_length", "name"),
        ({"name": "a\u0000b"}, "invalid_input", "name"),
        ({"timezone": "Mars/Base"}, "invalid_choice", "timezone"),
        ({"app_urls": "x"}, "not_a_list", "app_urls"),
        ({"test_account_filters": [1]}, "not_a_dict", "test_account_filters__0"),
        *(
            (
                {"test_account_filters": [{"type": "AND", "values": []}, bad]},
                "invalid_input",
                "test_account_filters__1",
            )
            for bad in (
                {"foo": 1},
                {"key": "", "value": "x", "type": "person"},
                {"key": "email", "value": "x", "type": "persn"},
                {"key": "email", "value": "x", "type": ["person"]},
                {"key": "email", "value": "x", "type": "person", "operator": "like"},
                {"key": "email", "value": ["("], "type": "person", "operator": "regex"},
                {"key": "age", "value": [5], "type": "person", "operator": "between"},
                {"key": "id", "value": "staff", "type": "cohort", "operator": "in"},
                {"key": "id", "value": 1, "type": "cohort", "operator": ["in"]},
                {"type": "OR", "values": [{"type": "OR", "values": [{"value": "x"}]}]},
                {"type": "OR", "values": [1]},
            )
        ),
        *(
            ({"week_start_day": value}, "invalid_choice", "week_start_day")
            for value in (2, -1, "1", True, 1.5)
        ),
        ({"week_start_day": None}, "null", "week_start_day"),
    ],
)
async def test_bad_changes_to_a_project(
    client: httpx.AsyncClient, body: Any, code: str, attr: str
) -> None:
    response = await client.patch(f"{P}/", json=body)

    assert refusal(response) == (400, code, attr)


async def test_variables_from_creation_to_deletion(client: httpx.AsyncClient) -> None:
    created = await client.post(
        f"{P}/insight_variables/",
        json={"name": "Plan (Paid) 2", "type": "String", "default_value": "pro", "code_name": "x"},
    )
    variable = created.json()
    url = f"{P}/insight_variables/{variable['id']}/"

    assert created.status_code == 201
    assert set(variable) == {
        "id",
        "name",
        "type",
        "default_value",
        "code_name",
        "values",
        "is_multi",
        "created_by",
        "created_at",
    }
    assert variable["code_name"] == "plan_paid_2"
    duplicate = await client.post(
        f"{P}/insight_variables/", json={"name": "plan paid 2", "type": "Number"}
    )
    assert refusal(duplicate) == (400, "invalid_input", None)
    changed = await client.patch(url, json={"default_value": [1, None], "name": "Other"})
    assert changed.json() == {**variable, "default_value": [1, None], "name": "Other"}
    listed = await get(client, f"{P}/insight_variables/")
    assert (listed["count"], listed["results"]) == (1, [changed.json()])
    deleted = await client.delete(url)
    assert (deleted.status_code, deleted.content) == (204, b"")
    await get(client, url, 404)


@pytest.mark.parametrize(
    ("body", "code", "attr"),
    [
        ({"type": "String"}, "required", "name"),
        ({"name": "x"}, "required", "type"),
        ({"name": "", "type": "String"}, "blank", "name"),
        ({"name": "!!", "type": "String"}, "invalid_input", "name"),
        ({"name": "x", "type": "Text"}, "invalid_choice", "type"),
        ({"name": "x", "type": "List", "values": "a"}, "not_a_list", "values"),
        ({"name": "x", "type": "Number", "default_value": "a"}, "invalid_input", "default_value"),
        ({"name": "x", "type": "Number", "default_value": "NaN"}, "invalid_input", "default_value"),
        ({"name": "x", "type": "Boolean", "default_value": "?"}, "invalid_input", "default_value"),
        (
            {"name": "x", "type": "Date", "default_value": "2026-02-31"},
            "invalid_input",
            "default_value",
        ),
        ({"name": "x", "type": "String", "default_value": {}}, "invalid_input", "default_value"),
    ],
)
async def test_bad_variables(client: httpx.AsyncClient, body: Any, code: str, attr: str) -> None:
    response = await client.post(f"{P}/insight_variables", json=body)

    assert refusal(response) == (400, code, attr)


@pytest.mark.parametrize("kind", ["String", "Number", "Boolean", "List", "Date"])
async def test_an_empty_default_is_stored(client: httpx.AsyncClient, kind: str) -> None:
    body = {"name": "x", "type": kind, "default_value": ""}
    created = await client.post(f"{P}/insight_variables", json=body)
    assert (created.status_code, created.json()["default_value"]) == (201, "")


async def test_a_changed_variable_still_has_a_default_that_fits(client: httpx.AsyncClient) -> None:
    """Every run with the default would fail."""
    body = {"name": "x", "type": "String", "default_value": "today"}
    created = (await client.post(f"{P}/insight_variables", json=body)).json()
    url = f"{P}/insight_variables/{created['id']}"
    for change in ({"type": "Number"}, {"type": "Date", "default_value": "soon"}):
        refused = await client.patch(url, json=change)
        assert refusal(refused) == (400, "invalid_input", "default_value")
    assert await get(client, url) == created
    number = {"type": "Number", "default_value": "5"}
    assert (await client.patch(url, json=number)).json() == created | number


async def test_things_of_another_project_are_404(client: httpx.AsyncClient, world: World) -> None:
    second = await world.add_project()
    created = await client.post(
        f"/api/projects/{second.id}/insight_variables", json={"name": "a", "type": "Date"}
    )

    for method in ("GET", "PATCH", "DELETE"):
        url = f"{P}/insight_variables/{created.json()['id']}"
        response = await client.request(method, url, json={} if method == "PATCH" else None)
        assert refusal(response) == (404, "not_found", None)
    await get(client, f"{P}/insight_variables/nonsense", 404)


async def test_the_activity_log_is_narrowed_by_scope_and_item(
    client: httpx.AsyncClient, world: World
) -> None:
    change = FieldChange("deleted", "changed", before=False, after=True)
    async with world.database.write() as session:
        for item_id in ("a", "b", "a"):
            activity = Activity(1, 1, "updated", "HogFunction", item_id, "Slack", [change])
            await world.access.activity.record(session, activity)

    body = await get(client, f"{P}/activity_log/?scope=HogFunction&item_id=a&limit=1")

    assert body["count"] == 2
    assert body["next"] is not None
    entry = body["results"][0]
    assert entry["user"]["email"] == "admin@hoglet.localhost"
    assert entry["detail"] == {
        "name": "Slack",
        "changes": [
            {
                "type": "HogFunction",
                "action": "changed",
                "field": "deleted",
                "before": False,
                "after": True,
            }
        ],
    }
    assert (await get(client, f"{P}/activity_log/?scope=Endpoint"))["results"] == []
    assert (await get(client, f"{P}/activity_log/?scope=%00&item_id=%00"))["results"] == []


async def test_the_file_tree_joins_what_features_keep(
    client: httpx.AsyncClient, world: World
) -> None:
    async def entries(project_id: int) -> list[FileEntry]:
        return [FileEntry("1", f"Destinations/{project_id}", "hog_function", "x", "/f/x", NOW)]

    world.access.providers.file_entries = (entries, entries)

    body = await get(client, f"{P}/file_system/?type=hog_function&search=DEST")

    assert body["count"] == 2
    assert body["results"][0]["path"] == "Destinations/1"
    assert (await get(client, f"{P}/file_system/?type=endpoint"))["count"] == 0


async def test_flags_and_decide_say_there_are_none(client: httpx.AsyncClient, world: World) -> None:
    token = world.first.project_token
    body = {"api_key": token, "distinct_id": "u"}

    newer = (await client.post("/flags/?v=2", json={"token": token})).json()
    with_config = (await client.post("/flags/?v=2&config=true", json=body)).json()
    older = (await client.post("/flags/", json=body)).json()
    decide = (await client.post("/decide/?v=3", json=body)).json()

    assert set(newer) == {"flags", "errorsWhileComputingFlags", "requestId", "quotaLimited"}
    assert with_config["supportedCompression"] == ["gzip", "gzip-js"]
    assert older == {
        "featureFlags": {},
        "featureFlagPayloads": {},
        "errorsWhileComputingFlags": False,
    }
    assert decide["featureFlags"] == {}
    assert decide["token"] == token
    bad = await client.post("/flags?v=2", json={"token": "phc_wrong"})
    assert refusal(bad) == (401, "invalid_api_key", None)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("surveys", "surveys"),
        ("early_access_features", "earlyAccessFeatures"),
        ("web_experiments", "experiments"),
        ("product_tours", "product_tours"),
    ],
)
async def test_browsers_are_told_that_there_are_none(
    client: httpx.AsyncClient, world: World, name: str, key: str
) -> None:
    """posthog-js asks from the visitor's page; an error would show in the browser's console."""
    origin = {"Origin": "https://shop.example", "Authorization": ""}
    path = f"/api/{name}/"
    token = world.first.project_token
    response = await client.get(path, params={"token": token}, headers=origin)
    assert (response.status_code, response.json()) == (200, {key: []})
    assert response.headers["access-control-allow-origin"] == "https://shop.example"
    wrong = await client.get(path, params={"token": "phc_wrong"}, headers=origin)
    assert refusal(wrong) == (401, "invalid_api_key", None)
    assert refusal(await client.get(path, headers=origin))[:2] == (401, "missing_api_key")


async def test_remote_configuration_by_token(client: httpx.AsyncClient, world: World) -> None:
    token = world.first.project_token

    config = await client.get(f"/array/{token}/config")
    script = await client.get(f"/array/{token}/config.js")

    assert config.headers["cache-control"] == "public, max-age=300"
    assert config.json()["analytics"] == {"endpoint": "/i/v0/e/"}
    assert config.json()["siteApps"] == []
    assert f'window._POSTHOG_REMOTE_CONFIG["{token}"]={{config:' in script.text
    for wrong in ("phc_wrong", "%00"):
        assert (await client.get(f"/array/{wrong}/config")).status_code == 404


async def test_local_evaluation_needs_a_key_and_gives_nothing(client: httpx.AsyncClient) -> None:
    body = await get(client, "/api/feature_flag/local_evaluation/?token=x&send_cohorts")
    anonymous = await client.get(
        "/api/feature_flag/local_evaluation", headers={"Authorization": ""}
    )

    newer = await get(client, "/flags/definitions?token=x&send_cohorts")

    assert body == newer == {"flags": [], "group_type_mapping": {}, "cohorts": {}}
    assert anonymous.status_code == 401
