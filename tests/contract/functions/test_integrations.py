"""Integrations: routes, storage, and use in runs."""

import pytest
from sqlalchemy import select

from hoglet.access.tables import ActivityRow
from hoglet.functions.tables import IntegrationRow

BASE = "/api/projects/1/integrations"
TOKEN = "xoxb-very-secret-0123"
SLACK = {"kind": "slack", "config": {"team": {"name": "Shop"}}, "access_token": TOKEN}
GLOBALS = {
    "event": {
        "uuid": "0198c2a0-0000-7000-8000-000000000001",
        "event": "$pageview",
        "distinct_id": "a",
        "properties": {},
    }
}
SCHEMA = [{"type": "integration", "key": "slack", "integration": "slack", "required": True}]


async def make(hoglet, **more):
    response = await hoglet.client.post(BASE + "/", json={**SLACK, **more})
    assert response.status_code == 201, response.text
    return response.json()


async def test_an_integration_is_shown_without_its_token(hoglet):
    response = await hoglet.client.post(BASE + "/", json=SLACK)
    record = response.json()

    assert response.status_code == 201
    assert set(record) >= {
        "id", "kind", "display_name", "icon_url", "config", "created_at", "created_by", "errors",
    }  # fmt: skip
    assert isinstance(record["id"], int)
    assert (record["kind"], record["display_name"], record["errors"]) == ("slack", "Shop", "")
    assert record["config"] == {"team": {"name": "Shop"}}
    assert record["created_by"]["id"] == 1
    icon = await hoglet.client.get(record["icon_url"])
    assert icon.headers["content-type"] == "image/svg+xml"
    assert TOKEN not in response.text
    for path in (f"{BASE}/{record['id']}", f"/api/environments/1/integrations/{record['id']}/"):
        read = await hoglet.client.get(path)
        assert read.json() == record


async def test_integrations_are_listed_by_page_and_kind(hoglet):
    ids = [(await make(hoglet, kind=kind))["id"] for kind in ("slack", "hubspot", "slack")]
    first = (await hoglet.client.get(BASE, params={"limit": 2})).json()
    second = (await hoglet.client.get(first["next"])).json()
    of_kind = (await hoglet.client.get(BASE, params={"kind": "slack"})).json()
    strange = (await hoglet.client.get(BASE, params={"kind": "\x00"})).json()

    assert [each["id"] for each in (*first["results"], *second["results"])] == ids
    assert (first["count"], second["next"]) == (3, None)
    assert [each["id"] for each in of_kind["results"]] == [ids[0], ids[2]]
    assert strange["count"] == 0


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"kind": None}, (400, "null", "kind")),
        ({"kind": ""}, (400, "blank", "kind")),
        ({"kind": "Sl ack"}, (400, "invalid_input", "kind")),
        ({"kind": "x" * 41}, (400, "max_length", "kind")),
        ({"config": []}, (400, "not_a_dict", "config")),
        ({"config": {"access_token": "x"}}, (400, "invalid_input", "config__access_token")),
        ({"config": {"client-secret": "x"}}, (400, "invalid_input", "config__client-secret")),
        ({"access_token": None}, (400, "required", "access_token")),
        ({"access_token": ""}, (400, "blank", "access_token")),
        ({"access_token": "********"}, (400, "invalid_input", "access_token")),
        ({"access_token": "a\r\nX-Evil: 1"}, (400, "invalid_input", "access_token")),
        ({"hosts": "slack.com"}, (400, "not_a_list", "hosts")),
        ({"hosts": ["https://slack.com"]}, (400, "invalid_input", "hosts")),
        ({"display_name": "x" * 401}, (400, "max_length", "display_name")),
    ],
)
async def test_what_a_create_refuses(hoglet, attr_of, change, refusal):
    response = await hoglet.client.post(BASE, json={**SLACK, **change})

    assert attr_of(response) == refusal
    assert TOKEN not in response.text


async def test_missing_fields_are_named(hoglet, attr_of):
    assert attr_of(await hoglet.client.post(BASE, json={})) == (400, "required", "kind")
    without = await hoglet.client.post(BASE, json={"kind": "slack"})
    assert attr_of(without) == (400, "required", "access_token")


async def test_an_update_keeps_or_replaces_the_token(hoglet, attr_of):
    integration = await make(hoglet)
    path = f"{BASE}/{integration['id']}"
    for change in ({}, {"access_token": None}, {"access_token": "********"}):
        changed = await hoglet.client.patch(path, json={"display_name": "Ours", **change})
        assert changed.json()["display_name"] == "Ours"
        assert await token_of(hoglet, integration["id"]) == TOKEN
    replaced = await hoglet.client.put(path, json={"access_token": "second"})

    assert replaced.status_code == 200
    assert await token_of(hoglet, integration["id"]) == "second"
    assert attr_of(await hoglet.client.patch(path, json={"kind": "hubspot"}))[2] == "kind"
    assert (await hoglet.client.patch(path, json={"kind": "slack"})).status_code == 200
    assert (await hoglet.client.get(path)).json()["config"] == SLACK["config"]


async def test_a_deleted_integration_is_gone_and_its_id_is_not_used_again(hoglet):
    integration = await make(hoglet)
    path = f"{BASE}/{integration['id']}"

    gone = await hoglet.client.delete(path)
    assert (gone.status_code, gone.content) == (204, b"")
    assert [await status_of(hoglet, m, path) for m in ("GET", "PATCH", "DELETE")] == [404] * 3
    assert (await make(hoglet))["id"] > integration["id"]


async def status_of(hoglet, method, path):
    return (await hoglet.client.request(method, path, json={})).status_code


@pytest.mark.parametrize("name", ["0", "99", "x", "9" * 30, "-1", "%00"])
async def test_unknown_integrations_are_404(hoglet, name):
    assert (await hoglet.client.get(f"{BASE}/{name}")).status_code == 404


async def test_an_integration_of_another_project_is_404(hoglet):
    integration = await make(hoglet)
    async with hoglet.database.write() as session:
        (await session.get(IntegrationRow, integration["id"])).project_id = 2

    assert (await hoglet.client.get(f"{BASE}/{integration['id']}")).status_code == 404
    assert (await hoglet.client.get(BASE)).json()["count"] == 0
    function = await hoglet.create(
        inputs_schema=SCHEMA, inputs={"slack": {"value": integration["id"]}}
    )
    done = (await start_test_run(hoglet, function["id"])).json()
    assert (done["status"], f"no integration {integration['id']}" in done["errors"][0]) == (
        "error",
        True,
    )


async def test_the_token_is_nowhere_in_the_clear(hoglet):
    integration = await make(hoglet)
    await hoglet.client.patch(f"{BASE}/{integration['id']}", json={"access_token": TOKEN + "4"})
    async with hoglet.database.read() as session:
        row = await session.get(IntegrationRow, integration["id"])
        entries = (await session.scalars(select(ActivityRow))).all()
    stored = str({column.name: getattr(row, column.name) for column in row.__table__.columns})
    changes = [change for entry in entries for change in entry.detail["changes"]]

    assert TOKEN not in stored
    assert [entry.activity for entry in entries if entry.scope == "Integration"] == [
        "created",
        "updated",
    ]
    assert [(c["field"], c["before"], c["after"]) for c in changes] == [
        ("access_token", "masked", "masked")
    ]
    assert TOKEN not in str([entry.detail for entry in entries])


async def token_of(hoglet, integration_id):
    async with hoglet.database.read() as session:
        row = await session.get(IntegrationRow, integration_id)
    return hoglet.service.box.open(row.secrets)["access_token"]


async def start_test_run(hoglet, function_id, **body):
    return await hoglet.call(
        "POST", f"/{function_id}/invocations", json={"globals": GLOBALS, **body}
    )


async def test_programs_see_the_config_and_never_the_token(hoglet):
    integration = await make(hoglet)
    code = "print(inputs.slack.team.name, length(inputs.slack.access_token) > 20, inputs.slack)"
    function = await hoglet.create(
        hog=code, inputs_schema=SCHEMA, inputs={"slack": {"value": integration["id"]}}
    )
    response = await start_test_run(hoglet, function["id"])
    line = response.json()["logs"][0]["message"]

    assert line.startswith("Shop, true, ")
    assert "***REDACTED***" in line
    assert "hoglet-integration-" not in response.text
    assert TOKEN not in response.text
    assert (await hoglet.call("GET", f"/{function['id']}")).json()["inputs"]["slack"]["value"] == (
        integration["id"]
    )


async def test_several_integrations_and_their_fields(hoglet):
    ids = [(await make(hoglet, display_name=name, config={"n": name}))["id"] for name in "ab"]
    schema = [
        {"type": "integration_multi", "key": "all"},
        {"type": "integration_field", "key": "channel", "integration_key": "all"},
        {"type": "integration", "key": "unset"},
    ]
    function = await hoglet.create(
        hog="print(arrayMap(one -> one.n, inputs.all), inputs.channel, inputs.unset)",
        inputs_schema=schema,
        inputs={"all": {"value": ids}, "channel": {"value": "{not.a.template}"}},
    )
    done = (await start_test_run(hoglet, function["id"])).json()
    missing = {"all": {"value": [*ids, 77]}}
    refused = (
        await start_test_run(hoglet, function["id"], configuration={"inputs": missing})
    ).json()

    assert done["logs"][0]["message"] == '["a","b"], {not.a.template}, null'
    assert refused["status"] == "error"
    assert "all: the project has no integration 77" in refused["errors"][0]


async def test_loaded_functions_hold_placeholders_and_notice_changes(hoglet):
    integration = await make(hoglet)
    function = await hoglet.create(
        enabled=True, inputs_schema=SCHEMA, inputs={"slack": {"value": integration["id"]}}
    )
    before = await hoglet.service.loader.version_stamp(1)
    (loaded,) = await hoglet.service.loader.load_runnable(1)
    await hoglet.client.patch(f"{BASE}/{integration['id']}", json={"config": {"team": "x"}})

    assert await hoglet.service.loader.version_stamp(1) != before
    assert loaded.id == function["id"]
    assert TOKEN not in str(loaded)
    assert loaded.inputs[0].value["access_token"].startswith("hoglet-integration-")
